"""What is said of a world, one thing after the other, and what to do about it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np

from pixelplan.data.seen import Clock, Sample, Seen
from pixelplan.envs.determinism import Determinism
from pixelplan.envs.family import Family
from pixelplan.envs.guard import EnvironmentFailed
from pixelplan.types import InputError

Mark = Literal["fits", "mind", "does not fit"]
STILL_GROWING = 0.15
"""When the last quarter of play brings this share of all states seen, much has not been seen yet."""
IDLE = 0.9
"""When this share of random actions changes nothing, play learns little."""
SLOW = 0.01
"""Seconds a step from which on recording takes long."""


@dataclass(frozen=True)
class Finding:
    """One thing looked at."""

    what: str
    mark: Mark
    found: str
    advice: str = ""


def about_frames(family: Family) -> Finding:
    """Their size."""
    size, own = family.shape[:2], getattr(family, "own_size", family.shape[:2])
    brought = "" if own == size else f", brought to {size[0]} × {size[1]}: is all that matters still to be seen?"
    return Finding("frames", "fits", f"{own[0]} × {own[1]} pixels{brought}")


def about_levels(seen: Sequence[Seen], noisy: bool) -> Finding:
    """Whether seeds begin different levels."""
    distinct = len({one.first.tobytes() for one in seen})
    if len(seen) == 1 or noisy:
        return Finding("levels", "fits", f"level k is what reset(seed=k) begins; {len(seen)} looked at")
    if distinct == 1:
        return Finding(
            "levels", "mind", "all seeds begin in the same frame: a world of one level",
            "record many episodes of level 0, and evaluate with --goals random",
        )  # fmt: skip
    return Finding("levels", "fits", f"{distinct} of {len(seen)} seeds begin in different frames")


def about_determinism(found: tuple[Determinism, ...]) -> Finding:
    """Whether the same actions do the same."""
    verdicts = [one.verdict for one in found]
    if "nondeterministic" in verdicts:
        worst = found[verdicts.index("nondeterministic")]
        if worst.first_step == 0:
            return Finding(
                "determinism", "does not fit", "reset(seed=k) does not begin the same level every time",
                "levels are drawn from something else than np_random; wrap reset() to seed that (numpy.random.seed)",
            )  # fmt: skip
        return Finding(
            "determinism", "does not fit",
            f"the same actions show different frames after step {worst.first_step}, and not by noise: replays differ "
            f"by {worst.early:.1f} grey values a pixel early and {worst.late:.1f} late, {worst.new_frames:.0%} of "
            "frames come once",
            "planning needs a world in which an action always does the same; remove what is random in step()",
        )  # fmt: skip
    if "visual noise" in verdicts:
        noisy = found[verdicts.index("visual noise")]
        return Finding(
            "determinism", "mind",
            f"visual noise: replays of the same actions differ by {noisy.early:.1f} grey values a pixel, and no more "
            "as play goes on",
            "the world itself seems deterministic; train with --noisy",
        )  # fmt: skip
    return Finding("determinism", "fits", "the same actions show the same frames, whatever the random numbers")


def about_hidden(hidden: float | None) -> Finding:
    """Whether frames show all that matters."""
    if hidden is None:
        return Finding("whole state", "mind", "no step was repeated, so nothing can be said", "play more episodes")
    if hidden == 0:
        return Finding("whole state", "fits", "repeated steps always led to the same frame")
    return Finding(
        "whole state", "does not fit" if hidden > 0.02 else "mind",
        f"{hidden:.1%} of repeated steps led to different frames",
        "frames must show all that matters: draw what is hidden (speed, what is carried, whose turn it is) into them",
    )  # fmt: skip


def about_growth(growth: tuple[float, ...], episodes: int, steps: int) -> Finding:
    """Whether play has seen what there is."""
    shown = " → ".join(f"{count:.0f}" for count in growth)
    share = (growth[3] - growth[2]) / growth[3]
    if growth[3] < 2:
        return Finding("states", "does not fit", "nothing ever changes", "do the actions do anything?")
    if share > STILL_GROWING:
        return Finding(
            "states", "mind", f"{shown} distinct frames a level over the quarters of play: still growing",
            f"play more than {episodes} episodes of {steps} steps a level, or more levels",
        )  # fmt: skip
    return Finding("states", "fits", f"{shown} distinct frames a level over the quarters of play")


def about_reach(seen: Sequence[Seen], explored: Sequence[Seen]) -> Finding:
    """How far random play comes, against where goals were seen."""
    farthest = float(np.mean([one.farthest() for one in seen]))
    idle = float(np.mean([(one.rows[:, 1:] == one.rows[:, :-1]).mean() for one in seen]))
    away = [steps for one in (*seen, *explored) if (steps := one.goal_distance()) is not None]
    goals = f"; goals were seen {np.mean(away):.1f} steps away" if away else ""
    found = f"random play comes {farthest:.1f} steps far; {idle:.0%} of its actions change nothing{goals}"
    if idle > IDLE:
        return Finding(
            "reach", "mind", found, "random play is stuck: offer fewer actions, or let episodes begin anywhere"
        )
    return Finding("reach", "fits", found)


def about_goal(family: Family, number: int) -> Finding:
    """Whether levels show a goal."""
    if not family.has_goals:
        return Finding("goal picture", "fits", "none is shown, so the goal is what solves a level (--goals solved)")
    try:
        challenge = family.challenge(number)
    except EnvironmentFailed as problem:
        return Finding("goal picture", "does not fit", str(problem), "let goal_frame() give it, or leave it out")
    except InputError as problem:
        return Finding("goal picture", "mind", str(problem), "")
    shortest = "" if challenge.shortest is None else f", {challenge.shortest} steps away in level {number}"
    return Finding("goal picture", "fits", f"the environment shows its goal{shortest}")


def about_goals_seen(seen: Sequence[Seen], explored: Sequence[Seen], sample: Sample, pictured: bool) -> Finding:
    """Whether play sees what solves a level: nothing else can teach a goal test."""
    by_chance, exploring = (sum(one.goal_distance() is not None for one in play) for play in (seen, explored))
    found = f"random play sees a solved state in {by_chance} of {len(seen)} levels, exploring in {exploring}"
    if max(by_chance, exploring) >= (len(seen) + 1) // 2:
        return Finding("goals seen", "fits", found)
    if max(by_chance, exploring):
        return Finding("goals seen", "mind", found, "record with --explore, and more or longer episodes")
    if pictured:
        return Finding("goals seen", "mind", found, "pictures tell the goal; how to come near it, play did not show")
    if sample.says:
        advice = "record longer episodes with --explore, or give a goal picture (solve --goal)"
        return Finding("goals seen", "mind", f'{found}; info["solved"] was never true', advice)
    if sample.ends:
        end = "larger than those before" if sample.rewarded else "above zero"
        advice = 'which ends are good? say info["solved"], or give pixelplan.GymFamily(env, solved=…)'
        return Finding("goals seen", "mind", f"{found}; episodes end, but never with a reward {end}", advice)
    advice = (
        "if it has an end, record longer episodes with --explore; if not, give a goal picture (solve --goal), or plan "
        "to random states (evaluate --goals random)"
    )
    return Finding("goals seen", "mind", f'{found}; no episode has ended, and there is no info["solved"]', advice)


def about_episodes(sample: Sample) -> Finding:
    """Ends and rewards."""
    if sample.ends and sample.longest <= 1:
        return Finding(
            "episodes",
            "does not fit",
            "every episode ends with its first step",
            "there is nothing to plan: check the end",
        )
    if sample.rewarded > 0.5:
        return Finding(
            "episodes", "mind", f"a reward above zero comes with {sample.rewarded:.0%} of steps, so it tells no goal",
            'the largest at the end of an episode counts; say info["solved"] if that is not the goal',
        )  # fmt: skip
    ends = (
        f"{sample.ends} of {sample.episodes} random episodes end by themselves"
        if sample.ends
        else "none ends by itself"
    )
    return Finding("episodes", "fits", ends)


def about_speed(sample: Sample, family: Family) -> Finding:
    """How long recording will take."""
    own = getattr(family, "own_size", family.shape[:2])
    each = (
        f"{1e3 * sample.seconds:.1f} ms a step, so 1,000 levels of 400 steps take {400e3 * sample.seconds / 60:.0f} min"
    )
    if sample.seconds < SLOW or own == family.shape[:2]:
        return Finding("speed", "fits" if sample.seconds < SLOW else "mind", each)
    what = "--option tile_size=8" if sample.tiles else "an option of your environment"
    return Finding(
        "speed", "mind", f"{each}; it draws {own[0]} × {own[1]} pixels, of which {family.shape[0]} × {family.shape[1]} "
        "are kept", f"let it draw smaller pictures: {what}",
    )  # fmt: skip


def about_clock(clock: Clock) -> Finding:
    """A clock makes every state a new one."""
    (top, bottom), (left, right) = clock.rows, clock.columns
    return Finding(
        "clock", "does not fit",
        f"a clock, step counter or score in the picture (rows {top}–{bottom}, columns {left}–{right}) shows another "
        "thing in every step, so states never come again although what else is seen does",
        "paint over it before the picture is given",
    )  # fmt: skip


def about_chance(first_step: int) -> Finding:
    """Chance that neither the picture nor np_random shows."""
    return Finding(
        "chance", "does not fit",
        f"levels that begin with the same frame part after step {first_step} of the same actions: chance decides, and "
        "it is not in np_random (sticky actions do that)",
        "switch it off when the environment is made, as --option repeat_action_probability=0.0 does for Atari",
    )  # fmt: skip

"""What `check-env` says about a world, finding by finding, and what to do about it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np

from pixelplan.envs.family import Family
from pixelplan.envs.frames import DistinctFrames
from pixelplan.envs.guard import EnvironmentFailed
from pixelplan.types import InputError
from pixelplan.worlds.determinism import Determinism
from pixelplan.worlds.measured_play import Clock, Sample, Seen

Mark = Literal["fits", "mind", "does not fit"]


@dataclass(frozen=True)
class CheckConfig:
    """The limits beyond which a world does not fit, or deserves a warning."""

    hidden: float = 0.02
    """A world does not fit if a larger share of repeated steps leads to different frames."""
    still_growing: float = 0.15
    """Much is still unseen if the last quarter of play brings a larger share of all states."""
    idle: float = 0.9
    """Play learns little if a larger share of random actions changes nothing."""
    rewarded: float = 0.5
    """Rewards mark no goal if a larger share of steps has one."""
    slow: float = 0.01
    """Recording takes long if a step takes this many seconds."""
    longer: int = 50
    """Steps of an episode to try if exploring sees few goals, as `collect` does."""
    far: int = 100
    """Steps per episode to advise if those see no goal either."""
    minutes: float = 20.0
    """Fewer levels are advised if recording them might take longer."""


@dataclass(frozen=True)
class Finding:
    """One thing that was checked."""

    what: str
    mark: Mark
    found: str
    advice: str = ""


def about_frames(family: Family) -> Finding:
    """The size of frames."""
    size, drawn = family.shape[:2], getattr(family, "own_size", family.shape[:2])
    resized = "" if drawn == size else f", resized to {size[0]} × {size[1]}: can you still see all that matters?"
    return Finding("frames", "fits", f"{drawn[0]} × {drawn[1]} pixels{resized}")


def about_levels(seen: Sequence[Seen], noisy: bool) -> Finding:
    """Whether seeds start different levels."""
    distinct = len(DistinctFrames(play.first for play in seen))
    if len(seen) == 1 or noisy:
        return Finding("levels", "fits", f"level k is what reset(seed=k) starts; {len(seen)} checked")
    if distinct == 1:
        return Finding(
            "levels", "mind", "all seeds start with the same frame: a world of one level",
            "record many episodes of level 0, and evaluate with --goals random",
        )  # fmt: skip
    return Finding("levels", "fits", f"{distinct} of {len(seen)} seeds start with different frames")


def about_determinism(judged: tuple[Determinism, ...]) -> Finding:
    """Whether the same actions always do the same."""
    verdicts = [level.verdict for level in judged]
    if "nondeterministic" in verdicts:
        worst = judged[verdicts.index("nondeterministic")]
        if worst.first_step == 0:
            return Finding(
                "determinism", "does not fit", "reset(seed=k) does not start the same level every time",
                "levels do not come from np_random; wrap reset() to seed what they do come from (numpy.random.seed)",
            )  # fmt: skip
        return Finding(
            "determinism", "does not fit",
            f"the same actions show different frames after step {worst.first_step}, and not by noise: replays differ "
            f"by {worst.early:.1f} grey values per pixel early and {worst.late:.1f} late, and "
            f"{worst.new_frames:.0%} of frames occur only once",
            "planning needs a world in which an action always does the same thing; remove what is random in step(), or "
            "switch it off, as --option is_slippery=False does for FrozenLake",
        )  # fmt: skip
    if "visual noise" in verdicts:
        noisy = judged[verdicts.index("visual noise")]
        return Finding(
            "determinism", "mind",
            f"visual noise: replays of the same actions differ by {noisy.early:.1f} grey values per pixel, and not "
            "more as play continues",
            "the world itself seems deterministic; train with --noisy",
        )  # fmt: skip
    return Finding("determinism", "fits", "the same actions show the same frames, whatever the random numbers")


def about_hidden(hidden: float | None, config: CheckConfig, ends_unseen: bool = False) -> Finding:
    """Whether frames show all that matters; `ends_unseen` if all they fail to show is that an episode has ended."""
    if hidden is None:
        return Finding("whole state", "mind", "no step was repeated, so this is unknown", "play more episodes")
    if hidden == 0:
        return Finding("whole state", "fits", "repeated steps always led to the same frame")
    mark: Mark = "does not fit" if hidden > config.hidden else "mind"
    if ends_unseen:
        return Finding(
            "whole state", mark,
            f"frames do not show that an episode has ended: {hidden:.1%} of repeated steps lead on, but not after one",
            "draw the end into the frame (another colour, say), or leave out the actions that end an episode unseen",
        )  # fmt: skip
    return Finding(
        "whole state", mark,
        f"{hidden:.1%} of repeated steps led to different frames",
        "frames must show all that matters: draw what is hidden (speed, what is carried, whose turn it is) into them",
    )  # fmt: skip


def about_growth(growth: tuple[float, ...], episodes: int, steps: int, config: CheckConfig) -> Finding:
    """Whether play has seen most of the states."""
    shown = " → ".join(f"{count:.0f}" for count in growth)
    share = (growth[3] - growth[2]) / growth[3]
    if growth[3] < 2:
        return Finding("states", "does not fit", "nothing ever changes", "do the actions do anything?")
    if share > config.still_growing:
        return Finding(
            "states", "mind", f"{shown} distinct frames per level over the quarters of play: still growing",
            f"play more than {episodes} episodes of {steps} steps per level, or more levels",
        )  # fmt: skip
    return Finding("states", "fits", f"{shown} distinct frames per level over the quarters of play")


def about_reach(seen: Sequence[Seen], explored: Sequence[Seen], config: CheckConfig) -> Finding:
    """How far random play gets, and how far away goals were seen."""
    farthest = float(np.mean([play.farthest() for play in seen]))
    idle = float(np.mean([(play.rows[:, 1:] == play.rows[:, :-1]).mean() for play in seen]))
    away = [steps for play in (*seen, *explored) if (steps := play.goal_distance()) is not None]
    goals = f"; goals were seen {np.mean(away):.1f} steps away" if away else ""
    reached = f"random play gets {farthest:.1f} steps away; {idle:.0%} of its actions change nothing{goals}"
    if idle > config.idle:
        return Finding(
            "reach", "mind", reached, "random play is stuck: offer fewer actions, or let episodes start anywhere"
        )
    return Finding("reach", "fits", reached)


def about_goal(family: Family, number: int) -> Finding:
    """Whether levels show a goal."""
    if not family.has_goals:
        return Finding("goal picture", "fits", "none is shown, so the goal is whatever solves a level (--goals solved)")
    try:
        challenge = family.challenge(number)
    except EnvironmentFailed as problem:
        return Finding(
            "goal picture", "does not fit", str(problem), "make goal_frame() return it, or remove goal_frame()"
        )
    except InputError as problem:
        return Finding("goal picture", "mind", str(problem), "")
    shortest = "" if challenge.shortest is None else f", {challenge.shortest} steps away in level {number}"
    return Finding("goal picture", "fits", f"the environment shows its goal{shortest}")


def about_goals_seen(
    seen: Sequence[Seen],
    explored: Sequence[Seen],
    longer: Sequence[Seen],
    sample: Sample,
    ended: bool,
    pictured: bool,
    nothing_left: bool,
    config: CheckConfig,
    command: str,
) -> Finding:
    """Whether play sees solved states, which alone can teach a goal test, and if not, the command to run next.

    If nothing was left to try (`nothing_left`), longer play does not help.
    """
    by_chance, exploring, at_length = (
        sum(play.goal_distance() is not None for play in plays) for plays in (seen, explored, longer)
    )
    solved_seen = f"random play sees a solved state in {by_chance} of {len(seen)} levels"
    solved_seen += f", exploring in {exploring}" if explored else ""
    solved_seen += f", and in {at_length} with {config.longer} steps an episode" if longer else ""
    most = max(by_chance, exploring, at_length)
    if most >= (len(seen) + 1) // 2:
        return Finding("goals seen", "fits", solved_seen)
    if most:
        advice = f"record many levels, because the goal test learns from those in which play sees a goal: {command}"
        return Finding("goals seen", "mind", solved_seen, advice)
    if pictured:
        advice = f"pictures show the goal, but play must come near it: {command}"
        return Finding("goals seen", "mind", solved_seen, advice)
    end = "larger than those before" if sample.rewarded else "above zero"
    if sample.says_if_solved:
        why, advice = 'info["solved"] was never true', "or give a goal picture later (solve --goal)"
    elif ended:
        why = f"episodes end, but never with a reward {end}"
        advice = 'if play has already seen good endings, set info["solved"], or use pixelplan.GymFamily(env, solved=…)'
    else:
        why = 'no episode has ended, and there is no info["solved"]'
        advice = "or give a goal picture later (solve --goal), or plan to random states (evaluate --goals random)"
    if nothing_left:
        solved_seen += ", although every action was tried in every state"
        first = "longer play will see no more"
        if sample.says_if_solved or not ended:
            advice = f'set info["solved"] in the states that are goals, {advice}'
    else:
        first = f"record longer episodes: {command}"
    return Finding("goals seen", "mind", f"{solved_seen}; {why}", f"{first}; {advice}")


def about_words(words: tuple[str, ...]) -> Finding:
    """Missions in words: frames must show what is wanted, or at least allow a guess."""
    return Finding(
        "mission", "mind",
        f"levels say in words what is wanted ({', '.join(map(repr, words))}), and a planner sees frames only",
        "if frames do not show which of several things is meant, draw the mission into them",
    )  # fmt: skip


def about_episodes(sample: Sample, config: CheckConfig) -> Finding:
    """How episodes end, and what they pay."""
    if sample.ends_at_once:
        return Finding(
            "episodes",
            "does not fit",
            "every episode ends with its first step",
            "there is nothing to plan: check when the environment terminates",
        )
    if sample.rewarded > config.rewarded:
        return Finding(
            "episodes", "mind",
            f"{sample.rewarded:.0%} of steps have a positive reward, so a reward does not mark the goal",
            'an episode that ends with its largest reward counts as solved; set info["solved"] if that is wrong',
        )  # fmt: skip
    ends = (
        f"{sample.ends or 'none'} of {sample.episodes} random episodes ends by itself"
        if sample.ends < 2
        else f"{sample.ends} of {sample.episodes} random episodes end by themselves"
    )
    return Finding("episodes", "fits", ends)


def minutes(sample: Sample) -> float:
    """What recording 1,000 levels of 400 steps takes if every step is drawn."""
    return 400e3 * sample.seconds / 60


def levels_advised(sample: Sample, config: CheckConfig) -> int:
    """How many levels to record."""
    quick = (levels for levels in (1000, 200) if minutes(sample) * levels / 1000 <= config.minutes)
    return next(quick, 50)


def about_speed(sample: Sample, family: Family, config: CheckConfig) -> Finding:
    """How long recording will take."""
    drawn = getattr(family, "own_size", family.shape[:2])
    each = (
        f"{1e3 * sample.seconds:.1f} ms per step, so 1,000 levels of 400 steps take at most {minutes(sample):.0f} min"
    )
    if sample.seconds < config.slow or drawn == family.shape[:2]:
        return Finding("speed", "fits" if sample.seconds < config.slow else "mind", each)
    what = "--option tile_size=8" if sample.tiles else "an option of your environment"
    return Finding(
        "speed", "mind",
        f"{each}; it draws {drawn[0]} × {drawn[1]} pixels, of which {family.shape[0]} × {family.shape[1]} are kept",
        f"make it draw smaller pictures: {what}",
    )  # fmt: skip


def about_clock(clock: Clock) -> Finding:
    """A clock in the picture, which makes every state a new one."""
    (top, bottom), (left, right) = clock.rows, clock.columns
    return Finding(
        "clock", "does not fit",
        f"a clock, step counter or score in the picture (rows {top}–{bottom}, columns {left}–{right}) changes "
        "with every step, so no state ever comes back, although the rest of the picture does",
        "paint over it",
    )  # fmt: skip


def about_chance(first_step: int) -> Finding:
    """Chance that does not come from np_random, or levels whose frames do not show how they differ."""
    return Finding(
        "chance", "does not fit",
        f"levels that start with the same frame diverge after step {first_step} of the same actions: chance decides, "
        "and it does not come from np_random (sticky actions, for example), or frames do not show how levels differ",
        "switch chance off when the environment is made, as --option repeat_action_probability=0.0 does for Atari; "
        "draw into the frames what they do not show",
    )  # fmt: skip

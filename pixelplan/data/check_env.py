"""Whether a world fits: what random play shows of an environment before anybody records or trains for hours."""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass
from typing import Literal

import numpy as np

from pixelplan.envs.determinism import STEPS, Determinism, judge_determinism
from pixelplan.envs.family import Family
from pixelplan.envs.frames import distinct_frames
from pixelplan.envs.guard import EnvironmentFailed
from pixelplan.types import InputError

Mark = Literal["fits", "mind", "does not fit"]
STILL_GROWING = 0.15
"""When the last quarter of play brings this share of all states seen, much has not been seen yet."""
IDLE = 0.9
"""When this share of random actions changes nothing, play learns little."""


@dataclass(frozen=True)
class Finding:
    """One thing looked at."""

    what: str
    mark: Mark
    found: str
    advice: str = ""


@dataclass(frozen=True)
class Check:
    """What was found out about a world."""

    env: str
    fits: bool
    """Whether nothing stands against recording, training and planning."""
    findings: tuple[Finding, ...]
    determinism: tuple[Determinism, ...]
    """For each level looked at."""
    states_seen: tuple[float, ...]
    """Distinct frames of a level after a quarter, half, three quarters and all of its play, the mean of levels."""
    farthest: float
    """Steps to the farthest frame that play has reached, the mean of levels."""
    hidden: float | None
    """Share of repeated steps (equal frame, equal action) that led to another frame; None where none was repeated."""


@dataclass(frozen=True, eq=False)
class _Seen:
    """Random play in one level, frames by number."""

    rows: np.ndarray
    """[E,T+1], equal numbers are equal frames."""
    actions: np.ndarray
    """[E,T]."""
    first: bytes
    """The level's first frame."""

    def steps(self) -> np.ndarray:
        """[E·T,3] frame, action, frame after it."""
        return np.stack([self.rows[:, :-1].ravel(), self.actions.ravel(), self.rows[:, 1:].ravel()], axis=1)


def check_env(family: Family, levels: list[int], episodes: int = 20, steps: int = 20, seed: int = 0) -> Check:
    """Play a few levels at random and say what fits and what does not."""
    if not levels or episodes < 1 or steps < 4:
        raise InputError(f"{len(levels)} levels, {episodes} episodes and {steps} steps are too few; play 1, 1 and 4")
    draws = np.random.default_rng([seed, 3])
    determinism = tuple(
        judge_determinism(family.level(number), draws.integers(len(family.action_names), size=STEPS).tolist())
        for number in levels
    )
    seen = [_play(family, number, episodes, steps, seed) for number in levels]
    noisy = any(one.verdict == "visual noise" for one in determinism)
    growth = tuple(float(mean) for mean in np.mean([_growth(one.rows) for one in seen], axis=0))
    farthest = float(np.mean([_farthest(one) for one in seen]))
    hidden = _hidden(seen)
    findings = [
        Finding("actions", "fits", f"{len(family.action_names)}: {', '.join(family.action_names[:12])}"),
        _about_frames(family),
        _about_levels(seen, noisy),
        _about_determinism(determinism),
        _about_goal(family, levels[0]),
    ]
    if noisy:
        unseen = "cannot be judged: under noise every frame is new"
        findings.append(Finding("states", "mind", unseen, "check the world without its noise, if you can"))
    else:
        findings += [_about_growth(growth, episodes, steps), _about_reach(farthest, seen)]
    if all(one.verdict == "deterministic" for one in determinism):  # else frames differ for another reason
        findings.append(_about_hidden(hidden))
    fits = all(one.mark != "does not fit" for one in findings)
    return Check(family.name, fits, tuple(findings), determinism, growth, farthest, hidden)


def _play(family: Family, number: int, episodes: int, steps: int, seed: int) -> _Seen:
    play = family.play(number, episodes, steps, np.random.default_rng([seed, number]))
    _, number_of = distinct_frames(play.frames)
    return _Seen(number_of[play.episodes], play.actions, play.frames[play.episodes[0, 0]].tobytes())


def _growth(rows: np.ndarray) -> list[int]:
    """Distinct frames after each quarter of the episodes' steps, all episodes taken together."""
    in_time = rows.T.ravel()  # the first frames of all episodes, then the second ones …
    return [len(np.unique(in_time[: max(1, len(in_time) * quarter // 4)])) for quarter in range(1, 5)]


def _farthest(seen: _Seen) -> int:
    """Steps from the first frame to the farthest, along what was played."""
    successors: dict[int, set[int]] = {}
    for before, _, after in seen.steps().tolist():
        successors.setdefault(before, set()).add(after)
    depths = {int(seen.rows[0, 0]): 0}
    queue = deque(depths)
    while queue:
        here = queue.popleft()
        for there in successors.get(here, ()):
            if there not in depths:
                depths[there] = depths[here] + 1
                queue.append(there)
    return max(depths.values())


def _hidden(seen: list[_Seen]) -> float | None:
    """Of the (frame, action) that came more than once, the share that led to different frames."""
    repeated = different = 0
    for one in seen:
        steps = one.steps()
        _, which, counts = np.unique(steps[:, :2], axis=0, return_inverse=True, return_counts=True)
        outcomes = np.unique(np.stack([which.reshape(-1), steps[:, 2]], axis=1), axis=0)[:, 0]
        repeated += int((counts > 1).sum())
        different += int((np.bincount(outcomes, minlength=len(counts)) > 1).sum())
    return different / repeated if repeated else None


def _about_frames(family: Family) -> Finding:
    size, own = family.shape[:2], getattr(family, "own_size", family.shape[:2])
    brought = "" if own == size else f", brought to {size[0]} × {size[1]}: is all that matters still to be seen?"
    return Finding("frames", "fits", f"{own[0]} × {own[1]} pixels{brought}")


def _about_levels(seen: list[_Seen], noisy: bool) -> Finding:
    distinct = len({one.first for one in seen})
    if len(seen) == 1 or noisy:
        return Finding("levels", "fits", f"level k is what reset(seed=k) begins; {len(seen)} looked at")
    if distinct == 1:
        return Finding(
            "levels", "mind", "all seeds begin in the same frame: a world of one level",
            "record many episodes of level 0, and evaluate with --goals random",
        )  # fmt: skip
    return Finding("levels", "fits", f"{distinct} of {len(seen)} seeds begin in different frames")


def _about_determinism(found: tuple[Determinism, ...]) -> Finding:
    verdicts = [one.verdict for one in found]
    if "nondeterministic" in verdicts:
        worst = found[verdicts.index("nondeterministic")]
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


def _about_hidden(hidden: float | None) -> Finding:
    if hidden is None:
        return Finding("whole state", "mind", "no step was repeated, so nothing can be said", "play more episodes")
    if hidden == 0:
        return Finding("whole state", "fits", "repeated steps always led to the same frame")
    return Finding(
        "whole state", "does not fit" if hidden > 0.02 else "mind",
        f"{hidden:.1%} of repeated steps led to different frames",
        "frames must show all that matters: draw what is hidden (speed, what is carried, whose turn it is) into them",
    )  # fmt: skip


def _about_growth(growth: tuple[float, ...], episodes: int, steps: int) -> Finding:
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


def _about_reach(farthest: float, seen: list[_Seen]) -> Finding:
    idle = float(np.mean([(one.rows[:, 1:] == one.rows[:, :-1]).mean() for one in seen]))
    found = f"play comes {farthest:.1f} steps far; {idle:.0%} of actions change nothing"
    if idle > IDLE:
        return Finding(
            "reach", "mind", found, "random play is stuck: offer fewer actions, or let episodes begin anywhere"
        )
    return Finding("reach", "fits", found)


def _about_goal(family: Family, number: int) -> Finding:
    try:
        challenge = family.challenge(number)
    except EnvironmentFailed as problem:
        return Finding("goal", "does not fit", str(problem), "let goal_frame() give the picture, or leave it out")
    except InputError as problem:
        return Finding("goal", "mind", str(problem), "")
    shortest = "" if challenge.shortest is None else f", {challenge.shortest} steps away in level {number}"
    return Finding("goal", "fits", f"the environment shows its goal{shortest}")

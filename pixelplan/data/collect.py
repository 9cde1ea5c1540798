"""Play, recorded: the only data the world model ever sees. It is random, or explores where that comes farther."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from pixelplan.data.dataset import SECONDS_BETWEEN_NOTES, TrajectoryWriter, open_trajectories
from pixelplan.envs import PUZZLES
from pixelplan.envs.family import Family
from pixelplan.envs.frames import distinct_frames
from pixelplan.envs.noise import NOISE
from pixelplan.envs.resolve import EnvLike, open_family
from pixelplan.files import level_numbers, notice, parse_levels
from pixelplan.types import InputError, Trajectories

LEVELS_AT_ONCE = 32
"""Levels that are kept in memory before they are written."""
TRIED, ENOUGH = 8, 0.9
"""Levels that are tried both ways, and the share of an explorer's frames that random play must see to be chosen."""
MOST_STEPS = 10_000_000
"""Steps of all episodes of a level together."""


def collect(
    env: EnvLike,
    levels: str,
    out: str | Path,
    *,
    episodes: int = 20,
    steps: int = 20,
    seed: int = 0,
    explore: bool | None = None,
    resume: bool = False,
    progress: Callable[[int, int], None] = lambda done, total: None,
) -> Trajectories:
    """Record `episodes` of `steps` actions in each level, playing on past the goal, into folder `out`.

    `env` is a puzzle's name, a Gymnasium id, package.module:function, an environment, or a function that makes one.
    Actions are uniformly random, or those that `explore` a level. By default a few levels are tried both ways, and play
    is random if that reaches what there is; puzzles are recorded at random, as in the paper.
    Gives the opened data set. What happens in a level depends on (seed, level) only, so a run that was cut off and is
    resumed writes the same bytes. `progress` is told how many of how many levels are done. Where an environment fails,
    the levels before stay recorded.
    """
    family = open_family(env)
    if episodes < 1 or steps < 1:
        raise InputError(f"episodes is {episodes} and steps is {steps}; both must be at least 1")
    if episodes * steps > MOST_STEPS:
        raise InputError(f"{episodes:,} episodes of {steps:,} steps are too much for a level; {MOST_STEPS:,} steps fit")
    if seed < 0:
        raise InputError(f"seed is {seed}; it must be 0 or more")
    ranges = parse_levels(levels)
    numbers = level_numbers(ranges)
    family.check(numbers[0])  # whatever cannot work fails before the folder is touched
    if explore and NOISE in family.options:
        raise InputError("exploring needs frames that come again, and under noise none does; record random play")
    if explore is None:
        explore = not family.usually_random and _choose(family, numbers, episodes, steps, seed)
    request: dict[str, Any] = {
        "env": family.name,
        "options": dict(family.options),
        "levels": [[one.start, one.stop] for one in ranges],
        "episodes": episodes,
        "steps": steps,
        "seed": seed,
        "actions": len(family.action_names),
        "random_start": family.random_start,
    }
    if explore:
        request["explore"] = True
    if family.name not in PUZZLES:
        request["action_names"] = list(family.action_names)
    with TrajectoryWriter(Path(out), request, resume) as writer:
        found_complete = writer.complete
        if not found_complete:
            while (first := writer.levels_done) < len(numbers):
                progress(first, len(numbers))
                _append_levels(writer, family, numbers[first : first + LEVELS_AT_ONCE], episodes, steps, seed, explore)
            writer.finish(family.shape, steps)
            progress(len(numbers), len(numbers))
    return open_trajectories(out, verify=found_complete)


def _append_levels(
    writer: TrajectoryWriter,
    family: Family,
    numbers: list[int],
    episodes: int,
    steps: int,
    seed: int,
    explores: bool,
) -> None:
    """Play these levels and append them to the folder together.

    Where a level fails, those before it are appended; where play is slow, what a second has brought.
    """
    offset, began = writer.frames_written, time.monotonic()
    parts: list[dict[str, np.ndarray]] = []
    try:
        for number in numbers:
            play = family.play(number, episodes, steps, np.random.default_rng([seed, number]), explores, trusts=True)
            kept, number_of = distinct_frames(play.frames)
            parts.append(
                {
                    "frames": play.frames[kept],
                    "frame_level": np.full(len(kept), number),
                    "episodes": number_of[play.episodes] + offset,
                    "actions": play.actions,
                    "episode_level": np.full(episodes, number),
                    "solved": solved_frames(play.solved, number_of),
                }
            )
            offset += len(kept)
            if time.monotonic() - began > SECONDS_BETWEEN_NOTES:
                break
    finally:
        if parts:
            writer.append(len(parts), **{name: np.concatenate([part[name] for part in parts]) for name in parts[0]})


@dataclass(frozen=True)
class Reach:
    """How far a kind of play comes in some levels."""

    levels: int
    goals: int
    """Levels in which a solved state was seen."""
    frames: float
    """Distinct frames of a level, the mean."""

    def __str__(self) -> str:
        return f"{self.frames:.0f} frames a level and the goal in {self.goals} of {self.levels}"


def reach(family: Family, numbers: list[int], episodes: int, steps: int, seed: int, explores: bool) -> Reach:
    """How far random play, or exploring, comes in levels."""
    goals, frames = 0, 0
    for number in numbers:
        play = family.play(number, episodes, steps, np.random.default_rng([seed, number]), explores, trusts=True)
        goals += play.solved is not None and bool(play.solved.any())
        frames += len(distinct_frames(play.frames)[0])
    return Reach(len(numbers), goals, frames / len(numbers))


def _choose(family: Family, numbers: list[int], episodes: int, steps: int, seed: int) -> bool:
    """Whether to explore: random play in the first levels sees fewer goals, or clearly fewer frames.

    An environment that fails fails again when it is recorded; what comes before that is then kept.
    """
    tried = numbers[:TRIED]
    try:
        by_chance, explored = (reach(family, tried, episodes, steps, seed, explores) for explores in (False, True))
    except InputError:
        return False
    better = explored.goals > by_chance.goals or by_chance.frames < ENOUGH * explored.frames
    notice(
        f"play {'explores' if better else 'is random'} ({'--random' if better else '--explore'} decides otherwise): "
        f"random play sees {by_chance}, exploring {explored}"
    )
    return better


def solved_frames(solved: np.ndarray | None, number_of: np.ndarray) -> np.ndarray:
    """[m] int8, whether each of the kept frames solves its level (-1 if nobody said), from what was said of all frames
    [n], which have these numbers [n] among the kept. A frame that solved the level once counts as solved."""
    found = np.full(number_of.max() + 1, -1, np.int8)
    if solved is not None:
        np.maximum.at(found, number_of, solved.astype(np.int8))
    return found

"""Random play, recorded: the only data the world model ever sees."""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from pixelplan.data.dataset import SECONDS_BETWEEN_NOTES, TrajectoryWriter, open_trajectories
from pixelplan.envs import PUZZLES
from pixelplan.envs.family import Family
from pixelplan.envs.frames import distinct_frames
from pixelplan.envs.resolve import EnvLike, open_family
from pixelplan.files import level_numbers, parse_levels
from pixelplan.types import InputError, Trajectories

LEVELS_AT_ONCE = 32
"""Levels that are kept in memory before they are written."""
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
    resume: bool = False,
    progress: Callable[[int, int], None] = lambda done, total: None,
) -> Trajectories:
    """Record `episodes` of `steps` uniform random actions in each level, playing on past the goal, into folder `out`.

    `env` is a puzzle's name, a Gymnasium id, package.module:function, an environment, or a function that makes one.
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
    if family.name not in PUZZLES:
        request["action_names"] = list(family.action_names)
    with TrajectoryWriter(Path(out), request, resume) as writer:
        found_complete = writer.complete
        if not found_complete:
            while (first := writer.levels_done) < len(numbers):
                progress(first, len(numbers))
                _append_levels(writer, family, numbers[first : first + LEVELS_AT_ONCE], episodes, steps, seed)
            writer.finish(
                {
                    "frames": family.shape,
                    "frame_level": (),
                    "episodes": (steps + 1,),
                    "actions": (steps,),
                    "episode_level": (),
                }
            )
            progress(len(numbers), len(numbers))
    return open_trajectories(out, verify=found_complete)


def _append_levels(
    writer: TrajectoryWriter, family: Family, numbers: list[int], episodes: int, steps: int, seed: int
) -> None:
    """Play these levels and append them to the folder together.

    Where a level fails, those before it are appended; where play is slow, what a second has brought.
    """
    offset, began = writer.frames_written, time.monotonic()
    parts: list[dict[str, np.ndarray]] = []
    try:
        for number in numbers:
            play = family.play(number, episodes, steps, np.random.default_rng([seed, number]))
            kept, number_of = distinct_frames(play.frames)
            parts.append(
                {
                    "frames": play.frames[kept],
                    "frame_level": np.full(len(kept), number),
                    "episodes": number_of[play.episodes] + offset,
                    "actions": play.actions,
                    "episode_level": np.full(episodes, number),
                }
            )
            offset += len(kept)
            if time.monotonic() - began > SECONDS_BETWEEN_NOTES:
                break
    finally:
        if parts:
            writer.append(len(parts), **{name: np.concatenate([part[name] for part in parts]) for name in parts[0]})

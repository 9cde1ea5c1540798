"""Random play, recorded: the only data the world model ever sees."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from pathlib import Path

import numpy as np

from pixelplan.data.dataset import TrajectoryWriter, open_trajectories
from pixelplan.envs import PUZZLES, Level, Puzzle, get_level, make_puzzle
from pixelplan.files import level_numbers, parse_levels
from pixelplan.types import ACTIONS, InputError, Trajectories

LEVELS_A_NOTE = 32
"""Levels written between two notes in the journal: what a kill can cost."""


def collect(
    env: str | Puzzle,
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

    Gives the opened data set. What happens in a level depends on (seed, level) only, so a run that was cut off and is
    resumed writes the same bytes. `progress` is told how many of how many levels are done.
    """
    puzzle = make_puzzle(env) if isinstance(env, str) else env
    name = next(name for name, kind in PUZZLES.items() if isinstance(puzzle, kind))
    if episodes < 1 or steps < 1:
        raise InputError(f"episodes is {episodes} and steps is {steps}; both must be at least 1")
    if seed < 0:
        raise InputError(f"seed is {seed}; it must be 0 or more")
    ranges = parse_levels(levels)
    numbers = level_numbers(ranges)
    options = dataclasses.asdict(puzzle)  # type: ignore[call-overload]
    get_level(puzzle, numbers[0])  # whatever cannot work fails before the folder is touched
    request = {
        "env": name,
        "options": options,
        "levels": [[one.start, one.stop] for one in ranges],
        "episodes": episodes,
        "steps": steps,
        "seed": seed,
        "actions": len(ACTIONS),
        "random_start": puzzle.random_start_in_play,
    }
    writer = TrajectoryWriter(Path(out), request, resume)
    if not writer.complete:
        for first in range(writer.levels_done, len(numbers), LEVELS_A_NOTE):
            progress(first, len(numbers))
            chunk = numbers[first : first + LEVELS_A_NOTE]
            _append_levels(writer, puzzle, chunk, episodes, steps, seed)
            writer.note(first + len(chunk))
        frame = (puzzle.pixels, puzzle.pixels, 3)
        writer.finish(
            {"frames": frame, "frame_level": (), "episodes": (steps + 1,), "actions": (steps,), "episode_level": ()}
        )
        progress(len(numbers), len(numbers))
    return open_trajectories(out, verify=False)


def _append_levels(
    writer: TrajectoryWriter, puzzle: Puzzle, numbers: list[int], episodes: int, steps: int, seed: int
) -> None:
    """Play these levels and append them to the folder together."""
    offset = writer.frames_written
    parts = []
    for number in numbers:
        level = get_level(puzzle, number)
        states, actions = random_play(level, episodes, steps, puzzle.random_start_in_play, [seed, number])
        seen, index = np.unique(states, return_inverse=True)
        frames = level.frames(seen)
        kept, number_of = distinct_frames(frames)
        parts.append(
            {
                "frames": frames[kept],
                "frame_level": np.full(len(kept), number),
                "episodes": number_of[index].reshape(states.shape) + offset,
                "actions": actions,
                "episode_level": np.full(episodes, number),
            }
        )
        offset += len(kept)
    writer.append(**{name: np.concatenate([part[name] for part in parts]) for name in parts[0]})


def distinct_frames(frames: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Which of frames [n,H,W,3] to keep [m], and the number among the kept ones of each frame [n].

    Equal means equal in every byte: what cannot be told apart by looking is one frame here, even where the game knows
    two states (in two places of ProcgenMaze the mouse looks the same whichever way it faces).
    """
    numbers: dict[bytes, int] = {}
    number_of = np.array([numbers.setdefault(frame.tobytes(), len(numbers)) for frame in frames])
    return np.unique(number_of, return_index=True)[1], number_of


def random_play(
    level: Level, episodes: int, steps: int, random_start: bool, seed: list[int]
) -> tuple[np.ndarray, np.ndarray]:
    """States [episodes,steps+1] and uniform random actions [episodes,steps] in one level."""
    random = np.random.default_rng(seed)
    actions = random.integers(len(ACTIONS), size=(episodes, steps), dtype=np.uint8)
    states = np.empty((episodes, steps + 1), np.int32)
    states[:, 0] = random.choice(level.starts, episodes) if random_start else level.start
    for step in range(steps):
        states[:, step + 1] = level.successors[states[:, step], actions[:, step]]
    return states, actions

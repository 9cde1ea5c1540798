"""One level, played and shown."""

from __future__ import annotations

import dataclasses
from pathlib import Path
from typing import Any

import numpy as np
from PIL import Image, UnidentifiedImageError

from pixelplan.envs import PUZZLES, Level, Puzzle, get_level, make_puzzle
from pixelplan.evaluation.figures import episode_gif, solution_picture
from pixelplan.evaluation.levels import Task, play, with_goal_state
from pixelplan.evaluation.models import choose_model
from pixelplan.files import write_bytes, write_picture
from pixelplan.planning import PLANNERS
from pixelplan.types import ACTIONS, Episode, InputError, Model


def solve(
    env: str | Puzzle,
    number: int,
    *,
    planner: str = "full",
    model: str | Path | Model | None = None,
    config: Any = None,
    goal_frame: np.ndarray | None = None,
    seed: int = 0,
) -> tuple[Level, Episode]:
    """Play one level towards its goal, or towards any frame [H,W,3]; gives the level with that goal and the episode."""
    puzzle = make_puzzle(env) if isinstance(env, str) else env
    name = next(name for name, kind in PUZZLES.items() if isinstance(puzzle, kind))
    if planner not in PLANNERS:
        raise InputError(f"there is no planner {planner!r}; the planners are {', '.join(PLANNERS)}")
    level = get_level(puzzle, number)
    if goal_frame is not None:
        level = with_goal_frame(level, goal_frame)
    opened = choose_model(model, planner, name, puzzle.pixels)
    task = Task(puzzle, planner, PLANNERS[planner].config() if config is None else config, seed=seed)
    return level, play(task, opened, level, goal_frame)


def with_goal_frame(level: Level, frame: np.ndarray) -> Level:
    """The level with the state that a frame [H,W,3] shows as its goal, or without any goal where it shows none."""
    shape = level.background.shape
    if frame.shape != shape:
        raise InputError(
            f"the goal frame is {frame.shape[1]} × {frame.shape[0]} pixels; this level's frames are "
            f"{shape[1]} × {shape[0]}"
        )
    for state in range(len(level.successors)):
        if np.array_equal(level.frame(state), frame):
            return with_goal_state(level, state)
    return dataclasses.replace(level, goals=np.zeros(len(level.goals), bool))


def read_frame(path: Path) -> np.ndarray:
    """The picture in a file, [H,W,3] uint8; an InputError where there is none."""
    try:
        with Image.open(path) as picture:
            return np.array(picture.convert("RGB"))
    except FileNotFoundError:
        raise InputError(f"{path} does not exist") from None
    except (UnidentifiedImageError, OSError, SyntaxError) as problem:
        raise InputError(f"{path} is no picture that can be read: {problem}") from None


def story(level: Level, episode: Episode) -> str:
    """What happened, in a sentence or two."""
    moves = ", ".join(ACTIONS[action] for action in episode.actions) or "none"
    solution = level.shortest_path(level.start)
    best = "no way exists" if solution is None else f"{len(solution)} would do"
    outcome = {
        "solved": "solved",
        "steps": "not solved: out of steps",
        "exhausted": "not solved: all that can be reached was tried, and the goal is not there",
        "plan over": "not solved: the plan did not lead to the goal",
    }[episode.ended]
    if episode.ended == "plan over" and episode.plans and not episode.plans[-1].reached:
        outcome = "not solved: the goal was not found"
    return (
        f"level {level.number}: {outcome} after {len(episode.actions)} steps ({best}), {episode.replans} replans, "
        f"{1e3 * episode.seconds:.0f} ms of planning\nmoves: {moves}"
    )


def write_figure(level: Level, episode: Episode, out: Path) -> None:
    """Write the episode as PNG or GIF, by the file's ending."""
    if out.suffix.lower() == ".gif":
        out.parent.mkdir(parents=True, exist_ok=True)
        write_bytes(out, episode_gif(episode))
    else:
        write_picture(out, solution_picture(level, episode))

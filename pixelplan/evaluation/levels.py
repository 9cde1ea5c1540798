"""One level, played by one planner: what every process of an evaluation does again and again."""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from pixelplan.envs import Level, PlayOptions, Puzzle, PuzzleEnv, get_level
from pixelplan.envs.oracle import Oracle
from pixelplan.evaluation.blindfold import Blindfold
from pixelplan.planning import PLANNERS
from pixelplan.types import Episode, LevelResult, Model

Goals = Literal["level", "random"]


@dataclass(frozen=True)
class Task:
    """Everything that decides how a level goes, except the model."""

    puzzle: Puzzle
    planner: str
    config: Any
    goals: Goals = "level"
    seed: int = 0


def play_level(task: Task, model: Model | None, number: int) -> LevelResult:
    """How a level goes, whatever happens: something raised is part of the result. No model means the oracle."""
    try:
        level = with_goal(get_level(task.puzzle, number), task.goals, task.seed)
        solution = level.shortest_path(level.start)
        shortest = None if solution is None else len(solution)
        episode = play(task, model, level)
    except Exception as problem:  # a level that raises must not lose the others
        return LevelResult(
            number, False, 0, None, 0, 0, 0.0, ended="error", error=f"{type(problem).__name__}: {problem}"
        )
    return LevelResult(
        level=number,
        solved=episode.solved,
        steps=len(episode.actions),
        shortest=shortest,
        replans=episode.replans,
        nodes=sum(plan.nodes for plan in episode.plans),
        seconds=round(episode.seconds, 6),
        plans=len(episode.plans),
        ended=episode.ended,
    )


def play(task: Task, model: Model | None, level: Level, goal_frame: np.ndarray | None = None) -> Episode:
    """One episode in a level towards its goal, or another frame [H,W,3]; no model means the oracle."""
    planner = PLANNERS[task.planner]
    if model is None and planner.needs_model:
        model = Oracle(level)
    random = np.random.default_rng([task.seed, level.number])
    goal_frame = level.frame(level.goal) if goal_frame is None else goal_frame
    return planner.play(model, blindfolded(task.puzzle, level), goal_frame, task.config, random)


def blindfolded(puzzle: Puzzle, level: Level) -> Blindfold:
    """The level's environment as planners may see it; its goal is the one of `level`."""
    env = PuzzleEnv(puzzle, PlayOptions(level=level.number, terminate_on_goal=False))
    return Blindfold(env, solved=lambda: bool(level.goals[env.clone_state().state]))


def with_goal(level: Level, goals: Goals, seed: int) -> Level:
    """The level itself, or the level with a random place as its goal, other than the start and reachable from it."""
    if goals == "level":
        return level
    elsewhere = level.reachable(level.start) & (level.positions != level.positions[level.start]).any(axis=1)
    candidates = np.flatnonzero(elsewhere)
    if not len(candidates):
        return level
    return with_goal_state(level, int(np.random.default_rng([seed, level.number, 1]).choice(candidates)))


def with_goal_state(level: Level, state: int) -> Level:
    """The level with this state as its goal; other states with the same position solve it, too."""
    goals = (level.positions == level.positions[state]).all(axis=1)
    return dataclasses.replace(level, goal=state, goals=goals)

"""One level, played by one planner: what every process of an evaluation does again and again."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from pixelplan.envs import Level, Puzzle
from pixelplan.envs.blindfold import Blindfold
from pixelplan.envs.family import Challenge, Family, challenge_of_level
from pixelplan.envs.goals import Goals
from pixelplan.envs.guard import EnvironmentFailed, describe
from pixelplan.envs.oracle import Oracle
from pixelplan.evaluation.chance import Chance
from pixelplan.evaluation.result import LevelResult
from pixelplan.evaluation.stats import level_result
from pixelplan.planning import PLANNERS
from pixelplan.planning.plan import Episode
from pixelplan.types import Model


@dataclass(frozen=True)
class Task:
    """Everything that decides how a level goes, except the model."""

    family: Family
    planner: str
    config: Any
    goals: Goals = "level"
    seed: int = 0
    chance: Chance | None = None
    """The chance of plans, if it was learned."""


def play_level(task: Task, model: Model | None, number: int) -> LevelResult:
    """Play a level. An exception becomes part of the result. No model means the oracle."""
    try:
        challenge = task.family.challenge(number, task.goals, task.seed)
        episode = play(task, model, challenge)
    except Exception as problem:  # a level that raises must not lose the others
        said = str(problem) if isinstance(problem, EnvironmentFailed) else describe(problem)
        return LevelResult(number, False, 0, None, 0, 0, 0.0, ended="error", error=said)
    return level_result(number, episode, challenge.shortest)


def play(task: Task, model: Model | None, challenge: Challenge) -> Episode:
    """One episode in a level towards its goal; no model means the oracle, which the level's tables make."""
    planner = PLANNERS[task.planner]
    if model is None and planner.needs_model:
        assert challenge.level is not None  # choose_model makes sure of that
        model = Oracle(challenge.level)
    random = np.random.default_rng([task.seed, challenge.number])
    world = Blindfold(challenge.env, solved=challenge.solved)
    episode = planner.play(model, world, challenge.goal, task.config, random)
    if task.chance is None:
        return episode
    return replace(episode, plans=tuple(replace(plan, chance=task.chance(plan)) for plan in episode.plans))


def blindfolded(puzzle: Puzzle, level: Level) -> Blindfold:
    """The level's environment as planners may see it; its goal is the one of `level`."""
    challenge = challenge_of_level(puzzle, level)
    return Blindfold(challenge.env, solved=challenge.solved)

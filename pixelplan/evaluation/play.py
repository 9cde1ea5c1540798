"""One level, played by one planner: what every process of an evaluation does over and over."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass, replace
from typing import Any, get_args

import numpy as np

from pixelplan.envs.blindfold import Blindfold
from pixelplan.envs.family import Challenge, Family, Goals
from pixelplan.envs.guard import EnvironmentFailed, describe
from pixelplan.evaluation.chance import Chance
from pixelplan.evaluation.result import LevelResult
from pixelplan.evaluation.stats import level_result
from pixelplan.planning import PLANNERS
from pixelplan.planning.latent_goal import need_goal_test
from pixelplan.planning.plan import Episode
from pixelplan.types import Goal, InputError, Model


@dataclass(frozen=True)
class Task:
    """Everything that decides how a level goes, except the model."""

    family: Family
    planner: str
    config: Any
    goals: Goals = "level"
    seed: int = 0
    chance: Chance | None = None
    """The chance that plans succeed, if it was learned."""


def play_level(task: Task, model: Model | None, number: int) -> LevelResult:
    """Play a level. An exception becomes part of the result. No model means the oracle."""
    try:
        challenge = task.family.challenge(number, task.goals, task.seed)
        episode = play(task, model, challenge)
    except Exception as problem:  # a level that raises must not lose the others
        reason = str(problem) if isinstance(problem, EnvironmentFailed) else describe(problem)
        return LevelResult(number, False, 0, None, 0, 0, 0.0, ended="error", error=reason)
    return level_result(number, episode, challenge.shortest)


def play(task: Task, model: Model | None, challenge: Challenge) -> Episode:
    """One episode in a level towards its goal; no model means the oracle, which the level's tables make."""
    planner = PLANNERS[task.planner]
    if model is None and planner.needs_model:
        assert challenge.rules is not None  # choose_model ensures it
        model = challenge.rules()
    random = np.random.default_rng([task.seed, challenge.number])
    world = Blindfold(challenge.env, solved=challenge.solved)
    episode = planner.play(model, world, challenge.goal, task.config, random)
    if task.chance is None:
        return episode
    return replace(episode, plans=tuple(replace(plan, chance=task.chance(plan)) for plan in episode.plans))


def check_wanted(goal: Any) -> None:
    """An InputError if a goal is asked for by a name that does not exist."""
    if isinstance(goal, str) and goal not in get_args(Goals):
        raise InputError(f"goals is {goal!r}; it is one of {', '.join(map(repr, get_args(Goals)))}")


def check_goal(model: Model | None, planner: str, goal: Goal) -> None:
    """An InputError if the goal is whatever solves a level, and the model has no goal test."""
    if goal.frames is None and PLANNERS[planner].needs_model and model is not None:
        need_goal_test(model)


def weights_of(model: Model | None) -> str | None:
    """A short digest of a trained model's weights, threshold and goal test; None if it has no weights."""
    networks = getattr(model, "networks", None)
    if model is None or networks is None:
        return None
    digest = hashlib.sha256(repr(model.threshold).encode())
    test = getattr(model, "goal_test", None)
    if test is not None:
        digest.update(repr(test.description).encode())
    for network in (networks, *([] if test is None else [test.network])):
        for name, values in sorted(network.state_dict().items()):
            digest.update(name.encode() + values.cpu().numpy().tobytes())
    return digest.hexdigest()[:16]

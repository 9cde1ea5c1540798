"""How likely a plan is to succeed if carried out blindly, learned from other plans on validation levels.

Three things matter: whether the search found the goal, how long the plan is (each step may be predicted wrongly), and
how far its end is from the goal. How much each matters depends on the model and the search, so it is learned from the
record of an evaluation with the same model and search.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from pixelplan.files import read_json
from pixelplan.planning.plan import Plan
from pixelplan.types import InputError

FEWEST_PLANS = 20
"""The fewest plans to learn from."""
_RIDGE, _ROUNDS = 0.1, 50


@dataclass(frozen=True)
class Chance:
    """The chance that plans by one model and one search succeed."""

    weights: tuple[float, float, float]
    """Log odds of plans that found the goal: a constant, per log of steps, and per distance of the end to the goal."""
    not_found: float
    """The chance of plans that did not find the goal."""

    def __call__(self, plan: Plan) -> float:
        """The chance that the last action of a plan leads to the goal."""
        if not plan.reached:
            return self.not_found
        odds = float(_features([len(plan.actions)], [plan.far])[0] @ np.array(self.weights))
        return 1 / (1 + math.exp(-max(-30.0, min(30.0, odds))))


def learn_chance(episodes: Sequence[Mapping[str, Any]]) -> Chance:
    """Learn from plans that were carried out blindly, given as the levels of a `one-shot` record.

    Logistic regression with Platt's targets: even if all plans succeed, none is certain.
    """
    reached = [plan for plan in episodes if plan["found"]]
    lost = [plan for plan in episodes if not plan["found"]]
    not_found = (sum(plan["solved"] for plan in lost) + 1) / (len(lost) + 2)
    x = _features([plan["planned"] for plan in reached], [plan.get("far") or 0.0 for plan in reached])
    solved = np.array([plan["solved"] for plan in reached], bool)
    right = np.where(solved, (solved.sum() + 1) / (solved.sum() + 2), 1 / ((~solved).sum() + 2))
    weights = np.zeros(3)
    penalty = _RIDGE * np.diag([0.0, 1.0, 1.0]) + 1e-6 * np.eye(3)
    for _ in range(_ROUNDS):  # Newton's method
        chance = 1 / (1 + np.exp(-np.clip(x @ weights, -30, 30)))
        slope = x.T @ (right - chance) - penalty @ weights
        weights = weights + np.linalg.solve((x * (chance * (1 - chance))[:, None]).T @ x + penalty, slope)
    return Chance((float(weights[0]), float(weights[1]), float(weights[2])), not_found)


def _features(steps: Sequence[int], far: Sequence[float]) -> np.ndarray:
    """[n,3], features of similar size for plans with these steps that end this far from the goal."""
    return np.stack([np.ones(len(steps)), np.log1p(np.array(steps, float)) - 3, np.array(far, float)], axis=1)


def read_chance(path: str | Path, wanted: Mapping[str, Any]) -> Chance:
    """The chance of plans, learned from a record of `one-shot` on validation levels.

    An InputError unless the record has the wanted weights, search settings and heuristic.
    """
    record = read_json(Path(path))
    episodes = record.get("episodes") if isinstance(record, dict) else None
    if not isinstance(episodes, list) or record.get("planner") != "one-shot":
        raise InputError(f"{path} is not a record of one-shot; make one with evaluate --planner one-shot --json FILE")
    for name, value in wanted.items():
        if record.get(name) != value:
            raise InputError(f"{path} records plans with other {name}: {_difference(record.get(name), value)}")
    known = [episode for episode in episodes if _is_plan(episode)]
    if len(known) < FEWEST_PLANS:
        raise InputError(f"{path} records {len(known)} plans; at least {FEWEST_PLANS} are needed to learn from")
    return learn_chance(known)


def _difference(recorded: Any, wanted: Any) -> str:
    """In words what differs: of two sets of settings only those that are not the same."""
    if not isinstance(recorded, dict) or not isinstance(wanted, Mapping):
        return f"{recorded}, not {wanted}"
    different = [name for name in sorted({*recorded, *wanted}) if recorded.get(name) != wanted.get(name)]
    return ", ".join(f"{name} {recorded.get(name)}, not {wanted.get(name)}" for name in different)


def _is_plan(episode: Any) -> bool:
    """Whether this level of a record says how a plan went, with possible values."""
    if not isinstance(episode, dict) or not all(isinstance(episode.get(name), bool) for name in ("found", "solved")):
        return False
    far, planned = episode.get("far") or 0.0, episode.get("planned")
    return type(planned) is int and 0 <= planned < 2**31 and isinstance(far, int | float) and 0 <= far < 1e6

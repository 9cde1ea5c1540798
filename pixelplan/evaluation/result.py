"""EVALUATION: what an evaluation returns, as it is written to a record."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class LevelResult:
    """How one level went."""

    level: int
    solved: bool
    steps: int
    shortest: int | None
    """Steps of the shortest solution; None if unknown."""
    replans: int
    nodes: int
    """Nodes in all searches together."""
    seconds: float
    """Time spent planning and perceiving."""
    plans: int = 0
    ended: str = ""
    found: bool | None = None
    """Whether the first plan reaches the goal by the model; this and the next three are None without a plan."""
    planned: int | None = None
    """Steps of the first plan."""
    far: float | None = None
    """How far its end is from the goal, in thresholds of the model."""
    chance: float | None = None
    """How likely it was to succeed, if asked for."""
    error: str | None = None
    """What went wrong, if an exception was raised."""


@dataclass(frozen=True)
class Result:
    """An evaluation, as it is written to a record."""

    env: str
    options: Mapping[str, Any]
    planner: str
    config: Mapping[str, Any]
    model: str | None
    """None if the planner needs no model."""
    levels: tuple[Any, ...]
    """(first, end) of one range, or several such pairs."""
    goals: str
    step_limit: int
    seed: int
    success: float
    interval: tuple[float, float]
    """95 % Wilson interval of the success rate."""
    optimal: float | None
    """Share of the solved levels that took the shortest possible number of steps."""
    seconds_per_plan: float | None
    machine: Mapping[str, Any]
    version: str
    commit: str | None
    threads: int
    episodes: tuple[LevelResult, ...]
    weights: str | None = None
    """Distinguishes the model from others of the same name; None if it has no weights, and in older records."""
    heuristic: str | None = None
    """The folder of the learned distance that guided the search, if one did."""
    calibration: str | None = None
    """The record that the chances of plans were learned from, if asked for."""

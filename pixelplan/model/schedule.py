"""How long training lasts and at what rate it learns, judging by what the passes so far have shown."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from pixelplan.types import ADDED_LATER


@dataclass(frozen=True)
class ScheduleConfig:
    """How the learning rate rises and falls, and when training ends if held-out predictions decide it."""

    least_updates: int = 100
    """The fewest gradient steps in a pass; small sets repeat within it."""
    learned: float = 0.995
    """The score (nearly all steps exact, and every rollout right) from which the rate may fall to learn the rest. It
    falls once a pass fails to raise the score, or the score is 1. Rare things are learned last, so training is not over
    while the score still rises."""
    patience: int = 4
    """Learning is over after this many passes without improvement."""
    settling: float = 0.5
    """How long training then continues with a falling rate, as a share of the passes so far."""
    least_settling: int = field(default=300, metadata={**ADDED_LATER, "before": 0})
    """The fewest gradient steps with a falling rate, rounded up to whole passes: what is rare, such as the steps that
    solve a level, is learned last, and held-out steps hardly show it."""
    warm_up: int = 50
    """Gradient steps over which the rate rises."""
    first_rate: float = field(default=0.04, metadata=ADDED_LATER)
    """The share of the learning rate at which training starts."""
    cycle_warm_up: float = field(default=0.05, metadata=ADDED_LATER)
    """The share of training over which the rate rises if the number of passes is fixed."""
    averaging: float = field(default=0.99, metadata=ADDED_LATER)
    """The share of the running mean of weights that each gradient step keeps, in families that average them."""


@dataclass(frozen=True)
class Schedule:
    """The passes of training."""

    passes: int
    """The most passes."""
    updates: int
    """Gradient steps in each."""
    until_learned: bool
    """Whether training ends when held-out predictions stop improving."""
    config: ScheduleConfig = ScheduleConfig()
    """How it then ends."""

    def last_pass(self, rows: Sequence[dict[str, Any]]) -> int:
        """The number of the last pass, as far as the passes in rows can tell."""
        start = self.settling_since(rows) if self.until_learned else None
        return self.passes if start is None else start + self.settling_passes(start)

    def rate(self, rows: Sequence[dict[str, Any]], share_of_pass: float) -> float:
        """The share of the learning rate at a point 0 … 1 of the pass after those in rows."""
        if not self.until_learned:
            return one_cycle((len(rows) + share_of_pass) / self.passes, self.config)
        start = self.settling_since(rows)
        if start is not None:
            return half_cosine((len(rows) - start + share_of_pass) / self.settling_passes(start))
        return min(1.0, self.config.first_rate + (len(rows) + share_of_pass) * self.updates / self.config.warm_up)

    def settling_since(self, rows: Sequence[dict[str, Any]]) -> int | None:
        """The number of passes after which the rate began to fall; None if it has not yet."""
        best, best_pass = -1.0, 0
        for number, row in enumerate(rows, 1):
            if score(row) > best:
                best, best_pass = score(row), number
            waited = number - best_pass
            learned = score(row) >= self.config.learned and (waited > 0 or score(row) >= 1)
            no_longer = number + self.settling_passes(number) >= self.passes
            if learned or waited >= self.config.patience or no_longer:
                return number
        return None

    def settling_passes(self, start: int) -> int:
        """How many passes the rate takes to fall to zero if it begins to after this many; no more than are left."""
        least = -(-self.config.least_settling // self.updates)
        return min(max(1, round(self.config.settling * start), least), self.passes - start)

    def averaging(self, updates: int) -> float:
        """The share of the running mean of weights to keep after the update that follows `updates` others.

        It is smaller at first, so that the mean soon forgets the weights that training began with.
        """
        return min(self.config.averaging, (updates + 1) / (updates + 10))


def plan_passes(
    levels: int,
    batch: int,
    updates: int,
    until_learned: bool,
    config: ScheduleConfig = ScheduleConfig(),  # noqa: B008 (frozen)
) -> Schedule:
    """Passes over all levels, each of at least `config.least_updates` gradient steps, with `updates` steps in all."""
    updates_a_pass = max(-(-levels // batch), min(config.least_updates, updates))
    return Schedule(-(-updates // updates_a_pass), updates_a_pass, until_learned, config)


def score(row: dict[str, Any]) -> float:
    """How well held-out levels were predicted after a pass: exact steps and rollouts that stay right, half each."""
    return float(row["exact"] + row["lasting"]) / 2


def one_cycle(share_done: float, config: ScheduleConfig = ScheduleConfig()) -> float:  # noqa: B008 (frozen)
    """The share of the learning rate at a point 0 … 1 of training: a linear rise, then a half cosine down to zero."""
    warm_up, first = config.cycle_warm_up, config.first_rate
    if share_done < warm_up:
        return first + (1 - first) * share_done / warm_up
    return half_cosine((share_done - warm_up) / (1 - warm_up))


def half_cosine(share_done: float) -> float:
    """From one to zero."""
    return 0.5 * (1 + math.cos(math.pi * share_done))

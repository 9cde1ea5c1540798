"""How long training lasts and how fast it learns on the way, read from what the passes so far have shown."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

LEAST_UPDATES = 100
"""Gradient steps of a pass at least, so that small sets repeat in it."""
LEARNED = 0.9995
"""The share of held-out steps predicted exactly from which on nothing is left to learn."""
PATIENCE = 5
"""Passes without a better one after which learning is over."""
SETTLING = 0.5
"""How long training then goes on with a falling rate, as a share of the passes so far."""
WARM_UP = 50
"""Gradient steps over which the rate rises, if the end is open."""


@dataclass(frozen=True)
class Schedule:
    """Passes of training."""

    passes: int
    """At most."""
    updates: int
    """Gradient steps in each."""
    until_learned: bool
    """Whether it ends when held-out predictions no longer improve."""

    def last_pass(self, rows: Sequence[dict[str, Any]]) -> int:
        """The pass that is to be the last, as far as the passes in rows tell."""
        begun = settling_since(rows, self.passes) if self.until_learned else None
        return self.passes if begun is None else min(self.passes, begun + settling(begun))

    def rate(self, rows: Sequence[dict[str, Any]], share_of_pass: float) -> float:
        """The share of the learning rate at a point 0 … 1 of the pass after those in rows."""
        if not self.until_learned:
            return one_cycle((len(rows) + share_of_pass) / self.passes)
        begun = settling_since(rows, self.passes)
        if begun is not None:
            return 0.5 * (1 + math.cos(math.pi * (len(rows) - begun + share_of_pass) / settling(begun)))
        return min(1.0, 0.04 + (len(rows) + share_of_pass) * self.updates / WARM_UP)


def plan_passes(levels: int, batch: int, updates: int, until_learned: bool) -> Schedule:
    """Passes of all levels once, and of at least 100 gradient steps, for so many steps in all."""
    updates_a_pass = max(-(-levels // batch), min(LEAST_UPDATES, updates))
    return Schedule(-(-updates // updates_a_pass), updates_a_pass, until_learned)


def settling_since(rows: Sequence[dict[str, Any]], passes: int) -> int | None:
    """The number of passes after which the rate began to fall; None if it has not yet."""
    best, best_pass = -1.0, 0
    for number, row in enumerate(rows, 1):
        if row["exact"] > best:
            best, best_pass = row["exact"], number
        if row["exact"] >= LEARNED or number - best_pass >= PATIENCE or number + settling(number) >= passes:
            return number
    return None


def settling(passes: int) -> int:
    """How many passes the rate takes to fall to zero after so many."""
    return max(2, round(SETTLING * passes))


def one_cycle(share_done: float, warm_up: float = 0.05) -> float:
    """The share of the learning rate at a point 0 … 1 of training: a linear rise, then a half cosine down to zero."""
    if share_done < warm_up:
        return 0.04 + 0.96 * share_done / warm_up
    return 0.5 * (1 + math.cos(math.pi * (share_done - warm_up) / (1 - warm_up)))

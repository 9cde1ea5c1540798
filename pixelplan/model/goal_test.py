"""The goal test: which states solve their level, as a finished model of any family carries it.

A small network reads an embedding and says how sure it is that the state is solved; what is surer than a line counts
as solved. `learn_goal_test.py` trains it.

Shapes: N states of d numbers, on a lattice of R × C places if there is one.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Literal, get_args

import torch
from torch import Tensor, nn

from pixelplan.types import ADDED_LATER

Reading = Literal["channels first", "channels last", "list", "channels first, compared", "channels last, compared"]
READINGS = get_args(Reading)
COMPARED = ", compared"
"""How the names of those readings end that compare places."""
LARGEST = (2**20, 2**10, 31)
"""The most numbers in an embedding, the most channels and the largest neighbourhood of a goal test."""


@dataclass(frozen=True)
class GoalTestConfig:
    """How a goal test is learned."""

    width: int = 32
    """Channels of its network."""
    neighbourhood: int = field(default=3, metadata=ADDED_LATER)
    """Rows and columns of the places, around each one, that its network sees together; an odd number."""
    updates: int = 400
    """Gradient steps for each reading."""
    compared: int = field(default=3, metadata=ADDED_LATER)
    """How many times as many gradient steps a reading takes that compares places."""
    hopeless: float = field(default=0.9, metadata={**ADDED_LATER, "before": 2.0})
    """Places are not compared if all simpler readings make at least this share of the mistakes of a test that always
    gives the same answer: then a state does not show whether it is solved, as when each level has a goal of its own."""
    batch: int = 64
    """Solved states in each step, along with as many others."""
    rate: float = 3e-3
    """The highest learning rate."""
    warm_up: float = field(default=0.1, metadata=ADDED_LATER)
    """The share of the updates in which the rate rises."""
    weight_decay: float = 1e-2
    """The weight decay of AdamW."""
    levels: int = 400
    """The most levels that are looked at."""
    frames: int = 30
    """The most frames of each level that are learned from: solved ones, others, and others that look solved."""
    many_misses: float = 0.05
    """Training warns if the test misses more than this share of solved held-out states."""
    many_alarms: float = 0.01
    """Training warns if the test accepts more than this share of the other held-out states as solved."""


class Certainty(nn.Module):
    """How sure it is that states are solved: logits [N] of embeddings [N,d]."""

    def __init__(self, dimensions: int, rows: int, columns: int, reading: Reading, width: int, side: int) -> None:
        super().__init__()
        self.reading, self.rows, self.columns = reading, rows, columns
        cells = rows * columns
        if reading == "list":
            self.layers = nn.Sequential(nn.Linear(dimensions, width), nn.ReLU(), nn.Linear(width, 1))
        else:
            around = nn.Conv2d(dimensions // cells, width, side, padding=side // 2)
            self.layers = nn.Sequential(around, nn.ReLU(), nn.Conv2d(width, width, 1), nn.ReLU())
            self.answer = nn.Linear(2 * width, 1)
        if reading.endswith(COMPARED):
            self.compared = nn.Sequential(nn.Conv2d(2 * width, width, 1), nn.ReLU())

    def forward(self, z: Tensor) -> Tensor:
        """Logits [N] of z [N,d]."""
        if self.reading == "list":
            return self.layers(z).squeeze(1)
        if self.reading.startswith("channels first"):
            places = z.reshape(len(z), -1, self.rows, self.columns)
        else:
            places = z.reshape(len(z), self.rows, self.columns, -1).permute(0, 3, 1, 2)
        seen = self.layers(places)
        if self.reading.endswith(COMPARED):
            anywhere = seen.amax((2, 3), keepdim=True).expand_as(seen)
            seen = self.compared(torch.cat([seen, anywhere], dim=1))
        return self.answer(torch.cat([seen.amax((2, 3)), seen.mean((2, 3))], dim=1)).squeeze(1)


class LearnedGoalTest:
    """A `GoalTest` that uses a network, with the line that was drawn on held-out levels."""

    def __init__(self, network: Certainty, line: float) -> None:
        self.network, self.line = network.eval(), line

    @torch.inference_mode()
    def __call__(self, z: Tensor) -> Tensor:
        """Doubts [N] that z [N,d] are solved: below 1 a state counts as solved."""
        return (self.line - self.network(z.float())).clamp(max=30).exp()  # stays finite

    @property
    def description(self) -> dict[str, Any]:
        """What a model's config says about it, in addition to its weights."""
        network = self.network
        return {"reading": network.reading, "rows": network.rows, "columns": network.columns, "line": self.line}


@dataclass(frozen=True)
class GoalTestReport:
    """How well a goal test does on levels that it has not learned from."""

    levels: int
    """Held-out levels looked at."""
    with_goal: int
    """In how many of them play had solved the level."""
    missed: float | None
    """Share of solved states that it does not accept as solved; None if there was none to miss."""
    false_alarms: float
    """Share of other states that it accepts as solved."""
    trained_on: int
    """Training levels in which play had solved the level."""
    held_out: bool = True
    """Whether it was judged on held-out levels; if none of them was solved, training levels had to do."""
    pictures: int = 0
    """Goal pictures of training levels that were never reached in play, from which it also learned."""


def warnings(report: GoalTestReport | None, config: GoalTestConfig) -> list[str]:
    """What speaks against planning with a goal test."""
    if report is None:
        return []
    if (report.missed or 0) > config.many_misses or report.false_alarms > config.many_alarms:
        return [
            f"the goal test cannot be trusted: it misses {report.missed or 0:.0%} of solved states and accepts "
            f"{report.false_alarms:.1%} of others as solved; plan to a goal picture, or record more levels that are "
            "solved (collect --explore); if frames do not show what is wanted (a mission in words), draw it into them"
        ]
    return []

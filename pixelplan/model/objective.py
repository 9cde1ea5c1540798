"""The weights of the losses, and their weighted sum."""

from __future__ import annotations

from dataclasses import dataclass, field

from torch import Tensor

from pixelplan.types import ADDED_LATER


@dataclass(frozen=True)
class ObjectiveConfig:
    """The losses' weights, and what they count."""

    margin: float = 1.0
    """ε: how far apart different states should be (the paper: 0.1)."""
    forward_weight: float = 0.625
    """α, on the squared norm. The paper's code has 10 on a mean over 16 dimensions, which is this."""
    inverse_weight: float = 1.0
    """β, of the inverse model's cross entropy."""
    pull_weight: float = 1.0
    """Of the distance between different frames of the same state."""
    look_weight: float = 1.0
    """Of attention to places where the frames of a level are all alike (only encoders with attention maps)."""
    tolerance: float = field(default=0.2, metadata=ADDED_LATER)
    """How far a prediction may miss before it counts among the misses."""
    rare_share: float = field(default=0.5, metadata=ADDED_LATER)
    """The share of the forward loss that counts the misses alone, and of the margin loss that counts the pairs closer
    than the margin alone."""


def weighted_sum(losses: dict[str, tuple[float, Tensor]]) -> dict[str, Tensor]:
    """Losses by name, each given with its weight, unweighted; `total` is the weighted sum."""
    total = sum(weight * loss for weight, loss in losses.values())
    assert isinstance(total, Tensor)
    return {**{name: loss for name, (_, loss) in losses.items()}, "total": total}

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
    """α, on the squared norm. The paper's code has 10 on a mean over 16 dimensions, which is the same."""
    inverse_weight: float = 1.0
    """β, the weight of the inverse model's cross entropy."""
    pull_weight: float = 1.0
    """The weight of the distance between different frames of the same state."""
    look_weight: float = 1.0
    """The weight of attention to places where a level's frames are all alike (only encoders with attention maps)."""
    tolerance: float = field(default=0.2, metadata=ADDED_LATER)
    """How far off a prediction may be before it counts as a miss."""
    rare_share: float = field(default=0.5, metadata=ADDED_LATER)
    """The share of the forward loss that counts only the misses, and of the margin loss that counts only the pairs
    closer than the margin."""


def weighted_sum(losses: dict[str, tuple[float, Tensor]]) -> dict[str, Tensor]:
    """Losses by name, unweighted, from losses given with their weights; `total` is the weighted sum."""
    total = sum(weight * loss for weight, loss in losses.values())
    assert isinstance(total, Tensor)
    return {**{name: loss for name, (_, loss) in losses.items()}, "total": total}

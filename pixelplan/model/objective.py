"""The weighted sum of the losses on a batch."""

from __future__ import annotations

from dataclasses import dataclass

from torch import Tensor
from torch.nn import functional

from pixelplan.model.losses import (
    forward_loss,
    inverse_loss,
    level_pairs,
    look_loss,
    margin_loss,
    pull_loss,
    squared_distances,
)
from pixelplan.model.world_model import LevelBatch, Outputs


@dataclass(frozen=True)
class ObjectiveConfig:
    """The losses' weights."""

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


def losses(outputs: Outputs, batch: LevelBatch, patch: int, config: ObjectiveConfig) -> dict[str, Tensor]:
    """Each loss that applies, unweighted, by its name; `total` is the weighted sum."""
    level, _, action, after = batch.steps.unbind(1)
    distances = squared_distances(outputs.z)  # [L,S,S]
    different, same = level_pairs(batch.states)
    found = {"forward": forward_loss(outputs.predicted, outputs.z[level, after])}
    total = config.forward_weight * found["forward"]
    if outputs.action_logits is not None:
        found["inverse"] = inverse_loss(outputs.action_logits, action)
        total = total + config.inverse_weight * found["inverse"]
    if different.any():
        found["margin"] = margin_loss(distances[different], config.margin)
        total = total + found["margin"]
    if same.any() and config.pull_weight:
        found["pull"] = pull_loss(distances[same])
        total = total + config.pull_weight * found["pull"]
    if outputs.maps is not None and config.look_weight:
        found["look"] = look_loss(outputs.maps, differing_cells(batch, patch))
        total = total + config.look_weight * found["look"]
    return {**found, "total": total}


def differing_cells(batch: LevelBatch, patch: int) -> Tensor:
    """[N,G] bool: the cells in which an image differs from its partner."""
    differs = (batch.images != batch.images[batch.partners]).any(dim=1, keepdim=True)
    return functional.max_pool2d(differs.float(), patch).flatten(1) > 0

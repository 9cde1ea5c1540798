"""The weighted sum of the losses on a batch."""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor
from torch.nn import functional

from pixelplan.model.losses import (
    forward_loss,
    inverse_loss,
    kinds_loss,
    level_pairs,
    look_loss,
    margin_loss,
    pull_loss,
    squared_distances,
    tell_loss,
)
from pixelplan.model.sizes import Sizes
from pixelplan.model.world_model import LevelBatch, Outputs

NOTABLE = 2.0
"""How many times the median difference of cells a cell's must be to mean something, where pixels are noisy."""


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


def losses(
    outputs: Outputs, batch: LevelBatch, sizes: Sizes, config: ObjectiveConfig, noisy: bool = False, settled: float = 1
) -> dict[str, Tensor]:
    """Each loss that applies, unweighted, by its name; `total` is the weighted sum.

    Where frames are noisy, nobody can say which of them show different states. The margin is then kept between the
    codes of the cells: whatever the encoder looks at, two places are two states. The forward model learns to predict
    the place that is looked at. What to look at is for the inverse model to find out; `settled` says from 0 to 1 how
    far it has. Then the encoder is also held to what was predicted (where something hides what acts, that knows
    better), and to what differs. Not before: what always stays in its place is the easiest to predict, and a distractor
    differs between any two frames.
    """
    certain = outputs.certain
    action = batch.steps[:, 2]
    if noisy and outputs.codes is not None:
        distances, (different, same) = squared_distances(outputs.codes), level_pairs(torch.arange(len(outputs.codes)))
    else:
        distances, (different, same) = squared_distances(outputs.z), level_pairs(batch.states)  # [L,S,S]
    if outputs.kinds is not None:
        cells = outputs.kinds.shape[1:]
        found = {"forward": kinds_loss(outputs.predicted.unflatten(1, cells), outputs.reached.unflatten(1, cells))}
    else:
        found = {"forward": forward_loss(outputs.predicted, outputs.reached if certain is None else certain)}
    total = config.forward_weight * found["forward"]
    if certain is not None:
        found["agree"] = forward_loss(outputs.predicted.detach(), outputs.reached)
        total = total + config.forward_weight * settled * found["agree"]
    look_weight = config.look_weight * (settled if noisy else 1)
    differing = differing_cells(batch, sizes, noisy)
    if outputs.action_logits is not None:
        found["inverse"] = inverse_loss(outputs.action_logits, action)
        total = total + config.inverse_weight * found["inverse"]
    if different.any() and outputs.kinds is None:
        found["margin"] = margin_loss(distances[different], config.margin)
        total = total + found["margin"]
    if same.any() and config.pull_weight:
        found["pull"] = pull_loss(distances[same])
        total = total + config.pull_weight * found["pull"]
    if outputs.maps is not None and look_weight:
        found["look"] = look_loss(outputs.maps, differing)
        total = total + look_weight * found["look"]
    if outputs.kinds is not None and look_weight and differing.any():
        found["look"] = tell_loss(outputs.kinds[differing], outputs.kinds[batch.partners][differing])
        total = total + look_weight * found["look"]
    return {**found, "total": total}


def differing_cells(batch: LevelBatch, sizes: Sizes, noisy: bool = False) -> Tensor:
    """[N,G] bool: the cells in which an image differs from its partner.

    Where pixels are noisy all do. Most of them show the same thing, and how much difference means nothing.
    """
    apart = (batch.images - batch.images[batch.partners]).abs().mean(dim=1, keepdim=True)
    of_cells = functional.adaptive_avg_pool2d(apart, (sizes.rows, sizes.columns)).flatten(1)
    return of_cells > (NOTABLE * of_cells.median(dim=1, keepdim=True).values if noisy else 0)

"""The paper's losses, shared by families whose latent is a point and whose states are kept a margin apart."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor, nn

from pixelplan.families.losses import forward_loss, inverse_loss, level_pairs, margin_loss, pull_loss, squared_distances
from pixelplan.model.batches import LevelBatch
from pixelplan.model.networks import Networks
from pixelplan.model.objective import weighted_sum


class MetricNetworks(Networks):
    """Encoder h, forward model f with context and inverse model p, as the paper calls them.

    States are points, kept a margin apart.
    """

    encoder: nn.Module
    """Returns embeddings [N,d] of images [N,3,H,W], and whatever else it knows."""
    forward_model: Any
    """Has `context`; returns embeddings [L,S,A,d] from z [L,S,d] and that context."""
    inverse: nn.Module | None

    def encode(self, images: Tensor) -> Tensor:
        """Embeddings [N,d] of images [N,3,H,W]."""
        z: Tensor = self.encoder(images)[0]
        return z

    def context(self, images: Tensor) -> Any:
        """What the forward model reads from one image [L,3,H,W] of each level."""
        return self.forward_model.context(images)

    def step(self, z: Tensor, context: Any) -> Tensor:
        """Embeddings [L,S,A,d] after each action in z [L,S,d]."""
        after: Tensor = self.forward_model(z, context)
        return after

    def inverse_losses(self, z: Tensor, batch: LevelBatch, weights: Any) -> dict[str, tuple[float, Tensor]]:
        """The inverse model's loss on embeddings z [L,S,d] with its weight, if there is an inverse model."""
        if self.inverse is None:
            return {}
        level, before, action, after = batch.steps.unbind(1)
        logits = self.inverse(z[level, before], z[level, after])
        return {"inverse": (weights.inverse_weight, inverse_loss(logits, action))}

    def forward(self, batch: LevelBatch, weights: Any, share_done: float) -> dict[str, Tensor]:
        """The paper's three losses, one that keeps frames of the same state together, and the family's own."""
        embedded, extras = self.encoder(batch.images)
        z = in_slots(embedded, batch)
        level, _, _, after = batch.steps.unbind(1)
        predicted = self.predict(z, batch)
        losses = {
            "forward": (
                weights.forward_weight,
                forward_loss(predicted, z[level, after], weights.tolerance, weights.rare_share),
            )
        }
        losses |= self.inverse_losses(z, batch, weights)
        distances, (different, same) = squared_distances(z), level_pairs(batch.states)  # [L,S,S]
        if different.any():
            losses["margin"] = (1.0, margin_loss(distances[different], weights.margin, weights.rare_share))
        if same.any() and weights.pull_weight:
            losses["pull"] = (weights.pull_weight, pull_loss(distances[same]))
        return weighted_sum({**losses, **self.family_losses(batch, extras, weights)})

    def predict(self, z: Tensor, batch: LevelBatch) -> Tensor:
        """Embeddings [M,d] predicted for the steps of a batch with embeddings z [L,S,d]."""
        level, before, action, _ = batch.steps.unbind(1)
        starts = z[:, : int(before.max()) + 1]  # no step begins in the slots after these
        after: Tensor = self.forward_model(starts, self.context(batch.images[batch.contexts]))[level, before, action]
        return after

    def family_losses(self, batch: LevelBatch, extras: Any, weights: Any) -> dict[str, tuple[float, Tensor]]:
        """The family's own losses, each with its weight, from whatever else the encoder knows."""
        return {}


def in_slots(embedded: Tensor, batch: LevelBatch) -> Tensor:
    """[L,S,d] embeddings [N,d] in their places, zero in empty slots."""
    slots = torch.zeros(*batch.states.shape, embedded.shape[-1], dtype=embedded.dtype, device=embedded.device)
    return slots.index_put(batch.places.unbind(1), embedded)

"""`position` for worlds with noisy pixels: no frame ever recurs, so nothing relies on equal frames."""

from __future__ import annotations

import dataclasses
from typing import Any

import numpy as np
import torch
from torch import Tensor

from pixelplan.families.grid import NoiseConfig
from pixelplan.families.losses import forward_loss, level_pairs, margin_loss, squared_distances
from pixelplan.families.metric import in_slots
from pixelplan.families.position import Position, attention_losses
from pixelplan.model.batches import LevelBatch, LevelPlay, to_images
from pixelplan.model.objective import weighted_sum
from pixelplan.types import Trajectories


class NoisyPosition(Position):
    """It is unknown which noisy frames show different states.

    So the margin is kept between the codes of cells: whatever the encoder looks at, two places are two states. The
    forward model learns to predict the place that the encoder looks at. The inverse model finds out what to look at.
    Only then is the encoder also held to predictions (they know better if something hides the agent) and to what
    differs. Earlier would be too soon: whatever stays in place is easiest to predict, and a distractor differs between
    any two frames.
    """

    noisy = True

    def states(self, data: Trajectories) -> np.ndarray | None:
        """Every frame is its own state."""
        return np.arange(len(data.frames))

    def usual_updates(self) -> int:
        """More than for clear frames."""
        return self.config.noisy_frames.times_as_long * super().usual_updates()

    def encode(self, images: Tensor) -> Tensor:
        """Embeddings [N,d] of the places looked at."""
        return self.encoder.certain(self.encoder(images)[1])  # type: ignore[operator]

    @torch.inference_mode()
    def judged(self, levels: list[LevelPlay]) -> list[LevelPlay]:
        """With the states that the encoder itself sees: nothing else knows them."""
        return [dataclasses.replace(level, states=self._places(np.asarray(level.frames))) for level in levels]

    def _places(self, frames: np.ndarray) -> np.ndarray:
        """The cell [N] that the encoder looks at in frames [N,H,W,3]."""
        images = to_images(frames).to(next(self.parameters()).device)
        places: np.ndarray = self.encoder(images)[1].flatten(1).argmax(1).cpu().numpy()
        return places

    def forward(self, batch: LevelBatch, weights: Any, share_done: float) -> dict[str, Tensor]:
        """See above; `settled` says, from 0 to 1, how far the inverse model has found out what to look at."""
        found_out = settled(share_done, self.config.noisy_frames)
        embedded, maps = self.encoder(batch.images)
        z = in_slots(embedded, batch)
        seen = in_slots(self.encoder.certain(maps.detach()), batch)  # type: ignore[operator]
        level, before, action, after = batch.steps.unbind(1)
        predicted = self.forward_model(seen, self.context(batch.images[batch.contexts]))[level, before, action]
        forward = forward_loss(predicted, seen[level, after], weights.tolerance, weights.rare_share)
        agree = forward_loss(predicted.detach(), z[level, after], weights.tolerance, weights.rare_share)
        losses = {
            "forward": (weights.forward_weight, forward),
            "agree": (weights.forward_weight * found_out, agree),
        }
        losses |= self.inverse_losses(z, batch, weights)
        codes = self.encoder.readout.unit_codes()  # type: ignore[union-attr,operator]
        different, _ = level_pairs(torch.arange(len(codes), device=codes.device))
        if different.any():
            losses["margin"] = (
                1.0,
                margin_loss(squared_distances(codes)[different], weights.margin, weights.rare_share),
            )
        look = attention_losses(
            batch, maps, weights.look_weight * found_out, self.sizes, self.config.noisy_frames.notable
        )
        return weighted_sum({**losses, **look})


def settled(share_done: float, config: NoiseConfig) -> float:
    """How far, from 0 to 1, the inverse model will have found out what to look at when a share of training is done."""
    return min(1.0, max(0.0, (share_done - config.settling) / (config.settled - config.settling)))

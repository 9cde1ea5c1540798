"""The world model as planners see it, and its presets."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal, NamedTuple

import numpy as np
import torch
from torch import Tensor, nn

from pixelplan.model.cells import CellDynamics, CellEncoder
from pixelplan.model.nets import (
    Grid,
    GridFeatures,
    InverseModel,
    LatentModel,
    Readout,
    SpatialEncoder,
    TransportModel,
)
from pixelplan.model.paper_nets import PaperEncoder, PaperForwardModel
from pixelplan.model.sizes import Sizes
from pixelplan.types import InputError


@dataclass(frozen=True)
class ModelConfig:
    """The networks."""

    family: Literal["auto", "position", "cells", "latent", "paper"] = "position"
    """position: a place on a grid and a map of where actions lead; cells: what is in each cell of a grid, for worlds in
    which several things change; auto (in training): the one of these two that the data asks for; latent: the encoder of
    position with a forward model that sees no context; paper: the paper's ResNets."""
    dimensions: int = 32
    """Size of an embedding (not cells: there it is the number of cells times kinds)."""
    kinds: int = 16
    """How many different things a cell can hold (cells)."""
    maps: int = 1
    """Attention maps of the encoder (position and latent)."""
    encoder_width: int = 32
    """Channels of the encoder; of the stem in the paper's ResNets."""
    encoder_blocks: int = 1
    """Residual blocks of the encoder (position and latent)."""
    context_width: int = 64
    """Channels of the network that reads a level's rules from a frame (position and cells)."""
    inverse: bool = True
    """Train with the inverse model."""
    noisy: bool = False
    """Frames of one state differ by visual noise: nothing rests on frames being equal (position only)."""


class LevelBatch(NamedTuple):
    """Frames of a few levels, ready for the networks: N frames, L levels of at most S frames each, M steps."""

    images: Tensor
    """[N,3,H,W] float in −0.5 … 0.5."""
    places: Tensor
    """[N,2] int64: the level in the batch and the slot in it of each image."""
    contexts: Tensor
    """[L] int64: the image that serves as each level's context."""
    states: Tensor
    """[L,S] int64: the state in each slot, −1 where it is empty."""
    steps: Tensor
    """[M,4] int64: level, slot, action, slot after it."""
    partners: Tensor
    """[N] int64: for each image another one of its level, to look for differences."""


class Outputs(NamedTuple):
    """What the networks make of a batch."""

    z: Tensor
    """[L,S,d], zero in empty slots."""
    maps: Tensor | None
    """[N,K,G] attention maps, where the encoder has them."""
    kinds: Tensor | None
    """[N,G,K] what is in each cell, where the encoder says that."""
    predicted: Tensor
    """[M,d] the embeddings predicted after each step."""
    reached: Tensor
    """[M,d] what they should be: embeddings of the frames after each step."""
    certain: Tensor | None
    """[M,d] where frames are noisy, the same of nothing but the place that is looked at."""
    action_logits: Tensor | None
    """[M,A] of the inverse model, where there is one."""
    codes: Tensor | None
    """[K·G,d] what attention to each cell would be embedded as, where the encoder has attention maps."""


class WorldModel(nn.Module):
    """Encoder h, forward model f with context, inverse model p, and the distance under which two states are one."""

    def __init__(self, config: ModelConfig, sizes: Sizes, threshold: float = 0.0) -> None:
        super().__init__()
        self.config, self.sizes, self.threshold, self.noisy = config, sizes, threshold, config.noisy
        dimensions, actions = config.dimensions, sizes.actions
        self.encoder: nn.Module
        self.forward_model: TransportModel | CellDynamics | LatentModel | PaperForwardModel
        if config.family == "paper":
            self.encoder = PaperEncoder(sizes.height, sizes.width, dimensions, config.encoder_width)
            self.forward_model = PaperForwardModel(sizes.height, sizes.width, dimensions, actions, config.encoder_width)
        else:
            rows, columns = sizes.rows, sizes.columns
            width, maps = config.encoder_width, config.maps
            # Two 3×3 convolutions a block: enough blocks for a cell to see as far as a step can lead.
            blocks = max(2, -(-sizes.reach // 2))
            if config.family == "cells":
                dimensions = rows * columns * config.kinds
                self.encoder = CellEncoder((rows, columns), sizes.patch, config.kinds)
                features = GridFeatures((rows, columns), sizes.patch, config.context_width, blocks=1)
                self.forward_model = CellDynamics(
                    features, config.context_width, blocks, config.kinds, rows * columns, actions
                )
            else:
                readout = Readout(maps, rows * columns, dimensions)
                features = GridFeatures((rows, columns), sizes.patch, width, config.encoder_blocks)
                self.encoder = SpatialEncoder(features, width, maps, readout)
            if config.family == "latent":
                self.forward_model = LatentModel(dimensions, actions)
            elif config.family != "cells":
                grid = Grid(rows, columns, sizes.reach)
                self.forward_model = TransportModel(sizes.patch, config.context_width, blocks, readout, grid, actions)
        self.inverse = InverseModel(dimensions, actions) if config.inverse else None

    def forward(self, batch: LevelBatch) -> Outputs:
        """Everything the losses need, in one call (so that several processes can share a batch)."""
        embedded, parts = self.encoder(batch.images)
        z = embedded.new_zeros(*batch.states.shape, embedded.shape[-1]).index_put(batch.places.unbind(1), embedded)
        context = self.forward_model.context(batch.images[batch.contexts])
        level, before, action, after = batch.steps.unbind(1)
        states = z
        if self.config.family == "cells":
            # Kinds are there to tell states apart: a forward model that could change them would make them all alike.
            states = z.detach()
        elif self.noisy and isinstance(self.encoder, SpatialEncoder):
            states = torch.zeros_like(z).index_put(batch.places.unbind(1), self.encoder.certain(parts.detach()))
        predicted = self.forward_model(states, context)[level, before, action]
        logits = self.inverse(z[level, before], z[level, after]) if self.inverse is not None else None
        kinds = parts if isinstance(self.encoder, CellEncoder) else None
        maps = parts if isinstance(self.encoder, SpatialEncoder) else None
        codes = self.encoder.readout.unit_codes() if isinstance(self.encoder, SpatialEncoder) else None
        reached = (states if self.config.family == "cells" else z)[level, after]
        certain = states[level, after] if self.noisy else None
        return Outputs(z, maps, kinds, predicted, reached, certain, logits, codes)

    def images(self, frames: np.ndarray) -> Tensor:
        """[N,3,H,W] for the networks, of frames [N,H,W,3] uint8."""
        expected = (self.sizes.height, self.sizes.width, 3)
        if frames.ndim != 4 or frames.shape[1:] != expected or frames.dtype != np.uint8:
            raise InputError(
                f"frames are {frames.dtype} of shape {frames.shape}; this model takes uint8 of shape (N, "
                f"{', '.join(map(str, expected))})"
            )
        return to_images(frames).to(next(self.parameters()).device, memory_format=torch.channels_last)

    @torch.inference_mode()
    def encode(self, frames: np.ndarray) -> Tensor:
        """Embeddings [N,d] of frames [N,H,W,3] uint8; where pixels are noisy, those of the places looked at."""
        z, parts = self.encoder(self.images(frames))
        return self.encoder.certain(parts) if self.noisy and isinstance(self.encoder, SpatialEncoder) else z

    @torch.inference_mode()
    def places(self, frames: np.ndarray) -> np.ndarray:
        """The cell [N] that the encoder looks at in frames [N,H,W,3] uint8 (position and latent)."""
        return self.encoder(self.images(frames))[1].flatten(1).argmax(1).cpu().numpy()

    @torch.inference_mode()
    def context(self, frame: np.ndarray) -> Any:
        """What `step` needs to know of the level, from one frame [H,W,3] of it."""
        return self.forward_model.context(self.images(frame[None]))

    @torch.inference_mode()
    def step(self, z: Tensor, context: Any) -> Tensor:
        """The embeddings [N,A,d] after each action from each of z [N,d]."""
        return self.forward_model(z.unsqueeze(0), context).squeeze(0)


def to_images(frames: np.ndarray) -> Tensor:
    """[N,3,H,W] float in −0.5 … 0.5, of frames [N,H,W,3] uint8."""
    return torch.from_numpy(np.ascontiguousarray(frames.transpose(0, 3, 1, 2))).float() / 255 - 0.5

"""The paper's fully latent forward model, which sees no context: an ablation, on the encoder of `position`."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor, nn
from torch.nn import functional

from pixelplan.families.blocks import inverse_model
from pixelplan.families.grid import GridNetworks, ModelConfig
from pixelplan.families.metric import MetricNetworks
from pixelplan.families.position import Readout, attention_losses, spatial_encoder
from pixelplan.model.batches import LevelBatch
from pixelplan.model.sizes import Sizes


class Latent(GridNetworks, MetricNetworks):
    """Attention to one cell, and a forward model that knows nothing about the level."""

    def __init__(self, config: ModelConfig, sizes: Sizes) -> None:
        super().__init__(sizes)
        self.config = config
        readout = Readout(config.maps, sizes.rows * sizes.columns, config.dimensions)
        self.encoder = spatial_encoder(config, sizes, readout)
        self.forward_model = LatentModel(config.dimensions, sizes.actions, config.latent_width)
        self.inverse = inverse_model(config, sizes)

    def family_losses(self, batch: LevelBatch, maps: Tensor, weights: Any) -> dict[str, tuple[float, Tensor]]:
        """Attention belongs where the frames of a level differ."""
        return attention_losses(batch, maps, weights.look_weight, self.sizes)


class LatentModel(nn.Module):
    """The paper's fully latent forward model: three layer-normalised layers, and no context."""

    def __init__(self, dimensions: int, actions: int, width: int) -> None:
        super().__init__()
        self.actions = actions
        layers: list[nn.Module] = []
        for inputs in (dimensions + actions, width, width):
            layers += [nn.Linear(inputs, width), nn.LayerNorm(width), nn.ReLU()]
        self.layers = nn.Sequential(*layers, nn.Linear(width, dimensions))

    def context(self, images: Tensor) -> Tensor:
        """Nothing: [L,0]."""
        return images.new_zeros(len(images), 0)

    def forward(self, z: Tensor, context: Tensor) -> Tensor:
        """Embeddings [L,S,A,d] after each action in z [L,S,d]."""
        states = z.unsqueeze(2).expand(-1, -1, self.actions, -1)
        actions = torch.eye(self.actions, device=z.device, dtype=z.dtype).expand(*states.shape[:2], -1, -1)
        return self._moved(states, actions)

    def after(self, z: Tensor, before: Tensor, context: Tensor, level: Tensor, action: Tensor) -> Tensor:
        """Embeddings [M,d] after an action [M] in each of the embeddings z [N,d] at `before` [M]."""
        return self._moved(z[before], torch.eye(self.actions, device=z.device, dtype=z.dtype)[action])

    def _moved(self, z: Tensor, actions: Tensor) -> Tensor:
        """Embeddings [...,d] after one-hot actions [...,A] in z [...,d]."""
        return functional.normalize(self.layers(torch.cat([z, actions], dim=-1)).float(), dim=-1)

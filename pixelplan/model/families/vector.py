"""A point on a sphere as the latent: the paper's architecture at the size of a processor core.

A few strided convolutions map a frame to a unit vector. The forward model spreads it to planes beside the features of
the context frame, reads both with a small convolutional network, and gives the vectors after all actions at once; the
paper's runs a ResNet of its own for each action, at a hundred times the cost. The losses are the paper's, over all
pairs of a level. Nothing is assumed about the picture. It is at its best if few things move, in whatever way; a vector
of 32 numbers does not hold every combination of many things.

Shapes: N images, L levels of S states, A actions, d latent dimensions.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

import torch
from torch import Tensor, nn
from torch.nn import functional

from pixelplan.model.blocks import InverseModel, ResidualBlock
from pixelplan.model.families.metric import MetricNetworks
from pixelplan.model.sizes import Sizes

SIDE = 16
"""Rows and columns of the planes."""


@dataclass(frozen=True)
class VectorConfig:
    """The vector family."""

    family: Literal["vector"] = "vector"
    """Its name."""
    dimensions: int = 32
    """Size of an embedding."""
    planes: int = 16
    """To which the forward model spreads it."""
    width: int = 64
    """Channels of the networks."""
    inverse: bool = True
    """Train with the inverse model."""
    updates: int = 3000
    """Gradient steps at most."""

    def sizes(self, height: int, width: int, actions: int) -> Sizes:
        """There is no grid: one cell."""
        return Sizes(height, width, actions, rows=1, columns=1, reach=1)


class Vector(MetricNetworks):
    """A unit vector for a frame."""

    until_learned = True
    changes_colours = False
    forward_rise = 0.1

    def __init__(self, config: VectorConfig, sizes: Sizes) -> None:
        super().__init__(sizes)
        self.config = config
        self.encoder = VectorEncoder(config)
        self.forward_model = Planes(config, sizes.actions)
        self.inverse = InverseModel(config.dimensions, sizes.actions) if config.inverse else None

    def usual_updates(self) -> int:
        """As the config says."""
        return self.config.updates


class VectorEncoder(nn.Module):
    """Four strided convolutions and one linear layer."""

    def __init__(self, config: VectorConfig) -> None:
        super().__init__()
        width = config.width
        self.layers = nn.Sequential(
            nn.Conv2d(3, 32, 5, stride=2, padding=2, bias=False),
            nn.BatchNorm2d(32),
            nn.ReLU(),
            nn.Conv2d(32, width, 3, stride=2, padding=1, bias=False),
            nn.BatchNorm2d(width),
            nn.ReLU(),
            nn.Conv2d(width, width, 3, stride=2, padding=1, bias=False),
            nn.BatchNorm2d(width),
            nn.ReLU(),
            nn.Conv2d(width, width, 3, stride=2, padding=1, bias=False),
            nn.BatchNorm2d(width),
            nn.ReLU(),
            nn.Flatten(),
            nn.Linear(SIDE * width, config.dimensions),
        )

    def forward(self, images: Tensor) -> tuple[Tensor, None]:
        """Embeddings [N,d] of images [N,3,H,W]."""
        return functional.normalize(self.layers(resized(images)), dim=-1), None


class Planes(nn.Module):
    """The vectors after all actions, from a vector spread to planes and from one frame of the level."""

    def __init__(self, config: VectorConfig, actions: int) -> None:
        super().__init__()
        width, planes, dimensions = config.width, config.planes, config.dimensions
        self.actions, self.planes = actions, planes
        self.look = nn.Sequential(nn.Conv2d(3, 32, 8, stride=4, padding=2), nn.ReLU(), ResidualBlock(32))
        self.spread = nn.Sequential(
            nn.Linear(dimensions, 128), nn.ReLU(), nn.Linear(128, planes * SIDE * SIDE), nn.ReLU()
        )
        self.read = nn.Sequential(
            nn.Conv2d(32 + planes, width, 4, stride=2, padding=1),
            ResidualBlock(width),
            ResidualBlock(width),
            nn.Conv2d(width, width, 2, stride=2),
            ResidualBlock(width),
            ResidualBlock(width),
            nn.Flatten(),
            nn.ReLU(),
            nn.Linear(width * SIDE, 256),
            nn.ReLU(),
            nn.Linear(256, actions * dimensions),
        )

    def context(self, images: Tensor) -> Tensor:
        """Features [L,32,16,16] of one image [L,3,H,W] of each level."""
        features: Tensor = self.look(resized(images))
        return features

    def forward(self, z: Tensor, context: Tensor) -> Tensor:
        """Embeddings [L,S,A,d] after each action from z [L,S,d], in levels with context [L,32,16,16]."""
        levels, states, dimensions = z.shape
        planes = self.spread(z.flatten(0, 1)).unflatten(1, (self.planes, SIDE, SIDE))
        context = context.repeat_interleave(states, 0)
        change: Any = self.read(torch.cat([planes, context], dim=1)).view(levels, states, self.actions, dimensions)
        return functional.normalize(z.unsqueeze(2) + change, dim=-1)


def resized(images: Tensor) -> Tensor:
    """Images [N,3,H,W] at the size that the networks read, 64 × 64."""
    size = (4 * SIDE, 4 * SIDE)
    if images.shape[-2:] == size:
        return images
    return functional.interpolate(images, size, mode="bilinear", antialias=images.shape[-1] > size[1])

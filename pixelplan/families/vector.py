"""A point on a sphere as the latent: PPGS at a size for one processor core.

A few strided convolutions map a frame to a unit vector. The forward model spreads it to planes, adds the features of
the context frame, reads the sum with a small U-Net, and gives the vectors after all actions at once; the paper's model
runs a ResNet for each action, at a hundred times the cost. The losses are the paper's, with a margin between all pairs
of a level. Nothing is assumed about the picture. It works best if few things move, in whatever way; a vector of 32
numbers cannot hold every combination of many things.

Shapes: N images, L levels of S states, A actions, d latent dimensions, p planes.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal

import torch
from torch import Tensor, nn
from torch.nn import functional

from pixelplan.families.blocks import ResidualBlock, inverse_model
from pixelplan.families.metric import MetricNetworks
from pixelplan.model.batches import LevelBatch
from pixelplan.model.sizes import Sizes
from pixelplan.types import ADDED_LATER, InputError


@dataclass(frozen=True)
class VectorConfig:
    """The vector family."""

    family: Literal["vector"] = "vector"
    """Its name."""
    dimensions: int = 32
    """Size of an embedding."""
    planes: int = 16
    """Planes to which the forward model spreads an embedding."""
    width: int = 48
    """Channels of the forward model at half the planes' resolution; at a quarter it has twice as many."""
    noise: float = 0.07
    """Noise on the embeddings that the forward model learns from, so that small errors do not add up in a plan."""
    inverse: bool = False
    """Train with the inverse model."""
    inverse_width: int = field(default=32, metadata=ADDED_LATER)
    """Units of the inverse model's hidden layer."""
    updates: int = 3000
    """The most gradient steps."""
    side: int = field(default=16, metadata=ADDED_LATER)
    """Rows and columns of the planes, a multiple of 4; networks read frames at four times this size."""
    encoder_width: int = field(default=32, metadata=ADDED_LATER)
    """Channels of the encoder's first convolution; the others have twice as many."""
    spread_width: int = field(default=128, metadata=ADDED_LATER)
    """Units of the hidden layer between a vector and its planes."""

    def __post_init__(self) -> None:
        if self.side % 4:
            raise InputError(f"side is {self.side}; it must be a multiple of 4")

    def sizes(self, height: int, width: int, actions: int) -> Sizes:
        """There is no grid: one cell."""
        return Sizes(height, width, actions, rows=1, columns=1, reach=1)


class Vector(MetricNetworks):
    """A unit vector for a frame."""

    version = 5
    moved_by_muon = True
    until_learned = True
    changes_colours = False
    scattered = True
    halves_precision = True

    def __init__(self, config: VectorConfig, sizes: Sizes) -> None:
        super().__init__(sizes)
        self.config = config
        self.encoder = VectorEncoder(config)
        self.forward_model = Planes(config, sizes.actions)
        self.inverse = inverse_model(config, sizes)

    def predict(self, z: Tensor, batch: LevelBatch) -> Tensor:
        """Embeddings [M,d] predicted for the steps of a batch, from slightly wrong embeddings z [L,S,d]."""
        return super().predict(functional.normalize(z + self.config.noise * torch.randn_like(z), dim=-1), batch)


class VectorEncoder(nn.Module):
    """Four strided convolutions and one linear layer."""

    def __init__(self, config: VectorConfig) -> None:
        super().__init__()
        layers: list[nn.Module] = []
        width, wide = config.encoder_width, 2 * config.encoder_width
        for inputs, outputs, window in ((3, width, 5), (width, wide, 3), (wide, wide, 3), (wide, wide, 3)):
            layers += [
                nn.Conv2d(inputs, outputs, window, stride=2, padding=window // 2, bias=False),
                nn.BatchNorm2d(outputs),
                nn.ReLU(),
            ]
        self.size = 4 * config.side  # of frames, which the strides make 16 times smaller
        self.layers = nn.Sequential(*layers, nn.Flatten(), nn.Linear(wide * (config.side // 4) ** 2, config.dimensions))

    def forward(self, images: Tensor) -> tuple[Tensor, None]:
        """Embeddings [N,d] of images [N,3,H,W]."""
        return functional.normalize(self.layers(resized(images, self.size)), dim=-1), None


class Planes(nn.Module):
    """The vectors after all actions, from a vector spread to planes and from one frame of the level."""

    def __init__(self, config: VectorConfig, actions: int) -> None:
        super().__init__()
        planes, width, wide = config.planes, config.width, 2 * config.width
        self.actions, self.planes, self.side = actions, planes, config.side
        plane, hidden = self.side**2, config.spread_width
        self.look = nn.Sequential(nn.Conv2d(3, planes, 8, stride=4, padding=2), nn.ReLU(), ResidualBlock(planes))
        self.spread = nn.Sequential(nn.Linear(config.dimensions, hidden), nn.ReLU(), nn.Linear(hidden, planes * plane))
        self.halve = nn.Sequential(
            nn.Conv2d(planes, width, 4, stride=2, padding=1), ResidualBlock(width), ResidualBlock(width)
        )
        self.middle = nn.Sequential(
            nn.Conv2d(width, wide, 2, stride=2), ResidualBlock(wide), ResidualBlock(wide), nn.Conv2d(wide, width, 1)
        )
        self.read = nn.Sequential(
            ResidualBlock(width),
            nn.GroupNorm(1, width),
            nn.ReLU(),
            nn.Flatten(),
            nn.Linear(width * plane // 4, actions * config.dimensions),
        )

    def context(self, images: Tensor) -> Tensor:
        """Features [L,p,side,side] of one image [L,3,H,W] of each level."""
        features: Tensor = self.look(resized(images, 4 * self.side))
        return features

    def forward(self, z: Tensor, context: Tensor) -> Tensor:
        """Embeddings [L,S,A,d] after each action in z [L,S,d], in levels with context [L,p,side,side]."""
        spread = self.spread(z).unflatten(2, (self.planes, self.side, self.side))  # [L,S,p,side,side]
        halved = self.halve((spread + context.unsqueeze(1)).flatten(0, 1))
        change = self.read(halved + functional.interpolate(self.middle(halved), scale_factor=2))
        return functional.normalize(z.unsqueeze(2) + change.view(*z.shape[:2], self.actions, z.shape[-1]), dim=-1)


def resized(images: Tensor, side: int) -> Tensor:
    """Images [N,3,H,W] with this many rows and columns of pixels."""
    size = (side, side)
    if images.shape[-2:] == size:
        return images
    return functional.interpolate(images, size, mode="bilinear", antialias=images.shape[-1] > side)

"""Networks that several families are made of.

Shapes: N images [N,3,H,W], a grid of R × C cells, M steps, A actions, d latent dimensions.
"""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor, nn
from torch.nn import functional

from pixelplan.model.sizes import Sizes


class ResidualBlock(nn.Module):
    """Two 3×3 convolutions that add to their input, normalised over all channels and cells."""

    def __init__(self, width: int) -> None:
        super().__init__()
        self.layers = nn.Sequential(
            nn.GroupNorm(1, width),
            nn.ReLU(),
            nn.Conv2d(width, width, 3, padding=1),
            nn.GroupNorm(1, width),
            nn.ReLU(),
            nn.Conv2d(width, width, 3, padding=1),
        )

    def forward(self, features: Tensor) -> Tensor:
        """[N,width,R,C] to the same."""
        return features + self.layers(features)


class GridFeatures(nn.Module):
    """From images to features of each cell of a grid.

    One convolution whose window is twice the patch sees each cell whole wherever it lies (cells of the picture need not
    be aligned with the patches), at a tenth of the cost of a stack of small ones at full resolution.
    """

    def __init__(self, size: tuple[int, int], patch: int, width: int, blocks: int) -> None:
        super().__init__()
        self.size = (size[0] * patch, size[1] * patch)
        margin = patch // 2
        self.patches = nn.Conv2d(3, 2 * width, patch + 2 * margin, stride=patch, padding=margin)
        self.mix = nn.Conv2d(2 * width, width, 1)
        self.blocks = nn.Sequential(*(ResidualBlock(width) for _ in range(blocks)))

    def forward(self, images: Tensor) -> Tensor:
        """[N,3,H,W] to [N,width,R,C]; if cells are not whole pixels, the image is enlarged until they are."""
        if images.shape[-2:] != self.size:
            images = functional.interpolate(images, self.size, mode="bilinear")
        return self.blocks(self.mix(functional.relu(self.patches(images))))


def head(width: int, channels: int) -> nn.Sequential:
    """From features [N,width,R,C] to a few numbers [N,channels,R,C] for each cell."""
    return nn.Sequential(nn.GroupNorm(1, width), nn.ReLU(), nn.Conv2d(width, channels, 1))


def inverse_model(config: Any, sizes: Sizes) -> InverseModel | None:
    """The inverse model that a family's settings ask for."""
    return InverseModel(config.dimensions, sizes.actions, config.inverse_width) if config.inverse else None


class InverseModel(nn.Module):
    """Which action led from one embedding to the next: one hidden layer of layer-normalised units."""

    def __init__(self, dimensions: int, actions: int, width: int) -> None:
        super().__init__()
        self.layers = nn.Sequential(
            nn.Linear(2 * dimensions, width), nn.LayerNorm(width), nn.ReLU(), nn.Linear(width, actions)
        )

    def forward(self, before: Tensor, after: Tensor) -> Tensor:
        """Logits [M,A] for M steps from before [M,d] to after [M,d]."""
        return self.layers(torch.cat([before, after], dim=-1))

"""Procgen's IMPALA network: three stages of convolution, pooling and residual blocks. Used by PPO and GLAMOR."""

from __future__ import annotations

import torch
from torch import Tensor, nn
from torch.nn import functional

STAGES = (16, 32, 32)
"""Channels of the stages, each of which halves the picture's side."""


class ImpalaEncoder(nn.Module):
    """Features [N,F] of pictures [N,3,H,W]."""

    def __init__(self, pixels: int, features: int, group_norm: bool = False) -> None:
        """`group_norm` adds GroupNorm(4) to every stage, as GLAMOR does."""
        super().__init__()
        stages: list[nn.Module] = []
        inputs = 3
        for channels in STAGES:
            stages += [
                nn.Conv2d(inputs, channels, 3, padding=1),
                nn.MaxPool2d(3, stride=2, padding=1),
                *([nn.GroupNorm(4, channels)] if group_norm else []),
                ResidualBlock(channels),
                ResidualBlock(channels),
            ]
            inputs, pixels = channels, (pixels + 1) // 2
        self.stages = nn.Sequential(*stages, nn.ReLU(), nn.Flatten())
        self.out = nn.Linear(inputs * pixels**2, features)

    def forward(self, pictures: Tensor) -> Tensor:
        """[N,3,H,W] → [N,F]."""
        return functional.relu(self.out(self.stages(pictures)))


class ResidualBlock(nn.Module):
    """Two 3×3 convolutions, each after a ReLU, added to what came in."""

    def __init__(self, channels: int) -> None:
        super().__init__()
        self.first = nn.Conv2d(channels, channels, 3, padding=1)
        self.second = nn.Conv2d(channels, channels, 3, padding=1)

    def forward(self, x: Tensor) -> Tensor:
        """[N,C,H,W] → [N,C,H,W]."""
        return x + self.second(functional.relu(self.first(functional.relu(x))))


def as_pictures(frames: Tensor) -> Tensor:
    """Frames [N,H,W,3] uint8 as [N,3,H,W] from -2 to 2, which trains faster than 0 to 1; channels last in memory."""
    return frames.permute(0, 3, 1, 2).to(torch.float32).div_(63.75).sub_(2)

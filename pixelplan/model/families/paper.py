"""The paper's networks: two ResNet-18 backbones without strides after the stem, meant for a GPU.

Shapes: N frames, L levels, S states a level, A actions, d latent dimensions.
"""

from __future__ import annotations

import itertools

import torch
from torch import Tensor, nn
from torch.nn import functional

from pixelplan.model.blocks import InverseModel
from pixelplan.model.families.grid import GridNetworks, ModelConfig
from pixelplan.model.families.metric import MetricNetworks
from pixelplan.model.sizes import Sizes


class Paper(GridNetworks, MetricNetworks):
    """Encoder, forward model and inverse model as in the paper."""

    def __init__(self, config: ModelConfig, sizes: Sizes) -> None:
        super().__init__(sizes)
        self.config = config
        size = (sizes.height, sizes.width)
        self.encoder = PaperEncoder(*size, config.dimensions, config.encoder_width)
        self.forward_model = PaperForwardModel(*size, config.dimensions, sizes.actions, config.encoder_width)
        self.inverse = InverseModel(config.dimensions, sizes.actions) if config.inverse else None


class BasicBlock(nn.Module):
    """ResNet's block of two 3×3 convolutions, without a stride."""

    def __init__(self, inputs: int, outputs: int) -> None:
        super().__init__()
        self.layers = nn.Sequential(
            nn.Conv2d(inputs, outputs, 3, padding=1, bias=False),
            nn.BatchNorm2d(outputs),
            nn.ReLU(),
            nn.Conv2d(outputs, outputs, 3, padding=1, bias=False),
            nn.BatchNorm2d(outputs),
        )
        self.shortcut = nn.Identity() if inputs == outputs else nn.Conv2d(inputs, outputs, 1, bias=False)

    def forward(self, features: Tensor) -> Tensor:
        """[N,inputs,h,w] to [N,outputs,h,w]."""
        return functional.relu(self.shortcut(features) + self.layers(features))


class ResNet(nn.Module):
    """ResNet-18's stem (two strides of 2) and four stages of two blocks, then one linear layer."""

    def __init__(self, height: int, width: int, inputs: int, dimensions: int, stem: int = 64) -> None:
        super().__init__()
        widths = [stem, stem, 2 * stem, 4 * stem, 8 * stem]
        stages: list[nn.Module] = []
        for before, after in itertools.pairwise(widths):
            stages += [BasicBlock(before, after), BasicBlock(after, after)]
        self.layers = nn.Sequential(
            nn.Conv2d(inputs, stem, 7, stride=2, padding=3, bias=False),
            nn.BatchNorm2d(stem),
            nn.ReLU(),
            nn.MaxPool2d(3, stride=2, padding=1),
            *stages,
            nn.Flatten(),
            nn.Linear(8 * stem * -(-height // 4) * -(-width // 4), dimensions),
        )

    def forward(self, images: Tensor) -> Tensor:
        """Unit embeddings [N,d] of images [N,inputs,H,W]."""
        return functional.normalize(self.layers(images), dim=-1)


class PaperEncoder(nn.Module):
    """h: the backbone alone. It has no attention maps."""

    def __init__(self, height: int, width: int, dimensions: int, stem: int) -> None:
        super().__init__()
        self.network = ResNet(height, width, 3, dimensions, stem)

    def forward(self, images: Tensor) -> tuple[Tensor, None]:
        """Embeddings [N,d] of images [N,3,H,W]."""
        return self.network(images), None


class PaperForwardModel(nn.Module):
    """f: the embedding through deconvolutions to a plane of the frame's size, with the context frame and the action."""

    def __init__(self, height: int, width: int, dimensions: int, actions: int, stem: int) -> None:
        super().__init__()
        self.actions, self.size = actions, (height, width)
        self.rows, self.columns = -(-height // 8), -(-width // 8)
        self.expand = nn.Linear(dimensions, stem * self.rows * self.columns)
        self.deconvolve = nn.Sequential(
            nn.ReLU(),
            nn.ConvTranspose2d(stem, stem // 2, 4, stride=2, padding=1),
            nn.ReLU(),
            nn.ConvTranspose2d(stem // 2, stem // 4, 4, stride=2, padding=1),
            nn.ReLU(),
            nn.ConvTranspose2d(stem // 4, 3, 4, stride=2, padding=1),
        )
        self.network = ResNet(height, width, 3 + 3 + actions, dimensions, stem)

    def context(self, images: Tensor) -> Tensor:
        """The images [L,3,H,W] themselves."""
        return images

    def forward(self, z: Tensor, context: Tensor) -> Tensor:
        """Embeddings [L,S,A,d] after each action from z [L,S,d], in levels with context frames [L,3,H,W]."""
        levels, states, _ = z.shape
        height, width = self.size
        planes = self.deconvolve(self.expand(z.flatten(0, 1)).unflatten(-1, (-1, self.rows, self.columns)))
        planes = planes[..., :height, :width].view(levels, states, 1, 3, height, width)
        actions = torch.eye(self.actions, device=z.device, dtype=z.dtype)[:, :, None, None]
        inputs = torch.cat(
            [
                planes.expand(-1, -1, self.actions, -1, -1, -1),
                context[:, None, None].expand(-1, states, self.actions, -1, -1, -1),
                actions.expand(levels, states, -1, -1, height, width),
            ],
            dim=3,
        )
        return self.network(inputs.flatten(0, 2)).unflatten(0, (levels, states, self.actions))

"""PPGS as in the paper: two ResNet-18 backbones without strides after the stem, and its three losses.

At the paper's size it is meant for a GPU. Training runs the forward model only for the steps of a batch; a search needs
it for every action.

Shapes: N frames, M steps, L levels, S states per level, A actions, d latent dimensions.
"""

from __future__ import annotations

import itertools
from dataclasses import dataclass, field
from typing import Any, Literal

import torch
from torch import Tensor, nn
from torch.nn import functional

from pixelplan.families.blocks import InverseModel
from pixelplan.families.losses import inverse_loss, margin_loss
from pixelplan.families.metric import MetricNetworks
from pixelplan.model.batches import LevelBatch
from pixelplan.model.objective import weighted_sum
from pixelplan.model.optimizer import MuonConfig
from pixelplan.model.sizes import Sizes
from pixelplan.types import ADDED_LATER


@dataclass(frozen=True)
class PaperConfig:
    """PPGS."""

    family: Literal["paper"] = "paper"
    """Its name."""
    dimensions: int = 16
    """d: size of an embedding."""
    stem: int = 64
    """Channels of the ResNets' first stage; the last has eight times as many. 64 makes them ResNet-18."""
    inverse: bool = True
    """Train with the inverse model."""
    updates: int = 125_000
    """Gradient steps: 40 passes over 400,000 steps, 128 at a time."""
    adam_epsilon: float = field(default=1e-5, metadata=ADDED_LATER)
    """Adam's ε."""

    def sizes(self, height: int, width: int, actions: int) -> Sizes:
        """There is no grid: one cell."""
        return Sizes(height, width, actions, rows=1, columns=1, reach=1)


class Paper(MetricNetworks):
    """Encoder, forward model and inverse model as in the paper."""

    changes_colours = False
    scattered = True

    def __init__(self, config: PaperConfig, sizes: Sizes) -> None:
        super().__init__(sizes)
        self.config = config
        size = (sizes.height, sizes.width)
        self.encoder = PaperEncoder(*size, config.dimensions, config.stem)
        self.forward_model = PaperForwardModel(*size, config.dimensions, sizes.actions, config.stem)
        self.inverse = InverseModel(config.dimensions, sizes.actions) if config.inverse else None

    def optimizer(
        self,
        rate: float,
        weight_decay: float,
        muon: MuonConfig = MuonConfig(),  # noqa: B008 (frozen)
    ) -> torch.optim.Optimizer:
        """Adam with the paper's ε, if there is no decay."""
        return torch.optim.AdamW(self.parameters(), rate, eps=self.config.adam_epsilon, weight_decay=weight_decay)

    def forward(self, batch: LevelBatch, weights: Any, share_done: float) -> dict[str, Tensor]:
        """The paper's three losses, each the plain mean over the steps. The margin separates a step's end from its
        start, and steps that stay in place count like all others."""
        embedded, _ = self.encoder(batch.images)  # [N,d]
        before, after = batch.images_of_steps()
        level, _, action, _ = batch.steps.unbind(1)
        context = batch.images[batch.contexts]
        predicted = self.forward_model.after(embedded, before, context, level, action)
        moved = (embedded[after] - embedded[before]).pow(2).sum(-1)
        losses = {
            "forward": (weights.forward_weight, (predicted - embedded[after]).pow(2).sum(-1).mean()),
            "margin": (1.0, margin_loss(moved, weights.margin, rare_share=0)),
        }
        if self.inverse is not None:
            logits = self.inverse(embedded[before], embedded[after])
            losses["inverse"] = (weights.inverse_weight, inverse_loss(logits, action))
        return weighted_sum(losses)


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
        self.shortcut: nn.Module = nn.Identity()
        if inputs != outputs:
            self.shortcut = nn.Sequential(nn.Conv2d(inputs, outputs, 1, bias=False), nn.BatchNorm2d(outputs))

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
    """f: the embedding, deconvolved to planes of the frame's size, is read with the context frame and the action."""

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
        """Embeddings [L,S,A,d] after each action in z [L,S,d], in levels with context frames [L,3,H,W]."""
        levels, states, dimensions = z.shape
        level, state, action = (
            part.flatten()
            for part in torch.meshgrid(
                *(torch.arange(count, device=z.device) for count in (levels, states, self.actions)), indexing="ij"
            )
        )
        embeddings = self.after(z.flatten(0, 1), level * states + state, context, level, action)
        return embeddings.view(levels, states, self.actions, dimensions)

    def after(self, z: Tensor, before: Tensor, context: Tensor, level: Tensor, action: Tensor) -> Tensor:
        """Embeddings [M,d] after an action [M] in each of the embeddings z [N,d] at `before` [M], in levels [M] with
        context frames [L,3,H,W]."""
        height, width = self.size
        expanded = self.expand(z).unflatten(-1, (-1, self.rows, self.columns))
        planes = self.deconvolve(expanded)[..., :height, :width]
        actions = torch.eye(self.actions, device=z.device, dtype=z.dtype)[action][..., None, None]
        inputs = [planes[before], context[level], actions.expand(-1, -1, height, width)]
        embeddings: Tensor = self.network(torch.cat(inputs, dim=1))
        return embeddings

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

from pixelplan.families.blocks import inverse_model
from pixelplan.families.latent import LatentModel
from pixelplan.families.losses import inverse_loss, margin_loss
from pixelplan.families.metric import MetricNetworks
from pixelplan.model.batches import LevelBatch
from pixelplan.model.objective import weighted_sum
from pixelplan.model.optimizer import MuonConfig
from pixelplan.model.sizes import Sizes
from pixelplan.types import ADDED_LATER

LATENT_WIDTH = 256
"""Units of each layer of the fully latent forward model."""


@dataclass(frozen=True)
class PaperConfig:
    """PPGS."""

    family: Literal["paper"] = "paper"
    """Its name."""
    dimensions: int = 16
    """d: size of an embedding."""
    stem: int = 64
    """Channels of the ResNets' first stage; the last has eight times as many. 64 makes them ResNet-18."""
    planes: int = field(default=64, metadata=ADDED_LATER)
    """Channels with which the deconvolution begins, as in the paper for any stem: it costs little."""
    inverse: bool = True
    """Train with the inverse model."""
    inverse_width: int = field(default=32, metadata=ADDED_LATER)
    """Units of the inverse model's hidden layer."""
    latent: bool = field(default=False, metadata=ADDED_LATER)
    """Whether the forward model is the paper's fully latent one, which sees no context (an ablation)."""
    updates: int = 125_000
    """Gradient steps: 40 passes over 400,000 steps, 128 at a time."""
    spread: float = field(default=3.0, metadata=ADDED_LATER)
    """How much the planes of random embeddings differ when training begins (about twice their standard deviation). By
    PyTorch's own first weights they hardly would, and the forward model, which also sees frames and actions, learns to
    ignore the embedding."""
    adam_epsilon: float = field(default=1e-5, metadata=ADDED_LATER)
    """Adam's ε."""

    def sizes(self, height: int, width: int, actions: int) -> Sizes:
        """There is no grid: one cell."""
        return Sizes(height, width, actions, rows=1, columns=1, reach=1)


class Paper(MetricNetworks):
    """Encoder, forward model and inverse model as in the paper."""

    changes_colours = False
    scattered = True
    halves_precision = True
    version = 2

    def __init__(self, config: PaperConfig, sizes: Sizes) -> None:
        super().__init__(sizes)
        self.config = config
        size = (sizes.height, sizes.width)
        self.encoder = PaperEncoder(*size, config.dimensions, config.stem)
        self.forward_model: PaperForwardModel | LatentModel
        if config.latent:
            self.forward_model = LatentModel(config.dimensions, sizes.actions, LATENT_WIDTH)
        else:
            self.forward_model = PaperForwardModel(config, sizes)
        self.inverse = inverse_model(config, sizes)
        self.to(memory_format=torch.channels_last)  # type: ignore[call-overload]  # faster on a core

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
        images = batch.images.contiguous(memory_format=torch.channels_last)
        embedded, _ = self.encoder(images)  # [N,d]
        before, after = batch.images_of_steps()
        level, _, action, _ = batch.steps.unbind(1)
        context = images[batch.contexts]
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
        return functional.normalize(self.layers(images).float(), dim=-1)

    def of_parts(self, *parts: tuple[Tensor, Tensor]) -> Tensor:
        """Unit embeddings [M,d] of images whose channels come in parts: images [K,c,H,W], and which of them each of the
        M images has as its part [M].

        The first convolution is linear, so it sees each part once, however many images share it.
        """
        first = self.layers[0]
        assert isinstance(first, nn.Conv2d)
        kernels = first.weight.split([images.shape[1] for images, _ in parts], dim=1)
        seen = [
            functional.conv2d(images, kernel, stride=2, padding=3)[chosen]
            for kernel, (images, chosen) in zip(kernels, parts, strict=True)
        ]
        return functional.normalize(self.layers[1:](sum(seen)).float(), dim=-1)


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

    def __init__(self, config: PaperConfig, sizes: Sizes) -> None:
        super().__init__()
        self.actions, self.size = sizes.actions, (sizes.height, sizes.width)
        self.rows, self.columns = -(-sizes.height // 8), -(-sizes.width // 8)
        first = config.planes
        self.expand = nn.Linear(config.dimensions, first * self.rows * self.columns)
        self.deconvolve = nn.Sequential(
            nn.ReLU(),
            nn.ConvTranspose2d(first, first // 2, 4, stride=2, padding=1),
            nn.ReLU(),
            nn.ConvTranspose2d(first // 2, first // 4, 4, stride=2, padding=1),
            nn.ReLU(),
            nn.ConvTranspose2d(first // 4, 3, 4, stride=2, padding=1),
        )
        self.network = ResNet(*self.size, 3 + 3 + sizes.actions, config.dimensions, config.stem)
        self._begin(config.spread)

    def _begin(self, spread: float) -> None:
        """Draw the first weights so that the planes of random embeddings differ this much."""
        nn.init.normal_(self.expand.weight)  # embeddings are unit vectors
        nn.init.zeros_(self.expand.bias)
        layers = [layer for layer in self.deconvolve if isinstance(layer, nn.ConvTranspose2d)]
        for layer in layers:
            inputs = 4 * layer.in_channels  # of an output: 2 × 2 of the 4 × 4 weights reach it
            nn.init.normal_(layer.weight, std=(2 / inputs) ** 0.5 * (spread if layer is layers[-1] else 1))
            assert layer.bias is not None
            nn.init.zeros_(layer.bias)

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
        expanded = self.expand(z).unflatten(-1, (-1, self.rows, self.columns))
        planes = self.deconvolve(expanded)[..., : self.size[0], : self.size[1]]
        actions = torch.eye(self.actions, device=z.device, dtype=z.dtype)[..., None, None].expand(-1, -1, *self.size)
        return self.network.of_parts((planes, before), (context, level), (actions, action))

"""What is in each cell of a grid as the latent, for worlds in which more than one thing changes.

Shapes: N frames, L levels, S states per level, A actions, K kinds, a grid of R × C cells with G = R·C; embeddings have
d = G·K dimensions: for each cell, a one for its kind among zeros. So states that differ in one cell are √2 apart.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn import functional

from pixelplan.model.batches import LevelBatch, LevelPlay, sample_frames, to_images
from pixelplan.model.blocks import GridFeatures, InverseModel, ResidualBlock, head, nearness
from pixelplan.model.families.grid import GridNetworks, ModelConfig, far_blocks
from pixelplan.model.families.metric import ThreeNetworks, in_slots
from pixelplan.model.families.position import differing_cells
from pixelplan.model.losses import kinds_loss, level_pairs, pull_loss, squared_distances, tell_loss
from pixelplan.model.objective import weighted_sum
from pixelplan.model.sizes import Sizes


class Cells(GridNetworks, ThreeNetworks):
    """A kind for every cell, and what each action makes of them."""

    changes_colours = False  # kinds are told by their colours
    discrete = True
    encoder: CellEncoder

    def __init__(self, config: ModelConfig, sizes: Sizes) -> None:
        super().__init__(sizes)
        self.config = config
        grid = (sizes.rows, sizes.columns)
        self.layout = (*grid, config.kinds)
        self.encoder = CellEncoder(grid, sizes.patch, config.kinds)
        features = GridFeatures(grid, sizes.patch, config.context_width, blocks=1)
        cells = sizes.rows * sizes.columns
        self.forward_model = CellDynamics(
            features, config.context_width, far_blocks(sizes), config.kinds, cells, sizes.actions
        )
        self.inverse = InverseModel(cells * config.kinds, sizes.actions) if config.inverse else None

    def prepare(self, levels: Sequence[LevelPlay]) -> None:
        """Take the patterns of kinds from frames."""
        self.encoder.take_patterns(to_images(sample_frames(levels, self.config.pattern_frames)))

    def forward(self, batch: LevelBatch, weights: Any, share_done: float) -> dict[str, Tensor]:
        """Kinds should be predicted, tell cells that look different apart, and tell actions."""
        embedded, kinds = self.encoder(batch.images)
        z = in_slots(embedded, batch)
        level, before, action, after = batch.steps.unbind(1)
        # Kinds must tell states apart: if the forward model could change them, it would make them all undecided.
        states = z.detach()
        predicted = self.forward_model(states, self.context(batch.images[batch.contexts]))[level, before, action]
        cells = kinds.shape[1:]
        target = states[level, after].unflatten(1, cells)
        losses = {"forward": (weights.forward_weight, kinds_loss(predicted.unflatten(1, cells), target))}
        losses |= self.inverse_losses(z, batch, weights)
        _, same = level_pairs(batch.states)
        if same.any() and weights.pull_weight:
            losses["pull"] = (weights.pull_weight, pull_loss(squared_distances(z)[same]))
        differing = differing_cells(batch, self.sizes)
        if weights.look_weight and differing.any():
            losses["look"] = (weights.look_weight, tell_loss(kinds[differing], kinds[batch.partners][differing]))
        return weighted_sum(losses)


class CellEncoder(nn.Module):
    """What is in each cell, one of K kinds: the one whose pattern is nearest to the cell's own pixels.

    Distances to patterns are one convolution. The patterns are taken from the data before training and then learned
    further, so different things are different kinds from the start.
    """

    def __init__(self, size: tuple[int, int], patch: int, kinds: int) -> None:
        super().__init__()
        self.size, self.patch = (size[0] * patch, size[1] * patch), patch
        self.patterns = nn.Parameter(torch.randn(kinds, 3, patch, patch) / 4)

    def forward(self, images: Tensor) -> tuple[Tensor, Tensor]:
        """Embeddings [N,G·K] of images [N,3,H,W], and the chances [N,G,K] of kinds that they were made from."""
        if images.shape[-2:] != self.size:
            images = functional.interpolate(images, self.size, mode="bilinear")
        scale = 16 / self.patch**2  # about 1 apart if a sixteenth of the pixels differ
        kinds = (nearness(images, self.patterns) * scale).flatten(2).softmax(1).transpose(1, 2)
        return certain(kinds).flatten(1), kinds

    @torch.no_grad()
    def take_patterns(self, images: Tensor) -> None:
        """Start with the patterns of cells of images [N,3,H,W] that are farthest apart, the most common one first."""
        if images.shape[-2:] != self.size:
            images = functional.interpolate(images, self.size, mode="bilinear")
        cells = functional.unfold(images, self.patch, stride=self.patch).transpose(1, 2).flatten(0, 1)  # [N·G,3·p·p]
        contents, counts = torch.unique(cells, dim=0, return_counts=True)
        chosen = [int(counts.argmax())]
        apart = (contents - contents[chosen[0]]).pow(2).sum(1)
        while len(chosen) < len(self.patterns) and apart.max() > 0:
            chosen.append(int(apart.argmax()))
            apart = torch.minimum(apart, (contents - contents[chosen[-1]]).pow(2).sum(1))
        self.patterns[: len(chosen)] = contents[chosen].view(-1, 3, self.patch, self.patch)
        self.patterns[len(chosen) :] = 2.0  # brighter than any picture: unused until something needs it


class CellDynamics(nn.Module):
    """What each action makes of each cell, from the kinds around it and from features of one frame of the level.

    A convolutional network, so what it learns in one place holds everywhere. Three things let it see more: a learned
    map of places (an action may belong to a place, as a button does), the largest activation over the whole picture
    (is there still a key somewhere?), and the level's frame (walls, which never change, need no kind). Its predictions
    are certain, like what the encoder sees, so small errors do not add up along a plan.
    """

    def __init__(self, features: GridFeatures, width: int, blocks: int, kinds: int, cells: int, actions: int) -> None:
        super().__init__()
        self.features, self.kinds, self.actions = features, kinds, actions
        self.enter = nn.Conv2d(kinds, width, 3, padding=1)
        self.places = nn.Parameter(torch.zeros(width, cells))
        self.blocks = nn.ModuleList(ResidualBlock(width) for _ in range(blocks))
        self.everywhere = nn.ModuleList(nn.Linear(width, width) for _ in range(blocks))
        self.change = head(width, actions * kinds)
        self.keep = nn.Parameter(torch.tensor(4.0))  # at first, most cells stay as they are

    def context(self, images: Tensor) -> Tensor:
        """Features [L,width,R,C] of one image [L,3,H,W] of each level."""
        return self.features(images)

    def logits(self, z: Tensor, context: Tensor) -> Tensor:
        """Of the kinds [L,S,A,G,K] in each cell after each action, from z [L,S,G·K]."""
        levels, states = z.shape[:2]
        rows, columns = context.shape[-2:]
        now = z.reshape(levels * states, rows * columns, self.kinds).transpose(1, 2)  # [L·S,K,G]
        features = self.enter(now.unflatten(2, (rows, columns)))
        features = features + self.places.view(-1, rows, columns) + context.repeat_interleave(states, 0)
        for block, everywhere in zip(self.blocks, self.everywhere, strict=True):
            features = block(features + everywhere(features.amax((2, 3)))[..., None, None])
        change = self.change(features).unflatten(1, (self.actions, self.kinds)).flatten(3)  # [L·S,A,K,G]
        return (change + self.keep * now.unsqueeze(1)).transpose(2, 3).unflatten(0, (levels, states))

    def forward(self, z: Tensor, context: Tensor) -> Tensor:
        """Embeddings [L,S,A,G·K] after each action from z [L,S,G·K]; in training the chances instead."""
        chances = self.logits(z, context).softmax(-1)
        return (chances if self.training else certain(chances)).flatten(3)


def certain(kinds: Tensor) -> Tensor:
    """The most likely of kinds [...,K] with certainty; gradients pass as if nothing had been done."""
    best = functional.one_hot(kinds.argmax(-1), kinds.shape[-1]).to(kinds)
    return best + (kinds - kinds.detach())

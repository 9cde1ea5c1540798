"""Networks for worlds in which more than one thing changes: what is in each cell, and what each action makes of it.

Shapes: N frames, L levels, S states a level, A actions, K kinds, a grid of R × C cells with G = R·C; embeddings have
d = G·K dimensions, a one for the kind in each cell among zeros, so that states that differ in one cell are √2 apart.
"""

from __future__ import annotations

import torch
from torch import Tensor, nn
from torch.nn import functional

from pixelplan.model.nets import GridFeatures, ResidualBlock, head


class CellEncoder(nn.Module):
    """What is in each cell: chances of K kinds, from the cell's own pixels alone: the same picture is the same kind."""

    def __init__(self, features: GridFeatures, width: int, kinds: int) -> None:
        super().__init__()
        self.features = features
        self.head = nn.Conv2d(width, kinds, 1)  # nothing normalised over the picture: a cell is read by itself

    def forward(self, images: Tensor) -> tuple[Tensor, Tensor]:
        """Embeddings [N,G·K] of images [N,3,H,W], and the chances [N,G,K] of kinds that they were made from."""
        kinds = self.head(functional.relu(self.features(images))).flatten(2).softmax(1).transpose(1, 2)
        return certain(kinds).flatten(1), kinds


class CellDynamics(nn.Module):
    """What each action makes of each cell, from the kinds around it and from features of one frame of the level.

    A convolutional network, so what was learned in one place holds in all. Three things let it see more than that: a
    learned map of places (an action may belong to a place, as a button does), the largest activation over the whole
    picture (whether a key is still somewhere), and the level's frame (walls, that never change, need no kind).
    What it predicts is certain, as what the encoder sees is, so small errors do not add up along a plan.
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
        now = z.reshape(levels * states, -1, self.kinds).transpose(1, 2)  # [L·S,K,G]
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
    return best + kinds - kinds.detach()

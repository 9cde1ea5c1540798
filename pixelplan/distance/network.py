"""A small network that reads a state's code and the goal's: how many steps lie between them, and which action to take.

Shapes: L levels, S states of each, d zeros and ones per state, laid out as R × C cells of K if the model says so, and A
actions.
"""

from __future__ import annotations

import torch
from torch import Tensor, nn
from torch.nn import functional

from pixelplan.distance.distance_config import NetworkConfig

FARTHEST = 256.0
"""Beyond this many steps everything is equally far."""


class Block(nn.Module):
    """A residual block of two convolutions, or two linear layers; at first it changes nothing."""

    def __init__(self, width: int, cells: bool) -> None:
        super().__init__()
        self.first = nn.Conv2d(width, width, 3, padding=1) if cells else nn.Linear(width, width)
        self.second = nn.Conv2d(width, width, 3, padding=1) if cells else nn.Linear(width, width)
        nn.init.zeros_(self.second.weight)

    def forward(self, features: Tensor) -> Tensor:
        """Features of the same shape."""
        return features + self.second(functional.relu(self.first(functional.relu(features))))


class DistanceNetwork(nn.Module):
    """The square root of the steps from states to a goal, and how promising each action is on the way there.

    Every bit of a code has a weight vector. A state is the sum of the vectors of its ones, and a few layers judge that
    sum. If codes are laid out in cells, a convolutional network reads the goal once per level and changes these
    vectors: what a box in a cell means depends on where the walls and targets are. A much smaller network compares
    neighbouring cells of each state. The goal is the mean of its codes: what its frames disagree about does not matter.
    """

    def __init__(self, bits: int, layout: tuple[int, int, int] | None, actions: int, config: NetworkConfig) -> None:
        super().__init__()
        self.bits, self.layout, self.actions, self.config = bits, layout, actions, config
        hidden = config.hidden
        self.vectors = nn.Parameter(torch.randn(bits, hidden) * 0.05)
        self.goal_vectors = nn.Linear(bits, hidden)
        if layout is not None:
            kinds, width, small = layout[2], config.goal_width, config.state_width
            self.goal_cells = nn.Conv2d(kinds, width, 3, padding=1)
            self.goal_blocks = nn.Sequential(*(Block(width, True) for _ in range(config.goal_blocks)))
            self.changes = nn.Conv2d(width, kinds * hidden, 1)
            self.beside = nn.Conv2d(width, small, 1)
            self.cells = nn.Conv2d(kinds, small, 3, padding=1)
            self.block = Block(small, True)
            self.pooled = nn.Linear(2 * small, hidden)
        self.together = nn.Sequential(Block(hidden, False), Block(hidden, False))
        self.answer, self.policy = nn.Linear(hidden, 1), nn.Linear(hidden, actions)
        nn.init.zeros_(self.answer.weight)
        nn.init.constant_(self.answer.bias, 5.0)  # 25 steps, before anything is learned
        nn.init.zeros_(self.policy.weight)

    def read_goal(self, goals: Tensor) -> tuple[Tensor, Tensor, Tensor | None]:
        """What `forward` needs to know about goals [L,d], each the mean of its codes."""
        bias, vectors = self.goal_vectors(goals).unsqueeze(1), self.vectors.expand(len(goals), -1, -1)
        if self.layout is None:
            return bias, vectors, None
        features = functional.relu(self.goal_blocks(self.goal_cells(self._in_cells(goals))))  # [L,width,R,C]
        changes = self.changes(features).unflatten(1, (self.layout[2], -1))  # [L,K,hidden,R,C]
        return bias, vectors + changes.permute(0, 3, 4, 1, 2).reshape(vectors.shape) * 0.2, self.beside(features)

    def forward(self, z: Tensor, goal: tuple[Tensor, Tensor, Tensor | None]) -> tuple[Tensor, Tensor]:
        """From states z [L,S,d] to the goals that were read: square roots of the steps [L,S], and logits [L,S,A] of the
        first action."""
        bias, vectors, beside = goal
        features = torch.baddbmm(bias, z, vectors)
        if beside is not None:
            seen = self.cells(self._in_cells(z.flatten(0, 1))) + beside.repeat_interleave(z.shape[1], 0)
            seen = functional.relu(self.block(seen))
            pooled = torch.cat([seen.mean((2, 3)) * 4, seen.amax((2, 3))], dim=1)
            features = features + self.pooled(pooled).unflatten(0, z.shape[:2])
        features = functional.relu(self.together(features))
        answer = self.answer(features).squeeze(2)
        return answer if self.training else answer.clamp(0.0, FARTHEST**0.5), self.policy(features)

    def _in_cells(self, z: Tensor) -> Tensor:
        """[N,K,R,C] of z [N,d]."""
        assert self.layout is not None
        return z.view(-1, *self.layout).permute(0, 3, 1, 2)


def layout_of(model: object) -> tuple[int, int, int] | None:
    """Rows, columns and numbers per cell of a model's codes (`model.layout`); None if they have no such layout."""
    layout = getattr(model, "layout", None)
    return None if layout is None else tuple(layout)

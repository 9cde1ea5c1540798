"""PLAN: what planners return, which is the graph that a search built, the plan in it, and the resulting episode.

Shapes: M nodes, A actions, d latent dimensions, w words of 64 bits, H × W pixels.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np


def pack(z: np.ndarray) -> np.ndarray:
    """The bits [N,w] uint64 of embeddings [N,d] of zeros and ones."""
    octets = np.packbits(z > 0.5 if z.dtype != bool else z, axis=1)
    words = -(-octets.shape[1] // 8)
    padded = np.zeros((len(octets), 8 * words), np.uint8)
    padded[:, : octets.shape[1]] = octets
    return padded.view(np.uint64)


def unpack(words: np.ndarray, bits: int) -> np.ndarray:
    """The embeddings [N,d] float32 that `pack` turned into these words [N,w]."""
    octets = np.ascontiguousarray(words).view(np.uint8).reshape(len(words), 8 * words.shape[1])
    return np.unpackbits(octets, axis=1, count=bits).astype(np.float32)


@dataclass(frozen=True, eq=False)
class LatentGraph:
    """What a search built: M nodes in the order in which they were found, the root first."""

    codes: np.ndarray
    """[M,d] float32 embeddings, or [M,w] uint64 with the bits of discrete ones."""
    successors: np.ndarray
    """[M,A] int32, the node that each action leads to; -1 if the search did not look or did not keep it."""
    parents: np.ndarray
    """[M] int32, the node from which each was found; -1 for the root."""
    parent_actions: np.ndarray
    """[M] int32, the action that led there from the parent; -1 for the root."""
    depths: np.ndarray
    """[M] int32, actions from the root."""
    bits: int | None = None
    """How many dimensions packed embeddings have, d; None if codes are the embeddings."""
    ahead: np.ndarray | None = None
    """[M] float32, steps from each node to the goal by the search's distance, if it had one."""

    @property
    def embeddings(self) -> np.ndarray:
        """[M,d] float32. For a large discrete graph this takes a lot of memory; `pieces` returns it in parts."""
        return self.at(slice(None))

    def at(self, nodes: Any) -> np.ndarray:
        """Embeddings [n,d] float32 of some nodes."""
        return self.codes[nodes] if self.bits is None else unpack(self.codes[nodes], self.bits)

    def pieces(self, size: int = 4096) -> Iterator[tuple[slice, np.ndarray]]:
        """All embeddings [n,d] in turn, each part with its nodes; unpacked ones come all at once."""
        size = max(1, len(self.codes)) if self.bits is None else size
        for first in range(0, len(self.codes), size):
            nodes = slice(first, min(first + size, len(self.codes)))
            yield nodes, self.at(nodes)

    def path(self, node: int) -> list[int]:
        """The nodes from the root to a node, both included."""
        nodes = [node]
        while self.parents[nodes[-1]] >= 0:
            nodes.append(int(self.parents[nodes[-1]]))
        return nodes[::-1]

    def actions(self, path: list[int]) -> tuple[int, ...]:
        """The actions along a path from the root."""
        return tuple(int(action) for action in self.parent_actions[path[1:]])


@dataclass(frozen=True, eq=False)
class Plan:
    """Actions that should lead to the goal, and the search that found them."""

    actions: tuple[int, ...]
    """n actions; if the goal was not found, they lead to the node nearest to it, or to something worth trying."""
    reached: bool
    """Whether the last node was reidentified with the goal."""
    embeddings: np.ndarray
    """[n+1,d] float32, predicted along the plan, the start's first."""
    path: tuple[int, ...]
    """The n+1 nodes of the graph along the plan, the root first; only the root if it does not follow the graph."""
    leaves: tuple[int, ...]
    """Nodes that were expanded in each layer."""
    graph: LatentGraph
    seconds: float
    far: float = 0.0
    """How far the embedding at its end is from the goal's, in thresholds of the model."""
    chance: float | None = None
    """How likely it is to succeed if carried out blindly, if that was learned (`evaluation/chance.py`)."""

    @property
    def nodes(self) -> int:
        """Nodes of the graph."""
        return len(self.graph.codes)

    @property
    def layers(self) -> int:
        """Layers that were expanded."""
        return len(self.leaves)


@dataclass(frozen=True, eq=False)
class Episode:
    """One closed-loop run of T steps in an environment."""

    actions: tuple[int, ...]
    """T actions taken."""
    frames: np.ndarray
    """[T+1,H,W,3] uint8, what was seen."""
    solved: bool
    """Whether the environment reported the goal, or showed the goal frame, at the end."""
    ended: str
    """Why it ended: "solved", "steps" (out of steps), "exhausted" (nothing new can be reached), "plan over"."""
    plans: tuple[Plan, ...] = ()
    """Every plan made, in order."""
    planned_at: tuple[int, ...] = ()
    """The step at which each plan was made."""
    seconds: float = 0.0
    """Time spent planning and perceiving, excluding the environment's."""

    @property
    def replans(self) -> int:
        """Plans after the first."""
        return max(0, len(self.plans) - 1)


def can_return(successors: np.ndarray) -> np.ndarray:
    """[M] bool: the nodes of a graph [M,A] from which a path leads to its root, node 0."""
    returns = np.zeros(len(successors), bool)
    returns[0] = True
    while True:
        reaching = returns | (returns[successors] & (successors >= 0)).any(1)
        if (reaching == returns).all():
            return returns
        returns = reaching

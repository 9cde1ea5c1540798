"""LATENT GRAPH: embeddings become nodes where no node is near, and edges where one is."""

from __future__ import annotations

import numpy as np
import torch

from pixelplan.types import LatentGraph

_SMALL = 512
"""Nodes up to which looking at all of them at once is quicker than looking at the latest first."""


class GrowingGraph:
    """A latent graph under construction, in buffers that double as they fill."""

    def __init__(self, root: torch.Tensor, actions: int, threshold: float, capacity: int = 64) -> None:
        """A graph of one node with embedding `root` [d]."""
        self.size = 1
        self._squared_threshold = threshold**2
        self._embeddings = torch.empty(capacity, len(root))
        self._half_norms = torch.empty(capacity)  # ½|v|² of each node
        self._successors = np.full((capacity, actions), -1, np.int32)
        self._origins = np.full((3, capacity), -1, np.int32)  # parent, parent's action, depth
        self._embeddings[0] = root
        self._half_norms[0] = (root @ root) / 2
        self._origins[2, 0] = 0

    def embeddings(self, nodes: np.ndarray) -> torch.Tensor:
        """Embeddings [n,d] of nodes [n]."""
        return self._embeddings[torch.from_numpy(nodes)]

    def reidentify(self, points: torch.Tensor, recent: int) -> np.ndarray:
        """The nearest node [n] of points [n,d], -1 where none is nearer than the threshold.

        Most predictions lead back to where the search just was. A large graph is therefore looked at from its node
        `recent` on first, and only what is not found there is compared with the rest.
        """
        if self.size <= _SMALL:
            return self._nearest(points, 0, self.size)
        found = self._nearest(points, recent, self.size)
        missing = np.flatnonzero(found < 0)
        if len(missing):
            found[missing] = self._nearest(points[torch.from_numpy(missing)], 0, recent)
        return found

    def _nearest(self, points: torch.Tensor, first: int, end: int) -> np.ndarray:
        # |p - v|² = |p|² - 2 (p·v - ½|v|²): one matrix product, and the nearest node is the one with the best score.
        nodes = self._embeddings[first:end]
        scores = torch.addmm(self._half_norms[first:end], points, nodes.T, beta=-1)
        least = (points * points).sum(1).sub_(self._squared_threshold).div_(2)
        near = (scores.amax(1) > least).numpy()
        found = np.full(len(points), -1, np.int64)
        if near.any():
            found[near] = scores[torch.from_numpy(near)].argmax(1).numpy() + first
        return found

    def add(self, points: torch.Tensor, parents: np.ndarray, actions: np.ndarray) -> np.ndarray:
        """New nodes [n] with embeddings points [n,d], each found from a parent by an action."""
        nodes = np.arange(self.size, self.size + len(points))
        self._make_room(self.size + len(points))
        self._embeddings[self.size : self.size + len(points)] = points
        self._half_norms[self.size : self.size + len(points)] = (points * points).sum(1) / 2
        self._origins[:, nodes] = parents, actions, self._origins[2, parents] + 1
        self.size += len(points)
        return nodes

    def connect(self, parents: np.ndarray, successors: np.ndarray) -> None:
        """Note that the actions from parents [n] lead to nodes [n,A]."""
        self._successors[parents] = successors

    def finished(self) -> LatentGraph:
        """The graph as it is now."""
        parents, actions, depths = self._origins[:, : self.size].copy()
        embeddings = self._embeddings[: self.size].numpy().copy()
        return LatentGraph(embeddings, self._successors[: self.size].copy(), parents, actions, depths)

    def _make_room(self, size: int) -> None:
        capacity = len(self._half_norms)
        if size <= capacity:
            return
        more = max(capacity, size - capacity)
        self._embeddings = torch.cat([self._embeddings, torch.empty(more, self._embeddings.shape[1])])
        self._half_norms = torch.cat([self._half_norms, torch.empty(more)])
        self._successors = np.pad(self._successors, ((0, more), (0, 0)), constant_values=-1)
        self._origins = np.pad(self._origins, ((0, 0), (0, more)), constant_values=-1)


def thin_out(points: torch.Tensor, threshold: float) -> tuple[np.ndarray, np.ndarray]:
    """The paper's `filter`: drop points [n,d] until no two are nearer than the threshold.

    Gives the kept ones [k], and for every point [n] the kept one that stands for it, as an index into those. Points
    that are too near are joined by an edge. The kept ones are a maximal independent set, points with few neighbours
    first, so the dropped ones are a small vertex cover. Duplicates are cliques: one round settles most layers.
    """
    count = len(points)
    if count == 1:
        return np.zeros(1, np.int64), np.zeros(1, np.int64)
    norms = (points * points).sum(1)
    distances = (norms[:, None] + norms - 2 * (points @ points.T)).numpy()
    near = distances < threshold**2
    np.fill_diagonal(near, True)
    turn = np.empty(count, np.int64)
    turn[np.argsort(near.sum(1), kind="stable")] = np.arange(count)
    undecided, kept = np.ones(count, bool), np.zeros(count, bool)
    while undecided.any():
        first = np.where(near & undecided, turn, count).min(1)
        chosen = undecided & (first == turn)
        kept |= chosen
        undecided &= ~near[chosen].any(0)
    indices = np.flatnonzero(kept)
    return indices, np.where(near, distances, np.inf)[:, indices].argmin(1)

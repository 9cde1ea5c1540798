"""LATENT GRAPH: an embedding becomes a new node if no node is near, and otherwise an edge to the nearest node."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from pixelplan.planning.plan import LatentGraph

if TYPE_CHECKING:
    import torch

_ALL_AT_ONCE = 512
"""Up to this many nodes, comparing with all at once is faster than comparing with the latest first."""
_NUMPY_PRODUCTS = 4096
"""Up to this many inner products, numpy is faster than torch."""


class Origins:
    """How the nodes of a growing graph were found, and where their actions lead. Buffers double as they fill."""

    def __init__(self, capacity: int = 256) -> None:
        """A graph of one node, the root."""
        self._origins = np.full((capacity, 3), -1, np.int32)  # parent, parent's action, depth
        self._origins[0, 2] = 0
        self._edges: list[tuple[np.ndarray, np.ndarray]] = []  # nodes [n] and where their actions lead [n,A]
        self._count = 1

    def grow(self, parents: np.ndarray, actions: np.ndarray) -> None:
        """Add new nodes [n], found from these parents by these actions."""
        first, self._count = self._count, self._count + len(parents)
        while self._count > len(self._origins):
            self._origins = with_room(self._origins)
        new = self._origins[first : self._count]
        new[:, 0], new[:, 1], new[:, 2] = parents, actions, self._origins[parents, 2] + 1

    def depths(self, nodes: np.ndarray) -> np.ndarray:
        """Actions [n] from the root to nodes [n]."""
        return self._origins[nodes, 2]

    def found_by(self, nodes: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """The parents [n] and actions [n] by which nodes [n] were found; both -1 for the root."""
        return self._origins[nodes, 0], self._origins[nodes, 1]

    def reroute(self, nodes: np.ndarray, parents: np.ndarray, actions: np.ndarray) -> np.ndarray:
        """Adopt any shorter paths to nodes [n], which may repeat; returns the nodes [m] that got one."""
        depths = self._origins[parents, 2] + 1
        shorter = np.flatnonzero(depths < self._origins[nodes, 2])
        shorter = shorter[(-depths[shorter]).argsort(kind="stable")]  # a node's shortest path comes last and so wins
        self._origins[nodes[shorter]] = np.stack([parents[shorter], actions[shorter], depths[shorter]], axis=1)
        return np.unique(nodes[shorter])

    def connect(self, nodes: np.ndarray, successors: np.ndarray) -> None:
        """Note that the actions in nodes [n] lead to successors [n,A], -1 if unknown."""
        self._edges.append((nodes.astype(np.int32), successors.astype(np.int32)))

    def edges(self, size: int) -> np.ndarray:
        """[M,A] int32, the node that each action leads to."""
        table = np.full((size, self._edges[0][1].shape[1] if self._edges else 0), -1, np.int32)
        for nodes, successors in self._edges:
            table[nodes] = successors
        return table

    def origins(self, size: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """[M] int32 each: parents, their actions, depths."""
        parents, actions, depths = self._origins[:size].T.copy()
        return parents, actions, depths


class GrowingGraph(Origins):
    """A growing latent graph in which near points are one node."""

    exact = False
    """Whether nodes are either equal or different, never near: then a finer threshold changes nothing."""

    def __init__(self, root: np.ndarray, threshold: float, capacity: int = 256) -> None:
        """A graph of one node with embedding `root` [d]."""
        super().__init__(capacity)
        self.size = 1
        self.threshold = threshold
        self._embeddings = np.empty((capacity, len(root)), np.float32)
        self._half_norms = np.empty(capacity, np.float32)  # ½|v|² of each node
        self._embeddings[0] = root
        self._half_norms[0] = _half_norms(self._embeddings[:1])[0]

    def embeddings(self, nodes: np.ndarray) -> np.ndarray:
        """Embeddings [n,d] of nodes [n]."""
        return self._embeddings[nodes]

    def reidentify(self, points: np.ndarray, recent: int) -> tuple[np.ndarray, np.ndarray]:
        """The nearest node [n] to points [n,d], -1 if none is nearer than the threshold, and its distance [n].

        Most points lead back to where the search just was. So in a large graph the nodes from `recent` on are searched
        first, and only points not found there are compared with the rest.
        """
        if self.size <= _ALL_AT_ONCE or not recent:
            return self._nearest(points, 0, self.size)
        nodes, apart = self._nearest(points, recent, self.size)
        missing = np.flatnonzero(nodes < 0)
        nodes[missing], apart[missing] = self._nearest(points[missing], 0, recent)
        return nodes, apart

    def _nearest(self, points: np.ndarray, first: int, end: int) -> tuple[np.ndarray, np.ndarray]:
        # |p - v|² = 2 (½|p|² + ½|v|² - p·v): one matrix product, and the nearest node is the one with the best score.
        scores = products(points, self._embeddings[first:end])
        scores -= self._half_norms[first:end]
        best = scores.argmax(1)
        half_squares = _half_norms(points) - scores[np.arange(len(points)), best]
        apart = np.sqrt(np.maximum(2 * half_squares, 0))
        return np.where(apart < self.threshold, best + first, -1), apart

    def add(self, points: np.ndarray, parents: np.ndarray, actions: np.ndarray) -> np.ndarray:
        """New nodes [n] with embeddings points [n,d], each found from a parent by an action."""
        first, end = self.size, self.size + len(points)
        while end > len(self._half_norms):
            self._embeddings = with_room(self._embeddings)
            self._half_norms = with_room(self._half_norms)
        self._embeddings[first:end] = points
        self._half_norms[first:end] = _half_norms(points)
        self.grow(parents, actions)
        self.size = end
        return np.arange(first, end)

    def find_or_add(
        self, points: np.ndarray, parents: np.ndarray, actions: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray]:
        """The nodes [n] of points [n,d], each reached from a parent, and which points [k] made new nodes."""
        nodes, _ = self.reidentify(points, 0)
        new = np.flatnonzero(nodes < 0)
        if not len(new):
            return nodes, new
        chosen, same = self.thin_out(points[new])
        kept = new[chosen]
        nodes[new] = self.add(points[kept], parents[kept], actions[kept])[same]
        return nodes, kept

    def thin_out(self, points: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Which of the points [n,d] to keep [k] so that no two are one node, and the kept one that each [n] equals."""
        return thin_out(points, self.threshold)

    def finished(self, ahead: np.ndarray | None = None) -> LatentGraph:
        """The graph as it is now."""
        embeddings, successors = self._embeddings[: self.size], self.edges(self.size)
        return LatentGraph(embeddings, successors, *self.origins(self.size), ahead=ahead)


def with_room(buffer: np.ndarray) -> np.ndarray:
    """A buffer of twice the length that begins with this one."""
    larger = np.empty((2 * len(buffer), *buffer.shape[1:]), buffer.dtype)
    larger[: len(buffer)] = buffer
    return larger


def thin_out(points: np.ndarray, threshold: float) -> tuple[np.ndarray, np.ndarray]:
    """The paper's `filter`: drop points [n,d] until no two are nearer than the threshold.

    Returns the kept points [k] and, for every point [n], the index among them of the one that stands for it. Think of
    points that are too near as joined by an edge. The kept points are a maximal independent set, chosen from those with
    few neighbours first, so the dropped ones are a small vertex cover. Duplicates are cliques: one round settles most.
    """
    half = _half_norms(points)
    half_distances = half[:, None] + half - products(points, points)
    near = 2 * half_distances < threshold**2
    np.fill_diagonal(near, True)
    count = len(points)
    if np.count_nonzero(near) == count:  # nothing to settle
        return np.arange(count), np.arange(count)
    turn = np.empty(count, np.int64)
    turn[near.sum(1).argsort(kind="stable")] = np.arange(count)
    undecided, kept = np.ones(count, bool), np.zeros(count, bool)
    while undecided.any():
        first = np.where(near & undecided, turn, count).min(1)  # whose turn it is among each point and its neighbours
        chosen = undecided & (first == turn)
        kept |= chosen
        undecided &= ~near[chosen].any(0)
    indices = np.flatnonzero(kept)
    return indices, np.where(near[:, indices], half_distances[:, indices], np.inf).argmin(1)


def products(points: np.ndarray, others: np.ndarray) -> np.ndarray:
    """Inner products [n,m] of points [n,d] and [m,d]; torch computes large ones, to stay on a single thread."""
    if len(points) * len(others) <= _NUMPY_PRODUCTS:
        return points @ others.T  # half the time, and too small for several threads
    return (as_tensor(points) @ as_tensor(others).T).numpy()


def distances(points: np.ndarray, others: np.ndarray) -> np.ndarray:
    """Euclidean distances along the last axis."""
    differences = points - others
    return np.sqrt(np.einsum("...d,...d->...", differences, differences))


def distance_table(points: np.ndarray, others: np.ndarray) -> np.ndarray:
    """Euclidean distances [...,m] from points [...,d] to others [m,d], by inner products: accurate to about 0.001."""
    rows = points.reshape(-1, points.shape[-1])
    squares = 2 * (_half_norms(rows)[:, None] + _half_norms(others) - products(rows, others))
    return np.sqrt(np.maximum(squares, 0)).reshape(*points.shape[:-1], len(others))


def as_tensor(embeddings: np.ndarray) -> torch.Tensor:
    """Embeddings as a model takes them."""
    import torch  # here, because its import takes seconds, and settings and help texts do not need it

    return torch.from_numpy(embeddings)


def as_array(embeddings: torch.Tensor) -> np.ndarray:
    """A model's embeddings as float32 in memory."""
    return embeddings.float().cpu().numpy()


def _half_norms(points: np.ndarray) -> np.ndarray:
    return np.square(points).sum(1) / 2

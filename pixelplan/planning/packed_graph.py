"""LATENT GRAPH of a model whose embeddings are zeros and ones: a node is its bits, found by their hash.

A node of d dimensions takes d/8 bytes and about 40 more, so a million nodes fit into a few hundred megabytes. No step
here loops over all nodes in Python.
"""

from __future__ import annotations

import numpy as np

from pixelplan.planning.latent_graph import Origins, with_room
from pixelplan.planning.plan import LatentGraph, pack, unpack

_ODD = np.uint64(0x9E3779B97F4A7C15)
_FREE = -1


def hashes(words: np.ndarray) -> np.ndarray:
    """A number [N] uint64 for each of the rows [N,w] uint64: equal for equal rows, hardly ever for different ones."""
    mixed = np.zeros(len(words), np.uint64)
    for column in words.T:
        mixed = (mixed ^ column) * _ODD
        mixed ^= mixed >> np.uint64(29)
    return mixed


class Table:
    """Row numbers by hash: a table with open addressing, at most half full, that looks up many rows at once."""

    def __init__(self, capacity: int = 1024) -> None:
        self._slots = np.full(capacity, _FREE, np.int32)
        self._hashes = np.empty(capacity // 2, np.uint64)
        self._rows: np.ndarray | None = None
        self.size = 0

    @property
    def rows(self) -> np.ndarray:
        """[M,w] uint64, all rows."""
        assert self._rows is not None
        return self._rows[: self.size]

    def find(self, words: np.ndarray) -> np.ndarray:
        """The number [N] of each of the rows [N,w], -1 if it is not in the table."""
        return self._find(words, hashes(words))

    def find_or_add(self, words: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """The number [N] of each of the rows [N,w], and where each new row first occurs among them [k]."""
        marks = hashes(words)
        numbers = self._find(words, marks)
        missing = np.flatnonzero(numbers == _FREE)
        if not len(missing):
            return numbers, missing
        _, first, same = np.unique(marks[missing], return_index=True, return_inverse=True)
        if not np.array_equal(words[missing], words[missing][first][same]):  # two rows with one hash
            _, first, same = np.unique(words[missing], axis=0, return_index=True, return_inverse=True)
        order = first.argsort()  # number rows in the order given
        new, place = missing[first[order]], np.empty(len(order), np.int64)
        place[order] = np.arange(len(order))
        numbers[missing] = self.size + place[same.reshape(-1)]
        self._add(words[new], marks[new])
        return numbers, new

    def _find(self, words: np.ndarray, marks: np.ndarray) -> np.ndarray:
        numbers = np.full(len(words), _FREE, np.int64)
        mask = len(self._slots) - 1
        left, slots = np.arange(len(words)), (marks & np.uint64(mask)).astype(np.int64)
        while len(left):
            there = self._slots[slots]
            taken = there != _FREE  # a row whose slot is free is not in the table
            left, slots, there = left[taken], slots[taken], there[taken]
            same = self._hashes[there] == marks[left]
            same[same] = (self.rows[there[same]] == words[left[same]]).all(1) if same.any() else False
            numbers[left[same]] = there[same]
            left, slots = left[~same], (slots[~same] + 1) & mask
        return numbers

    def _add(self, words: np.ndarray, marks: np.ndarray) -> None:
        """Add rows [n,w] that are all different and not in the table."""
        first, self.size = self.size, self.size + len(words)
        if self._rows is None:
            self._rows = np.empty((len(self._hashes), words.shape[1]), np.uint64)
        while self.size > len(self._hashes):
            self._hashes = with_room(self._hashes)
            self._rows = with_room(self._rows)
        self._hashes[first : self.size], self._rows[first : self.size] = marks, words
        if 2 * self.size > len(self._slots):
            self._slots = np.full(2 * len(self._hashes), _FREE, np.int32)
            first = 0
        numbers = np.arange(first, self.size)
        mask = len(self._slots) - 1
        slots = (self._hashes[first : self.size] & np.uint64(mask)).astype(np.int64)
        while len(numbers):
            free = self._slots[slots] == _FREE
            self._slots[slots[free]] = numbers[free]  # if several want the same slot, one gets it
            out = self._slots[slots] != numbers
            numbers, slots = numbers[out], (slots[out] + 1) & mask


class PackedGraph(Origins):
    """A growing latent graph whose nodes are either equal or different, never near."""

    exact = True

    def __init__(self, root: np.ndarray) -> None:
        """A graph of one node with embedding `root` [d]."""
        super().__init__()
        self.bits = len(root)
        self._table = Table()
        self._table.find_or_add(pack(root[None]))

    @property
    def size(self) -> int:
        """How many nodes there are."""
        return self._table.size

    def embeddings(self, nodes: np.ndarray) -> np.ndarray:
        """Embeddings [n,d] of nodes [n]."""
        return unpack(self._table.rows[nodes], self.bits)

    def reidentify(self, points: np.ndarray, recent: int) -> tuple[np.ndarray, np.ndarray]:
        """The node [n] of points [n,d], -1 if there is none, and its distance [n]: 0, or infinite."""
        nodes = self._table.find(pack(points))
        return nodes, np.where(nodes < 0, np.inf, 0.0)

    def thin_out(self, points: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Which of the points [n,d] to keep [k] so that no two are one node, and the kept one that each [n] equals."""
        same, first = Table().find_or_add(pack(points))
        return first, same

    def add(self, points: np.ndarray, parents: np.ndarray, actions: np.ndarray) -> np.ndarray:
        """New nodes [n] with embeddings points [n,d], all different, each found from a parent by an action."""
        nodes, _ = self._table.find_or_add(pack(points))
        self.grow(parents, actions)
        return nodes

    def find_or_add(
        self, points: np.ndarray, parents: np.ndarray, actions: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray]:
        """The nodes [n] of points [n,d], each reached from a parent, and which points [k] made new nodes."""
        nodes, new = self._table.find_or_add(pack(points))
        self.grow(parents[new], actions[new])
        return nodes, new

    def finished(self, ahead: np.ndarray | None = None) -> LatentGraph:
        """The graph as it is now."""
        bits, successors = self._table.rows, self.edges(self.size)
        return LatentGraph(bits, successors, *self.origins(self.size), bits=self.bits, ahead=ahead)

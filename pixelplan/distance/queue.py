"""Nodes in the order of their keys, pushed and popped many at a time."""

from __future__ import annotations

import numpy as np

_SORTED_ENTRIES = 4096
"""Entries that are kept sorted; the others wait unsorted until these are used up."""


class Queue:
    """A priority queue in arrays: the entries with the least keys are sorted, all others wait in unsorted chunks.

    So an operation touches only the few entries near the front. Entries with equal keys leave in the order they came.
    """

    def __init__(self) -> None:
        self._keys, self._values = np.empty(0), np.empty((0, 2), np.int32)  # the near ones, sorted
        self._far: list[tuple[np.ndarray, np.ndarray]] = []
        self._border = np.inf
        """No far entry has a smaller key, and no near one a larger key."""

    def least(self) -> float:
        """The least key; infinite if nothing is left."""
        self._fetch()
        return float(self._keys[0]) if len(self._keys) else float("inf")

    def push(self, keys: np.ndarray, values: np.ndarray) -> None:
        """Add values [n,2] with their keys [n]."""
        far = keys >= self._border
        if far.any():
            self._far.append((keys[far], values[far]))
            keys, values = keys[~far], values[~far]
        if not len(keys):
            return
        keys, values = np.concatenate([self._keys, keys]), np.concatenate([self._values, values])
        order = keys.argsort(kind="stable")
        self._keys, self._values = keys[order], values[order]
        if len(self._keys) > 2 * _SORTED_ENTRIES:
            self._border = float(self._keys[_SORTED_ENTRIES])
            end = int(self._keys.searchsorted(self._border))  # equal keys stay together
            self._far.insert(0, (self._keys[end:], self._values[end:]))
            self._keys, self._values = self._keys[:end], self._values[:end]

    def pop(self, count: int) -> np.ndarray:
        """Remove and return the values [n,2] with the least keys, at most `count` of them."""
        self._fetch()
        taken, self._keys, self._values = self._values[:count], self._keys[count:], self._values[count:]
        return taken

    def _fetch(self) -> None:
        """If nothing is left at the front, bring the least of the far entries there."""
        if len(self._keys) or not self._far:
            return
        keys = np.concatenate([keys for keys, _ in self._far])
        values = np.concatenate([values for _, values in self._far])
        if len(keys) > 2 * _SORTED_ENTRIES:
            self._border = float(np.partition(keys, _SORTED_ENTRIES)[_SORTED_ENTRIES])
            near = keys < self._border
            if not near.any():  # very many entries with one key
                near, self._border = keys == self._border, float(np.nextafter(self._border, np.inf))
            self._far = [(keys[~near], values[~near])]
            keys, values = keys[near], values[near]
        else:
            self._border, self._far = np.inf, []
        order = keys.argsort(kind="stable")
        self._keys, self._values = keys[order], values[order]

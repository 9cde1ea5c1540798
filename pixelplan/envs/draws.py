"""The draws of `random.Random(seed)`, in bulk and bit for bit.

The published generators call `randint` a few million times for a hundred levels. Each call takes the top bits of one
32-bit word of the Mersenne Twister, again and again until the value is in range, so the same values can be read off
numpy's stream of the same words.
"""

from __future__ import annotations

import random

import numpy as np


class Words:
    """The words of `random.Random(seed)` in order; what a reader does not use it gives back."""

    def __init__(self, seed: int) -> None:
        _, (*key, position), _ = random.Random(seed).getstate()
        self._generator = np.random.MT19937()
        self._generator.state = {"bit_generator": "MT19937", "state": {"key": np.array(key), "pos": position}}
        self._left = np.empty(0, np.uint32)

    def take(self, count: int) -> np.ndarray:
        """At least `count` words [n] uint32."""
        missing = max(0, count - len(self._left))
        words = np.concatenate([self._left, self._generator.random_raw(missing).astype(np.uint32)])
        self._left = words[:0]
        return words

    def give_back(self, words: np.ndarray) -> None:
        """Return the unused tail of what `take` gave, to be taken next."""
        self._left = words


def below(words: np.ndarray, bound: int) -> tuple[np.ndarray, np.ndarray]:
    """Where in words [n] a draw of 0 … bound − 1 (up to 255) is accepted [m], and the values drawn there [m] uint8."""
    values = words >> np.uint32(32 - bound.bit_length())
    accepted = np.flatnonzero(values < bound)
    return accepted, values[accepted].astype(np.uint8)


def before(accepted: np.ndarray, length: int) -> np.ndarray:
    """How many of the accepted places [m] come before each place [length + 1] of the stream."""
    count = np.zeros(length + 1, np.int32)
    count[accepted + 1] = 1
    return np.cumsum(count, dtype=np.int32)

"""The draws of `random.Random(seed)`, in bulk and bit for bit.

The published generators call `randint` a few million times for a hundred levels. Each call takes the top bits of one
32-bit word of the Mersenne Twister, again and again until the value is in range, so the same values can be read off
the same words taken many at a time.
"""

from __future__ import annotations

import random

import numpy as np


class Words:
    """The words of `random.Random(seed)` in order; a reader gives back what it does not use."""

    def __init__(self, seed: int) -> None:
        self._random = random.Random(seed)
        self._left = np.empty(0, np.uint8)

    def take(self, count: int) -> np.ndarray:
        """The top bytes [n] uint8 of at least `count` words: draws of up to 8 bits need no more of them."""
        missing = max(0, count - len(self._left))
        words = np.frombuffer(self._random.randbytes(4 * missing), "<u4")
        tops = np.concatenate([self._left, (words >> np.uint32(24)).astype(np.uint8)])
        self._left = tops[:0]
        return tops

    def give_back(self, tops: np.ndarray) -> None:
        """Give back the unused tail of what `take` gave; it is taken next."""
        self._left = tops


def drawn(tops: np.ndarray, bound: int) -> np.ndarray:
    """What a draw of 0 … bound − 1 (up to 255) sees in words with these top bytes [n]: values [n] uint8.

    Those that are not below the bound are passed over.
    """
    return tops >> np.uint8(8 - bound.bit_length())


def below(tops: np.ndarray, bound: int) -> tuple[np.ndarray, np.ndarray]:
    """Where in top bytes [n] a draw of 0 … bound − 1 is accepted [m], and the values drawn there [m] uint8."""
    values = drawn(tops, bound)
    accepted = np.flatnonzero(values < bound)
    return accepted, values.take(accepted)


def before(accepted: np.ndarray, length: int) -> np.ndarray:
    """How many of the accepted places [m] come before each place [length + 1] of the stream."""
    count = np.zeros(length + 1, bool)
    count[accepted + 1] = True
    return np.cumsum(count, dtype=np.int32)

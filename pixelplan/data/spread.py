"""Evenly spread samples."""

from __future__ import annotations

import numpy as np


def evenly_spread(length: int, most: int) -> np.ndarray:
    """Up to `most` of the indices 0 … length - 1, evenly spread and in order."""
    return np.unique(np.linspace(0, length - 1, min(most, length)).astype(int))

"""Embeddings in two dimensions: the two directions in which they differ most."""

from __future__ import annotations

import numpy as np


class Projection:
    """Principal components of embeddings; distances only shrink, so a ball stays within a circle of its radius."""

    def __init__(self, embeddings: np.ndarray, goal: np.ndarray) -> None:
        """Of embeddings [M,d], the start's first, and the goal's [d], which lies to the right of the start."""
        points = np.concatenate([embeddings, goal[None]]).astype(np.float64)
        self._centre = points.mean(0)
        centred = points - self._centre
        _, vectors = np.linalg.eigh(centred.T @ centred)
        self._axes = vectors[:, :-3:-1]  # [d,2]
        if self._axes.shape[1] < 2:
            self._axes = np.pad(self._axes, ((0, 0), (0, 2 - self._axes.shape[1])))
        span = (goal - embeddings[0]) @ self._axes
        self._axes = self._axes * np.where(span < 0, -1.0, 1.0)

    def __call__(self, embeddings: np.ndarray) -> np.ndarray:
        """Points [n,2] of embeddings [n,d], rounded for the wire."""
        return np.round((embeddings - self._centre) @ self._axes, 4)

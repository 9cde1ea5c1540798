"""The sizes that differ between worlds, chosen by a rule from the data and never from a puzzle's name."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from pixelplan.data.changes import TOLERANCE, changed_spans, fitting_grid
from pixelplan.types import Trajectories

FALLBACK_PITCH = 8
"""Pixels of a cell if the data shows no grid."""


@dataclass(frozen=True)
class Sizes:
    """What the networks must know of a world before they are made."""

    height: int
    """Of frames, in pixels."""
    width: int
    """Of frames, in pixels."""
    actions: int
    """How many actions there are."""
    rows: int
    """Of the latent grid."""
    columns: int
    """Of the latent grid."""
    reach: int
    """How many cells a step can move something."""

    @property
    def patch(self) -> int:
        """Side in pixels of a cell, once a frame is enlarged to a whole number of them."""
        return math.ceil(max(self.height / self.rows, self.width / self.columns))


def sizes_of(data: Trajectories, grid: tuple[int, int] | None = None, noisy: bool = False) -> Sizes:
    """A grid of which what moves fills a cell, and a reach as far as it moves.

    If pixels are noisy, no change can be seen: the grid is the given one (or cells of 8 pixels), the reach all of it.
    """
    height, width = data.frames.shape[1:3]
    actions = int(data.manifest.get("actions", int(data.actions.max(initial=0)) + 1))
    spans = np.zeros((0, 2, 2), np.int64) if noisy else changed_spans(data)
    rows, columns = grid or fitting_grid(spans, height, width) or _cells_of(FALLBACK_PITCH, height, width)
    cells = np.array([rows / height, columns / width])[:, None]
    ends = np.floor(
        (spans + np.array([TOLERANCE, -TOLERANCE])) * cells
    )  # [n,2,2] first and last row (column) that changed
    reach = max(rows, columns) if noisy else int(np.diff(ends, axis=2).max(initial=1))
    return Sizes(height, width, actions, rows, columns, min(reach, max(rows, columns) - 1) or 1)


def _cells_of(pitch: int, height: int, width: int) -> tuple[int, int]:
    return max(1, round(height / pitch)), max(1, round(width / pitch))

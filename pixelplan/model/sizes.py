"""The sizes that differ between worlds, chosen by a rule from the data and never from a puzzle's name."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

import numpy as np

from pixelplan.data.changes import changed_spans, fitting_grid, lines_of
from pixelplan.data.reading_config import ReadingConfig
from pixelplan.model.batches import action_count
from pixelplan.types import InputError, Trajectories

MOST_CELLS = 4096
"""The most cells of boards larger than those trained on: a table of where all cells lead has this number squared."""


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
    glide: int | None = None
    """How many cells a step can move something that slides, if that is not the reach: slides are longer on boards
    larger than those trained on."""

    @property
    def patch(self) -> int:
        """Side in pixels of a cell, once a frame is enlarged to a whole number of them."""
        return math.ceil(max(self.height / self.rows, self.width / self.columns))

    def resized(self, height: int, width: int) -> Sizes:
        """These sizes for frames of another height and width, with as many pixels per cell; an InputError if cells
        would be cut.

        What could cross the whole board can also cross the other one. Otherwise the reach stays.
        """
        if height * self.rows % self.height or width * self.columns % self.width:
            cell = f"{self.height / self.rows:g} × {self.width / self.columns:g}"
            raise InputError(
                f"frames of {height} × {width} pixels are not a whole number of cells of {cell} pixels, which this "
                "model was trained on"
            )
        rows, columns = height * self.rows // self.height, width * self.columns // self.width
        if rows * columns > MOST_CELLS:
            raise InputError(
                f"frames of {height} × {width} pixels have {rows} × {columns} cells; boards of another size than those "
                f"trained on may have {MOST_CELLS} cells at most"
            )
        crosses = self.reach >= max(self.rows, self.columns) - 1 > 1
        glide = max(rows, columns) - 1 if crosses else self.reach
        return replace(self, height=height, width=width, rows=rows, columns=columns, glide=max(1, glide))


def sizes_of(
    data: Trajectories,
    grid: tuple[int, int] | None = None,
    noisy: bool = False,
    reading: ReadingConfig = ReadingConfig(),  # noqa: B008 (frozen)
) -> Sizes:
    """A grid whose cells are as large as what moves, and a reach as far as it moves.

    If pixels are noisy, no change can be seen: the grid is the given one (or cells of 8 pixels), the reach all of it.
    """
    height, width = data.frames.shape[1:3]
    spans = np.zeros((0, 2, 2), np.int64) if noisy else changed_spans(data, reading)
    rows, columns = (
        grid or fitting_grid(spans, height, width, reading) or _cells_of(reading.fallback_cell, height, width)
    )
    cells = np.array([rows / height, columns / width])[:, None]
    ends = lines_of(spans, cells, reading)  # [n,2,2] first and last row (column) that changed
    reach = max(rows, columns) if noisy else int(np.diff(ends, axis=2).max(initial=1))
    return Sizes(height, width, action_count(data), rows, columns, min(reach, max(rows, columns) - 1) or 1)


def _cells_of(pitch: int, height: int, width: int) -> tuple[int, int]:
    return max(1, round(height / pitch)), max(1, round(width / pitch))

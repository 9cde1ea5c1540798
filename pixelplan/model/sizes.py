"""The sizes that differ between worlds, chosen by a rule from the data and never from a puzzle's name."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

from pixelplan.types import InputError

MOST_CELLS = 4096
"""The most cells of boards larger than those trained on: a table of where all cells lead has this many squared."""


@dataclass(frozen=True)
class Sizes:
    """What must be known about a world before its networks are made."""

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
        """Side of a cell in pixels, once a frame is enlarged to a whole number of cells."""
        return math.ceil(max(self.height / self.rows, self.width / self.columns))

    def has_whole_cells(self, height: int, width: int) -> bool:
        """Whether frames of this size are a whole number of cells that have the same number of pixels as here."""
        return not (height * self.rows % self.height or width * self.columns % self.width)

    def resized(self, height: int, width: int) -> Sizes:
        """These sizes for frames of another height and width, with the same number of pixels per cell; an InputError
        if cells would be cut.

        If a step could cross the whole board, it can also cross the new one. Otherwise the reach stays the same.
        """
        if (height, width) == (self.height, self.width):
            return self
        if not self.has_whole_cells(height, width):
            cell = f"{self.height / self.rows:g} × {self.width / self.columns:g}"
            raise InputError(
                f"frames of {height} × {width} pixels are not a whole number of cells of {cell} pixels, which this "
                "model was trained on"
            )
        rows, columns = height * self.rows // self.height, width * self.columns // self.width
        if rows * columns > MOST_CELLS:
            raise InputError(
                f"frames of {height} × {width} pixels have {rows} × {columns} cells; boards of a size not trained on "
                f"may have at most {MOST_CELLS} cells"
            )
        crosses = self.reach >= max(self.rows, self.columns) - 1 > 1
        glide = max(rows, columns) - 1 if crosses else self.reach
        return replace(self, height=height, width=width, rows=rows, columns=columns, glide=max(1, glide))

"""What the cells of a grid show, and the grid on which that is least."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

SMALLEST = 3
"""Pixels of a cell's side, at least."""


def compact_grid(levels: Sequence[np.ndarray], most: int) -> tuple[int, int] | None:
    """Rows and columns of the grid that tells all that changes in the fewest numbers, from frames [n,H,W,3] of levels.

    A grid's cells are whole pixels, and those that change in a level show at most so many different things. The fewest
    numbers are the fewest cells times things: where cells are too large they show too many things, where they are too
    small there are too many cells. None where no grid will do.
    """
    height, width = levels[0].shape[1:3]
    sizes = [(rows, columns) for rows in _divisors(height) for columns in _divisors(width) if rows * columns > 1]
    best, least = None, np.inf
    for rows, columns in sorted(sizes, key=lambda size: size[0] * size[1]):
        cells = rows * columns
        if 2 * cells >= least:
            break
        kinds = _count_kinds(levels, rows, columns, most)
        if kinds is not None and cells * kinds < least:
            best, least = (rows, columns), cells * kinds
    return best


def _divisors(pixels: int) -> list[int]:
    return [lines for lines in range(1, pixels // SMALLEST + 1) if pixels % lines == 0]


def _count_kinds(levels: Sequence[np.ndarray], rows: int, columns: int, most: int) -> int | None:
    """How many different things are shown by the cells that change in their level; None for more than `most`."""
    kinds: set[int] = set()
    for frames in levels:
        contents = cell_contents(frames, rows, columns)
        kinds.update(np.unique(contents[:, (contents != contents[0]).any(axis=0)]).tolist())
        if len(kinds) > most:
            return None
    return len(kinds) or None


def cell_contents(frames: np.ndarray, rows: int, columns: int) -> np.ndarray:
    """[n,G] a number for what each cell of frames [n,H,W,3] shows; pixels that two cells share do not count."""
    height, width = frames.shape[1:3]
    weights = np.random.default_rng(0).integers(1, 2**63, height * width * 3, dtype=np.uint64)
    found = []
    for top, bottom in cell_bounds(rows, height):
        for left, right in cell_bounds(columns, width):
            pixels = frames[:, top:bottom, left:right].reshape(len(frames), -1).astype(np.uint64)
            found.append(pixels @ weights[: pixels.shape[1]])  # wraps around, which is as good
    return np.stack(found, axis=1)


def cell_bounds(lines: int, pixels: int) -> list[tuple[int, int]]:
    """First pixel and the one behind the last of each of so many rows (or columns), whole pixels only."""
    return [(-(-line * pixels // lines), (line + 1) * pixels // lines) for line in range(lines)]

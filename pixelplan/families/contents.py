"""What the cells of a grid show, and which grids make that simplest."""

from __future__ import annotations

import itertools
from collections.abc import Sequence

import numpy as np

from pixelplan.families.reading_config import ReadingConfig


def compact_grids(
    levels: Sequence[np.ndarray],
    most: int,
    reading: ReadingConfig = ReadingConfig(),  # noqa: B008 (frozen)
) -> list[tuple[int, int]]:
    """Rows and columns of the grids that capture all changes in frames [n,H,W,3] of levels, the simplest first.

    Cells are whole pixels, and the cells that change show at most `most` different things. What there is to learn grows
    with the number of cells and of pairs of things that may meet: if cells are too large, they show too many things; if
    they are too small, there are too many of them.
    """
    height, width = levels[0].shape[1:3]
    candidates = []
    sides = (_divisors(height, reading.smallest_cell), _divisors(width, reading.smallest_cell))
    for rows, columns in itertools.product(*sides):
        kinds = _count_kinds(levels, rows, columns, most)
        if kinds is not None and rows * columns > 1:
            candidates.append((rows * columns * kinds**2, (rows, columns)))
    return [grid for _, grid in sorted(candidates)]


def _divisors(pixels: int, smallest: int) -> list[int]:
    return [lines for lines in range(1, pixels // smallest + 1) if pixels % lines == 0]


def _count_kinds(levels: Sequence[np.ndarray], rows: int, columns: int, most: int) -> int | None:
    """How many different things the cells that change show; None if more than `most`."""
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
    (tops, down, across_rows), (lefts, along, across_columns) = _lines(rows, height), _lines(columns, width)
    weights = np.random.default_rng(0).integers(1, 2**63, (height, width, 3), dtype=np.uint64)[down][:, along]
    weights[across_rows], weights[:, across_columns] = 0, 0
    weighed = np.einsum("nhwc,hwc->nhw", frames.astype(np.uint64), weights)  # overflow wraps around, which is harmless
    return np.add.reduceat(np.add.reduceat(weighed, lefts, axis=2), tops, axis=1).reshape(len(frames), -1)


def _lines(lines: int, pixels: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """The first pixel of each line and, for every pixel, its offset from there and whether two lines share it."""
    starts, ends = np.array(cell_bounds(lines, pixels)).T
    line = np.searchsorted(starts, np.arange(pixels), side="right") - 1
    return starts, np.arange(pixels) - starts[line], np.arange(pixels) >= ends[line]


def cell_bounds(lines: int, pixels: int) -> list[tuple[int, int]]:
    """The first pixel and the one after the last of each of `lines` rows (or columns), whole pixels only."""
    return [(-(-line * pixels // lines), (line + 1) * pixels // lines) for line in range(lines)]

"""What a step changes in the picture: all that the data says about a world's scale."""

from __future__ import annotations

import numpy as np

from pixelplan.data.spread import evenly_spread
from pixelplan.families.reading_config import ReadingConfig
from pixelplan.types import Trajectories

DEFAULTS = ReadingConfig()


def difference_spans(first: np.ndarray, second: np.ndarray) -> np.ndarray:
    """[N,2,2] where frames [N,H,W,3] differ: rows (from, to) and columns (from, to), 0 to 0 if they are equal."""
    differs = first != second  # [N,H,W,3]
    rows = differs.reshape(*differs.shape[:2], differs.shape[2] * 3).any(axis=2)  # [N,H]
    columns = differs.any(axis=1).any(axis=2)  # [N,W]; long axes first, as numpy is slow over an axis of 3
    return np.stack([_span(rows), _span(columns)], axis=1)


def difference_boxes(first: np.ndarray, second: np.ndarray) -> np.ndarray:
    """[N,2] height and width of the smallest box around the pixels in which frames [N,H,W,3] differ; 0 if equal."""
    return np.diff(difference_spans(first, second), axis=2)[..., 0]


def changed_spans(data: Trajectories, reading: ReadingConfig = DEFAULTS) -> np.ndarray:
    """[n,2,2] rows and columns of what changed in evenly spread recorded steps, except those that changed nothing."""
    before, after = data.episodes[:, :-1].ravel(), data.episodes[:, 1:].ravel()
    moved = np.flatnonzero(before != after)
    chosen = moved[evenly_spread(len(moved), reading.sampled_steps)]
    spans = [
        difference_spans(data.frames[before[part]], data.frames[after[part]])
        for part in np.array_split(chosen, max(1, len(chosen) // 256))
    ]
    changes = np.concatenate(spans) if len(chosen) else np.zeros((0, 2, 2), np.int64)
    return changes[changes.any(axis=(1, 2))]


def patch_side(spans: np.ndarray, frame_side: int, reading: ReadingConfig = DEFAULTS) -> int:
    """Side in pixels of a square that holds the thing that moves, given spans [n,2,2] of what single steps changed.

    A move along an axis changes a strip as wide as the mover: horizontal strips give its height, vertical ones its
    width. (A large width counts, not the median: part of the mover may look like what it covers.) If nothing ever
    changes, the side is the whole frame. If strips have very different widths, several things move, and it is 0.
    """
    widths = [across[:, 1] - across[:, 0] for across in strips(spans) if len(across)]
    sides = [np.quantile(width, [reading.usual_width, reading.large_width]) for width in widths]
    if any(large > reading.much_wider * usual for usual, large in sides):
        return 0
    return int(max((large for _, large in sides), default=frame_side))


def strips(spans: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """From spans [n,2,2]: the rows (from, to) [m,2] of horizontal changes, and the columns of vertical ones."""
    height, width = np.diff(spans, axis=2)[..., 0].T
    return spans[height < width, 0], spans[height > width, 1]


def fitting_grid(
    spans: np.ndarray, height: int, width: int, reading: ReadingConfig = DEFAULTS
) -> tuple[int, int] | None:
    """Rows and columns of the grid on which things move, given spans [n,2,2] of what single steps changed.

    What moves along a row stays inside it, and the same holds for columns. So the right grid is the finest one (with
    roughly square cells) that nearly every move fits. Its cells may have a fractional size. None if no grid fits.
    """
    lie, stand = strips(spans)
    if not len(lie) and not len(stand):
        return None
    for rows in range(int(height / reading.smallest_cell), 0, -1):
        columns = max(1, round(rows * width / height))
        ends = [lines_of(lie, rows / height, reading), lines_of(stand, columns / width, reading)]
        first, last = np.concatenate(ends).T
        if (first == last).mean() >= reading.within:
            return (rows, columns) if rows * columns > 1 else None
    return None


def lines_of(spans: np.ndarray, lines_per_pixel: np.ndarray | float, reading: ReadingConfig = DEFAULTS) -> np.ndarray:
    """[...,2] the first and the last row (or column) of a grid that spans [...,2] of pixels (from, to) touch."""
    return np.floor((spans + np.array([reading.tolerance, -reading.tolerance])) * lines_per_pixel)


def _span(lines: np.ndarray) -> np.ndarray:
    """[N,2] the first true entry of each row of lines [N,n], and the one after the last; zeros if none is true."""
    any_true = lines.any(axis=1)
    first, behind = lines.argmax(axis=1), lines.shape[1] - lines[:, ::-1].argmax(axis=1)
    return np.where(any_true[:, None], np.stack([first, behind], axis=1), 0)

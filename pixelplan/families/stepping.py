"""The grid of a single mover whose steps are smaller than itself."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from pixelplan.families.changes import difference_spans
from pixelplan.families.reading_config import ReadingConfig


def stepping_grid(
    levels: Iterable[tuple[np.ndarray, np.ndarray]],
    reading: ReadingConfig = ReadingConfig(),  # noqa: B008 (frozen)
) -> tuple[int, int] | None:
    """Rows and columns of a grid with a cell for each place of one mover, from levels' frames [n,H,W,3] and states [n].

    In such a world every frame is its level's background except for a box of constant size, and the place of the box
    determines the state. Cells are as large as one step. None in any other world, or if steps are so small that there
    would be too many cells.
    """
    levels = [(frames, states) for frames, states in levels if len(np.unique(states)) >= reading.enough_states]
    if not levels:
        return None
    boxes = [_boxes(np.asarray(frames), states) for frames, states in levels]
    extents = [np.diff(box, axis=2)[..., 0] for box in boxes]
    sizes, counts = np.unique(np.concatenate(extents), axis=0, return_counts=True)
    size = sizes[counts.argmax()]
    corners = [box[(extent == size).all(axis=1), :, 0] for box, extent in zip(boxes, extents, strict=True)]  # [m,2]
    fitting = sum(map(len, corners))
    steps = np.gcd.reduce(np.concatenate([corner - corner[:1] for corner in corners]), axis=0)
    steps = np.where(steps, steps, steps.max())  # a mover that never moves up or down gets square cells
    if fitting < reading.nearly_all * counts.sum() or steps.min() < reading.smallest_cell:
        return None
    pixels = np.array(levels[0][0].shape[1:3])
    grid = np.round(pixels / steps)
    cells = [np.unique(np.floor((corner + size / 2) * grid / pixels), axis=0) for corner in corners]
    return (int(grid[0]), int(grid[1])) if sum(map(len, cells)) >= reading.nearly_all * fitting else None


def _boxes(frames: np.ndarray, states: np.ndarray) -> np.ndarray:
    """[m,2,2] rows and columns (from, to) in which each state's frame differs from the level's background."""
    frames = frames[np.unique(states, return_index=True)[1]]
    background = np.sort(frames, axis=0)[len(frames) // 2]  # the median: what most frames show
    return difference_spans(frames, background[None])

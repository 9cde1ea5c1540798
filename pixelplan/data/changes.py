"""What a step changes in the picture: the only thing about a puzzle's scale that is read from the data."""

from __future__ import annotations

import numpy as np

from pixelplan.types import Trajectories

SAMPLED_STEPS = 4000
"""Steps looked at; the sizes are percentiles, which more steps hardly move."""


def difference_boxes(first: np.ndarray, second: np.ndarray) -> np.ndarray:
    """[N,2] height and width of the smallest box around the pixels in which frames [N,H,W,3] differ; 0 where equal."""
    differs = first != second  # [N,H,W,3]
    rows = differs.reshape(*differs.shape[:2], differs.shape[2] * 3).any(axis=2)  # [N,H]
    columns = differs.any(axis=1).any(axis=2)  # [N,W]; long axes first, numpy is slow over an axis of 3
    return np.stack([_extent(rows), _extent(columns)], axis=1)


def changed_boxes(data: Trajectories) -> np.ndarray:
    """[n,2] height and width of what changed in evenly spread recorded steps, those without a change left out."""
    before, after = data.episodes[:, :-1].ravel(), data.episodes[:, 1:].ravel()
    moved = np.flatnonzero(before != after)
    chosen = moved[np.unique(np.linspace(0, len(moved) - 1, min(SAMPLED_STEPS, len(moved))).astype(int))]
    boxes = [
        difference_boxes(data.frames[before[part]], data.frames[after[part]])
        for part in np.array_split(chosen, max(1, len(chosen) // 256))
    ]
    found = np.concatenate(boxes) if len(chosen) else np.zeros((0, 2), np.int64)
    return found[found.any(axis=1)]


def patch_side(boxes: np.ndarray, frame_side: int) -> int:
    """Side in pixels of a square that holds the thing that moves, from boxes [n,2] of what single steps changed.

    A move along an axis changes a strip as wide as the mover: strips that lie tell its height, those that stand its
    width (not their median but nearly their largest: part of the mover may look like what it covers). Without any
    change it is the whole frame.
    """
    lies, stands = boxes[:, 0] < boxes[:, 1], boxes[:, 0] > boxes[:, 1]
    sides = [np.percentile(boxes[lies, 0], 90)] if lies.any() else []
    sides += [np.percentile(boxes[stands, 1], 90)] if stands.any() else []
    return int(max(sides, default=frame_side))


def _extent(lines: np.ndarray) -> np.ndarray:
    """[N] distance from the first to behind the last true entry of each row of lines [N,n]."""
    size = lines.shape[1]
    return np.where(lines.any(axis=1), size - lines.argmax(axis=1) - lines[:, ::-1].argmax(axis=1), 0)

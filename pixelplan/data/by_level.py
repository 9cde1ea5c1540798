"""Which frames and episodes of a data set belong to which level."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from pixelplan.types import Trajectories


def rows_of_levels(data: Trajectories) -> Iterator[tuple[int, int, np.ndarray]]:
    """For each level: its first frame, the frame after its last one, and the rows of its episodes."""
    order = np.argsort(data.episode_level, kind="stable")
    levels, begins = np.unique(data.episode_level[order], return_index=True)
    for level, rows in zip(levels.tolist(), np.split(order, begins[1:]), strict=True):
        first, end = np.searchsorted(data.frame_level, [level, level + 1])
        yield int(first), int(end), rows

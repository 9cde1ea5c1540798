"""Whether one thing moves in a world or several things change: this decides what a latent must be able to hold."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from pixelplan.families.contents import cell_contents
from pixelplan.families.reading_config import ReadingConfig


def one_mover(
    levels: Iterable[tuple[np.ndarray, np.ndarray]],
    rows: int,
    columns: int,
    reading: ReadingConfig = ReadingConfig(),  # noqa: B008 (frozen)
) -> bool:
    """Whether a state is just the place of one thing, given the frames [n,H,W,3] and states [n] of levels.

    Then every frame is its level's background except for one cell of the grid, and frames that differ from it in the
    same cell show the same state. A level's background is what each cell shows in most states. If no level has enough
    states to tell, one mover is assumed.
    """
    single, judged, places, unique = 0, 0, 0, 0
    for frames, states in levels:
        numbers, chosen = np.unique(states, return_index=True)
        if len(numbers) < reading.enough_states:
            continue
        if judged == reading.mover_levels:
            break
        judged += 1
        contents = cell_contents(np.asarray(frames)[chosen], rows, columns)  # [n,G]
        differs = contents != most_common(contents)
        alone = differs.sum(axis=1) <= 1
        single += alone.mean()
        cells = differs[alone].argmax(axis=1)[differs[alone].any(axis=1)]
        places, unique = places + len(cells), unique + len(np.unique(cells))
    return judged == 0 or (single >= reading.nearly_all * judged and unique >= reading.nearly_all * places)


def most_common(contents: np.ndarray) -> np.ndarray:
    """[G] the most common value in each column of contents [n,G]."""
    common = []
    for column in contents.T:
        values, counts = np.unique(column, return_counts=True)
        common.append(values[counts.argmax()])
    return np.array(common)

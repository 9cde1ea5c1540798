"""Which networks, on which grid: what was left open is decided by the data, never by a world's name."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator

import numpy as np

from pixelplan.data.contents import compact_grids
from pixelplan.data.movers import one_mover
from pixelplan.data.stepping import stepping_grid
from pixelplan.model.batches import LevelPlay
from pixelplan.model.config import TrainConfig
from pixelplan.model.sizes import Sizes, sizes_of
from pixelplan.model.world_model import ModelConfig
from pixelplan.types import Trajectories

LEVELS, FRAMES = 50, 500
"""So many levels, and frames of all of them together, are looked at to count the things in cells."""


def choose(config: TrainConfig, data: Trajectories, levels: list[LevelPlay]) -> tuple[ModelConfig, Sizes]:
    """The networks and sizes for recorded play.

    The grid is the one on which things move along rows and columns. Where one mover on that grid is not all that
    changes, it is another on which it is; and where there is none, the simplest on which all that changes can be told.
    """
    networks, sizes = config.model, sizes_of(data, config.grid, config.model.noisy)
    open_family, open_grid = networks.family == "auto", config.grid is None
    if open_family and (networks.noisy or one_mover(_parts(levels), sizes.rows, sizes.columns)):
        return dataclasses.replace(networks, family="position"), sizes
    if networks.family in ("auto", "cells") and open_grid:
        some = _some(levels)
        grids = compact_grids([frames for frames, _ in some], networks.kinds)
        moved_on = next((grid for grid in grids if one_mover(some, *grid)), None) or stepping_grid(some)
        if open_family and moved_on is not None:
            return dataclasses.replace(networks, family="position"), sizes_of(data, moved_on)
        sizes = sizes_of(data, grids[0]) if grids else sizes
    return dataclasses.replace(networks, family="cells") if open_family else networks, sizes


def _parts(levels: list[LevelPlay]) -> Iterator[tuple[np.ndarray, np.ndarray]]:
    """Frames [n,H,W,3] and states [n] of each level."""
    return ((level.frames, level.states) for level in levels)


def _some(levels: list[LevelPlay]) -> list[tuple[np.ndarray, np.ndarray]]:
    """The same of evenly spread frames of evenly spread levels."""
    chosen = [levels[place] for place in _spread(len(levels), LEVELS)]
    parts = []
    for frames, states in _parts(chosen):
        places = _spread(len(frames), FRAMES // len(chosen))
        parts.append((np.asarray(frames[places]), states[places]))
    return parts


def _spread(length: int, most: int) -> np.ndarray:
    return np.unique(np.linspace(0, length - 1, min(length, most)).astype(int))

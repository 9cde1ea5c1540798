"""Which networks, on which grid: what was left open is decided by the data, never by a world's name."""

from __future__ import annotations

import dataclasses

import numpy as np

from pixelplan.data.contents import compact_grid
from pixelplan.data.movers import one_mover
from pixelplan.model.batches import LevelPlay
from pixelplan.model.config import TrainConfig
from pixelplan.model.sizes import Sizes, sizes_of
from pixelplan.model.world_model import ModelConfig
from pixelplan.types import Trajectories

LEVELS, FRAMES = 50, 1000
"""So many levels, and frames of all of them together, are looked at to count the things in cells."""


def choose(config: TrainConfig, data: Trajectories, levels: list[LevelPlay]) -> tuple[ModelConfig, Sizes]:
    """The networks and sizes for recorded play.

    The grid is the one on which things move. Where one mover on that grid is not all that changes, it is the one on
    which least is to be told, if there is such a grid.
    """
    networks, sizes = config.model, sizes_of(data, config.grid, config.model.noisy)
    if networks.family == "auto" and (networks.noisy or _one_mover(levels, sizes)):
        return dataclasses.replace(networks, family="position"), sizes
    if networks.family in ("auto", "cells") and config.grid is None:
        sizes = sizes_of(data, compact_grid(_some_frames(levels), networks.kinds))
    if networks.family == "auto":
        networks = dataclasses.replace(networks, family="position" if _one_mover(levels, sizes) else "cells")
    return networks, sizes


def _one_mover(levels: list[LevelPlay], sizes: Sizes) -> bool:
    return one_mover(((level.frames, level.states) for level in levels), sizes.rows, sizes.columns)


def _some_frames(levels: list[LevelPlay]) -> list[np.ndarray]:
    """Frames [n,H,W,3] of some levels, evenly spread."""
    chosen = [levels[place] for place in _spread(len(levels), LEVELS)]
    return [np.asarray(level.frames[_spread(len(level.frames), FRAMES // len(chosen))]) for level in chosen]


def _spread(length: int, most: int) -> np.ndarray:
    return np.unique(np.linspace(0, length - 1, min(length, most)).astype(int))

"""What the families on a grid share: their config, and the grid that the data suggests.

The grid is a guess. `race` lets it compete with families that guess nothing, and held-out prediction decides.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

import numpy as np

from pixelplan.data.contents import compact_grids
from pixelplan.data.identity import states_of_frames
from pixelplan.data.movers import one_mover
from pixelplan.data.stepping import stepping_grid
from pixelplan.model.batches import LevelPlay, level_plays
from pixelplan.model.networks import Networks
from pixelplan.model.sizes import Sizes, sizes_of
from pixelplan.types import InputError, Trajectories

LEVELS, FRAMES = 50, 500
"""So many levels, and frames of all of them together, are looked at to count the things in cells."""
UPDATES, UPDATES_A_CELL = 640, 5
"""Gradient steps, at least, and for each cell of the latent grid: a finer grid takes longer to tell its cells apart."""


@dataclass(frozen=True)
class ModelConfig:
    """The families on a grid."""

    family: Literal["auto", "position", "cells", "latent"] = "position"
    """position: a place on a grid and a map of where actions lead; cells: what is in each cell of a grid, for worlds in
    which several things change; auto (in training): the one of these two that the data asks for; latent: the encoder of
    position with a forward model that sees no context."""
    dimensions: int = 32
    """Size of an embedding (not cells: there it is the number of cells times kinds)."""
    kinds: int = 16
    """How many different things a cell can hold (cells)."""
    maps: int = 1
    """Attention maps of the encoder (position and latent)."""
    encoder_width: int = 32
    """Channels of the encoder."""
    encoder_blocks: int = 1
    """Residual blocks of the encoder (position and latent)."""
    context_width: int = 64
    """Channels of the network that reads a level's rules from a frame (position and cells)."""
    inverse: bool = True
    """Train with the inverse model."""
    noisy: bool = False
    """Frames of one state differ by visual noise: nothing rests on frames being equal (position only)."""

    def __post_init__(self) -> None:
        """An InputError if the family cannot learn from noisy frames."""
        if self.noisy and self.family not in ("auto", "position"):
            raise InputError(f"noisy frames can be learned by the family position only, not by {self.family}")


class GridNetworks(Networks):
    """Networks on a grid. What looks the same but for the thing that moves is one state to them."""

    @classmethod
    def states(cls, data: Trajectories) -> np.ndarray | None:
        """By looks and outcomes."""
        return states_of_frames(data)

    def usual_updates(self) -> int:
        """More for finer grids."""
        return max(UPDATES, UPDATES_A_CELL * self.sizes.rows * self.sizes.columns)


def far_blocks(sizes: Sizes) -> int:
    """Residual blocks, of two 3×3 convolutions each, for a cell to see as far as a step can lead."""
    return max(2, -(-sizes.reach // 2))


def suggest_grid(networks: ModelConfig, grid: tuple[int, int] | None, data: Trajectories) -> tuple[ModelConfig, Sizes]:
    """The networks and sizes for recorded play, on the given grid or the one that the data suggests.

    The grid is the one on which things move along rows and columns. If one mover on that grid is not all that changes,
    it is another on which it is; and if there is none, the simplest on which all that changes can be told.
    """
    sizes = sizes_of(data, grid, networks.noisy)
    open_family = networks.family == "auto"
    if networks.family not in ("auto", "cells"):
        return networks, sizes
    if networks.noisy:
        return dataclasses.replace(networks, family="position"), sizes
    levels = level_plays(data, states_of_frames(data))
    if open_family and one_mover(_parts(levels), sizes.rows, sizes.columns):
        return dataclasses.replace(networks, family="position"), sizes
    if grid is None:
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

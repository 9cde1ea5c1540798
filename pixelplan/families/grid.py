"""What the families on a grid share: their config, and the grid that the data suggests.

The grid is a guess. `race` lets it compete with families that assume nothing, and held-out prediction decides.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import ClassVar, Literal

import numpy as np

from pixelplan.data.spread import evenly_spread
from pixelplan.families.changes import changed_spans, fitting_grid, lines_of
from pixelplan.families.contents import compact_grids
from pixelplan.families.identity import states_of_frames
from pixelplan.families.movers import one_mover
from pixelplan.families.reading_config import ReadingConfig
from pixelplan.families.stepping import stepping_grid
from pixelplan.model.batches import LevelPlay, action_count, level_plays
from pixelplan.model.networks import Networks
from pixelplan.model.sizes import Sizes
from pixelplan.types import ADDED_LATER, InputError, Trajectories


@dataclass(frozen=True)
class NoiseConfig:
    """How `position` learns from noisy frames."""

    notable: float = 2.0
    """A cell counts as different in two frames if it differs by more than this many times the median cell."""
    times_as_long: int = 2
    """Training takes this many times as many gradient steps as on clear frames, because the forward model learns only
    in the second half."""
    settling: float = 0.25
    """The share of training after which the encoder begins to be held to predictions and to what differs."""
    settled: float = 0.45
    """The share of training after which it is fully held to them."""


@dataclass(frozen=True)
class SpreadingConfig:
    """How cells get codes that are far apart, on boards larger or smaller than those trained on (position only)."""

    rounds: int = 30
    """How many times random codes push each other away."""
    push: float = 0.3
    """How far a code moves each time, as a share of the code that pushes it."""
    sharpness: float = 20.0
    """How much more the nearest codes push than the others, per unit of the cosine."""


@dataclass(frozen=True)
class ModelConfig:
    """The families on a grid."""

    family: Literal["position", "latent"] = "position"
    """position: a place on a grid and a map of where actions lead; latent: its encoder with a forward model that sees
    no context."""
    dimensions: int = 32
    """Size of an embedding."""
    maps: int = 1
    """Attention maps of the encoder."""
    encoder_width: int = 32
    """Channels of the encoder."""
    encoder_blocks: int = 1
    """Residual blocks of the encoder."""
    context_width: int = 64
    """Channels of the network that reads a level's rules from a frame (position only)."""
    inverse: bool = True
    """Train with the inverse model."""
    inverse_width: int = field(default=32, metadata=ADDED_LATER)
    """Units of the inverse model's hidden layer."""
    latent_width: int = field(default=256, metadata=ADDED_LATER)
    """Units of the forward model's layers (latent only); as in the paper."""
    noisy: bool = False
    """Frames of one state differ by visual noise: nothing relies on frames being equal (position only)."""
    least_updates: int = field(default=640, metadata=ADDED_LATER)
    """The fewest gradient steps, unless training sets their number."""
    updates_per_cell: int = field(default=5, metadata=ADDED_LATER)
    """Gradient steps for each cell of the latent grid: a finer grid takes longer to tell its cells apart."""
    reading: ReadingConfig = field(default=ReadingConfig(), metadata=ADDED_LATER)
    """How the grid, and the states of frames, are read from recorded play."""
    noisy_frames: NoiseConfig = field(default=NoiseConfig(), metadata=ADDED_LATER)
    """How noisy frames are learned from."""
    log_scale: float = field(default=4.5, metadata=ADDED_LATER)
    """The logarithm of the scale at which the forward model compares codes, before training (position only). Codes of
    neighbouring cells may have a cosine near 0.5; this scale tells them apart with certainty."""
    spreading: SpreadingConfig = field(default=SpreadingConfig(), metadata=ADDED_LATER)
    """How cells of boards of other sizes get their codes."""

    former_settings: ClassVar[tuple[str, ...]] = ("kinds", "pattern_frames")
    """Settings of a removed family on a grid; old configs still name them."""

    def __post_init__(self) -> None:
        """An InputError if the family cannot learn from noisy frames."""
        if self.noisy and self.family != "position":
            raise InputError(f"only the family position can learn from noisy frames, not {self.family}")


class GridNetworks(Networks):
    """Networks on a grid. Frames that differ only in the look of the thing that moves are one state to them."""

    config: ModelConfig

    def states(self, data: Trajectories) -> np.ndarray | None:
        """By looks and outcomes."""
        return states_of_frames(data, self.config.reading)

    def usual_updates(self) -> int:
        """More for finer grids."""
        return max(self.config.least_updates, self.config.updates_per_cell * self.sizes.rows * self.sizes.columns)


def suggest_grid(networks: ModelConfig, grid: tuple[int, int] | None, data: Trajectories) -> tuple[ModelConfig, Sizes]:
    """The networks and sizes for recorded play, on the given grid or the one that the data suggests.

    The grid is the one on which things move along rows and columns. If something besides one mover changes on it,
    `position` uses a grid on which only one mover changes; an InputError if there is none.
    """
    reading = networks.reading
    sizes = sizes_of(data, grid, networks.noisy, reading)
    if networks.noisy or networks.family == "latent":
        return networks, sizes
    levels = level_plays(data, states_of_frames(data, reading))
    if one_mover(_parts(levels), sizes.rows, sizes.columns, reading):
        return networks, sizes
    moved_on = _other_grid(_sample(levels, reading), reading) if grid is None else None
    if moved_on is None:
        raise InputError(
            "more than one thing changes in this world, and the family position knows the place of only one; train "
            "with --noisy if what changes is visual noise (check-env can tell), and with --preset picture if it is not"
        )
    return networks, sizes_of(data, moved_on, reading=reading)


def _other_grid(sample: list[tuple[np.ndarray, np.ndarray]], reading: ReadingConfig) -> tuple[int, int] | None:
    """Rows and columns of a grid on which only one mover changes, from frames [n,H,W,3] and states [n] of levels."""
    grids = compact_grids([frames for frames, _ in sample], reading.most_things, reading)
    return next((grid for grid in grids if one_mover(sample, *grid, reading)), None) or stepping_grid(sample, reading)


def _parts(levels: list[LevelPlay]) -> Iterator[tuple[np.ndarray, np.ndarray]]:
    """Frames [n,H,W,3] and states [n] of each level."""
    return ((level.frames, level.states) for level in levels)


def _sample(levels: list[LevelPlay], reading: ReadingConfig) -> list[tuple[np.ndarray, np.ndarray]]:
    """The same for evenly spread frames of evenly spread levels."""
    chosen = [levels[place] for place in evenly_spread(len(levels), reading.compared_levels)]
    parts = []
    for frames, states in _parts(chosen):
        places = evenly_spread(len(frames), reading.compared_frames // len(chosen))
        parts.append((np.asarray(frames[places]), states[places]))
    return parts


def sizes_of(
    data: Trajectories,
    grid: tuple[int, int] | None = None,
    noisy: bool = False,
    reading: ReadingConfig = ReadingConfig(),  # noqa: B008 (frozen)
) -> Sizes:
    """A grid whose cells are as large as what moves, and a reach as far as it moves.

    If pixels are noisy, changes cannot be seen: the grid is the given one (or has cells of 8 pixels), and the reach is
    all of it.
    """
    height, width = data.frames.shape[1:3]
    spans = np.zeros((0, 2, 2), np.int64) if noisy else changed_spans(data, reading)
    rows, columns = (
        grid or fitting_grid(spans, height, width, reading) or _cells_of(reading.fallback_cell, height, width)
    )
    cells = np.array([rows / height, columns / width])[:, None]
    ends = lines_of(spans, cells, reading)  # [n,2,2] first and last row (column) that changed
    reach = max(rows, columns) if noisy else int(np.diff(ends, axis=2).max(initial=1))
    return Sizes(height, width, action_count(data), rows, columns, min(reach, max(rows, columns) - 1) or 1)


def _cells_of(pitch: int, height: int, width: int) -> tuple[int, int]:
    return max(1, round(height / pitch)), max(1, round(width / pitch))

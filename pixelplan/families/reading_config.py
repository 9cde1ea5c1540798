"""The numbers that decide which grid and which states are read from recorded play."""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass, field

from pixelplan.types import ADDED_LATER, InputError


@dataclass(frozen=True)
class ReadingConfig:
    """How a grid and states are read from recorded play."""

    sampled_steps: int = 4000
    """Steps whose changes are measured; sizes are percentiles, which more steps hardly move."""
    within: float = 0.98
    """The share of moves that must stay inside one row (or column) of a grid for the grid to fit."""
    usual_width: float = field(default=0.5, metadata=ADDED_LATER)
    """The quantile of the widths of the strips that steps change that counts as usual."""
    large_width: float = field(default=0.9, metadata=ADDED_LATER)
    """The quantile that counts as the mover's width: not the largest, which may come from something else."""
    much_wider: float = 1.5
    """If the large width is this many times the usual one, several things move."""
    tolerance: float = 0.75
    """Pixels by which a thing may stick out of its cell; with a fractional cell size, rounding moves edges by less."""
    smallest_cell: int = 3
    """The fewest pixels on a cell's side and in a mover's step: if smaller, grids would have too many cells."""
    fallback_cell: int = 8
    """Pixels on a cell's side if the data shows no grid."""
    enough_states: int = 4
    """A level with fewer states cannot tell whether one thing moves."""
    mover_levels: int = 50
    """The most levels that are checked for whether one thing moves."""
    nearly_all: float = 0.95
    """The share of frames and of cells that must be consistent with one mover."""
    one_voice: float = 0.95
    """The share of votes that must be for merging near frames before pairs without a vote are also merged."""
    changed_there: float = 0.8
    """The share of steps from near frames that must change something where the frames differ."""
    most_things: int = field(default=16, metadata=ADDED_LATER)
    """The most different things that the changing cells of another grid may show."""
    compared_levels: int = 50
    """The most levels whose frames are compared to count the things in cells."""
    compared_frames: int = 500
    """The most frames from all these levels together."""

    def __post_init__(self) -> None:
        for setting in dataclasses.fields(self):
            value: object = getattr(self, setting.name)
            if isinstance(value, bool) or not isinstance(value, int | float) or not 0 < value < 10**6:
                raise InputError(f"{setting.name} is {value}; it must be a number above 0 and below a million")

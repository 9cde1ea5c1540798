"""Settings of the family `picture`."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal

from pixelplan.model.sizes import Sizes
from pixelplan.types import ADDED_LATER, InputError


@dataclass(frozen=True)
class PictureConfig:
    """The picture family."""

    family: Literal["picture"] = "picture"
    """Its name."""
    patches: int = 16
    """Patches along the longer side of a frame; roughly this many if the data decides (`lattice.py`)."""
    coarsest: float = 0.75
    """The smallest number of patches that the data may choose, as a multiple of the usual one; 1 once chosen."""
    finest: float = 2.0
    """The largest such number."""
    lattice_levels: int = 60
    """Levels that decide it."""
    lattice_frames: int = 6
    """Frames from each of these levels."""
    lattice_share: float = 1 / 6
    """How many numbers describe a frame when lattices are compared, as a share of the numbers in its pixels."""
    features: int = 4
    """Numbers that describe a patch. With more of them, most of what is to be learned is details that hardly matter."""
    whitening: float = 0.5
    """How far features are scaled to vary equally: 0 leaves them as they are, 1 makes them all equal. In between,
    features that vary little count less, but they count."""
    width: int = 32
    """Channels of the network on the whole lattice."""
    wide: int = 64
    """Channels of the network on half of it; a multiple of four, one part for each direction of a sweep."""
    noise: float = 0.05
    """Noise on the features that the network learns from, so that small errors do not add up in a plan: what it
    repaints does not depend on them."""
    bad_patches: float = 0.02
    """The share of patches with more noise (`bad_noise`)."""
    predicted: float = 0.5
    """The share of states, among those that some step in the batch leads to, that the network learns from as predicted
    by itself. In a plan all states are its own predictions, and their errors are not like noise."""
    words: int = 1024
    """How many looks of patches are remembered, the most common ones in the training levels."""
    updates: int = 3000
    """The most gradient steps."""
    largest_patch: int = field(default=8, metadata=ADDED_LATER)
    """The most pixels along a patch's side: patterns of thousands of pixels would take hours to find."""
    least_loss: float = field(default=1e-4, metadata=ADDED_LATER)
    """When lattices are compared, a smaller loss of changes counts as this share."""
    pattern_levels: int = field(default=150, metadata=ADDED_LATER)
    """Levels whose changes decide which patterns describe a patch."""
    pattern_level_frames: int = field(default=6, metadata=ADDED_LATER)
    """Frames of each of these levels."""
    word_frames: int = field(default=1000, metadata=ADDED_LATER)
    """Frames whose looks are counted to find the most common ones."""
    word_fineness: float = field(default=100.0, metadata=ADDED_LATER)
    """Features that round to the same multiple of one over this are one look."""
    word_rollouts: tuple[int, ...] = field(default=(1, 5, 20), metadata=ADDED_LATER)
    """Steps of the rollouts that decide whether predictions are replaced by remembered looks."""
    unchanged: float = field(default=1e-3, metadata=ADDED_LATER)
    """Features that differ by no more than this are the same; rounding errors are smaller."""
    still_levels: int = field(default=50, metadata=ADDED_LATER)
    """Levels whose steps decide below what size a predicted change is no change."""
    least_still: float = field(default=1e-6, metadata=ADDED_LATER)
    """The smallest bound tried, on the squared length of a change."""
    largest_still: float = field(default=100.0, metadata=ADDED_LATER)
    """The largest bound tried."""
    still_bounds: int = field(default=401, metadata=ADDED_LATER)
    """How many bounds are tried, evenly spread on a logarithmic scale."""
    bad_noise: float = field(default=5.0, metadata=ADDED_LATER)
    """How much noise bad patches have, as a multiple of the usual noise."""
    loss_scale: float = field(default=0.1, metadata=ADDED_LATER)
    """What the squared errors are multiplied by; gradients are limited after that."""
    blocks: int = field(default=4, metadata={**ADDED_LATER, "before": 2})
    """Local blocks on half the lattice, with a sweep after each but the last and attention before the first sweep.
    (Networks without sweeps, which can no longer be opened, had two in each of three places.)"""
    heads: int = field(default=4, metadata=ADDED_LATER)
    """Heads of its attention block; a divisor of `wide`."""

    def __post_init__(self) -> None:
        if self.wide % self.heads:
            raise InputError(f"heads is {self.heads}; it must divide wide, which is {self.wide}")
        if self.wide % 4:
            raise InputError(f"wide is {self.wide}; it must be a multiple of 4")

    def sizes(self, height: int, width: int, actions: int) -> Sizes:
        """The lattice for frames of this size."""
        (height_seen, width_seen), side = self.seen(height, width)
        return Sizes(height, width, actions, height_seen // side, width_seen // side, reach=1)

    def seen(self, height: int, width: int) -> tuple[tuple[int, int], int]:
        """The size to which frames of this size are scaled, so that whole patches fit, and a patch's side."""
        longer = max(height, width)
        patches = min(self.patches, longer)
        side = min(self.largest_patch, -(-longer // patches))
        return (max(1, round(patches * height / longer)) * side, max(1, round(patches * width / longer)) * side), side

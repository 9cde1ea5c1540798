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
    """Patches along the longer side of a frame; about that many if the data decides (`lattice.py`)."""
    coarsest: float = 0.75
    """The least number of patches that the data may decide on, as a multiple of the usual one; 1 once it has."""
    finest: float = 2.0
    """The largest such number."""
    lattice_levels: int = 60
    """Levels that decide it."""
    lattice_frames: int = 6
    """Frames of each of these levels."""
    lattice_share: float = 1 / 6
    """Numbers that tell a frame when lattices are compared, as a share of those of its pixels."""
    features: int = 4
    """Numbers that tell a patch. With more of them, details that hardly matter are most of what is to be learned."""
    whitening: float = 0.5
    """How far features are made equally large: 0 leaves them as they are, 1 makes them all equal. Features that vary
    little then count less, but they count."""
    width: int = 32
    """Channels of the network on the whole lattice."""
    wide: int = 64
    """Channels of the network on half and a quarter of it."""
    noise: float = 0.05
    """Of the features that the network learns from, so that small errors do not add up in a plan: what it repaints
    does not depend on them."""
    bad_patches: float = 0.02
    """The share of patches with more of it (`bad_noise`)."""
    predicted: float = 0.5
    """The share of states, among those that the batch has a step to, that the network learns from as it predicts them
    itself. In a plan all of them are its own predictions, and their errors are not like noise."""
    words: int = 1024
    """Looks of a patch that are remembered, the most common ones of the training levels."""
    updates: int = 3000
    """Gradient steps at most."""
    largest_patch: int = field(default=8, metadata=ADDED_LATER)
    """Pixels along a patch's side at most: patterns of thousands of pixels would take hours to find."""
    least_loss: float = field(default=1e-4, metadata=ADDED_LATER)
    """When lattices are compared, a smaller share of changes that is lost counts as this."""
    pattern_levels: int = field(default=150, metadata=ADDED_LATER)
    """Levels whose changes decide which patterns tell a patch."""
    pattern_level_frames: int = field(default=6, metadata=ADDED_LATER)
    """Frames of each of these levels."""
    word_frames: int = field(default=1000, metadata=ADDED_LATER)
    """Frames whose looks are counted to find the most common ones."""
    word_fineness: float = field(default=100.0, metadata=ADDED_LATER)
    """Features that round to the same multiple of one part in this many are one look."""
    word_rollouts: tuple[int, ...] = field(default=(1, 5, 20), metadata=ADDED_LATER)
    """Steps of the rollouts that decide whether predictions are replaced by remembered looks."""
    unchanged: float = field(default=1e-3, metadata=ADDED_LATER)
    """Features that differ by no more are the same: rounding differs by less."""
    still_levels: int = field(default=50, metadata=ADDED_LATER)
    """Levels whose steps decide how small a predicted change is none."""
    least_still: float = field(default=1e-6, metadata=ADDED_LATER)
    """The smallest bound tried, on the squared length of a change."""
    largest_still: float = field(default=100.0, metadata=ADDED_LATER)
    """The largest bound tried."""
    still_bounds: int = field(default=401, metadata=ADDED_LATER)
    """How many bounds are tried, evenly spread on a logarithmic scale."""
    bad_noise: float = field(default=5.0, metadata=ADDED_LATER)
    """How much noise bad patches have, as a multiple of the usual."""
    loss_scale: float = field(default=0.1, metadata=ADDED_LATER)
    """What the squared errors are multiplied by; gradients are limited after that."""
    blocks: int = field(default=2, metadata=ADDED_LATER)
    """Pooling blocks at each of three places of the network: half the lattice, a quarter, and half again."""
    heads: int = field(default=4, metadata=ADDED_LATER)
    """Of its block of attention; a divisor of `wide`."""

    def __post_init__(self) -> None:
        if self.wide % self.heads:
            raise InputError(f"heads is {self.heads}; it must divide wide, which is {self.wide}")

    def sizes(self, height: int, width: int, actions: int) -> Sizes:
        """The lattice for frames of this size."""
        (height_seen, width_seen), side = self.seen(height, width)
        return Sizes(height, width, actions, height_seen // side, width_seen // side, reach=1)

    def seen(self, height: int, width: int) -> tuple[tuple[int, int], int]:
        """The size at which frames of this size are looked at, so that whole patches fit, and a patch's side."""
        longer = max(height, width)
        patches = min(self.patches, longer)
        side = min(self.largest_patch, -(-longer // patches))
        return (max(1, round(patches * height / longer)) * side, max(1, round(patches * width / longer)) * side), side

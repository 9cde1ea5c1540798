"""How strong visual noise is, as data sets and records state it."""

from __future__ import annotations

from dataclasses import dataclass

from pixelplan.types import InputError

NOISE = "visual_noise"
"""The name of this option in records."""


@dataclass(frozen=True)
class Noise:
    """How frames are disturbed; grey values are 0 to 255."""

    noise: float = 0.0
    """Standard deviation of each pixel's noise, in grey values."""
    background: float = 0.0
    """How far a random pattern moves the colours of a frame's background (its most common colour), in grey values."""
    flicker: float = 0.0
    """Brightness changes from frame to frame by a factor of at most 1 ± this."""
    distractor: int = 0
    """Bright squares that move over the frame, whatever the player does."""
    noise_seed: int = 0
    """Decides the noise, together with the level and the seed of play."""

    def __post_init__(self) -> None:
        if not (0 <= self.noise <= 255 and 0 <= self.background <= 255 and 0 <= self.flicker < 1):
            raise InputError(
                f"noise is {self.noise}, background {self.background} and flicker {self.flicker}; the first two are "
                "grey values from 0 to 255, flicker is from 0 to below 1"
            )
        if not 0 <= self.distractor <= 16 or self.noise_seed < 0:
            raise InputError(
                f"distractor is {self.distractor} and noise_seed {self.noise_seed}; these are 0 to 16, and 0 or more"
            )

    @property
    def silent(self) -> bool:
        """Whether it changes nothing."""
        return not (self.noise or self.background or self.flicker or self.distractor)

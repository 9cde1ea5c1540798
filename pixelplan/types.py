"""What crosses the borders between stages: small frozen dataclasses and the protocols of the seams.

Shapes: N frames or embeddings, H × W pixels, d latent dimensions, A actions, E episodes of T steps.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np

if TYPE_CHECKING:  # torch takes seconds to import, and levels and trajectories do without it
    import torch


class InputError(ValueError):
    """Something the user asked for cannot be done; the message is one sentence that says what would be right.

    The command line prints it and exits with code 2.
    """


ACTIONS = ("up", "right", "left", "down", "no-op")
"""The actions of the three puzzles, by number."""


@dataclass(frozen=True, eq=False)
class Trajectories:
    """Recorded play: distinct frames stored once, and episodes as indices into them."""

    frames: np.ndarray
    """[F,H,W,3] uint8; the frames of a level stand together."""
    frame_level: np.ndarray
    """[F] int64, the level each frame belongs to."""
    episodes: np.ndarray
    """[E,T+1] int32, indices into frames."""
    actions: np.ndarray
    """[E,T] uint8."""
    episode_level: np.ndarray
    """[E] int64."""
    manifest: Mapping[str, Any] = field(default_factory=dict)
    """What made the data: puzzle and options, levels, seed, counts, checksums."""


class Model(Protocol):
    """A world model as a planner sees it."""

    threshold: float
    """The distance under which two embeddings are the same state."""

    def encode(self, frames: np.ndarray) -> torch.Tensor:
        """Embeddings [N,d] of frames [N,H,W,3] uint8."""

    def context(self, frame: np.ndarray) -> Any:
        """What `step` needs to know of the level, from one frame [H,W,3] of it."""

    def step(self, z: torch.Tensor, context: Any) -> torch.Tensor:
        """The embeddings [N,A,d] after each action from each of z [N,d]."""

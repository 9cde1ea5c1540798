"""What a family of world models is: one kind of latent, with its networks, its losses and what it reads from the data.

Each family is one class in one file of `families/`; everything else here knows only this interface.

Shapes: N images [N,3,H,W], L levels of at most S states each, M steps, A actions, d latent dimensions.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar

import numpy as np
import torch
from torch import Tensor, nn

from pixelplan.model.batches import LevelBatch, LevelPlay
from pixelplan.model.optimizer import Muon, MuonConfig
from pixelplan.model.sizes import Sizes
from pixelplan.types import InputError, Trajectories


class Networks(nn.Module):
    """The networks of a family. Calling them returns the losses of a batch."""

    version: ClassVar[int] = 1
    """Raise it when the same settings train a different model than before: records name the version."""
    noisy: ClassVar[bool] = False
    """Whether frames of one state may differ, so that only embeddings tell states apart."""
    until_learned: ClassVar[bool] = False
    """Whether training ends when held-out predictions stop improving; if not, it takes a fixed number of updates."""
    at_once: ClassVar[bool] = False
    """Whether `prepare` learns everything, so that there are no gradient steps."""
    discrete: ClassVar[bool] = False
    """Whether embeddings are zeros and ones."""
    layout: tuple[int, int, int] | None = None
    """Rows, columns and numbers per cell, if that is how embeddings are laid out."""
    keeps_margin: ClassVar[bool] = True
    """Whether training keeps different states a margin apart, so that half of it can serve as the threshold."""
    changes_colours: ClassVar[bool] = True
    """Whether training changes the colours of whole levels at random."""
    scattered: ClassVar[bool] = False
    """Whether a batch has steps from single frames all over a level; if not, it has whole episodes."""

    halves_precision: ClassVar[bool] = False
    """Whether training computes in bfloat16 if the processor is faster with it."""
    averages_weights: ClassVar[bool] = False
    """Whether plans use the running mean of the weights; if not, they use the last weights."""
    moved_by_muon: ClassVar[bool] = False
    """Whether Muon moves its matrices and kernels; if not, AdamW moves all weights."""
    takes_any_size: ClassVar[bool] = False
    """Whether the weights fit frames of any size, so that training may mix sizes."""
    config: Any
    """The family's settings."""

    def __init__(self, sizes: Sizes) -> None:
        super().__init__()
        self.sizes = sizes

    def states(self, data: Trajectories) -> np.ndarray | None:
        """[F] the states of frames that the family learns to tell apart; None if every frame is a state."""
        return None

    def optimizer(
        self,
        rate: float,
        weight_decay: float,
        muon: MuonConfig = MuonConfig(),  # noqa: B008 (frozen)
    ) -> torch.optim.Optimizer:
        """What moves the weights; `muon` is for families that use it."""
        if self.moved_by_muon:
            return Muon(self.parameters(), rate, weight_decay, muon)
        return torch.optim.AdamW(self.parameters(), rate, weight_decay=weight_decay)

    def prepare(self, levels: Sequence[LevelPlay]) -> None:
        """Fix what is taken from the training levels before training."""

    def settle(self, levels: Sequence[LevelPlay]) -> None:
        """Fix what is chosen on held-out levels after training."""

    def judged(self, levels: list[LevelPlay]) -> list[LevelPlay]:
        """The levels on which the family is measured, in the form that it can be measured on."""
        return levels

    def usual_updates(self) -> int:
        """Gradient steps of a training run (at most, if it ends once the world is learned)."""
        return int(self.config.updates)

    def forward(self, batch: LevelBatch, weights: Any, share_done: float) -> dict[str, Tensor]:
        """The losses on a batch by name, when this share of training is done; `total` is their weighted sum.

        The call returns losses, not embeddings, so that several processes can share a batch.
        """
        raise NotImplementedError

    def encode(self, images: Tensor) -> Tensor:
        """Embeddings [N,d] of images [N,3,H,W]."""
        raise NotImplementedError

    def context(self, images: Tensor) -> Any:
        """What `step` needs to know about levels, from one image [L,3,H,W] of each."""
        raise NotImplementedError

    def step(self, z: Tensor, context: Any) -> Tensor:
        """Embeddings [L,S,A,d] after each action in z [L,S,d]."""
        raise NotImplementedError

    def for_frames(self, height: int, width: int) -> Networks:
        """The same weights for frames of a size with the same pixels per cell; an InputError if impossible."""
        return self if (height, width) == (self.sizes.height, self.sizes.width) else self.resized(height, width)

    def resized(self, height: int, width: int) -> Networks:
        """The same weights for frames of another size; an InputError if impossible."""
        raise InputError(
            f"this model takes only frames of {self.sizes.height} × {self.sizes.width} pixels; frames of {height} × "
            f"{width} need a model of their own"
        )

    def looks(self) -> Tensor | None:
        """How much [d] a picture changes with each number of its embedding; None if that is not known."""
        return None

    def shown(self, z: Tensor, image: Tensor) -> Tensor | None:
        """Pictures [N,3,H,W] of embeddings z [N,d], in the level of an image [3,H,W]; None if it cannot draw."""
        return None

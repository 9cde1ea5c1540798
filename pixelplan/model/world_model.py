"""The world model as planners see it, whatever its family."""

from __future__ import annotations

import copy
from typing import Any

import numpy as np
import torch
from torch import Tensor

from pixelplan.model.batches import to_images
from pixelplan.model.find_family import Config, family_of
from pixelplan.model.goal_test import LearnedGoalTest
from pixelplan.model.sizes import Sizes
from pixelplan.types import InputError


class WorldModel:
    """Networks of some family, and the distance under which two embeddings are the same state."""

    def __init__(self, config: Config, sizes: Sizes, threshold: float = 0.0) -> None:
        self.config, self.sizes, self.threshold = config, sizes, threshold
        self.networks = family_of(config).networks(config, sizes).eval()  # type: ignore[call-arg,arg-type]
        self.noisy = self.networks.noisy
        self.actions = sizes.actions
        self.goal_test: LearnedGoalTest | None = None
        """The goal test, if one was learned from recorded play."""
        self._resized: dict[tuple[int, int], WorldModel] = {}
        self.layout = self.networks.layout

    @property
    def discrete(self) -> bool:
        """Whether embeddings are zeros and ones, and any two that differ are different states."""
        return self.networks.discrete and self.threshold < 2**0.5

    @property
    def looks(self) -> np.ndarray | None:
        """How much [d] each number of an embedding counts in a picture; None if the family does not know."""
        looks = self.networks.looks()
        return None if looks is None else looks.cpu().numpy()

    @property
    def parameter_count(self) -> int:
        """How many numbers are learned."""
        return sum(parameter.numel() for parameter in self.networks.parameters())

    def for_frames(self, height: int, width: int) -> WorldModel:
        """The same model for frames of another size with the same pixels per cell; an InputError if impossible."""
        size = height, width
        if size == (self.sizes.height, self.sizes.width):
            return self
        if size not in self._resized:
            other = copy.copy(self)
            device = next(self.networks.parameters()).device
            other.networks = self.networks.for_frames(height, width).to(device).eval()
            other.networks.to(memory_format=torch.channels_last)  # type: ignore[call-overload]
            other.sizes, other._resized = other.networks.sizes, {}
            other.goal_test = None  # it was learned on embeddings of the usual size
            self._resized[size] = other
        self._resized[size].threshold = self.threshold  # it is chosen at the end of training
        return self._resized[size]

    def with_actions(self, count: int) -> WorldModel:
        """The same model for a world that has only the first `count` of its actions."""
        other = copy.copy(self)
        other.actions, other._resized = count, {}
        return other

    def images(self, frames: np.ndarray) -> Tensor:
        """[N,3,H,W] for the networks, of frames [N,H,W,3] uint8."""
        expected = (self.sizes.height, self.sizes.width, 3)
        if frames.ndim != 4 or frames.shape[1:] != expected or frames.dtype != np.uint8:
            raise InputError(
                f"frames are {frames.dtype} of shape {frames.shape}; this model takes uint8 of shape (N, "
                f"{', '.join(map(str, expected))})"
            )
        device = next(self.networks.parameters()).device
        return to_images(frames).to(device, memory_format=torch.channels_last)

    @torch.inference_mode()
    def encode(self, frames: np.ndarray) -> Tensor:
        """Embeddings [N,d] of frames [N,H,W,3] uint8."""
        return self.networks.encode(self.images(frames))

    @torch.inference_mode()
    def context(self, frame: np.ndarray) -> Any:
        """What `step` needs to know about the level, from one of its frames [H,W,3]."""
        return self.networks.context(self.images(frame[None]))

    def step(self, z: Tensor, context: Any) -> Tensor:
        """The embeddings [N,A,d] after each action in each of z [N,d]."""
        if not torch.is_inference_mode_enabled():  # entering it takes a tenth of a small step, and planners are inside
            with torch.inference_mode():
                return self.step(z, context)
        after = self.networks.step(z[None], context)[0]
        return after if after.shape[1] == self.actions else after[:, : self.actions]

    @torch.inference_mode()
    def shown(self, z: Tensor, frame: np.ndarray) -> np.ndarray | None:
        """Frames [N,H,W,3] uint8 of what embeddings z [N,d] stand for, in the level of a frame [H,W,3].

        None if the family's embeddings cannot be drawn.
        """
        images = self.networks.shown(z, self.images(frame[None])[0])
        if images is None:
            return None
        return ((images + 0.5) * 255).round().clamp(0, 255).byte().permute(0, 2, 3, 1).cpu().numpy()

"""The environment that planners and models get: frames and whether the goal is reached, nothing else."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import gymnasium
import numpy as np

from pixelplan.types import InputError, check_frame


class Blindfold:
    """A Gymnasium environment with discrete actions, without reward, info, positions, solutions or any other truth."""

    __slots__ = ("_play", "_start", "actions")

    def __init__(
        self,
        env: gymnasium.Env[Any, Any],
        solved: Callable[[], bool] | None = None,
        reset_options: dict[str, Any] | None = None,
    ) -> None:
        """`solved` tells whether the goal is reached now; by default it is when the environment terminates."""
        space = env.action_space
        if not isinstance(space, gymnasium.spaces.Discrete):
            raise InputError(f"the environment's actions are {space}; planners need a Discrete action space")
        self.actions = int(space.n)
        shape: tuple[int, ...] = ()

        # Closures, not attributes: a planner that looks around finds no environment.
        def start() -> tuple[np.ndarray, bool]:
            nonlocal shape
            frame, _ = env.reset(options=reset_options)
            shape = np.shape(frame)
            return _checked(frame, shape), solved() if solved else False

        def play(action: int) -> tuple[np.ndarray, bool]:
            frame, _, terminated, _, _ = env.step(int(space.start) + action)
            return _checked(frame, shape), solved() if solved else bool(terminated)

        self._start, self._play = start, play

    def reset(self) -> tuple[np.ndarray, bool]:
        """The first frame [H,W,3] uint8, and whether it is solved already."""
        return self._start()

    def step(self, action: int) -> tuple[np.ndarray, bool]:
        """The frame [H,W,3] uint8 after an action, and whether the goal is reached."""
        return self._play(action)


def _checked(frame: Any, shape: tuple[int, ...]) -> np.ndarray:
    """A copy of the frame, so that no caller can change another's; an InputError for anything that is not a frame."""
    check_frame(frame, "the environment's frame")
    if frame.shape != shape:
        raise InputError(f"the environment returned a frame of shape {frame.shape}; those before had {shape}")
    copied: np.ndarray = frame.copy()
    return copied

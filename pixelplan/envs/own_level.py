"""One level of anybody's environment, and the frames that can be goals in it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import gymnasium
import numpy as np

from pixelplan.envs.frames import describe, resize
from pixelplan.types import InputError

if TYPE_CHECKING:
    from pixelplan.envs.own import Own

GOAL_STEPS = 100
"""Random steps among whose frames a random goal is chosen."""


class OwnLevel(gymnasium.Env[np.ndarray, int]):
    """One level of an own environment: frames of one size, and the level begins anew at every reset."""

    def __init__(self, own: Own, env: gymnasium.Env[Any, Any], number: int) -> None:
        self._own, self._env, self.number = own, env, int(number)
        self.action_space = gymnasium.spaces.Discrete(int(own.checked_actions().n))  # type: ignore[assignment]
        self.observation_space = gymnasium.spaces.Box(0, 255, own.shape, np.uint8)
        self.frame = np.zeros(own.shape, np.uint8)
        """What is seen now."""
        self._said: bool | None = None
        self._over = False

    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None) -> tuple[np.ndarray, dict]:
        """The first frame [H,W,3]."""
        observation, info = self._env.reset(seed=self.number)
        self._own.checked_actions()
        self._over = False
        return self._show(observation, info)

    def shake(self, seed: int) -> None:
        """Give the environment another random generator than its level's seed did."""
        self._env.unwrapped.np_random = np.random.default_rng(seed)

    def step(self, action: int) -> tuple[np.ndarray, float, bool, bool, dict]:
        """The frame [H,W,3] after an action; once the environment has terminated nothing moves any more."""
        if self._over:
            return self.frame.copy(), 0.0, False, False, {}
        space = self._own.checked_actions()
        observation, reward, terminated, _, info = self._env.step(int(space.start) + action)
        self._over = bool(terminated)
        frame, _ = self._show(observation, info)
        return frame, float(reward), False, False, {}

    def solved(self, goal_frame: np.ndarray) -> bool:
        """Whether the environment's goal is reached: it says so, or it has terminated, or the goal frame is seen."""
        if self._said is not None:
            return self._said
        return self._over or np.array_equal(self.frame, goal_frame)

    def _show(self, observation: Any, info: Mapping[str, Any]) -> tuple[np.ndarray, dict]:
        picture = self._own.picture(observation)
        if picture.shape[:2] != self._own.own_size:
            raise InputError(
                f"level {self.number} of {self._own.name} shows a frame of {describe(picture)}; those before were "
                f"{self._own.own_size[0]} × {self._own.own_size[1]} pixels"
            )
        self.frame = resize(picture, self._own.shape[:2])
        self._said = self._own.says_solved(info)
        return self.frame.copy(), {}


def demonstrated(level: OwnLevel, actions: Sequence[int]) -> np.ndarray:
    """The frame [H,W,3] that actions lead to from the level's start."""
    frame, _ = level.reset()
    for action in actions:
        if not level.action_space.contains(int(action)):
            count = int(level.action_space.n)  # type: ignore[attr-defined]
            raise InputError(f"there is no action {action}; actions are 0 to {count - 1}")
        frame = level.step(int(action))[0]
    return frame


def random_walk(level: OwnLevel, random: np.random.Generator) -> np.ndarray:
    """The frames [n,H,W,3] of a random walk from the level's start, the start's first."""
    frames = [level.reset()[0]]
    for action in random.integers(int(level.action_space.n), size=GOAL_STEPS):  # type: ignore[attr-defined]
        frames.append(level.step(int(action))[0])
    return np.stack(frames)


def random_frame(level: OwnLevel, random: np.random.Generator) -> np.ndarray:
    """One of the distinct frames [H,W,3] of a random walk, other than the start's."""
    walk = random_walk(level, random)
    distinct = {frame.tobytes(): frame for frame in walk if not np.array_equal(frame, walk[0])}
    if not distinct:
        raise InputError(f"nothing has changed in level {level.number} in {GOAL_STEPS} random steps; it has no goals")
    return list(distinct.values())[random.integers(len(distinct))]

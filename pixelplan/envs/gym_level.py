"""One level of anybody's environment, and the frames that can be goals in it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import gymnasium
import numpy as np

from pixelplan.envs.frames import resize
from pixelplan.types import InputError, describe_value

if TYPE_CHECKING:
    from pixelplan.envs.gym_family import GymFamily

GOAL_STEPS = 100
"""Random steps among whose frames a random goal is chosen."""


class GymLevel(gymnasium.Env[np.ndarray, int]):
    """One level of an own environment: frames of one size, and the level begins anew at every reset."""

    def __init__(self, own: GymFamily, env: gymnasium.Env[Any, Any], number: int) -> None:
        self._own, self._env, self.number = own, env, int(number)
        self.action_space = gymnasium.spaces.Discrete(int(own.checked_actions().n))  # type: ignore[assignment]
        self.observation_space = gymnasium.spaces.Box(0, 255, own.shape, np.uint8)
        self.frame = np.zeros(own.shape, np.uint8)
        """What is seen now."""
        self._said: bool | None = None
        self._over = False
        self._steps = 0

    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None) -> tuple[np.ndarray, dict]:
        """The first frame [H,W,3]."""
        self._over, self._steps = False, 0
        with self._own.guard(f"reset of level {self.number}"):
            observation, info = checked_tuple(self._env.reset(seed=self.number), 2, "reset")
            picture, self._said = self._own.picture(observation), self._own.says_solved(info)
        self._own.checked_actions()
        return self._show(picture), {}

    def shake(self, seed: int) -> None:
        """Give the environment another random generator than its level's seed did."""
        with self._own.guard("being given another random generator (np_random)"):
            self._env.unwrapped.np_random = np.random.default_rng(seed)

    def step(self, action: int) -> tuple[np.ndarray, float, bool, bool, dict]:
        """The frame [H,W,3] after an action; once the environment has terminated nothing moves any more."""
        if self._over:
            return self.frame.copy(), 0.0, False, False, {}
        space = self._own.checked_actions()
        self._steps += 1
        with self._own.guard(f"step {self._steps} of level {self.number}"):
            found = checked_tuple(self._env.step(int(space.start) + action), 5, "step")
            observation, reward, terminated, _, info = found
            if isinstance(reward, str) or reward is None:
                raise TypeError(f"the reward is {reward!r}, not a number")
            reward, self._over = float(reward), bool(terminated)
            picture, self._said = self._own.picture(observation), self._own.says_solved(info)
        return self._show(picture), reward, False, False, {}

    def solved(self, goal_frame: np.ndarray) -> bool:
        """Whether the environment's goal is reached: it says so, or it has terminated, or the goal frame is seen."""
        if self._said is not None:
            return self._said
        return self._over or np.array_equal(self.frame, goal_frame)

    def _show(self, picture: np.ndarray) -> np.ndarray:
        if picture.shape[:2] != self._own.own_size:
            raise InputError(
                f"level {self.number} of {self._own.name} shows a frame of {describe_value(picture)}; those before "
                f"were {self._own.own_size[0]} × {self._own.own_size[1]} pixels"
            )
        self.frame = resize(picture, self._own.shape[:2])
        return self.frame.copy()


def checked_tuple(given: Any, length: int, method: str) -> tuple[Any, ...]:
    """What reset() or step() gave, where it is what Gymnasium asks for; else a TypeError."""
    names = ("observation", "info") if length == 2 else ("observation", "reward", "terminated", "truncated", "info")
    if not isinstance(given, tuple) or len(given) != length:
        found = f"{len(given)} values" if isinstance(given, tuple) else f"a {type(given).__name__}"
        raise TypeError(f"{method}() gave {found}, not {', '.join(names)}")
    if not isinstance(given[-1], Mapping):
        raise TypeError(f"the info of {method}() is a {type(given[-1]).__name__}, not a dict")
    return given


def demonstrated(level: GymLevel, actions: Sequence[int]) -> np.ndarray:
    """The frame [H,W,3] that actions lead to from the level's start."""
    frame, _ = level.reset()
    for action in actions:
        if not level.action_space.contains(int(action)):
            count = int(level.action_space.n)  # type: ignore[attr-defined]
            raise InputError(f"there is no action {action}; actions are 0 to {count - 1}")
        frame = level.step(int(action))[0]
    return frame


def random_walk(level: GymLevel, random: np.random.Generator) -> np.ndarray:
    """The frames [n,H,W,3] of a random walk from the level's start, the start's first."""
    frames = [level.reset()[0]]
    for action in random.integers(int(level.action_space.n), size=GOAL_STEPS):  # type: ignore[attr-defined]
        frames.append(level.step(int(action))[0])
    return np.stack(frames)


def random_frame(level: GymLevel, random: np.random.Generator) -> np.ndarray:
    """One of the distinct frames [H,W,3] of a random walk, other than the start's."""
    walk = random_walk(level, random)
    distinct = {frame.tobytes(): frame for frame in walk if not np.array_equal(frame, walk[0])}
    if not distinct:
        raise InputError(f"nothing has changed in level {level.number} in {GOAL_STEPS} random steps; it has no goals")
    return list(distinct.values())[random.integers(len(distinct))]

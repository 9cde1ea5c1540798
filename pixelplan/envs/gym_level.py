"""One level of a user's environment."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import gymnasium
import numpy as np

from pixelplan.envs.frames import resize
from pixelplan.types import Goal, InputError, describe_value

if TYPE_CHECKING:
    from pixelplan.envs.gym_family import GymFamily


class GymLevel(gymnasium.Env[np.ndarray, int]):
    """One level of a user's environment: all frames have one size, and every reset starts the level again."""

    def __init__(self, own: GymFamily, env: gymnasium.Env[Any, Any], number: int) -> None:
        self._own, self._env, self.number = own, env, int(number)
        self.action_space = gymnasium.spaces.Discrete(int(own.checked_actions().n))  # type: ignore[assignment]
        self.observation_space = gymnasium.spaces.Box(0, 255, own.shape, np.uint8)
        self.frame = np.zeros(own.shape, np.uint8)
        """What is seen now."""
        self._said: bool | None = None
        self.over = False
        """Whether the environment has terminated."""
        self._rewarded = False  # at the end
        self._best = 0.0  # the largest reward so far
        self._steps = 0

    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None) -> tuple[np.ndarray, dict]:
        """The first frame [H,W,3]."""
        self.over, self._rewarded, self._best, self._steps = False, False, 0.0, 0
        with self._own.guard(f"reset of level {self.number}"):
            observation, info = checked_tuple(self._env.reset(seed=self.number), 2, "reset")
            picture, self._said = self._own.picture(observation), self._own.says_solved(info)
        self._own.checked_actions()
        return self._show(picture), {}

    def shake(self, seed: int) -> None:
        """Replace the random generator that the level's seed gave the environment."""
        with self._own.guard("being given another random generator (np_random)"):
            game = getattr(self._env.unwrapped, "gym_env", self._env.unwrapped)  # `gym_env` is one of old Gym
            game.np_random = np.random.default_rng(seed)

    def step(self, action: int) -> tuple[np.ndarray, float, bool, bool, dict]:
        """The frame [H,W,3] after an action; once the environment has terminated, nothing moves any more."""
        if self.over:
            return self.frame.copy(), 0.0, False, False, {}
        space = self._own.checked_actions()
        self._steps += 1
        with self._own.guard(f"step {self._steps} of level {self.number}"):
            found = checked_tuple(self._env.step(int(space.start) + action), 5, "step")
            observation, reward, terminated, _, info = found
            reward, self.over = checked_reward(reward), bool(terminated)
            picture, self._said = self._own.picture(observation), self._own.says_solved(info)
        self._rewarded, self._best = self.over and reward > self._best, max(reward, self._best)
        return self._show(picture), reward, False, False, {}

    @property
    def succeeded(self) -> bool:
        """Whether the level is solved now: the environment says so, or it has ended with a reward.

        The reward must be positive and above all rewards before: one that comes with every step marks no goal.
        """
        return self._rewarded if self._said is None else self._said

    def solved(self, goal: Goal) -> bool:
        """Whether the environment's goal is reached: it says so, or has ended with a reward, or the goal is seen."""
        return self.succeeded or (self._said is None and goal.shown_by(self.frame))

    def _show(self, picture: np.ndarray) -> np.ndarray:
        if picture.shape[:2] != self._own.own_size:
            raise InputError(
                f"level {self.number} of {self._own.name} shows a frame of {describe_value(picture)}; those before "
                f"were {self._own.own_size[0]} × {self._own.own_size[1]} pixels"
            )
        self.frame = resize(picture, self._own.shape[:2])
        return self.frame.copy()


class Recorder:
    """A level that numbers its frames as they are first seen, and notes those that solve it."""

    def __init__(self, level: GymLevel) -> None:
        self._level = level
        self._seen: dict[bytes, int] = {}
        self._solved: set[int] = set()

    @property
    def over(self) -> bool:
        """Whether the environment has terminated."""
        return self._level.over

    def reset(self) -> int:
        """The number of the level's first frame."""
        return self._note(self._level.reset()[0])

    def step(self, action: int) -> int:
        """The number of the frame after an action."""
        return self._note(self._level.step(action)[0])

    def _note(self, frame: np.ndarray) -> int:
        number = self._seen.setdefault(frame.tobytes(), len(self._seen))
        if self._level.succeeded:
            self._solved.add(number)
        return number

    def frames(self) -> np.ndarray:
        """[n,H,W,3], what was seen."""
        return np.frombuffer(b"".join(self._seen), np.uint8).reshape(-1, *self._level.frame.shape)

    def solved(self) -> np.ndarray:
        """[n] bool, whether each frame solved the level."""
        return np.isin(np.arange(len(self._seen)), list(self._solved))


def checked_reward(reward: Any) -> float:
    """The reward from step() as a number; a TypeError if it is none."""
    if isinstance(reward, str) or reward is None:
        raise TypeError(f"the reward is {reward!r}, not a number")
    if np.size(reward) != 1:
        raise TypeError(f"the reward is {np.size(reward)} numbers, not one; wrap it to give the one that counts")
    return float(np.asarray(reward).item())


def checked_tuple(given: Any, length: int, method: str) -> tuple[Any, ...]:
    """What reset() or step() returned; a TypeError if it is not what Gymnasium asks for."""
    names = ("observation", "info") if length == 2 else ("observation", "reward", "terminated", "truncated", "info")
    if not isinstance(given, tuple) or len(given) != length:
        found = f"{len(given)} values" if isinstance(given, tuple) else f"a {type(given).__name__}"
        raise TypeError(f"{method}() gave {found}, not {', '.join(names)}")
    if not isinstance(given[-1], Mapping):
        raise TypeError(f"the info of {method}() is a {type(given[-1]).__name__}, not a dict")
    return given

"""One level of a user's environment."""

from __future__ import annotations

import pickle
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import gymnasium
import numpy as np

from pixelplan.envs.frames import resize
from pixelplan.types import Goal, InputError, describe_value

if TYPE_CHECKING:
    from pixelplan.worlds.gym_family import GymFamily


class GymLevel(gymnasium.Env[np.ndarray, int]):
    """One level of a user's environment: frames have one size, and every reset starts the level again.

    `begin` and `act` do what `reset` and `step` do, but draw nothing; `look` draws. Drawing may be slow.
    """

    def __init__(self, family: GymFamily, env: gymnasium.Env[Any, Any], number: int) -> None:
        self._family, self._env, self.number = family, env, int(number)
        self.action_count = int(family.checked_actions().n)
        self.action_space = gymnasium.spaces.Discrete(self.action_count)  # type: ignore[assignment]
        self.observation_space = gymnasium.spaces.Box(0, 255, family.shape, np.uint8)
        self.frame = np.zeros(family.shape, np.uint8)
        """What is seen now."""
        self._says_solved: bool | None = None
        self.over = False
        """Whether the environment has terminated."""
        self._rewarded = False  # at the end
        self._rewards: list[float] = []  # so far
        self._steps = 0
        self._observation: Any = None

    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None) -> tuple[np.ndarray, dict]:
        """The first frame [H,W,3]."""
        self.begin()
        return self.look(), {}

    def begin(self) -> None:
        """Start the level again."""
        self.over, self._rewarded, self._rewards, self._steps = False, False, [], 0
        with self._family.guard(f"reset of level {self.number}"):
            self._observation, info = checked_tuple(self._env.reset(seed=self.number), 2, "reset")
            self._says_solved = self._family.says_solved(info)
        self._family.checked_actions()

    def shake(self, seed: int) -> None:
        """Replace the random generator that the level's seed gave the environment."""
        with self._family.guard("being given another random generator (np_random)"):
            game = getattr(self._env.unwrapped, "gym_env", self._env.unwrapped)  # `gym_env` is one of old Gym
            game.np_random = np.random.default_rng(seed)

    def step(self, action: int) -> tuple[np.ndarray, float, bool, bool, dict]:
        """The frame [H,W,3] after an action; once the environment has terminated, nothing moves any more."""
        if self.over:
            return self.frame.copy(), 0.0, False, False, {}
        reward = self.act(action)
        return self.look(), reward, False, False, {}

    def act(self, action: int) -> float:
        """The reward of an action."""
        space = self._family.checked_actions()
        self._steps += 1
        with self._family.guard(self._last_call):
            returned = checked_tuple(self._env.step(int(space.start) + action), 5, "step")
            self._observation, reward, terminated, _, info = returned
            reward, self.over = checked_reward(reward), bool(terminated)
            self._family.has_ended |= self.over
            self._says_solved = self._family.says_solved(info)
        self._rewarded = self.over and self._pays(reward)
        self._rewards.append(reward)
        return reward

    @property
    def _last_call(self) -> str:
        return f"step {self._steps} of level {self.number}" if self._steps else f"reset of level {self.number}"

    def look(self) -> np.ndarray:
        """The frame [H,W,3] that is seen now."""
        with self._family.guard(self._last_call):
            picture = self._family.picture(self._observation)
        return self._show(picture)

    def answer(self) -> bytes | None:
        """Everything the environment says apart from what it draws; None if that cannot be compared."""
        try:
            return pickle.dumps((self._observation, self.over, self.succeeded))
        except Exception:  # anything may be in an observation
            return None

    @property
    def succeeded(self) -> bool:
        """Whether the level is solved now: the environment says so, or it has ended with a reward.

        A reward that comes with every step marks no goal (`_pays`).
        """
        return self._rewarded if self._says_solved is None else self._says_solved

    def _pays(self, reward: float) -> bool:
        """Whether a reward is positive, none before was larger, and not all of them were as large."""
        usual = self._family.usual_reward
        earlier = self._rewards or [usual]
        return reward > max(usual, min(earlier)) and reward >= max(earlier)

    @property
    def says_if_solved(self) -> bool:
        """Whether the environment itself says if the level is solved."""
        return self._says_solved is not None

    def solved(self, goal: Goal) -> bool:
        """Whether the environment's goal is reached: it says so, or has ended with a reward, or the goal is seen."""
        return self.succeeded or (self._says_solved is None and goal.shown_by(self.frame))

    def _show(self, picture: np.ndarray) -> np.ndarray:
        if picture.shape[:2] != self._family.own_size:
            raise InputError(
                f"level {self.number} of {self._family.name} shows a frame of {describe_value(picture)}; those before "
                f"were {self._family.own_size[0]} × {self._family.own_size[1]} pixels"
            )
        self.frame = resize(picture, self._family.shape[:2])
        return self.frame.copy()


def checked_reward(reward: Any) -> float:
    """The reward from step() as a number; a TypeError if it is none."""
    number = np.asarray(reward)
    if number.dtype.kind not in "biuf":
        kind = "None" if reward is None else f"a {type(reward).__name__}"
        raise TypeError(f"the reward is {kind}, not a number; return 0.0 if there is none")
    if number.size != 1:
        raise TypeError(f"the reward is {number.size} numbers, not one; wrap it to give the one that counts")
    if not np.isfinite(number).all():
        raise TypeError(f"the reward is {number.item()}; it must be finite")
    return float(number.item())


def checked_tuple(returned: Any, length: int, method: str) -> tuple[Any, ...]:
    """What reset() or step() returned; a TypeError if it is not what Gymnasium asks for."""
    names = ("observation", "info") if length == 2 else ("observation", "reward", "terminated", "truncated", "info")
    if not isinstance(returned, tuple) or len(returned) != length:
        received = f"{len(returned)} values" if isinstance(returned, tuple) else f"a {type(returned).__name__}"
        raise TypeError(f"{method}() gave {received}, not {', '.join(names)}")
    if not isinstance(returned[-1], Mapping):
        raise TypeError(f"the info of {method}() is a {type(returned[-1]).__name__}, not a dict")
    return returned

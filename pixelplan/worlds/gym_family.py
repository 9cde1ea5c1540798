"""A user's Gymnasium environment as a family of levels: discrete actions, and images that show the whole state.

What an environment may offer besides Gymnasium's own methods, all optional:

- `goal_frame()`: a picture of the goal of the level that was reset last;
- `goal_frames()`: several pictures [G,H,W,3], if any of these is the goal;
- `info["solved"]`: whether the goal is reached now; without it, an episode that ends with its first or largest
  positive reward counts as solved;
- `shortest_solution()`: a shortest list of actions from here to the goal, which only the judge sees;
- `action_names`: what people call its actions;
- `oracle()`: its true rules behind the `Model` protocol, for `--model oracle`;
- `level_count`: how many levels there are, numbered from 0;
- `replay(actions)`: what episodes with actions [E,T] show in the level that was reset last, as distinct frames
  [n,H,W,3] in the order of play and indices into them [E,T+1]: recording is then faster than step by step.
"""

from __future__ import annotations

import contextlib
import math
from collections.abc import Callable, Mapping
from typing import Any

import gymnasium
import numpy as np

from pixelplan.envs.family import Challenge, Recording, Wanted
from pixelplan.envs.frames import to_frame, usual_size
from pixelplan.envs.guard import STEP_SECONDS, EnvironmentFailed, guarded
from pixelplan.types import Goal, InputError, Model
from pixelplan.worlds.gym_check import check_playable
from pixelplan.worlds.gym_goals import demonstrated, known_goal, random_frame, sized_goal
from pixelplan.worlds.gym_level import GymLevel, checked_reward, checked_tuple
from pixelplan.worlds.gym_play import record_play
from pixelplan.worlds.gym_spaces import Source, attribute, discrete_actions, renders, tile_size

STEPS_PAID = 4
"""The most steps of level 0, each with another action, that tell what an ordinary step pays."""
Make = Callable[[], gymnasium.Env[Any, Any]]


class GymFamily:
    """The levels of a Gymnasium environment: level k is what `reset(seed=k)` starts.

    A world with one level ignores the seed. Once an episode has terminated, the world stands still.
    """

    random_start = False

    def __init__(
        self,
        env: gymnasium.Env[Any, Any] | Make,
        *,
        name: str | None = None,
        options: Mapping[str, Any] | None = None,
        goal: Callable[[gymnasium.Env[Any, Any]], Goal | np.ndarray] | Goal | np.ndarray | None = None,
        solved: Callable[[gymnasium.Env[Any, Any]], bool] | None = None,
        pixels: tuple[int, int] | int | None = None,
        frames: Source = "auto",
        step_seconds: float = STEP_SECONDS,
    ) -> None:
        """`env` is an environment or a function that makes one; an InputError says what does not fit.

        `goal` gives the frame to reach in the level that was reset last, or a `Goal`, and `solved` says whether it is
        reached; by default the environment says both. Frames are resized to `pixels` (height, width). They are its
        observations or, if those are not images, what it renders; `frames` overrides this. A call of the environment
        that raises or takes more than `step_seconds` is an EnvironmentFailed.
        """
        if not 0 < step_seconds < 1e6:
            raise InputError(f"step-seconds is {step_seconds}; it must be above 0 and below a million")
        self.step_seconds = step_seconds
        self.name: str = name or str(getattr(env, "__qualname__", type(env).__qualname__))
        self._make = None if isinstance(env, gymnasium.Env) else env
        with self.guard("being made"):
            self._env: gymnasium.Env[Any, Any] = env if isinstance(env, gymnasium.Env) else env()
        if not isinstance(self._env, gymnasium.Env):
            raise InputError(f"{name or env!r} gave {type(self._env).__name__}; it must give a Gymnasium environment")
        self.name = name or f"{type(self._env.unwrapped).__module__}:{type(self._env.unwrapped).__qualname__}"
        self._goal, self._solved = goal, solved
        with self.guard("describing its spaces"):
            self._rendered = renders(self._env, self.name, frames)
            self._space = discrete_actions(self._env, self.name)
        with self.guard("reset of level 0"):
            height, width = self.picture(checked_tuple(self._env.reset(seed=0), 2, "reset")[0]).shape[:2]
        self.own_size = height, width
        wanted = (pixels, pixels) if isinstance(pixels, int) else pixels
        size = usual_size(height, width, tile_size(self._env)) if wanted is None else wanted
        if min(size) < 8:
            raise InputError(f"frames of {size[0]} × {size[1]} pixels are too small; a model needs at least 8 × 8")
        self.shape = (*size, 3)
        self.usual_reward = self._least_reward()
        """What every step pays, 0 or more: an end that pays no more than that marks no goal."""
        self._given_options = dict(options or {})
        self.has_ended = False
        """Whether any episode has ended by itself."""
        self.looks_otherwise = False
        """Whether a step that was made before has shown another frame, so that every step must be drawn."""

    def _least_reward(self) -> float:
        """The least reward of a few steps that do not end level 0; 0 if all end it, or if the first one fails."""
        paid = list[float]()
        with contextlib.suppress(EnvironmentFailed):
            for action in range(min(int(self._space.n), STEPS_PAID)):
                with self.guard("a first step of level 0"):
                    _, reward, over, *_ = checked_tuple(self._env.step(int(self._space.start) + action), 5, "step")
                    if over:
                        self._env.reset(seed=0)
                    else:
                        paid.append(checked_reward(reward))
        return max(0.0, min(paid, default=0.0))

    @property
    def options(self) -> Mapping[str, Any]:
        """What the environment was made with, and the size of frames."""
        return {**self._given_options, "pixels": list(self.shape[:2])}

    @property
    def action_names(self) -> tuple[str, ...]:
        """The environment's own names, or numbers."""
        with self.guard("action_names"):
            names = tuple(map(str, attribute(self._env, "action_names") or ()))
        count = int(self._space.n)
        return names if len(names) == count else tuple(str(self._space.start + action) for action in range(count))

    @property
    def game(self) -> gymnasium.Env[Any, Any]:
        """The environment without its wrappers."""
        return self._env.unwrapped

    @property
    def usual_actions(self) -> bool:
        """An environment's actions are its own, so records name them."""
        return False

    @property
    def has_goals(self) -> bool:
        """Whether the user or the environment shows what the goal looks like."""
        return self._goal is not None or any(
            attribute(self._env, name) is not None for name in ("goal_frame", "goal_frames")
        )

    def fit(self, size: tuple[int, int]) -> GymFamily:
        """The same levels with frames of this height and width."""
        if size == self.shape[:2]:
            return self
        fitted = object.__new__(GymFamily)
        fitted.__dict__.update(self.__dict__, shape=(*size, 3))
        return fitted

    def level(self, number: int) -> GymLevel:
        """One level, to be played."""
        if number >= self.level_count:
            raise InputError(f"{self.name} has no level {number}; its {self.level_count} levels are numbered from 0")
        return GymLevel(self, self._env, number)

    @property
    def level_count(self) -> float:
        """How many levels there are, numbered from 0; infinitely many if any seed starts one."""
        count = attribute(self._env, "level_count")
        return math.inf if count is None else int(count)

    def oracle(self) -> Model | None:
        """The environment's true rules as a model; None if it does not offer them."""
        offered = attribute(self._env, "oracle")
        return None if offered is None else offered()

    def check(self, number: int) -> None:
        """An InputError if planning is impossible in this world, as far as a few levels show."""
        check_playable(self, number)

    def play(
        self,
        number: int,
        episodes: int,
        steps: int,
        random: np.random.Generator,
        explores: bool = False,
        trusts: bool = False,
    ) -> Recording:
        """Play all episodes at once if the environment can, otherwise step by step."""
        return record_play(self, number, (episodes, steps), random, explores, trusts and self._rendered)

    def shown_goal(self, level: GymLevel) -> Goal:
        """The goal that a level shows; one without pictures if it shows none, or fails to."""
        if self.has_goals:
            level.begin()
            with contextlib.suppress(InputError):
                return self.level_goal(level.number)
        return Goal()

    @property
    def usually_random(self) -> bool:
        """Play is random if all episodes can be replayed at once, because exploring must go step by step."""
        return self.replays

    @property
    def replays(self) -> bool:
        """Whether the environment can show many episodes at once."""
        return attribute(self._env, "replay") is not None

    def replay(self, actions: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """The distinct frames [n,H,W,3] of actions [E,T] in the level that was reset last, and which are seen when."""
        frames, rows = attribute(self._env, "replay")(actions)[:2]
        return frames, rows

    def challenge(self, number: int, goal: Wanted = "level", seed: int = 0) -> Challenge:
        """The goal that the environment shows, whatever it counts as solved, a random frame of the level, a given goal,
        or the frame that actions lead to.

        The environment says when its own goal is reached; any other goal is reached when it is seen.
        """
        level = self.level(number)
        level.reset()
        own_goal = isinstance(goal, str) and goal != "random"
        if isinstance(goal, tuple):
            target = Goal.of(demonstrated(level, goal))
        elif not isinstance(goal, str):
            target = known_goal(self, level, goal)
        elif goal == "level":
            target = self.level_goal(number)
        else:
            random = np.random.default_rng([seed, number, 1])
            target = Goal.of(random_frame(level, random)) if goal == "random" else Goal()
        shown = self.shown_goal(level) if target.frames is None else target
        return Challenge(
            number=number,
            env=level,
            solved=lambda: level.solved(shown) if own_goal else target.shown_by(level.frame),
            goal=target,
            shortest=self._shortest(level) if own_goal else None,
            action_names=self.action_names,
        )

    def _shortest(self, level: GymLevel) -> int | None:
        """Steps to what the environment counts as solved, if it knows."""
        if attribute(self._env, "shortest_solution") is None:
            return None
        level.reset()
        with self.guard(f"shortest_solution() of level {level.number}"):
            solution = self._env.get_wrapper_attr("shortest_solution")()
            return None if solution is None else len(solution)

    def picture(self, observation: Any) -> np.ndarray:
        """The frame [H,W,3] of an observation, in the environment's own size."""
        return to_frame(self._env.render() if self._rendered else observation)

    def says_solved(self, info: Mapping[str, Any]) -> bool | None:
        """Whether the goal is reached, by the user's function or the environment's info; None if neither says."""
        if self._solved is not None:
            return bool(self._solved(self._env))
        return bool(info["solved"]) if "solved" in info else None

    def checked_actions(self) -> gymnasium.spaces.Discrete:
        """The action space; an InputError if the environment has changed it."""
        if self._env.action_space != self._space:
            raise InputError(
                f"{self.name} has changed its actions from {self._space} to {self._env.action_space}; "
                "a model needs the same actions in every level"
            )
        return self._space

    def level_goal(self, number: int) -> Goal:
        """The goal that the level shows; it must be the level that was reset last."""
        if not self.has_goals:
            raise InputError(
                f"{self.name} has no goal_frame(); give it that method, or a goal as a picture or a demonstration, "
                "or ask for whatever solves it (--goals solved) or random goals (--goals random)"
            )
        several = self._goal is None and attribute(self._env, "goal_frames") is not None
        with self.guard(f"goal_frame{'s' if several else ''}() of level {number}"):
            if several:
                shown: Any = self._env.get_wrapper_attr("goal_frames")()
            elif self._goal is None or callable(self._goal):
                shown = self._goal(self._env) if self._goal else self._env.get_wrapper_attr("goal_frame")()
            else:
                shown = self._goal
            return sized_goal(self, shown)

    def guard(self, what: str) -> guarded:
        """Guards a call of the environment, so that an error names the environment and the call."""
        return guarded(self.name, what, self.step_seconds)

    def __getstate__(self) -> dict[str, Any]:
        """For another process, which makes the environment again if it can."""
        return {**self.__dict__, "_env": None if self._make is not None else self._env}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)
        if self._make is not None:
            self._env = self._make()

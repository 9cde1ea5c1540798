"""Many games at once: successors are looked up and agents pasted for all of them together."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import gymnasium
import numpy as np
from gymnasium.utils.seeding import np_random
from gymnasium.vector import AutoresetMode
from gymnasium.vector.utils import batch_space

from pixelplan.puzzles.base import GOAL_REWARD, PlayOptions, Puzzle, check_reset_options
from pixelplan.puzzles.level import paste, pasted
from pixelplan.types import ACTIONS, InputError


class PuzzleVectorEnv(gymnasium.vector.VectorEnv):
    """`num_envs` games of one puzzle. Game i seeded with s plays as a single environment seeded with s + i does.

    A finished game starts again by itself: with the next step (the default), in the same step (the last frame is then
    in `info["final_obs"]`), or not at all.
    """

    metadata: dict[str, Any] = {"autoreset_mode": AutoresetMode.NEXT_STEP, "render_modes": []}
    _over: np.ndarray
    """[N] bool, the games whose episode has ended."""
    _goals: np.ndarray
    """[N,S] bool: like all tables, a row per game, wide enough for the largest level so far."""
    _successors: np.ndarray
    """[N,S,A]."""

    def __init__(
        self,
        puzzle: Puzzle,
        num_envs: int,
        play: PlayOptions = PlayOptions(),  # noqa: B008 (frozen)
        autoreset_mode: AutoresetMode | str = AutoresetMode.NEXT_STEP,
    ) -> None:
        if num_envs < 1:
            raise InputError(f"num_envs is {num_envs}; it must be at least 1")
        self.puzzle, self.num_envs, self.play = puzzle, num_envs, play
        self._mode = AutoresetMode(autoreset_mode)
        self.metadata = {**self.metadata, "autoreset_mode": self._mode}
        self.single_action_space = gymnasium.spaces.Discrete(len(ACTIONS))
        self.single_observation_space = gymnasium.spaces.Box(0, 255, (puzzle.pixels, puzzle.pixels, 3), np.uint8)
        self.action_space = batch_space(self.single_action_space, num_envs)
        self.observation_space = batch_space(self.single_observation_space, num_envs)
        self._random: list[np.random.Generator] = []  # empty until the first reset
        self._games = np.arange(num_envs)
        self._allocate()

    def reset(
        self, *, seed: int | Sequence[int | None] | None = None, options: dict[str, Any] | None = None
    ) -> tuple[np.ndarray, dict[str, Any]]:
        """First frames [N,H,W,3] and infos; `options={"level": …}` takes one level or one for each game."""
        seeds: Sequence[int | None]
        if seed is None or isinstance(seed, int | np.integer):
            seeds = [None if seed is None else int(seed) + game for game in range(self.num_envs)]
        else:
            seeds = seed
        if len(seeds) != self.num_envs:
            raise InputError(f"{len(seeds)} seeds were given for {self.num_envs} environments")
        first = not self._random
        self._random = [
            np_random(new)[0] if first or new is not None else self._random[game] for game, new in enumerate(seeds)
        ]
        level = check_reset_options(options)
        wanted = [level] * self.num_envs if level is None or np.isscalar(level) else list(level)
        if len(wanted) != self.num_envs:
            raise InputError(f"{len(wanted)} levels were given for {self.num_envs} environments")
        self._begin(self._games, wanted)
        return self._frames.copy(), self._infos()

    def step(self, actions: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray, dict[str, Any]]:
        """Frames [N,H,W,3], rewards, terminated, truncated [N] and infos after actions [N]."""
        if not self._random:
            raise gymnasium.error.ResetNeeded("the environments have no level yet; call reset() first")
        actions = np.asarray(actions)
        if actions.shape != (self.num_envs,) or actions.dtype.kind not in "iu":
            raise InputError(f"actions must be {self.num_envs} whole numbers; got {actions.dtype} {actions.shape}")
        if actions.min() < 0 or actions.max() >= len(ACTIONS):
            raise InputError(f"an action is out of range; actions are 0 to {len(ACTIONS) - 1}: {', '.join(ACTIONS)}")
        restarting = self._over & (self._mode == AutoresetMode.NEXT_STEP)
        self._move_to(self._successors[self._games, self._states, actions])
        self._steps += 1
        solved = self._goals[self._games, self._states]
        rewards = np.where(solved & ~self._rewarded, GOAL_REWARD, 0.0)
        self._rewarded |= solved
        terminated = solved & self.play.terminate_on_goal
        truncated = np.zeros(self.num_envs, bool)
        if self.play.max_episode_steps is not None:
            truncated = self._steps >= self.play.max_episode_steps
        if restarting.any():  # this step only starts these games again; their actions do not count
            self._begin(np.flatnonzero(restarting))
            for values in (rewards, terminated, truncated):
                values[restarting] = 0
        self._over = terminated | truncated
        infos: dict[str, Any] = {}
        if self._mode == AutoresetMode.SAME_STEP and self._over.any():
            infos = {"final_obs": self._frames.copy(), "_final_obs": self._over.copy()}
            infos |= {"final_info": self._infos(), "_final_info": self._over.copy()}
            self._begin(np.flatnonzero(self._over))
        return self._frames.copy(), rewards, terminated, truncated, self._infos() | infos

    def clone_state(self) -> dict[str, Any]:
        """All that decides how the games continue, as JSON values."""
        arrays = {
            name: getattr(self, f"_{name}").tolist() for name in ("numbers", "states", "steps", "rewarded", "over")
        }
        return {**arrays, "random": [random.bit_generator.state for random in self._random]}

    def restore_state(self, state: dict[str, Any]) -> np.ndarray:
        """Let the games continue from where others of the same puzzle stood; returns their frames [N,H,W,3]."""
        self._random = [np_random(0)[0] for _ in range(self.num_envs)]
        self._begin(self._games, state["numbers"])
        self._move_to(np.array(state["states"]))
        self._steps, self._rewarded, self._over = (np.array(state[name]) for name in ("steps", "rewarded", "over"))
        for random, drawn in zip(self._random, state["random"], strict=True):
            random.bit_generator.state = drawn
        return self._frames.copy()

    def _allocate(self) -> None:
        """Make room: a row per game in every table, wide enough for the levels seen so far."""
        pixels = self.puzzle.pixels
        self._frames = np.zeros((self.num_envs, pixels, pixels, 3), np.uint8)
        self._backgrounds = np.zeros_like(self._frames)
        self._numbers = np.zeros(self.num_envs, np.int64)
        self._states = np.zeros(self.num_envs, np.int64)
        self._steps = np.zeros(self.num_envs, np.int64)
        self._rewarded = np.zeros(self.num_envs, bool)
        self._over = np.zeros(self.num_envs, bool)
        self._successors = np.zeros((self.num_envs, 0, len(ACTIONS)), np.int32)
        self._goals = np.zeros((self.num_envs, 0), bool)
        self._positions = np.zeros((self.num_envs, 0, 2), np.int32)
        self._corners = np.zeros((self.num_envs, 0, 2), np.int32)
        self._patches = np.zeros((self.num_envs, 0, 0, 0, 3), np.uint8)

    def _widen(self, states: int, patch: int) -> None:
        """Make room for levels of more states; levels of a puzzle share the size of their patches."""
        for name in ("_successors", "_goals", "_positions", "_corners", "_patches"):
            old = getattr(self, name)
            shape = (self.num_envs, states, *(old.shape[2:] if name != "_patches" else (patch, patch, 3)))
            new = np.zeros(shape, old.dtype)
            if old.shape[2:] == new.shape[2:]:
                new[:, : old.shape[1]] = old
            setattr(self, name, new)

    def _begin(self, games: np.ndarray, wanted: Sequence[Any] | None = None) -> None:
        """Start these games [n] again, each in its wanted level if there is one."""
        for game, number in zip(games, wanted or [None] * len(games), strict=True):
            level, state = self.play.draw(self.puzzle, self._random[game], number)
            states = len(level.successors)
            if states > self._goals.shape[1]:
                self._widen(states, level.patches.shape[1])
            self._numbers[game], self._states[game] = level.number, state
            self._backgrounds[game] = level.background
            self._successors[game, :states] = level.successors
            self._goals[game, :states] = level.goals
            self._positions[game, :states] = level.positions
            self._corners[game, :states] = level.corners
            self._patches[game, :states] = level.patches
        self._steps[games] = 0
        self._rewarded[games] = self._over[games] = False
        frames = self._backgrounds[games]
        states = self._states[games]
        paste(frames, self._patches[games, states], self._corners[games, states])
        self._frames[games] = frames

    def _move_to(self, states: np.ndarray) -> None:
        """Move every agent to its state [N]: wipe its old patch, paste the new one."""
        old = self._corners[self._games, self._states]
        paste(self._frames, pasted(self._backgrounds, old, self._patches.shape[2]), old)
        self._states = states.astype(np.int64)
        paste(self._frames, self._patches[self._games, states], self._corners[self._games, states])

    def _infos(self) -> dict[str, Any]:
        infos: dict[str, Any] = {
            "level": self._numbers.copy(),
            "position": self._positions[self._games, self._states],
            "solved": self._goals[self._games, self._states],
        }
        return infos | {f"_{key}": np.ones(self.num_envs, bool) for key in infos}

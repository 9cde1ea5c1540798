"""Families of levels: what recording, judging and showing ask of a puzzle, and of anybody's own environment.

`Tables` is a family whose levels are tables, as the three puzzles are. `gym_family.GymFamily` is any
Gymnasium environment, and `noise.Noisy` another family behind visual noise.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Protocol

import gymnasium
import numpy as np

from pixelplan.envs.base import PlayOptions, Puzzle, PuzzleEnv, get_level
from pixelplan.envs.goals import with_demonstration, with_goal, with_goal_frame
from pixelplan.envs.level import Level
from pixelplan.types import ACTIONS

Goal = str | np.ndarray | tuple[int, ...]
"""What to reach: "level" (the level's own goal), "random", a frame [H,W,3], or where these actions lead."""


@dataclass(frozen=True, eq=False)
class Recording:
    """Recorded play in one level: n frames, E episodes of T steps."""

    frames: np.ndarray
    """[n,H,W,3] uint8."""
    episodes: np.ndarray
    """[E,T+1] integers, indices into frames."""
    actions: np.ndarray
    """[E,T] uint8."""


@dataclass(frozen=True, eq=False)
class Challenge:
    """One level, and something to reach in it."""

    number: int
    env: gymnasium.Env[Any, Any]
    """The level: every reset begins it anew, and it plays on past the goal."""
    solved: Callable[[], bool]
    """Whether the goal is reached now, by the true rules."""
    goal_frame: np.ndarray
    """[H,W,3] uint8."""
    shortest: int | None
    """Steps of the shortest solution; None where there is none or nobody knows."""
    action_names: tuple[str, ...]
    level: Level | None = None
    """The level's tables with this goal, where it has any."""
    several: np.ndarray | None = None
    """[G,H,W,3] uint8, where any of several frames is the goal, the first of which is `goal_frame`."""

    @property
    def goal_frames(self) -> np.ndarray:
        """What a planner is shown: the goal's frame [H,W,3], or its frames [G,H,W,3]."""
        return self.goal_frame if self.several is None else self.several


class Family(Protocol):
    """Levels by their numbers, all with the same actions and frames of one size."""

    @property
    def name(self) -> str:
        """What a record calls it."""

    @property
    def options(self) -> Mapping[str, Any]:
        """What else decides its levels, for a record."""

    @property
    def action_names(self) -> tuple[str, ...]:
        """The actions by number."""

    @property
    def shape(self) -> tuple[int, int, int]:
        """Of a frame: height, width, 3."""

    @property
    def random_start(self) -> bool:
        """Whether random play begins in random places of a level."""

    @property
    def has_goals(self) -> bool:
        """Whether levels have a goal of their own."""

    def fit(self, size: tuple[int, int]) -> Family:
        """The same levels with frames of this height and width, where that can be."""

    def level(self, number: int) -> gymnasium.Env[np.ndarray, Any]:
        """One level, to be played: every reset begins it anew, and it plays on past the goal."""

    def check(self, number: int) -> None:
        """An InputError where there is no such level, or its world is none that can be planned in."""

    def play(self, number: int, episodes: int, steps: int, random: np.random.Generator) -> Recording:
        """Uniform random actions in a level."""

    def challenge(self, number: int, goal: Goal = "level", seed: int = 0) -> Challenge:
        """A level with a goal; an InputError where there is no such level or goal."""


@dataclass(frozen=True)
class Tables:
    """The levels of a puzzle."""

    puzzle: Puzzle
    name: str

    @property
    def options(self) -> Mapping[str, Any]:
        """The puzzle's options."""
        return dataclasses.asdict(self.puzzle)  # type: ignore[call-overload]

    @property
    def action_names(self) -> tuple[str, ...]:
        """The same for all puzzles."""
        return ACTIONS

    @property
    def shape(self) -> tuple[int, int, int]:
        """Square frames."""
        return self.puzzle.pixels, self.puzzle.pixels, 3

    @property
    def random_start(self) -> bool:
        """As the puzzle says."""
        return self.puzzle.random_start_in_play

    @property
    def has_goals(self) -> bool:
        """All puzzles do."""
        return True

    def fit(self, size: tuple[int, int]) -> Tables:
        """Puzzles draw their frames themselves: the option `pixels` decides."""
        return self

    def level(self, number: int) -> PuzzleEnv:
        """The level as an environment."""
        return PuzzleEnv(self.puzzle, PlayOptions(level=number, terminate_on_goal=False))

    def check(self, number: int) -> None:
        """The level can be made."""
        get_level(self.puzzle, number)

    def play(self, number: int, episodes: int, steps: int, random: np.random.Generator) -> Recording:
        """By the level's table; every state's frame is drawn once."""
        level = get_level(self.puzzle, number)
        actions = random.integers(len(ACTIONS), size=(episodes, steps), dtype=np.uint8)
        states = np.empty((episodes, steps + 1), np.int32)
        states[:, 0] = random.choice(level.starts, episodes) if self.random_start else level.start
        for step in range(steps):
            states[:, step + 1] = level.successors[states[:, step], actions[:, step]]
        seen, index = np.unique(states, return_inverse=True)
        return Recording(level.frames(seen), index.reshape(states.shape), actions)

    def challenge(self, number: int, goal: Goal = "level", seed: int = 0) -> Challenge:
        """The level's own goal, another place of it, or the state that a frame shows or actions lead to."""
        level = get_level(self.puzzle, number)
        if isinstance(goal, np.ndarray):
            level = with_goal_frame(level, goal)
        elif isinstance(goal, tuple):
            level = with_demonstration(level, goal)
        else:
            level = with_goal(level, goal, seed)  # type: ignore[arg-type]
        return challenge_of_level(self.puzzle, level, goal if isinstance(goal, np.ndarray) else None)


def challenge_of_level(puzzle: Puzzle, level: Level, goal_frame: np.ndarray | None = None) -> Challenge:
    """A level towards its goal, shown by this frame [H,W,3] or its own."""
    env = PuzzleEnv(puzzle, PlayOptions(level=level.number, terminate_on_goal=False))
    solution = level.shortest_path(level.start)
    return Challenge(
        number=level.number,
        env=env,
        solved=lambda: bool(level.goals[env.clone_state().state]),
        goal_frame=level.frame(level.goal) if goal_frame is None else goal_frame,
        shortest=None if solution is None else len(solution),
        action_names=ACTIONS,
        level=level,
    )

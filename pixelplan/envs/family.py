"""Families of levels: what recording, judging and showing ask of a puzzle, or of a user's environment.

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
from pixelplan.envs.explore import explore
from pixelplan.envs.goals import Goals, with_demonstration, with_goal, with_goal_shown
from pixelplan.envs.level import Level
from pixelplan.types import ACTIONS, Goal

Wanted = Goals | Goal | np.ndarray | tuple[int, ...]
"""A goal to ask for: "level" (the picture that the level shows), "solved" (whatever solves it), "random", a `Goal`, a
frame [H,W,3] or several, or the actions that lead to it."""


@dataclass(frozen=True, eq=False)
class Recording:
    """Recorded play in one level: n frames, E episodes of T steps."""

    frames: np.ndarray
    """[n,H,W,3] uint8."""
    episodes: np.ndarray
    """[E,T+1] integers, indices into frames."""
    actions: np.ndarray
    """[E,T] uint8."""
    solved: np.ndarray | None = None
    """[n] bool, whether each frame solves the level; None if unknown."""
    goals: np.ndarray | None = None
    """[G,H,W,3] uint8, what the level shows of its goal, reached or not; None if it shows nothing, or parts only."""


@dataclass(frozen=True, eq=False)
class Challenge:
    """One level, and something to reach in it."""

    number: int
    env: gymnasium.Env[Any, Any]
    """The level: every reset starts it again, and it plays on past the goal."""
    solved: Callable[[], bool]
    """Whether the goal is reached now, by the true rules."""
    goal: Goal
    """What planners are told about the goal."""
    shortest: int | None
    """Steps of the shortest path to this very goal; None if there is none or it is unknown."""
    action_names: tuple[str, ...]
    level: Level | None = None
    """The level's tables with this goal, if it has tables."""

    @property
    def goal_frame(self) -> np.ndarray | None:
        """A picture of the goal [H,W,3]; None if it has none."""
        return self.goal.picture


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
        """The same levels with frames of this height and width, if possible."""

    def level(self, number: int) -> gymnasium.Env[np.ndarray, Any]:
        """One level, to be played: every reset starts it again, and it plays on past the goal."""

    def check(self, number: int) -> None:
        """An InputError if there is no such level, or if planning is impossible in its world."""

    @property
    def usually_random(self) -> bool:
        """Whether play is random unless the user asks to explore; if not, the way that sees more is chosen."""

    def play(
        self,
        number: int,
        episodes: int,
        steps: int,
        random: np.random.Generator,
        explores: bool = False,
        trusts: bool = False,
    ) -> Recording:
        """Uniform random actions in a level, or what explores it (`explore.py`).

        If it `trusts` that frames show the whole state, steps that were made before need not be drawn again.
        """

    def challenge(self, number: int, goal: Wanted = "level", seed: int = 0) -> Challenge:
        """A level with a goal; an InputError if there is no such level or goal."""


@dataclass(frozen=True)
class Tables:
    """The levels of a puzzle."""

    puzzle: Puzzle
    name: str

    @property
    def options(self) -> Mapping[str, Any]:
        """The puzzle's options."""
        return dataclasses.asdict(self.puzzle)

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

    @property
    def usually_random(self) -> bool:
        """As in the paper."""
        return True

    def play(
        self,
        number: int,
        episodes: int,
        steps: int,
        random: np.random.Generator,
        explores: bool = False,
        trusts: bool = False,
    ) -> Recording:
        """By the level's table; every state's frame is drawn once."""
        level = get_level(self.puzzle, number)
        goals = level.frame(level.goal)[None]
        if explores:
            stage = _Stage(level)
            rows, actions = explore(stage, len(ACTIONS), episodes, steps, random)
            seen = np.array(stage.states)
            return Recording(level.frames(seen), rows, actions, level.goals[seen], goals)
        actions = random.integers(len(ACTIONS), size=(episodes, steps), dtype=np.uint8)
        states = np.empty((episodes, steps + 1), np.int32)
        states[:, 0] = random.choice(level.starts, episodes) if self.random_start else level.start
        for step in range(steps):
            states[:, step + 1] = level.successors[states[:, step], actions[:, step]]
        seen, index = np.unique(states, return_inverse=True)
        return Recording(level.frames(seen), index.reshape(states.shape), actions, level.goals[seen], goals)

    def challenge(self, number: int, goal: Wanted = "level", seed: int = 0) -> Challenge:
        """The level with its own goal, a random one, or the state that a frame shows or actions lead to."""
        level = get_level(self.puzzle, number)
        if isinstance(goal, Goal | np.ndarray):
            given = Goal.of(goal)
            return challenge_of_level(self.puzzle, with_goal_shown(level, given), given)
        if goal == "solved":
            return challenge_of_level(self.puzzle, level, Goal())
        named = with_demonstration(level, goal) if isinstance(goal, tuple) else with_goal(level, goal, seed)
        return challenge_of_level(self.puzzle, named)


class _Stage:
    """A level's table, to be explored."""

    over = False

    def __init__(self, level: Level) -> None:
        self._level, self._here = level, level.start
        self.states: list[int] = []
        """By their numbers, in the order in which they were seen."""
        self._numbers: dict[int, int] = {}

    def reset(self) -> int:
        return self._see(self._level.start)

    def step(self, action: int) -> int:
        return self._see(int(self._level.successors[self._here, action]))

    def _see(self, state: int) -> int:
        self._here = state
        if state not in self._numbers:
            self._numbers[state] = len(self.states)
            self.states.append(state)
        return self._numbers[state]


def challenge_of_level(puzzle: Puzzle, level: Level, goal: Goal | None = None) -> Challenge:
    """A level with its goal; planners are told `goal`, by default the goal's frame."""
    env = PuzzleEnv(puzzle, PlayOptions(level=level.number, terminate_on_goal=False))
    solution = level.shortest_path(level.start)
    return Challenge(
        number=level.number,
        env=env,
        solved=lambda: bool(level.goals[env.clone_state().state]),
        goal=Goal.of(level.frame(level.goal)) if goal is None else goal,
        shortest=None if solution is None else len(solution),
        action_names=ACTIONS,
        level=level,
    )

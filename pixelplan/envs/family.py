"""Families of levels: what recording, judging and showing ask of a puzzle, or of a user's environment.

The core knows no particular world. `puzzles.table_family.Tables` is a family whose levels are tables, such as the three
puzzles; `worlds.gym_family.GymFamily` is any Gymnasium environment; `worlds.noise.Noisy` adds visual noise to a family.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Literal, Protocol

import gymnasium
import numpy as np

from pixelplan.types import Goal, InputError, Model

Goals = Literal["level", "random", "solved"]
"""Goals by name: the picture that a level shows, a random state of it, or whatever solves it."""
Wanted = Goals | Goal | np.ndarray | list[np.ndarray] | tuple[int, ...]
"""A goal to ask for: "level" (the picture that the level shows), "solved" (whatever solves it), "random", a `Goal`, a
frame [H,W,3] or several, or the actions (a tuple) that lead to it."""


def check_actions(actions: Iterable[int], count: int) -> None:
    """An InputError unless all actions are among the first `count`."""
    for action in actions:
        if not 0 <= action < count:
            raise InputError(f"there is no action {action}; actions are 0 to {count - 1}")


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
    """[G,H,W,3] uint8, pictures of the level's goal, reached or not; None if the level shows none, or only parts."""


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
    """Steps of the shortest path to this goal; None if there is none or it is unknown."""
    action_names: tuple[str, ...]
    level: Any = None
    """The level's tables with this goal (`puzzles.level.Level`), if it has tables."""
    rules: Callable[[], Model] | None = None
    """Makes a model of the level's true rules, if it has tables."""

    @property
    def goal_frame(self) -> np.ndarray | None:
        """A picture of the goal [H,W,3]; None if it has none."""
        return self.goal.picture


class Family(Protocol):
    """Numbered levels, all with the same actions and frames of one size."""

    @property
    def name(self) -> str:
        """What a record calls it."""

    @property
    def options(self) -> Mapping[str, Any]:
        """The options that decide its levels, for a record."""

    @property
    def action_names(self) -> tuple[str, ...]:
        """The actions by number."""

    @property
    def shape(self) -> tuple[int, int, int]:
        """The shape of a frame: height, width, 3."""

    @property
    def random_start(self) -> bool:
        """Whether random play begins at random places in a level."""

    @property
    def has_goals(self) -> bool:
        """Whether levels have a goal of their own."""

    @property
    def usual_actions(self) -> bool:
        """Whether its actions are those of the puzzles, `ACTIONS`, so that records need not name them."""

    def fit(self, size: tuple[int, int]) -> Family:
        """The same levels with frames of this height and width, if possible."""

    def level(self, number: int) -> gymnasium.Env[np.ndarray, Any]:
        """One level, to be played: every reset starts it again, and it plays on past the goal."""

    def check(self, number: int) -> None:
        """An InputError if there is no such level, or if planning is impossible in its world."""

    @property
    def usually_random(self) -> bool:
        """Whether play is random unless the user asks to explore; if not, whichever way sees more is chosen."""

    def play(
        self,
        number: int,
        episodes: int,
        steps: int,
        random: np.random.Generator,
        explores: bool = False,
        trusts: bool = False,
    ) -> Recording:
        """Play a level with uniformly random actions, or explore it (`worlds/explore.py`).

        If it `trusts` that frames show the whole state, steps that it has made before need not be drawn again.
        """

    def challenge(self, number: int, goal: Wanted = "level", seed: int = 0) -> Challenge:
        """A level with a goal; an InputError if there is no such level or goal."""

"""The levels of a puzzle as a family: play and goals by their tables."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np

from pixelplan.envs.blindfold import Blindfold
from pixelplan.envs.family import Challenge, Recording, Wanted
from pixelplan.puzzles.base import PlayOptions, Puzzle, PuzzleEnv, get_level
from pixelplan.puzzles.goals import with_demonstration, with_goal, with_goal_shown
from pixelplan.puzzles.level import Level
from pixelplan.types import ACTIONS, Goal, Model
from pixelplan.worlds.explore import explore


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
        """All puzzles have the same actions."""
        return ACTIONS

    @property
    def shape(self) -> tuple[int, int, int]:
        """Frames are square."""
        return self.puzzle.pixels, self.puzzle.pixels, 3

    @property
    def random_start(self) -> bool:
        """The puzzle says whether play begins at random places."""
        return self.puzzle.random_start_in_play

    @property
    def has_goals(self) -> bool:
        """Every level of a puzzle has a goal."""
        return True

    @property
    def usual_actions(self) -> bool:
        """The usual actions are those of the puzzles."""
        return True

    def fit(self, size: tuple[int, int]) -> Tables:
        """Puzzles draw their frames themselves: the option `pixels` decides."""
        return self

    def level(self, number: int) -> PuzzleEnv:
        """The level as an environment."""
        return PuzzleEnv(self.puzzle, PlayOptions(level=number, terminate_on_goal=False))

    def check(self, number: int) -> None:
        """An InputError if the level cannot be made."""
        get_level(self.puzzle, number)

    @property
    def usually_random(self) -> bool:
        """Play is random, as in the paper."""
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
        """Play by the level's table; every state's frame is drawn once."""
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
        if isinstance(goal, tuple):
            return challenge_of_level(self.puzzle, with_demonstration(level, goal))
        if isinstance(goal, str) and goal != "solved":
            return challenge_of_level(self.puzzle, with_goal(level, goal, seed))
        wanted = Goal.of(goal)
        shown = level if wanted.frames is None else with_goal_shown(level, wanted)
        return challenge_of_level(self.puzzle, shown, wanted)


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


def _rules(level: Level) -> Model:
    """The true rules of a level."""
    from pixelplan.puzzles.oracle import Oracle  # it needs torch, which takes seconds to import

    return Oracle(level)


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
        rules=partial(_rules, level),
    )


def blindfolded(puzzle: Puzzle, level: Level) -> Blindfold:
    """The level's environment as planners may see it; its goal is that of `level`."""
    challenge = challenge_of_level(puzzle, level)
    return Blindfold(challenge.env, solved=challenge.solved)

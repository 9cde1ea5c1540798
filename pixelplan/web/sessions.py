"""Games: each belongs to whoever knows its unguessable id, and is dropped when nobody plays it any more."""

from __future__ import annotations

import secrets
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from pixelplan.envs import Level, PlayOptions, Puzzle, PuzzleEnv
from pixelplan.envs.goals import with_goal_state
from pixelplan.envs.pictures import follow
from pixelplan.types import Episode, InputError
from pixelplan.web.limits import Limits


class NoSuchGame(Exception):
    """There is no game with this id (any more)."""


class TooMany(Exception):
    """The server has its hands full; the message says what would help."""


@dataclass
class Game:
    """One visitor's game."""

    id: str
    env: str
    puzzle: Puzzle
    level: Level
    """The level with the goal the visitor wants: its own, or any other place."""
    own_goal: int
    """The goal that the level came with."""
    states: list[int]
    """Where the game has been, the start first."""
    actions: list[int] = field(default_factory=list)
    used: float = 0.0
    embeddings: dict[int, np.ndarray] = field(default_factory=dict)
    """Embeddings [d] of states that were seen, as far as somebody asked."""

    @property
    def state(self) -> int:
        """Where the game is."""
        return self.states[-1]

    @property
    def solved(self) -> bool:
        """Whether the game is on the goal."""
        return bool(self.level.goals[self.state])

    @property
    def seen(self) -> list[int]:
        """The states seen so far, each once, in the order of their first sight."""
        return list(dict.fromkeys(self.states))

    def play(self, actions: Sequence[int], most: int) -> None:
        """Take actions; an InputError, and no move at all, where the game would become longer than `most`."""
        if len(self.actions) + len(actions) > most:
            raise InputError(f"a game has at most {most} moves; restart or undo some of its {len(self.actions)}")
        self.states += follow(self.level, actions, self.state)[1:]
        self.actions += actions

    def undo(self) -> None:
        """Take the last move back, if there is one."""
        if self.actions:
            self.actions.pop()
            self.states.pop()

    def restart(self) -> None:
        """Go back to the start; the goal stays."""
        del self.actions[:], self.states[1:]

    def aim_at(self, state: int | None) -> None:
        """Want another goal; None is the level's own."""
        self.level = with_goal_state(self.level, self.own_goal if state is None else state)

    def before(self, move: int) -> Game:
        """The game as it was after so many moves; an InputError where it never had as many."""
        if move > len(self.actions):
            raise InputError(f"the game has {len(self.actions)} moves; it cannot be shown since move {move}")
        return replace(self, states=self.states[: move + 1], actions=self.actions[:move], embeddings={})

    def episode(self, since: int = 0, run: Episode | None = None) -> Episode:
        """The moves so far, as pictures want them; with the plans of a run since a move, as far as the game took it."""
        plans, ended = [], "solved" if self.solved else ""
        if run is not None:
            taken = self.actions[since:]
            same = [one == other for one, other in zip(run.actions, taken, strict=False)]
            followed = same.index(False) if False in same else len(same)
            plans = [(since + at, plan) for at, plan in zip(run.planned_at, run.plans, strict=True) if at <= followed]
        return Episode(
            tuple(self.actions),
            self.level.frames(np.array(self.states)),
            self.solved,
            ended,
            plans=tuple(plan for _, plan in plans),
            planned_at=tuple(at for at, _ in plans),
        )

    def resumed(self, moved: Callable[[int], None]) -> PuzzleEnv:
        """An environment of its own that begins where the game is, tells every new state and plays on past the goal."""
        return _Resumed(self.puzzle, self.level.number, self.state, moved)


class _Resumed(PuzzleEnv):
    """A level that begins in a given state."""

    def __init__(self, puzzle: Puzzle, number: int, state: int, moved: Callable[[int], None]) -> None:
        super().__init__(puzzle, PlayOptions(level=number, terminate_on_goal=False))
        self._begin, self._moved = state, moved

    def reset(self, *, seed: int | None = None, options: dict | None = None) -> tuple[np.ndarray, dict]:
        """The frame and info of the state it begins in."""
        super().reset(seed=seed, options=options)
        self._state = self._begin
        return self._show(), self._info()

    def step(self, action: int) -> tuple[np.ndarray, float, bool, bool, dict]:
        """As ever, and the new state is told."""
        outcome = super().step(action)
        self._moved(self._state)
        return outcome


def standable(level: Level) -> dict[tuple[int, int], int]:
    """The cells (row, column) on which the agent can stand, and the state that shows it there."""
    states = [*level.starts.tolist(), level.goal, level.start]
    return {
        (int(row), int(column)): state for state, (row, column) in zip(states, level.positions[states], strict=True)
    }


def state_of_cell(level: Level, row: int, column: int) -> int:
    """The state with the agent in a cell; an InputError where it can never stand there."""
    try:
        return standable(level)[row, column]
    except KeyError:
        raise InputError(f"the agent can never stand in row {row}, column {column} of level {level.number}") from None


def state_of_frame(level: Level, frame: np.ndarray) -> int:
    """The state that a frame [H,W,3] shows; an InputError where it is no frame of this level."""
    states = np.arange(len(level.successors))
    if frame.shape != level.background.shape:
        raise InputError(f"the picture is {frame.shape[1]} × {frame.shape[0]} pixels; a frame of this level has "
                         f"{level.background.shape[1]} × {level.background.shape[0]}")  # fmt: skip
    same = np.flatnonzero((level.frames(states) == frame).all(axis=(1, 2, 3)))
    if not len(same):
        raise InputError(f"the picture shows no state of level {level.number}; save a frame of this level and use that")
    return int(same[0])


class Games:
    """All games of a server."""

    def __init__(self, limits: Limits, clock: Callable[[], float] = time.monotonic) -> None:
        self._limits, self._clock = limits, clock
        self._games: dict[str, Game] = {}  # the longest unused first

    def __len__(self) -> int:
        return len(self._games)

    def add(self, env: str, puzzle: Puzzle, level: Level) -> Game:
        """A new game at the start of a level; TooMany where there is no room for it."""
        self.drop_idle()
        if len(self._games) >= self._limits.games:
            oldest = next(iter(self._games.values()))
            if self._clock() - oldest.used < self._limits.spare_seconds:
                raise TooMany(f"{self._limits.games} games are being played; try again in a minute")
            del self._games[oldest.id]
        game = Game(secrets.token_urlsafe(16), env, puzzle, level, level.goal, [level.start], used=self._clock())
        self._games[game.id] = game
        return game

    def get(self, id: str) -> Game:
        """The game with an id, which counts as used now; NoSuchGame where there is none."""
        self.drop_idle()
        game = self._games.pop(id, None)
        if game is None:
            raise NoSuchGame(id)
        game.used = self._clock()
        self._games[id] = game
        return game

    def remove(self, id: str) -> None:
        """Drop a game; NoSuchGame where there is none."""
        if self._games.pop(id, None) is None:
            raise NoSuchGame(id)

    def drop_idle(self) -> None:
        """Drop the games that nobody used for a long time."""
        now = self._clock()
        while self._games:
            oldest = next(iter(self._games.values()))
            if now - oldest.used < self._limits.idle_seconds:
                break
            del self._games[oldest.id]

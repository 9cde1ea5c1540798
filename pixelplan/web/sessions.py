"""Games: each has an unguessable id, and is dropped once it is no longer played."""

from __future__ import annotations

import secrets
import threading
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace

import gymnasium
import numpy as np

from pixelplan.planning.plan import Episode
from pixelplan.types import InputError
from pixelplan.web.board import Board, follow
from pixelplan.web.clock import Clock
from pixelplan.web.limits import Limits


class NoSuchGame(Exception):
    """There is no game with this id (any more)."""


class TooMany(Exception):
    """The server is busy; the message says what would help."""


@dataclass
class Game:
    """One visitor's game."""

    id: str
    env: str
    board: Board
    """The level with the goal that the visitor wants: its own, or any other state."""
    states: list[int]
    """Where the game has been, the start first."""
    actions: list[int] = field(default_factory=list)
    model: str = ""
    """The name of the model that thinks about it; empty for the puzzle's usual one."""
    note: str = ""
    """What was done to the picture that is its goal."""
    used: float = 0.0
    embeddings: dict[int, np.ndarray] = field(default_factory=dict)
    """Embeddings [d] of seen states, made when they are needed."""
    lock: threading.Lock = field(default_factory=threading.Lock)
    """Held while the game changes."""

    @property
    def state(self) -> int:
        """Where the game is."""
        return self.states[-1]

    @property
    def solved(self) -> bool:
        """Whether the game is on the goal."""
        return self.board.solved(self.state)

    @property
    def seen(self) -> list[int]:
        """The states seen so far, each once, in the order in which they were first seen."""
        return list(dict.fromkeys(self.states))

    def play(self, actions: Sequence[int], most: int) -> None:
        """Take actions; an InputError, and no move at all, if the game would become longer than `most`."""
        if len(self.actions) + len(actions) > most:
            raise InputError(f"a game has at most {most} moves; restart or undo some of its {len(self.actions)}")
        self.states += follow(self.board, actions, self.state)[1:]
        self.actions += actions

    def undo(self) -> None:
        """Take the last move back, if there is one."""
        if self.actions:
            self.actions.pop()
            self.states.pop()

    def restart(self) -> None:
        """Go back to the start; the goal stays."""
        del self.actions[:], self.states[1:]

    def before(self, move: int) -> Game:
        """The game as it was after this many moves; an InputError if it had fewer."""
        if move > len(self.actions):
            raise InputError(f"the game has {len(self.actions)} moves; it cannot be shown since move {move}")
        return replace(self, states=self.states[: move + 1], actions=self.actions[:move], embeddings={})

    def episode(self, since: int = 0, run: Episode | None = None) -> Episode:
        """The moves so far, for pictures; with the plans of a run from move `since`, as far as the game followed it."""
        plans, ended = [], "solved" if self.solved else ""
        if run is not None:
            taken = self.actions[since:]
            same = [planned == action for planned, action in zip(run.actions, taken, strict=False)]
            followed = same.index(False) if False in same else len(same)
            plans = [(since + at, plan) for at, plan in zip(run.planned_at, run.plans, strict=True) if at <= followed]
        return Episode(
            tuple(self.actions),
            np.stack([self.board.frame(state) for state in self.states]),
            self.solved,
            ended,
            plans=tuple(plan for _, plan in plans),
            planned_at=tuple(at for at, _ in plans),
        )

    def resumed(self, moved: Callable[[int], None], clock: Clock) -> Resumed:
        """An environment that starts where the game is, reports every new state and plays on past the goal.

        The clock does not count its time.
        """
        return Resumed(self.board, self.state, moved, clock)


class Resumed(gymnasium.Env[np.ndarray, int]):
    """A board that starts in a given state."""

    def __init__(self, board: Board, state: int, moved: Callable[[int], None], clock: Clock) -> None:
        self.action_space = gymnasium.spaces.Discrete(board.actions)  # type: ignore[assignment]
        self.observation_space = gymnasium.spaces.Box(0, 255, board.shape, np.uint8)
        self._board, self._begin, self._moved, self._clock = board, state, moved, clock
        self.state = state

    def reset(self, *, seed: int | None = None, options: dict | None = None) -> tuple[np.ndarray, dict]:
        """The frame [H,W,3] of the state in which it starts."""
        self.state = self._begin
        with self._clock.stopped():
            return self._board.frame(self.state), {}

    def step(self, action: int) -> tuple[np.ndarray, float, bool, bool, dict]:
        """The frame [H,W,3] after an action; reports the new state."""
        with self._clock.stopped():
            self.state = self._board.after(self.state, action)
            self._moved(self.state)
            return self._board.frame(self.state), 0.0, False, False, {}


class Games:
    """All games of a server."""

    def __init__(self, limits: Limits, clock: Callable[[], float] = time.monotonic) -> None:
        self._limits, self._clock = limits, clock
        self._games: dict[str, Game] = {}  # the longest unused first

    def __len__(self) -> int:
        return len(self._games)

    def add(self, env: str, board: Board, model: str = "") -> Game:
        """A new game at the start of a level; TooMany if there is no room for it."""
        self.drop_idle()
        if len(self._games) >= self._limits.games:
            oldest = next(iter(self._games.values()))
            if self._clock() - oldest.used < self._limits.spare_seconds:
                raise TooMany(f"{self._limits.games} games are being played; try again in a minute")
            del self._games[oldest.id]
        game = Game(secrets.token_urlsafe(16), env, board, [board.start], model=model, used=self._clock())
        self._games[game.id] = game
        return game

    def get(self, id: str) -> Game:
        """The game with an id, which counts as used now; NoSuchGame if there is none."""
        self.drop_idle()
        game = self._games.pop(id, None)
        if game is None:
            raise NoSuchGame(id)
        game.used = self._clock()
        self._games[id] = game
        return game

    def remove(self, id: str) -> None:
        """Drop a game; NoSuchGame if there is none."""
        if self._games.pop(id, None) is None:
            raise NoSuchGame(id)

    def drop_idle(self) -> None:
        """Drop the games that were not used for a long time."""
        now = self._clock()
        while self._games:
            oldest = next(iter(self._games.values()))
            if now - oldest.used < self._limits.idle_seconds:
                break
            del self._games[oldest.id]

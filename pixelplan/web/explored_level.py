"""Levels of a user's environment, known as far as play has seen them.

Frames show the whole state, so equal frames are one state, and a state's number is a digest of its frame: the same in
every game, even after a restart. To find out where an action leads, the level is played again from its start: first
the actions that led to the state, then this one. The answer is remembered.
"""

from __future__ import annotations

import hashlib
import threading
import zlib
from collections import deque
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from weakref import WeakValueDictionary

import numpy as np

from pixelplan.by_name.resolve import blame
from pixelplan.envs.family import Family, Goals
from pixelplan.types import Goal, InputError
from pixelplan.worlds.determinism import judge_determinism

_RECENT_LEVELS = 16
"""Levels that are remembered after their last game: pages may still ask for their frames."""
_STEPS = 8
"""Steps that are replayed to see whether the same frames come again."""
_GREY = 128
"""The colour that hides what does not matter in a goal picture."""


class OwnWorld:
    """An environment that serves all levels and visitors, one at a time, so it need not be thread-safe."""

    def __init__(self, family: Family, goals: Goals = "level") -> None:
        """`goals` is what its levels begin with."""
        self.family, self.goals = family, goals
        self.at: tuple[ExploredLevel, int] | None = None
        """The level and the state in which the environment is, None if unknown."""
        self._lock = threading.Lock()
        self._levels: WeakValueDictionary[int, ExploredLevel] = WeakValueDictionary()
        self._recent: deque[ExploredLevel] = deque(maxlen=_RECENT_LEVELS)

    def check(self, number: int) -> None:
        """An InputError if a level cannot be played, or if equal states do not look the same."""
        with self.using():
            self.family.check(number)
            actions = [step % len(self.family.action_names) for step in range(_STEPS)]
            if judge_determinism(self.family.level(number), actions).verdict != "deterministic":
                raise InputError(
                    f"{self.family.name} shows the same state with different pixels each time; the page tells states "
                    "apart by their pixels, so use solve or evaluate for worlds with visual noise"
                )

    def level(self, number: int, most: int) -> ExploredLevel:
        """A level; at most `most` of its states are kept.

        All games in a level share what is known about it, which is kept for a while after the last one ends.
        """
        with self.using():
            level = self._levels.get(number)
            if level is None:
                self.at = None
                level = self._levels[number] = ExploredLevel(self, number, most)
                self._recent.append(level)
        return level

    @contextmanager
    def using(self) -> Iterator[None]:
        """Lock the environment for the caller; anything that it raises becomes an InputError."""
        with self._lock, blame(self.family.name):
            yield


@dataclass(frozen=True)
class _Sight:
    """A state that was seen."""

    solved: bool
    """Whether it is the level's own goal."""
    before: tuple[int, int] | None
    """The state and the action that first led there, None for the start."""


class ExploredLevel:
    """What is known about one level."""

    def __init__(self, world: OwnWorld, number: int, most: int) -> None:
        """Call this only within `world.using()`."""
        self.world, self._most = world, most
        self.challenge = world.family.challenge(number, world.goals)
        self._frames: dict[int, bytes] = {}  # compressed, pictures that play never reached included
        self._sights: dict[int, _Sight] = {}
        self._successors: dict[tuple[int, int], int] = {}
        self.start = self._see(self.challenge.env.reset()[0], None)
        self.own_goal = self._shown(self.challenge.goal)
        """The state that shows the level's own goal, or parts of it; None if no picture does."""

    def frame(self, state: int) -> np.ndarray:
        """What a state looks like, [H,W,3]; an InputError if play has never seen it."""
        if state not in self._frames:
            raise InputError(f"no state {state} has been seen in level {self.challenge.number}")
        shape = self.world.family.shape
        return np.frombuffer(zlib.decompress(self._frames[state]), np.uint8).reshape(shape).copy()

    def after(self, state: int, action: int) -> int:
        """The state that an action leads to, from a state that was seen."""
        if (state, action) not in self._successors:
            with self.world.using():
                self._successors[state, action] = self._try(state, action)
        return self._successors[state, action]

    def solved(self, state: int) -> bool:
        """Whether a state that was seen is the level's own goal."""
        return self._sights[state].solved

    def way(self, state: int) -> list[int] | None:
        """The actions that first led to a state, None if play has not reached it."""
        if state not in self._sights:
            return None
        actions = []
        while (before := self._sights[state].before) is not None:
            state, action = before
            actions.append(action)
        return actions[::-1]

    def state_of(self, goal: Goal) -> int | None:
        """The state that a goal of one whole picture shows; None if it is another kind of goal, or not known yet."""
        picture = goal.picture if goal.masks is None and goal.frames is not None and len(goal.frames) == 1 else None
        return _number(picture) if picture is not None and _number(picture) in self._frames else None

    def checked(self, goal: Goal) -> tuple[int | None, Goal]:
        """The state that shows a visitor's goal, and the goal as planners get it; an InputError if it looks nothing
        like this level."""
        with self.world.using():
            self.world.at = None
            known = self.world.family.challenge(self.challenge.number, goal).goal
            return self._shown(known), known

    def _shown(self, goal: Goal) -> int | None:
        """The number of a goal's picture, which is kept, with grey for what does not matter; None if it has none."""
        picture = goal.picture
        if picture is not None and goal.masks is not None:
            picture = np.where(goal.masks[0][..., None], picture, np.uint8(_GREY))
        return None if picture is None else self._keep(picture)

    def _try(self, state: int, action: int) -> int:
        """Go to a state, unless the environment is already there, and take an action."""
        env, at = self.challenge.env, self.world.at
        self.world.at = None  # until everything has worked
        if at != (self, state):
            frame = env.reset()[0]
            for step in self.way(state) or ():
                frame = env.step(step)[0]
            if _number(frame) != state:
                raise InputError(
                    f"{self.world.family.name} is not deterministic: the same actions in level {self.challenge.number} "
                    "show a different frame than before"
                )
        there = self._see(env.step(action)[0], (state, action))
        self.world.at = self, there
        return there

    def _see(self, frame: np.ndarray, before: tuple[int, int] | None) -> int:
        """The number of a frame, which is remembered together with what first led there."""
        state = self._keep(frame)
        if state not in self._sights:
            self._sights[state] = _Sight(self.challenge.solved(), before)
        return state

    def _keep(self, frame: np.ndarray) -> int:
        """A frame's number; an InputError if there are too many."""
        state = _number(frame)
        if state not in self._frames:
            if len(self._frames) >= self._most:
                raise InputError(
                    f"{self._most} states of level {self.challenge.number} were seen, and the page keeps no more; open "
                    "another level"
                )
            self._frames[state] = zlib.compress(frame.tobytes(), 1)
        return state


def _number(frame: np.ndarray) -> int:
    """48 bits that stand for a frame: few enough for any browser, enough that no two frames collide in practice."""
    return int.from_bytes(hashlib.blake2b(frame.tobytes(), digest_size=6).digest())

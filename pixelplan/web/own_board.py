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
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from weakref import WeakValueDictionary

import numpy as np
from PIL import Image

from pixelplan.by_name.resolve import blame
from pixelplan.envs.family import Family, Goals
from pixelplan.planning.plan import Episode
from pixelplan.reports.figures import frames_picture
from pixelplan.types import Goal, InputError
from pixelplan.web.board import Cells
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
                    f"{self.family.name} shows the same state with other pixels each time; the page tells states apart "
                    "by their pixels: use solve or evaluate for worlds with visual noise"
                )

    def board(self, number: int, most: int) -> OwnBoard:
        """A level with its own goal; at most `most` of its states are kept.

        All games in a level share what is known about it, which is kept for a while after the last one ends.
        """
        with self.using():
            level = self._levels.get(number)
            if level is None:
                self.at = None
                level = self._levels[number] = ExploredLevel(self, number, most)
                self._recent.append(level)
        return level.own

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
        self._own_goal = self._towards(self.challenge.goal, own=True).goal

    @property
    def own(self) -> OwnBoard:
        """The level with its own goal."""
        return OwnBoard(self, self._own_goal, self.challenge.goal, own=True)

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

    def aimed(self, goal: Goal) -> OwnBoard:
        """The level with a goal that pictures show; an InputError if they look nothing like this level."""
        picture = goal.picture if goal.masks is None and goal.frames is not None and len(goal.frames) == 1 else None
        if picture is not None and _number(picture) in self._frames:
            return self.own.towards(_number(picture))
        with self.world.using():
            self.world.at = None
            known = self.world.family.challenge(self.challenge.number, goal).goal
            return self._towards(known, own=False)

    def _towards(self, goal: Goal, own: bool) -> OwnBoard:
        """The level with a goal; its picture, if it has one, is kept."""
        picture = goal.picture
        if picture is not None and goal.masks is not None:
            picture = np.where(goal.masks[0][..., None], picture, np.uint8(_GREY))
        return OwnBoard(self, None if picture is None else self._keep(picture), goal, own)

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


@dataclass(frozen=True)
class OwnBoard:
    """A level of a user's environment, with the goal that the visitor wants."""

    level: ExploredLevel
    goal: int | None
    """The state that shows the goal, or parts of it; None if no picture does."""
    wanted: Goal
    """The goal as planners get it."""
    own: bool
    """Whether it is the level's own goal; any other one is reached when it is seen."""

    @property
    def number(self) -> int:
        """The level's."""
        return self.level.challenge.number

    @property
    def name(self) -> int:
        """The same."""
        return self.number

    @property
    def drawing(self) -> None:
        """Such a level cannot be drawn."""

    @property
    def actions(self) -> int:
        """The number of actions."""
        return len(self.level.challenge.action_names)

    @property
    def shape(self) -> tuple[int, int, int]:
        """Of a frame: height, width, 3."""
        return self.level.world.family.shape

    @property
    def start(self) -> int:
        """Where the level begins."""
        return self.level.start

    @property
    def shortest(self) -> int | None:
        """Known only if the environment says it, and only for its own goal."""
        return self.level.challenge.shortest if self.own else None

    @property
    def goal_note(self) -> str:
        """What one picture does not show."""
        count = 0 if self.wanted.frames is None else len(self.wanted.frames)
        several = f"Any of {count} pictures; this is the first" if count > 1 else ""
        masked = "" if self.wanted.masks is None else "What is grey does not matter"
        return ". ".join(part for part in (several, masked) if part)

    @property
    def cells(self) -> Cells:
        """There are none."""
        return {}

    @property
    def cell(self) -> None:
        """There are none."""

    def frame(self, state: int) -> np.ndarray:
        """What a state looks like, [H,W,3]."""
        return self.level.frame(state)

    def after(self, state: int, action: int) -> int:
        """The state that an action leads to."""
        return self.level.after(state, action)

    def solved(self, state: int) -> bool:
        """Whether a state is the goal."""
        return self.level.solved(state) if self.own else self.wanted.shown_by(self.frame(state))

    def lost(self, state: int) -> None:
        """Unknown."""

    def position(self, state: int) -> None:
        """Unknown."""

    def places(self, states: Sequence[int]) -> list[tuple[float, float]]:
        """Unknown."""
        return []

    def way(self, state: int) -> list[int] | None:
        """The actions that first led to a state, None if play has not reached it."""
        return self.level.way(state)

    def aimed(self, goal: Goal) -> tuple[OwnBoard, str]:
        """The same level with a goal that pictures show."""
        return self.level.aimed(goal), ""

    def towards(self, state: int | None) -> OwnBoard:
        """The same level with another state as its goal; None is its own goal."""
        own_board = self.level.own
        return (
            own_board
            if state is None or state == own_board.goal
            else OwnBoard(self.level, state, Goal.of(self.frame(state)), False)
        )

    def picture(self, episode: Episode) -> Image.Image:
        """What was seen, frame by frame."""
        goal = None if self.goal is None else self.frame(self.goal)
        return frames_picture(episode, goal, self.level.challenge.action_names)

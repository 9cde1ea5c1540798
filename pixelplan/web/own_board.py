"""Levels of anybody's environment, known as far as somebody has been there.

Frames show the whole state, so equal frames are one state, and a state's number is a digest of its frame: the same in
every game, and after a restart, too. Where an action leads is found by playing: the level begins anew, the actions that
first led to the state are taken again, and one more. That is remembered.
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

from pixelplan.envs.determinism import judge_determinism
from pixelplan.envs.family import Family
from pixelplan.envs.resolve import blame
from pixelplan.evaluation.figures import frames_picture
from pixelplan.types import Episode, InputError
from pixelplan.web.board import Cells

_RECENT = 16
"""Levels that are remembered although nobody plays them any more: pages may still ask for their frames."""
_STEPS = 8
"""Steps that are replayed to see whether frames come again."""


class OwnWorld:
    """An environment that serves all levels and visitors, one at a time: it need not know of threads."""

    def __init__(self, family: Family) -> None:
        self.family = family
        self.at: tuple[ExploredLevel, int] | None = None
        """The level and the state in which the environment stands, None where nobody knows."""
        self._lock = threading.Lock()
        self._levels: WeakValueDictionary[int, ExploredLevel] = WeakValueDictionary()
        self._recent: deque[ExploredLevel] = deque(maxlen=_RECENT)

    def check(self, number: int) -> None:
        """An InputError where a level cannot be played, or equal states do not look the same."""
        with self.using():
            self.family.check(number)
            actions = [step % len(self.family.action_names) for step in range(_STEPS)]
            if judge_determinism(self.family.level(number), actions).verdict != "deterministic":
                raise InputError(
                    f"{self.family.name} shows the same state with other pixels each time; the page tells states apart "
                    "by their pixels: use solve or evaluate for worlds with visual noise"
                )

    def board(self, number: int, most: int) -> OwnBoard:
        """A level with its own goal, or a random one where it has none; at most so many states of it are kept.

        All games in a level share what is known of it, as long as there is one and a little longer.
        """
        with self.using():
            level = self._levels.get(number)
            if level is None:
                self.at = None
                level = self._levels[number] = ExploredLevel(self, number, most)
                self._recent.append(level)
        return OwnBoard(level, level.goal, own=True)

    @contextmanager
    def using(self) -> Iterator[None]:
        """Have the environment for oneself; whatever it raises is an InputError."""
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
    """What is known of one level."""

    def __init__(self, world: OwnWorld, number: int, most: int) -> None:
        """To be made while the environment is in use."""
        self.world, self._most = world, most
        self.challenge = world.family.challenge(number, "level" if world.family.has_goals else "random")
        self._frames: dict[int, bytes] = {}  # compressed; also those of pictures that nobody has met in play
        self._sights: dict[int, _Sight] = {}
        self._successors: dict[tuple[int, int], int] = {}
        self.start = self._see(self.challenge.env.reset()[0], None)
        self.goal = self._keep(self.challenge.goal_frame)

    def frame(self, state: int) -> np.ndarray:
        """What a state looks like, [H,W,3]; an InputError where nobody has seen it."""
        if state not in self._frames:
            raise InputError(f"nobody has seen a state {state} in level {self.challenge.number}")
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
        """The actions that first led to a state, None where none has yet."""
        if state not in self._sights:
            return None
        actions = []
        while (before := self._sights[state].before) is not None:
            state, action = before
            actions.append(action)
        return actions[::-1]

    def state_of(self, frame: np.ndarray) -> int:
        """The state that a frame [H,W,3] shows; an InputError where it looks nothing like this level."""
        if frame.shape == self.world.family.shape and _number(frame) in self._frames:
            return _number(frame)
        with self.world.using():
            self.world.at = None
            return self._keep(self.world.family.challenge(self.challenge.number, frame).goal_frame)

    def _try(self, state: int, action: int) -> int:
        """Go to a state, unless the environment stands there, and take an action."""
        env, at = self.challenge.env, self.world.at
        self.world.at = None  # until all went well
        if at != (self, state):
            frame = env.reset()[0]
            for step in self.way(state) or ():
                frame = env.step(step)[0]
            if _number(frame) != state:
                raise InputError(
                    f"{self.world.family.name} is not deterministic: the same actions in level {self.challenge.number} "
                    "show another frame than before"
                )
        there = self._see(env.step(action)[0], (state, action))
        self.world.at = self, there
        return there

    def _see(self, frame: np.ndarray, before: tuple[int, int] | None) -> int:
        """The number of what is seen now, which is remembered with what led there first."""
        state = self._keep(frame)
        if state not in self._sights:
            self._sights[state] = _Sight(self.challenge.solved(), before)
        return state

    def _keep(self, frame: np.ndarray) -> int:
        """A frame's number; an InputError where there are too many."""
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
    """48 bits that stand for a frame: any browser can count so far, and no two frames will meet."""
    return int.from_bytes(hashlib.blake2b(frame.tobytes(), digest_size=6).digest())


@dataclass(frozen=True)
class OwnBoard:
    """A level of an own environment, with the goal the visitor wants."""

    level: ExploredLevel
    goal: int
    """The state that the goal frame shows."""
    own: bool
    """Whether it is the level's own goal; any other one is reached when its frame is seen."""

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
        """Nobody knows how to draw it."""

    @property
    def actions(self) -> int:
        """How many there are."""
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
        """Where the environment says so for its own goal."""
        return self.level.challenge.shortest if self.own else None

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
        return self.level.solved(state) if self.own else state == self.goal

    def lost(self, state: int) -> None:
        """Nobody knows."""

    def position(self, state: int) -> None:
        """Nobody knows."""

    def places(self, states: Sequence[int]) -> list[tuple[float, float]]:
        """Nobody knows."""
        return []

    def way(self, state: int) -> list[int] | None:
        """The actions that first led to a state, None where none has yet."""
        return self.level.way(state)

    def state_of(self, picture: Image.Image) -> tuple[int, str]:
        """The state that a picture shows."""
        return self.level.state_of(np.array(picture)), ""

    def towards(self, state: int | None) -> OwnBoard:
        """The same level with another goal; None is its own."""
        return OwnBoard(self.level, self.level.goal if state is None else state, own=state in (None, self.level.goal))

    def picture(self, episode: Episode) -> Image.Image:
        """What was seen, frame by frame."""
        return frames_picture(episode, self.frame(self.goal), self.level.challenge.action_names)

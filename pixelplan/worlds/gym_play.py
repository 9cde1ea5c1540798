"""Recorded play in a level of a user's environment: each distinct frame is kept once, no step drawn needlessly."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from pixelplan.envs.family import Recording
from pixelplan.envs.frames import DistinctFrames
from pixelplan.worlds.explore import explore
from pixelplan.worlds.gym_level import GymLevel

if TYPE_CHECKING:
    from pixelplan.worlds.gym_family import GymFamily

SPOT_CHECK = 8
"""Of the steps whose outcome is known, the first two are drawn anyway, and then one in this many."""


class LooksOtherwise(Exception):
    """A step that was made before shows another frame now: frames do not show the whole state."""


class Recorder:
    """A level whose frames get numbers as they are first seen, and which notes those that solve it.

    If it `trusts` the level, it does not draw a step again that was made before: the same action after the same frame,
    if the environment says the same afterwards. It draws some of them anyway, and raises `LooksOtherwise` if one
    differs.
    """

    def __init__(self, level: GymLevel, trusts: bool = False) -> None:
        self._level, self._trusts = level, trusts
        self._seen = DistinctFrames()
        self._solved: set[int] = set()
        self._here = -1
        self._after: dict[tuple[int, int], tuple[bytes | None, int]] = {}  # what was told and seen after a step
        self._known = 0  # steps that were made before

    @property
    def over(self) -> bool:
        """Whether the environment has terminated."""
        return self._level.over

    def reset(self) -> int:
        """The number of the level's first frame."""
        self._level.begin()
        return self._see((-1, -1))

    def step(self, action: int) -> int:
        """The number of the frame after an action."""
        if not self._level.over:
            self._level.act(action)
            self._see((self._here, action))
        return self._here

    def _see(self, step: tuple[int, int]) -> int:
        """The number of the frame after a step, a frame and an action."""
        answer = self._level.answer() if self._trusts else None
        before = self._after.get(step)
        known = answer is not None and before is not None and before[0] == answer
        self._known += known
        if before is not None and known and self._known > 2 and self._known % SPOT_CHECK:
            self._here = before[1]
        else:
            self._here = self._seen.add(self._level.look())
            if before is not None and known and self._here != before[1]:
                raise LooksOtherwise
            self._after.setdefault(step, (answer, self._here))
        if self._level.succeeded:
            self._solved.add(self._here)
        return self._here

    def frames(self) -> np.ndarray:
        """[n,H,W,3], what was seen."""
        return self._seen.stacked()

    def solved(self) -> np.ndarray:
        """[n] bool, whether each frame solved the level."""
        return np.isin(np.arange(len(self._seen)), list(self._solved))


def record_play(
    family: GymFamily,
    number: int,
    size: tuple[int, int],
    random: np.random.Generator,
    explores: bool,
    trusts: bool,
) -> Recording:
    """Play of a level, of `size` episodes and steps: random or exploring.

    If a level turns out not to deserve trust, it is played again with every step drawn, and so are all later levels.
    """
    state_before = random.bit_generator.state
    try:
        return _record(family, number, size, random, explores, trusts and not family.looks_otherwise)
    except LooksOtherwise:
        family.looks_otherwise = True
        random.bit_generator.state = state_before
        return _record(family, number, size, random, explores, False)


def _record(
    family: GymFamily, number: int, size: tuple[int, int], random: np.random.Generator, explores: bool, trusts: bool
) -> Recording:
    level = family.level(number)
    recorder = Recorder(level, trusts)
    count = level.action_count
    if explores:
        rows, actions = explore(recorder, count, *size, random)
    else:
        actions = random.integers(count, size=size, dtype=np.uint8)
        if family.replays and family.own_size == family.shape[:2]:
            level.reset()
            return Recording(*family.replay(actions), actions)
        rows = np.array([[recorder.reset(), *(recorder.step(int(action)) for action in taken)] for taken in actions])
    frames, solved, says_if_solved = recorder.frames(), recorder.solved(), level.says_if_solved
    goal = family.shown_goal(level)
    if not says_if_solved:
        solved |= [goal.shown_by(frame) for frame in frames]
    return Recording(frames, rows, actions, solved, goal.frames if goal.masks is None else None)

"""Goals in a level of a user's environment: given, demonstrated or random."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from pixelplan.envs.family import check_actions
from pixelplan.envs.frames import DistinctFrames, resized_goal, to_frame
from pixelplan.types import Goal, InputError
from pixelplan.worlds.determinism import replay
from pixelplan.worlds.gym_level import GymLevel

if TYPE_CHECKING:
    from pixelplan.worlds.gym_family import GymFamily

GOAL_STEPS = 100
"""Random steps among whose frames a random goal is chosen."""


def sized_goal(family: GymFamily, wanted: Any) -> Goal:
    """A goal, a picture or several, with frames in the family's size; an InputError unless they have that size or the
    environment's own."""
    if not isinstance(wanted, Goal):
        several = isinstance(wanted, Sequence) or (isinstance(wanted, np.ndarray) and wanted.ndim == 4)
        wanted = Goal(np.stack([to_frame(picture) for picture in (wanted if several else [wanted])]))
    if wanted.frames is None:
        return Goal()
    size = wanted.frames.shape[1:3]
    if size not in (family.own_size, family.shape[:2]):
        raise InputError(
            f"the goal frame is {size[1]} × {size[0]} pixels; frames of {family.name} are {family.own_size[1]} × "
            f"{family.own_size[0]}"
        )
    return resized_goal(wanted, family.shape[:2])


def known_goal(family: GymFamily, level: GymLevel, wanted: Goal | np.ndarray | list[np.ndarray]) -> Goal:
    """A given goal in the family's size; an InputError if it looks nothing like the level's frames."""
    goal = sized_goal(family, wanted)
    if goal.frames is None:
        return goal
    walk = random_walk(level, np.random.default_rng(0)).astype(np.int16)
    widest = max(np.abs(walk - frame).mean(axis=(1, 2, 3)).max() for frame in walk[:: max(1, len(walk) // 8)])
    masks = np.ones(goal.frames.shape[:3], bool) if goal.masks is None else goal.masks
    for frame, mask in zip(goal.frames.astype(np.int16), masks, strict=True):
        nearest = np.abs(walk[:, mask] - frame[mask]).mean(axis=(1, 2)).min() * mask.mean()
        if nearest > 3 * max(widest, 0.5):
            raise InputError(
                f"the goal frame is not from level {level.number} of {family.name}: it differs from every frame of "
                f"random play by {nearest:.0f} grey values per pixel, and these differ by at most {widest:.0f}"
            )
    return goal


def demonstrated(level: GymLevel, actions: Sequence[int]) -> np.ndarray:
    """The frame [H,W,3] that actions lead to from the level's start."""
    check_actions(actions, level.action_count)
    return replay(level, actions)[-1]


def random_walk(level: GymLevel, random: np.random.Generator) -> np.ndarray:
    """The frames [n,H,W,3] of a random walk from the level's start, the start's first."""
    return replay(level, random.integers(level.action_count, size=GOAL_STEPS))


def random_frame(level: GymLevel, random: np.random.Generator) -> np.ndarray:
    """One of the distinct frames [H,W,3] of a random walk, other than the start's."""
    others = DistinctFrames(random_walk(level, random)).stacked()[1:]
    if not len(others):
        raise InputError(f"nothing changed in level {level.number} in {GOAL_STEPS} random steps; it has no goals")
    return others[random.integers(len(others))].copy()

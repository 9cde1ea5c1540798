"""A level with another goal than its own."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from typing import Literal

import numpy as np

from pixelplan.envs.level import Level
from pixelplan.types import InputError

Goals = Literal["level", "random"]


def with_goal(level: Level, goals: Goals, seed: int) -> Level:
    """The level itself, or the level with a random place as its goal, other than the start and reachable from it."""
    if goals == "level":
        return level
    elsewhere = level.reachable(level.start) & (level.positions != level.positions[level.start]).any(axis=1)
    candidates = np.flatnonzero(elsewhere)
    if not len(candidates):
        return level
    return with_goal_state(level, int(np.random.default_rng([seed, level.number, 1]).choice(candidates)))


def with_goal_state(level: Level, state: int) -> Level:
    """The level with this state as its goal; other states with the same position solve it, too."""
    goals = (level.positions == level.positions[state]).all(axis=1)
    return dataclasses.replace(level, goal=state, goals=goals)


def with_goal_frame(level: Level, frame: np.ndarray) -> Level:
    """The level with the state that a frame [H,W,3] shows as its goal, or without any goal where it shows none."""
    shape = level.background.shape
    if frame.shape != shape:
        raise InputError(
            f"the goal frame is {frame.shape[1]} × {frame.shape[0]} pixels; this level's frames are "
            f"{shape[1]} × {shape[0]}"
        )
    for state in range(len(level.successors)):
        if np.array_equal(level.frame(state), frame):
            return with_goal_state(level, state)
    return dataclasses.replace(level, goals=np.zeros(len(level.goals), bool))


def with_demonstration(level: Level, actions: Sequence[int]) -> Level:
    """The level with the state that these actions lead to as its goal."""
    state = level.start
    for action in actions:
        if not 0 <= action < level.successors.shape[1]:
            raise InputError(f"there is no action {action}; actions are 0 to {level.successors.shape[1] - 1}")
        state = int(level.successors[state, action])
    return with_goal_state(level, state)

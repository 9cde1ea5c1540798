"""A level with a goal other than its own."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence

import numpy as np

from pixelplan.envs.family import Goals
from pixelplan.puzzles.level import Level
from pixelplan.types import Goal


def with_goal(level: Level, goals: Goals, seed: int) -> Level:
    """The level itself, or the level with a random place as its goal, other than the start and reachable from it."""
    if goals != "random":
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


def with_goal_shown(level: Level, goal: Goal) -> Level:
    """The level with the states that show a goal's frames as its goal, or without any goal if no state does."""
    goal.check_size(level.background.shape, "this level's frames")
    states = [state for state in range(len(level.successors)) if goal.shown_by(level.frame(state))]
    goals = np.isin(np.arange(len(level.goals)), states)
    if goal.masks is None:  # other states in the same place count as well
        goals = (level.positions[:, None] == level.positions[goals]).all(axis=2).any(axis=1)
    return dataclasses.replace(level, goal=states[0] if states else level.goal, goals=goals)


def with_demonstration(level: Level, actions: Sequence[int]) -> Level:
    """The level with the state that these actions lead to as its goal."""
    return with_goal_state(level, level.follow(actions)[-1])

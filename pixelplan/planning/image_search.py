"""GS on Images: try everything, and tell states apart by their frames (the paper's Algorithm 4)."""

from __future__ import annotations

import time
from dataclasses import dataclass

import numpy as np

from pixelplan.planning.memory import Memory
from pixelplan.planning.one_shot import checked_goal
from pixelplan.planning.plan import Episode
from pixelplan.types import Goal, InputError, World


@dataclass(frozen=True)
class ImageSearchConfig:
    """How long GS on Images may play."""

    step_limit: int = 256
    """Steps after which an episode ends."""

    def __post_init__(self) -> None:
        if self.step_limit < 1:
            raise InputError(f"step_limit is {self.step_limit}; it must be at least 1")


def image_search(
    world: World,
    goal: Goal | np.ndarray,
    config: ImageSearchConfig = ImageSearchConfig(),  # noqa: B008 (frozen)
    random: np.random.Generator | None = None,
) -> Episode:
    """Play one episode towards a goal, without any model.

    It takes a random untried action. If all have been tried here, it goes to the nearest state with one left.
    """
    random = random or np.random.default_rng(0)
    frame, solved = world.reset()
    goal = checked_goal(frame, goal)
    solved = solved or goal.shown_by(frame)
    memory = Memory(world.actions)
    here = memory.observe(frame)
    actions: list[int] = []
    frames = [frame]
    route: list[int] = []
    seconds = 0.0
    ended = "steps"
    while not solved and len(actions) < config.step_limit:
        began = time.perf_counter()
        if not route:
            way, state = next(memory.untried(here), (None, here))
            if way is None:
                ended = "exhausted"
                break
            route = [*way, int(random.choice(np.flatnonzero(memory.successors[state] < 0)))]
        action = route.pop(0)
        seconds += time.perf_counter() - began
        frame, solved = world.step(action)
        solved = solved or goal.shown_by(frame)
        there = memory.observe(frame)
        memory.successors[here, action] = there
        here = there
        actions.append(action)
        frames.append(frame)
    ended = "solved" if solved else ended
    return Episode(tuple(actions), np.stack(frames), solved, ended, seconds=seconds)

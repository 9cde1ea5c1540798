"""A trained baseline as the judge sees it: it looks at a frame and acts."""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import Protocol

import numpy as np

from pixelplan.planning.plan import Episode
from pixelplan.types import World


class Policy(Protocol):
    """Acts in one episode after another; all its randomness comes from the generator that it gets."""

    def begin(self, goal_frame: np.ndarray, random: np.random.Generator) -> None:
        """Begin an episode, with a goal frame [H,W,3] uint8 for policies that use one."""

    def act(self, frame: np.ndarray) -> int:
        """The action in a frame [H,W,3] uint8."""


@dataclass(frozen=True)
class Budget:
    """The training that a baseline got before it was judged."""

    environment_steps: int
    """Steps taken in training levels, those before an interruption included."""
    wanted_steps: int
    """Steps that were asked for; an interrupted run took fewer."""
    seconds: float
    """Wall time of training."""
    updates: int = 0
    """Gradient steps."""
    threads: int = 1
    curve: tuple[tuple[int, float], ...] = ()
    """Steps so far, and the share of the latest training episodes that were won: now and then during training, if that
    is known."""


def play_policy(
    policy: Policy, world: World, goal_frame: np.ndarray, step_limit: int, random: np.random.Generator
) -> Episode:
    """Let a policy act until the goal is reached or the steps are used up."""
    frame, solved = world.reset()
    policy.begin(goal_frame, random)
    frames, seconds = [frame], 0.0
    actions: list[int] = []
    while not solved and len(actions) < step_limit:
        began = time.perf_counter()
        action = policy.act(frame)
        seconds += time.perf_counter() - began
        frame, solved = world.step(action)
        actions.append(action)
        frames.append(frame)
    return Episode(tuple(actions), np.stack(frames), solved, "solved" if solved else "steps", seconds=seconds)

"""A level as tables: what every state looks like and where every action leads.

All three puzzles become this, so one environment, one vectorised environment, one oracle and one collector serve them.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.lib.stride_tricks import sliding_window_view

from pixelplan.envs.family import check_actions


@dataclass(frozen=True, eq=False)
class Level:
    """One level of S states and A actions. A frame is the background with one patch of p × p pixels pasted in."""

    number: int
    background: np.ndarray
    """[H,W,3] uint8, the level without its agent."""
    patches: np.ndarray
    """[S,p,p,3] uint8, the pixels around the agent in each state."""
    corners: np.ndarray
    """[S,2] int32, row and column of each patch's top left pixel."""
    successors: np.ndarray
    """[S,A] int32, the state after each action."""
    positions: np.ndarray
    """[S,2] int32, the agent's cell: row and column from the top left."""
    start: int
    goals: np.ndarray
    """[S] bool, the states that solve the level."""
    goal: int
    """The solved state that the goal frame shows."""
    starts: np.ndarray
    """[n] int32, the states in which an episode with a random start may begin."""

    def frames(self, states: np.ndarray) -> np.ndarray:
        """Frames [N,H,W,3] of states [N]."""
        frames = np.repeat(self.background[None], len(states), axis=0)
        paste(frames, self.patches[states], self.corners[states])
        return frames

    def frame(self, state: int) -> np.ndarray:
        """The frame [H,W,3] of one state."""
        return self.frames(np.array([state]))[0]

    def shortest_path(self, state: int) -> tuple[int, ...] | None:
        """The first shortest path from a state to a goal, actions tried in their order; None if there is none."""
        if self.goals[state]:
            return ()
        came_from: dict[int, tuple[int, int]] = {state: (state, -1)}
        queue = deque([state])
        table = self.successors.tolist()
        while queue:
            here = queue.popleft()
            for action, there in enumerate(table[here]):
                if there in came_from:
                    continue
                came_from[there] = (here, action)
                if self.goals[there]:
                    path = []
                    while there != state:
                        there, action = came_from[there]
                        path.append(action)
                    return tuple(reversed(path))
                queue.append(there)
        return None

    def follow(self, actions: Sequence[int]) -> list[int]:
        """The states that actions lead through from the start, which comes first."""
        check_actions(actions, self.successors.shape[1])
        states = [self.start]
        for action in actions:
            states.append(int(self.successors[states[-1], action]))
        return states

    def reachable(self, state: int) -> np.ndarray:
        """[S] bool, the states that can be reached from a state, itself included."""
        seen = np.zeros(len(self.successors), bool)
        frontier = np.array([state])
        while len(frontier):
            seen[frontier] = True
            frontier = np.unique(self.successors[frontier])
            frontier = frontier[~seen[frontier]]
        return seen


def paste(frames: np.ndarray, patches: np.ndarray, corners: np.ndarray) -> None:
    """Write patches [N,p,p,3] into frames [N,H,W,3] (contiguous) at corners [N,2], in place."""
    count, size = patches.shape[:2]
    _windows(frames, size)[np.arange(count), corners[:, 0], corners[:, 1] * 3] = patches.reshape(count, size, size * 3)


def pasted(frames: np.ndarray, corners: np.ndarray, size: int) -> np.ndarray:
    """Read the patches [N,size,size,3] of frames [N,H,W,3] (contiguous) at corners [N,2]."""
    patches = _windows(frames, size)[np.arange(len(frames)), corners[:, 0], corners[:, 1] * 3]
    return patches.reshape(len(frames), size, size, 3)


def _windows(frames: np.ndarray, size: int) -> np.ndarray:
    """Every window of frames as a view [N,rows,byte columns,size,size·3]: a window's line is one run of bytes."""
    lines = frames.reshape(*frames.shape[:2], -1)
    return sliding_window_view(lines, (size, size * 3), axis=(1, 2), writeable=True)  # type: ignore[call-overload]

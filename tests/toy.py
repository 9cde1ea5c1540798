"""Tiny worlds as tables, models of them that are as right or wrong as a test wants, and random ones for properties."""

from __future__ import annotations

from collections import deque
from typing import Any

import numpy as np
import torch


def frame_of(state: int) -> np.ndarray:
    """A frame [4,4,3] that shows a state's number."""
    frame = np.zeros((4, 4, 3), np.uint8)
    frame[0, 0] = state % 256, state // 256, 1
    return frame


def grid(side: int) -> np.ndarray:
    """Moves in a square: up, right, left, down."""
    row, column = np.divmod(np.arange(side * side), side)
    moves = ((-1, 0), (0, 1), (0, -1), (1, 0))
    ends = [np.clip(row + r, 0, side - 1) * side + np.clip(column + c, 0, side - 1) for r, c in moves]
    return np.stack(ends, axis=1)


class ToyWorld:
    """A world [S,A] of successors that starts in state 0 and is solved in state `goal`."""

    def __init__(self, successors: Any, goal: int) -> None:
        self.successors = np.asarray(successors)
        self.goal = goal
        self.actions = self.successors.shape[1]
        self.visited = [0]

    def reset(self) -> tuple[np.ndarray, bool]:
        self.visited = [0]
        return frame_of(0), self.goal == 0

    def step(self, action: int) -> tuple[np.ndarray, bool]:
        self.visited.append(int(self.successors[self.visited[-1], action]))
        return frame_of(self.visited[-1]), self.visited[-1] == self.goal

    def shortest(self) -> int | None:
        """Steps of the shortest solution."""
        depths, queue = {0: 0}, deque([0])
        while queue:
            here = queue.popleft()
            for there in self.successors[here].tolist():
                if there not in depths:
                    depths[there] = depths[here] + 1
                    queue.append(there)
        return depths.get(self.goal)


class ToyModel:
    """A model of a table: one-hot embeddings, slightly off if a test wants noise."""

    threshold = 0.5
    noisy = False

    def __init__(self, successors: Any, noise: float = 0.0, encoder_noise: float = 0.0, seed: int = 0) -> None:
        self.successors = torch.from_numpy(np.asarray(successors, np.int64))
        self.embeddings = torch.eye(len(self.successors))
        self.noise, self.encoder_noise = noise, encoder_noise
        self.random = np.random.default_rng(seed)
        self.steps = 0

    def encode(self, frames: np.ndarray) -> torch.Tensor:
        states = [int(frame[0, 0, 0]) + 256 * int(frame[0, 0, 1]) for frame in frames]
        return self._moved(self.embeddings[states], self.encoder_noise)

    def context(self, frame: np.ndarray) -> None:
        return None

    def step(self, z: torch.Tensor, context: Any) -> torch.Tensor:
        self.steps += 1
        return self._moved(self.embeddings[self.successors[z.argmax(1)]], self.noise)

    def _moved(self, embeddings: torch.Tensor, distance: float) -> torch.Tensor:
        """Embeddings moved by a distance in random directions."""
        if distance == 0:
            return embeddings
        away = self.random.standard_normal(embeddings.shape).astype(np.float32)
        away *= distance / np.linalg.norm(away, axis=-1, keepdims=True)
        return embeddings + torch.from_numpy(away)


def random_world(states: int, actions: int, seed: int) -> ToyWorld:
    """Random successors, and a goal that may be out of reach."""
    random = np.random.default_rng(seed)
    return ToyWorld(random.integers(states, size=(states, actions)), int(random.integers(1, states)))

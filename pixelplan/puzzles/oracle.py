"""The true rules of one level behind the `Model` protocol: planners are tested on it exactly, without training."""

from __future__ import annotations

from typing import Any

import numpy as np
import torch

from pixelplan.envs.frames import DistinctFrames
from pixelplan.puzzles.base import PuzzleEnv, get_level
from pixelplan.puzzles.level import Level
from pixelplan.types import Goal, InputError


class Oracle:
    """A perfect world model of one level: a one-hot embedding for each distinct place, and steps by the level's table.

    States with the same position are one place (a maze's cell with the mouse looking left or right), unless an action
    leads from them to different positions.
    """

    threshold = 0.5
    noisy = False
    discrete = True

    def __init__(self, world: Level | PuzzleEnv) -> None:
        level = world if isinstance(world, Level) else get_level(world.puzzle, world.clone_state().level)
        self._number = level.number
        places = _places(level)
        frames = level.frames(np.arange(len(places)))
        self._shape = frames.shape[1:]
        self._frames = DistinctFrames()
        self._places: dict[int, int] = {}  # of each distinct frame
        for frame, place in zip(frames, places.tolist(), strict=True):
            self._places[self._frames.add(frame)] = place
        count = int(places.max()) + 1
        successors = np.zeros((count, level.successors.shape[1]), np.int64)
        successors[places] = places[level.successors]
        self._successors = torch.from_numpy(successors)  # [places,A]
        self._embeddings = torch.eye(count)  # [places,d]
        self._solved = torch.zeros(count, dtype=torch.bool)
        self._solved[places[level.goals]] = True

    def encode(self, frames: np.ndarray) -> torch.Tensor:
        """Embeddings [N,d] of frames [N,H,W,3]; an InputError for a frame that is not one of the level's."""
        return self._embeddings[[self._place(frame) for frame in frames]]

    def context(self, frame: np.ndarray) -> Any:
        """Nothing: the oracle knows its level."""
        return None

    def step(self, z: torch.Tensor, context: Any) -> torch.Tensor:
        """The embeddings [N,A,d] after each action from each of z [N,d]."""
        return self._embeddings[self._successors[z.argmax(dim=1)]]

    def goal_test(self, z: torch.Tensor) -> torch.Tensor:
        """Doubts [N] that places z [N,d] solve the level: 0, or 2 if they do not."""
        return (~self._solved[z.argmax(dim=1)]).float() * 2

    def matching(self, goal: Goal) -> torch.Tensor:
        """Embeddings [G,d] of all places that show a goal."""
        shown = {
            place
            for frame, place in zip(self._frames.stacked(), self._places.values(), strict=True)
            if goal.shown_by(frame)
        }
        return self._embeddings[sorted(shown)]

    def _place(self, frame: np.ndarray) -> int:
        if frame.shape != self._shape:
            raise InputError(f"the frame has shape {frame.shape}; the frames of this level have {self._shape}")
        number = self._frames.number(frame)
        if number is None:
            raise InputError(f"the frame shows no state of level {self._number}, the only one this oracle knows")
        return self._places[number]


def _places(level: Level) -> np.ndarray:
    """[S] the place of each state, numbered from 0."""
    _, places = np.unique(level.positions, axis=0, return_inverse=True)
    places = places.reshape(-1)
    first = np.zeros(places.max() + 1, np.int64)
    first[places] = np.arange(len(places))
    same = (places[level.successors] == places[level.successors[first[places]]]).all() and (
        level.goals == level.goals[first[places]]
    ).all()
    return places if same else np.arange(len(places))

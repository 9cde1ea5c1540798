"""A small world for tests of the model: an agent that walks on a board with a few walls."""

from __future__ import annotations

import dataclasses

import numpy as np

from pixelplan.families.presets import preset
from pixelplan.types import Trajectories

TINY = dataclasses.replace(preset("tiny"), quiet=True, threads=1, batch=4)
"""Settings of a training that a test can wait for."""
MOVES = ((-1, 0), (0, 1), (0, -1), (1, 0), (0, 0))


def play(
    levels: int = 4, size: int = 4, cell: int = 4, episodes: int = 8, steps: int = 10, seed: int = 0
) -> Trajectories:
    """Random play on boards of size × size cells of cell × cell pixels."""
    frames: list[np.ndarray] = []
    frame_level, rows, actions, episode_level = [], [], [], []
    for level in range(levels):
        random = np.random.default_rng([seed, level])
        walls = random.random((size, size)) < 0.2
        walls[0, 0] = False
        seen: dict[tuple[int, int], int] = {}
        for _ in range(episodes):
            place, row = (0, 0), []
            taken = random.integers(len(MOVES), size=steps)
            for step in range(steps + 1):
                if place not in seen:
                    seen[place] = len(frames)
                    frames.append(draw(walls, place, cell))
                    frame_level.append(level)
                row.append(seen[place])
                if step < steps:
                    place = move(walls, place, int(taken[step]))
            rows.append(row)
            actions.append(taken)
            episode_level.append(level)
    return Trajectories(
        np.stack(frames),
        np.array(frame_level),
        np.array(rows, np.int32),
        np.array(actions, np.uint8),
        np.array(episode_level),
        {"env": "tiny-world", "options": {"size": size}, "actions": len(MOVES)},
    )


def move(walls: np.ndarray, place: tuple[int, int], action: int) -> tuple[int, int]:
    """Where an action leads."""
    row, column = place[0] + MOVES[action][0], place[1] + MOVES[action][1]
    inside = 0 <= row < len(walls) and 0 <= column < len(walls)
    return (row, column) if inside and not walls[row, column] else place


def draw(walls: np.ndarray, place: tuple[int, int], cell: int) -> np.ndarray:
    """The frame [H,W,3]: grey walls on white, a red agent."""
    cells = np.where(walls[..., None], np.uint8(90), np.full((1, 1, 3), 240, np.uint8))
    cells[place] = (220, 30, 30)
    return np.repeat(np.repeat(cells, cell, axis=0), cell, axis=1)

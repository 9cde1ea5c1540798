"""Sliding tiles, 2 × 3: bring the five tiles into their order by sliding them into the gap.

A level is a seed: the starting order. The goal is always the same. Actions move the gap. The game continues past the
goal, and `info` says when it is solved.
"""

from __future__ import annotations

from collections import deque
from functools import cache

import gymnasium
import numpy as np

ROWS, COLUMNS, CELL = 2, 3, 16
MOVES = ((-1, 0), (0, 1), (0, -1), (1, 0))
GOAL = (1, 2, 3, 4, 5, 0)
COLOURS = ((30, 32, 38), (222, 84, 72), (236, 178, 66), (98, 178, 92), (70, 132, 208), (164, 98, 196))


def slide(board: tuple[int, ...], action: int) -> tuple[int, ...]:
    """The board after the gap (0) has moved; at the border it stays."""
    gap = board.index(0)
    row, column = gap // COLUMNS + MOVES[action][0], gap % COLUMNS + MOVES[action][1]
    if not (0 <= row < ROWS and 0 <= column < COLUMNS):
        return board
    cells = list(board)
    there = row * COLUMNS + column
    cells[gap], cells[there] = cells[there], cells[gap]
    return tuple(cells)


@cache
def steps_to_goal() -> dict[tuple[int, ...], int]:
    """How far each of the 360 boards that can be reached is from the goal; a slide can always be undone."""
    steps, queue = {GOAL: 0}, deque([GOAL])
    while queue:
        here = queue.popleft()
        for there in (slide(here, action) for action in range(len(MOVES))):
            if there not in steps:
                steps[there] = steps[here] + 1
                queue.append(there)
    return steps


class Tiles(gymnasium.Env):
    metadata = {"render_modes": ["rgb_array"]}
    action_names = ("up", "right", "left", "down")

    def __init__(self, render_mode: str | None = "rgb_array") -> None:
        self.render_mode = render_mode
        self.action_space = gymnasium.spaces.Discrete(len(MOVES))
        self.observation_space = gymnasium.spaces.Box(0, 255, (ROWS * CELL, COLUMNS * CELL, 3), np.uint8)

    def reset(self, *, seed: int | None = None, options: dict | None = None):
        super().reset(seed=seed)
        boards = list(steps_to_goal())
        self.board = boards[self.np_random.integers(1, len(boards))]  # the first one is the goal
        return self.draw(self.board), {"solved": False}

    def step(self, action: int):
        self.board = slide(self.board, int(action))
        solved = self.board == GOAL
        return self.draw(self.board), float(solved), False, False, {"solved": solved}

    def render(self) -> np.ndarray:
        return self.draw(self.board)

    def goal_frame(self) -> np.ndarray:
        return self.draw(GOAL)

    def draw(self, board: tuple[int, ...]) -> np.ndarray:
        """A coloured square for each tile, with as many dots as its number."""
        frame = np.full((ROWS, CELL, COLUMNS, CELL, 3), COLOURS[0], np.uint8)
        for place, tile in enumerate(board):
            if tile:
                cell = frame[place // COLUMNS, :, place % COLUMNS]
                cell[1:-1, 1:-1] = COLOURS[tile]
                for dot in range(tile):
                    cell[4:6, 2 * dot + 3 : 2 * dot + 4] = 255
        return frame.reshape(ROWS * CELL, COLUMNS * CELL, 3)

    def shortest_solution(self) -> tuple[int, ...]:
        """A shortest solution from here: for the judge; planners never see it."""
        board, way, steps = self.board, [], steps_to_goal()
        while steps[board]:
            action = min(range(len(MOVES)), key=lambda action: steps[slide(board, action)])
            board = slide(board, action)
            way.append(action)
        return tuple(way)


make = Tiles

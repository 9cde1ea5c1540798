"""LightsOut on 5 × 5 cells: a button turns its own light and those beside it on or off; the goal is all lights off.

A level is a seed: buttons that were pressed at random, or a state exactly steps=… from the goal. The order in which
buttons are pressed makes no difference, and pressing one twice changes nothing.
"""

from __future__ import annotations

from functools import cache

import numpy as np

from examples.boards import BoardWorld
from pixelplan import InputError

SIZE, CELL = 5, 12
FARTHEST = 15


@cache
def buttons() -> np.ndarray:
    """[25,25] what each button turns: ones for lights that change."""
    row, column = np.divmod(np.arange(SIZE * SIZE), SIZE)
    return (np.abs(row[:, None] - row) + np.abs(column[:, None] - column) <= 1).astype(np.uint8)


@cache
def quiet() -> np.ndarray:
    """[4,25] all sets of buttons that change nothing: adding one of them to a solution makes another solution."""
    sets = [np.zeros(SIZE * SIZE, np.uint8)]
    first_rows = (np.arange(2**SIZE)[:, None] >> np.arange(SIZE)) & 1
    for first in first_rows[1:]:  # the first row decides all others: each button must put out the light above it
        pressed = np.zeros((SIZE, SIZE), np.uint8)
        pressed[0] = first
        for row in range(1, SIZE):
            pressed[row] = ((pressed.reshape(-1) @ buttons()) % 2).reshape(SIZE, SIZE)[row - 1]
        if not ((pressed.reshape(-1) @ buttons()) % 2).any():
            sets.append(pressed.reshape(-1))
    return np.array(sets)


def fewest(pressed: np.ndarray) -> np.ndarray:
    """The smallest set of buttons [25] that does the same as these."""
    twins = pressed ^ quiet()
    return twins[twins.sum(1).argmin()]


class LightsOut(BoardWorld):
    action_names = tuple(f"button {row + 1}.{column + 1}" for row in range(SIZE) for column in range(SIZE))
    cells = SIZE, SIZE

    def __init__(self, steps: int | None = None, render_mode: str | None = "rgb_array") -> None:
        if steps is not None and not 1 <= steps <= FARTHEST:
            raise InputError(f"steps is {steps}; no level is more than {FARTHEST} from the goal, and none less than 1")
        self.steps = steps
        self.sprites = np.full((2, CELL, CELL, 3), 30, np.uint8)
        self.sprites[:, 1:-1, 1:-1] = np.array([(60, 60, 70), (250, 220, 80)])[:, None, None]
        super().__init__(render_mode)

    def begin(self, seed: int | None) -> np.ndarray:
        pressed = np.zeros(SIZE * SIZE, np.uint8)
        while not pressed.any() or (self.steps is not None and pressed.sum() != self.steps):
            if self.steps is None:
                drawn = self.np_random.integers(2, size=pressed.size).astype(np.uint8)
            else:
                drawn = np.zeros_like(pressed)
                drawn[self.np_random.permutation(pressed.size)[: self.steps]] = 1
            pressed = fewest(drawn)
        self.pressed = pressed
        return (pressed @ buttons() % 2).reshape(self.cells)

    def step(self, action: int):
        self.pressed = fewest(self.pressed ^ np.eye(SIZE * SIZE, dtype=np.uint8)[int(action)])
        return super().step(action)

    def goals(self) -> np.ndarray:
        return np.zeros((1, *self.cells), np.uint8)

    def move(self, boards: np.ndarray, actions: np.ndarray) -> np.ndarray:
        return boards ^ buttons()[actions].reshape(-1, *self.cells)

    def shortest_solution(self) -> tuple[int, ...]:
        """The fewest buttons from here: for the judge; planners never see it."""
        return tuple(np.flatnonzero(self.pressed).tolist())


make = LightsOut

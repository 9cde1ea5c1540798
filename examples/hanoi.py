"""The towers of Hanoi with seven discs: bring them all to the last peg, never a larger disc onto a smaller one.

A level is a seed: where each disc starts, or a state exactly steps=… from the goal. An action moves the top disc of one
peg to another; a forbidden move changes nothing. Moving all discs from one peg to the last takes 127 steps.
"""

from __future__ import annotations

import numpy as np

from examples.boards import BoardWorld, Layers
from pixelplan import InputError

WAYS = np.array([(0, 1), (0, 2), (1, 0), (1, 2), (2, 0), (2, 1)])
COLOURS = ((214, 64, 69), (232, 140, 48), (238, 200, 62), (104, 176, 84), (62, 150, 190), (92, 96, 200), (150, 84, 180))
HEIGHT, WIDTH = 8, 24


class Hanoi(BoardWorld):
    action_names = tuple(f"{here + 1} to {there + 1}" for here, there in WAYS)

    def __init__(self, discs: int = 7, steps: int | None = None, render_mode: str | None = "rgb_array") -> None:
        if not 1 <= discs <= len(COLOURS):
            raise InputError(f"discs is {discs}; it must be 1 to {len(COLOURS)}")
        if steps is not None and not 1 <= steps < 2**discs:
            raise InputError(f"steps is {steps}; with {discs} discs no level is more than {2**discs - 1} from the goal")
        self.cells, self.discs, self.steps = (discs, 3), discs, steps
        self.sprites = np.full((discs + 1, HEIGHT, WIDTH, 3), 250, np.uint8)
        self.sprites[:, :, WIDTH // 2 - 1 : WIDTH // 2 + 1] = 110  # the peg
        for disc in range(1, discs + 1):
            half = 3 + (disc * (WIDTH // 2 - 4)) // discs
            self.sprites[disc, 1:, WIDTH // 2 - half : WIDTH // 2 + half] = COLOURS[disc - 1]
        self.layers = Layers(self, self.stacked(np.full(discs, 2)))
        super().__init__(render_mode)

    def stacked(self, pegs: np.ndarray) -> np.ndarray:
        """The board [R,C] on which each disc, the smallest first, lies on a peg [discs]."""
        board = np.zeros(self.cells, np.uint8)
        for peg in range(3):
            lying = np.flatnonzero(pegs == peg) + 1
            board[self.discs - len(lying) :, peg] = lying
        return board

    def begin(self, seed: int | None) -> np.ndarray:
        if self.steps is not None:
            return self.layers.draw(self.steps, self.np_random)
        pegs = np.full(self.discs, 2)
        while (pegs == 2).all():
            pegs = self.np_random.integers(3, size=self.discs)
        return self.stacked(pegs)

    def goals(self) -> np.ndarray:
        return self.stacked(np.full(self.discs, 2))[None]

    def move(self, boards: np.ndarray, actions: np.ndarray) -> np.ndarray:
        every, (here, there) = np.arange(len(boards)), WAYS[actions].T
        top = (boards > 0).argmax(1)  # [N,3] the row of each peg's top disc, 0 if there is none
        discs = np.take_along_axis(boards, top[:, None], axis=1)[:, 0].astype(int)  # [N,3]
        moving, below = discs[every, here], discs[every, there]
        can = (moving > 0) & ((below == 0) | (moving < below))
        row = np.where(below == 0, self.discs, top[every, there]) - 1
        every, here, there, row = every[can], here[can], there[can], row[can]
        moved = boards.copy()
        moved[every, top[every, here], here] = 0
        moved[every, row, there] = moving[can]
        return moved

    def shortest_solution(self) -> tuple[int, ...]:
        """A shortest solution from here: for the judge; planners never see it."""
        return self.layers.way(self.board)


make = Hanoi

"""The 15-puzzle, as numbers or as a picture that was cut into tiles; or the 8-puzzle, with size=3.

A level is a seed: a starting order, drawn from all that can be solved; with steps=14, from those exactly 14 steps from
the goal. The goal is always the same: the tiles in their order, the gap at the end. Actions move the gap.
"""

from __future__ import annotations

import numpy as np

from examples.boards import BoardWorld, Layers
from pixelplan import InputError

MOVES = np.array([(-1, 0), (0, 1), (0, -1), (1, 0)])
CELL = 16
FAR = 24


def _digit(digit: int) -> np.ndarray:
    """A digit [5,3] of ones and zeros."""
    rows = (
        "111101101101111", "010110010010111", "111001111100111", "111001111001111", "101101111001001",
        "111100111001111", "111100111101111", "111001001001001", "111101111101111", "111101111001111",
    )  # fmt: skip
    return np.array(list(rows[digit]), int).reshape(5, 3)


def number_tiles(count: int) -> np.ndarray:
    """[count,16,16,3] the gap, and tiles with numbers on them."""
    tiles = np.full((count, CELL, CELL, 3), (30, 32, 38), np.uint8)
    for tile in range(1, count):
        shade = 255 * tile // count
        tiles[tile, 1:-1, 1:-1] = (235, 225 - shade // 4, 160 + shade // 4)
        text = str(tile)
        for place, digit in enumerate(text):
            glyph = np.kron(_digit(int(digit)), np.ones((2, 2), int)) > 0
            left = (CELL - 7 * len(text) + 1) // 2 + 7 * place
            tiles[tile, 3:13, left : left + 6][glyph] = (40, 40, 60)
    return tiles


def picture_tiles(size: int) -> np.ndarray:
    """[size²,16,16,3] the gap, and the pieces of a picture: a hill under a sun."""
    side = size * CELL
    y, x = np.mgrid[:side, :side] / side
    picture = np.stack([70 + 120 * y + 40 * x, 150 + 60 * y, 230 - 60 * y - 50 * x], axis=-1)
    picture[(x - 0.72) ** 2 + (y - 0.25) ** 2 < 0.02] = (250, 220, 90)
    hill = 0.62 + 0.16 * np.sin(5 * x + 0.6)
    ground = np.stack([60 + 90 * x, 130 - 50 * (y - hill), 60 + 40 * x], axis=-1)
    picture = np.where((y > hill)[..., None], ground, picture)
    picture[(np.abs(x - 0.3) < 0.02) & (np.abs(y - 0.55) < 0.14)] = (90, 60, 40)
    picture[(x - 0.3) ** 2 + (y - 0.38) ** 2 < 0.012] = (40, 100, 50)
    tiles = picture.clip(0, 255).astype(np.uint8).reshape(size, CELL, size, CELL, 3).swapaxes(1, 2)
    gap = np.full((1, CELL, CELL, 3), (30, 32, 38), np.uint8)
    return np.concatenate([gap, tiles.reshape(-1, CELL, CELL, 3)[:-1]])


class SlidingPuzzle(BoardWorld):
    action_names = ("up", "right", "left", "down")

    def __init__(
        self, size: int = 4, picture: bool = False, steps: int | None = None, render_mode: str | None = "rgb_array"
    ) -> None:
        if size not in (3, 4, 5):
            raise InputError(f"size is {size}; it must be 3, 4 or 5")
        self.cells = size, size
        self.sprites = picture_tiles(size) if picture else number_tiles(size * size)
        self.goal = np.append(np.arange(1, size * size), 0).reshape(self.cells).astype(np.uint8)
        self.layers = Layers(self, self.goal)
        self.steps = steps
        if steps is not None and not 1 <= steps <= FAR:
            raise InputError(f"steps is {steps}; levels can be made from 1 to {FAR} steps from the goal")
        super().__init__(render_mode)

    def begin(self, seed: int | None) -> np.ndarray:
        if self.steps is not None:
            return self.layers.draw(self.steps, self.np_random)
        order = self.np_random.permutation(self.goal.size)
        if not _solvable(order, self.cells[1]):
            first, second = np.flatnonzero(order)[:2]
            order[[first, second]] = order[[second, first]]
        return order.reshape(self.cells)

    def goals(self) -> np.ndarray:
        return self.goal[None]

    def move(self, boards: np.ndarray, actions: np.ndarray) -> np.ndarray:
        side = self.cells[0]
        gap = (boards.reshape(len(boards), -1) == 0).argmax(1)
        here = np.stack([gap // side, gap % side], axis=1)
        there = here + MOVES[actions]
        can = ((there >= 0) & (there < side)).all(1)
        rows, here, there = np.flatnonzero(can), here[can], there[can]
        moved = boards.copy()
        moved[rows, here[:, 0], here[:, 1]] = boards[rows, there[:, 0], there[:, 1]]
        moved[rows, there[:, 0], there[:, 1]] = 0
        return moved

    def shortest_solution(self) -> tuple[int, ...] | None:
        """From a level's start if `steps` is set, and for the 8-puzzle; otherwise unknown. For the judge only."""
        return None if self.steps is None and self.cells[0] > 3 else self.layers.way(self.board)


def _solvable(order: np.ndarray, side: int) -> bool:
    """Whether the goal can be reached: every slide is a swap, and moves the gap by one cell."""
    swaps, order = 0, order.copy()
    wanted = np.append(np.arange(1, order.size), 0)
    gap = int((order == 0).argmax())
    for place, tile in enumerate(wanted):
        other = int((order == tile).argmax())
        if other != place:
            order[[place, other]] = order[[other, place]]
            swaps += 1
    away = (side - 1 - gap // side) + (side - 1 - gap % side)
    return swaps % 2 == away % 2


make = SlidingPuzzle

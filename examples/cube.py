"""A cube of 2 × 2 × 2 or 3 × 3 × 3 pieces, drawn as a net: top, then left, front, right and back, then bottom.

A level is a seed: a cube that was turned 100 times at random (turns=…), or one exactly steps=… from the goal. An action
is a quarter turn of a face. Only the top, right and front faces of the small cube are turned, so one corner stays
where it is and the solved cube has only one look. The larger cube's centres stay, too.
"""

from __future__ import annotations

import numpy as np

from examples.boards import BoardWorld, Layers
from pixelplan import InputError

CELL = 8
COLOURS = ((24, 26, 30), (245, 245, 240), (240, 140, 40), (60, 170, 80), (200, 50, 50), (60, 100, 210), (240, 215, 60))
FACES = {
    "top": ((0, 1, 0), 0, 1, (1, 0, 0), (0, 0, 1)),
    "left": ((-1, 0, 0), 1, 0, (0, 0, 1), (0, -1, 0)),
    "front": ((0, 0, 1), 1, 1, (1, 0, 0), (0, -1, 0)),
    "right": ((1, 0, 0), 1, 2, (0, 0, -1), (0, -1, 0)),
    "back": ((0, 0, -1), 1, 3, (-1, 0, 0), (0, -1, 0)),
    "bottom": ((0, -1, 0), 2, 1, (1, 0, 0), (0, 0, -1)),
}
"""For each face: the way it faces, its row and column in the net, and which directions are right and down in it."""
FAR = {2: 14, 3: 5}
"""The most steps from the goal for which exact levels can be made; no small cube is farther than 14."""


def stickers(size: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """For each sticker: its piece's place [S,3] in −size+1 … size−1, where it faces [S,3], its net cell [S,2]."""
    places, looks, cells = [], [], []
    for look, row, column, right, down in FACES.values():
        for r in range(size):
            for c in range(size):
                right_of, below = 2 * c - size + 1, 2 * r - size + 1
                places.append(np.array(look) * (size - 1) + np.array(right) * right_of + np.array(down) * below)
                looks.append(look)
                cells.append((row * size + r, column * size + c))
    return np.array(places), np.array(looks), np.array(cells)


def quarter_turns(size: int, faces: tuple[str, ...]) -> np.ndarray:
    """[2·faces,S] for each turn, clockwise and back: the sticker whose colour each sticker gets."""
    places, looks, _ = stickers(size)
    number = {(*place, *look): index for index, (place, look) in enumerate(zip(places, looks, strict=True))}
    turns = []
    for face in faces:
        axis = np.array(FACES[face][0])
        turned = np.arange(len(places))
        for index, (place, look) in enumerate(zip(places, looks, strict=True)):
            if place @ axis == size - 1:
                # Clockwise as seen from outside: v becomes v × axis but for what is along the axis, which stays.
                goes = (np.cross(vector, axis) + axis * (vector @ axis) for vector in (place, look))
                turned[number[tuple(np.concatenate(list(goes)))]] = index
        turns += [turned, turned.argsort()]
    return np.array(turns)


class Cube(BoardWorld):
    def __init__(
        self,
        size: int = 3,
        turns: int = 100,
        steps: int | None = None,
        optimal: bool = False,
        render_mode: str | None = "rgb_array",
    ) -> None:
        if size not in FAR or turns < 1:
            raise InputError(f"size is {size} and turns is {turns}; size must be 2 or 3, and turns at least 1")
        if steps is not None and not 1 <= steps <= FAR[size]:
            raise InputError(f"steps is {steps}; cubes of size {size} can be made from 1 to {FAR[size]} from the goal")
        if optimal and size != 2:
            raise InputError("optimal solutions are known only for the small cube, with size=2")
        self.optimal = optimal
        faces = ("top", "right", "front") if size == 2 else tuple(FACES)
        self.action_names = tuple(f"{face}{way}" for face in faces for way in ("", " back"))
        self.cells, self.steps, self.turns = (3 * size, 4 * size), steps, turns
        self.sprites = np.zeros((7, CELL, CELL, 3), np.uint8) + np.array(COLOURS[0], np.uint8)
        for colour in range(1, 7):
            self.sprites[colour, :-1, :-1] = COLOURS[colour]
        self._turned = quarter_turns(size, faces)
        self._cells = tuple(stickers(size)[2].T)
        self.goal = np.zeros(self.cells, np.uint8)
        self.goal[self._cells] = np.repeat(np.arange(1, 7), size * size)
        self.layers = Layers(self, self.goal)
        super().__init__(render_mode)

    def begin(self, seed: int | None) -> np.ndarray:
        if self.steps is not None:
            return self.layers.draw(self.steps, self.np_random)
        board = self.goal[None]
        for action in self.np_random.integers(len(self.action_names), size=self.turns):
            board = self.move(board, np.array([action]))
        return board[0]

    def goals(self) -> np.ndarray:
        return self.goal[None]

    def move(self, boards: np.ndarray, actions: np.ndarray) -> np.ndarray:
        rows, columns = self._cells
        colours = np.take_along_axis(boards[:, rows, columns], self._turned[actions], axis=1)
        moved = boards.copy()
        moved[:, rows, columns] = colours
        return moved

    def shortest_solution(self) -> tuple[int, ...] | None:
        """From a level's start, if `steps` or `optimal` is set. For the judge only."""
        return None if self.steps is None and not self.optimal else self.layers.way(self.board)


make = Cube

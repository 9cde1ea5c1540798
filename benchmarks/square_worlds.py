"""Worlds on square boards in which guessing a grid of cells fails, too.

Things overlap, the world scrolls, floors have textures, doors open far from their switch, or figures face somewhere.
"""

from __future__ import annotations

from functools import cache

import numpy as np
from gridless_worlds import GridlessWorld, inside, middle
from PIL import Image
from shapes import disc, frame, paint, polygon, stick
from small_worlds import MOVES


class Overlapping(GridlessWorld):
    """A large disc and a small one above it, which may hide a part of it; each has four actions of its own."""

    moves, pitch = 8, 11.3
    radii, colours = (8.2, 4.6), ((60, 120, 230), (240, 170, 30))

    def make_level(self):
        cells = self.shuffled(5, 5)
        self.blocked, self.state = set(cells[:5]), (cells[5], cells[6])
        self.background, dark = self.ground(), self.dark()
        for cell in sorted(self.blocked):
            paint(self.background, polygon(middle(cell, self.pitch, side=5), 4, 3.5, np.pi / 4), dark)
        self.choose_goal(lambda state: state[0] != self.state[0] and state[1] != self.state[1])

    def move(self, state, action):
        which, way = divmod(action, 4)
        there = state[which][0] + MOVES[way][0], state[which][1] + MOVES[way][1]
        if not inside(there, 5) or there in self.blocked:
            return state
        return (state[0], there) if which else (there, state[1])

    def draw(self, state):
        picture = self.background.copy()
        for cell, radius, colour in zip(state, self.radii, self.colours, strict=True):
            paint(picture, disc(middle(cell, self.pitch, side=5), radius), colour)
        return frame(picture)


@cache
def torus_shares() -> np.ndarray:
    """[9,64,9] how much of each pixel each of nine cells covers, for each cell that may be in the middle."""
    ends = np.arange(65) * 9 / 64
    cells = np.arange(9)
    shares = np.clip(ends[1:, None] - cells, 0, 1) - np.clip(ends[:-1, None] - cells, 0, 1)
    return np.stack([np.roll(shares, here - 4, axis=1) for here in range(9)]) * 64 / 9


class Wrapping(GridlessWorld):
    """The walker stays in the middle, and the world scrolls under it by 64/9 pixels; what leaves comes back."""

    def make_level(self):
        cells = self.shuffled(9, 9)
        self.walls, self.state = set(cells[:24]), cells[25]
        self.cells = self.ground()[:9, :9] + self.np_random.uniform(-12, 5, (9, 9, 1))
        wall = self.dark()
        for cell in self.walls:
            self.cells[cell] = wall
        self.cells[cells[24]] = (40, 190, 70)
        self.choose_goal()

    def move(self, state, action):
        there = (state[0] + MOVES[action][0]) % 9, (state[1] + MOVES[action][1]) % 9
        return state if there in self.walls else there

    def draw(self, state):
        down, right = (torus_shares()[place] for place in state)
        picture = np.tensordot(down, np.tensordot(right, self.cells, (1, 1)), (1, 1)).astype(np.float32)
        paint(picture, disc((32, 32), 2.4), (220, 30, 60))
        return frame(picture)


class Textured(GridlessWorld):
    """A walker pushes a box over a floor whose smooth pattern differs in each level."""

    pitch = 64 / 7

    def make_level(self):
        cells = [(row + 1, column + 1) for row, column in self.shuffled(5, 5)]
        rim = {(row, column) for row in range(7) for column in range(7) if not {row, column}.isdisjoint((0, 6))}
        self.walls, self.state = rim | set(cells[:4]), (cells[4], cells[5])
        spots = self.np_random.uniform(70, 235, (6, 6, 3)).astype(np.uint8)
        self.background = np.array(Image.fromarray(spots).resize((64, 64), Image.Resampling.BICUBIC), np.float32)
        dark = self.dark() / 2
        for cell in sorted(self.walls):
            paint(self.background, polygon(middle(cell, self.pitch), 4, 4.3), dark)
        self.choose_goal(lambda state: state[1] != self.state[1])

    def move(self, state, action):
        (down, right), (walker, box) = MOVES[action], state
        there = walker[0] + down, walker[1] + right
        if there == box:
            box = box[0] + down, box[1] + right
        return state if there in self.walls or box in self.walls else (there, box)

    def draw(self, state):
        picture = self.background.copy()
        walker, box = (middle(cell, self.pitch) for cell in state)
        paint(picture, polygon(box, 4, 3.6), (60, 30, 10))
        paint(picture, polygon(box, 4, 2.5), (250, 235, 200))
        paint(picture, disc(walker, 3.5), (255, 255, 255))
        paint(picture, disc(walker, 2.6), (200, 0, 60))
        return frame(picture)


class Doors(GridlessWorld):
    """A wall with two doors divides the board; stepping onto a switch, at least two cells away, flips both doors."""

    pitch = 64 / 7

    def make_level(self):
        line, axis = (int(number) for number in self.np_random.integers((2, 0), (5, 2)))
        parting = [(place, line) if axis else (line, place) for place in self.np_random.permutation(7).tolist()]
        cells = [cell for cell in self.shuffled(7, 7) if cell not in parting]
        self.doors, self.walls, start = set(parting[:2]), set(parting[2:] + cells[:6]), cells[6]
        self.switch = next(cell for cell in cells[7:] if abs(cell[axis] - line) > 1)
        self.state = start, False
        self.background, wall = self.ground(), self.dark()
        for cell in sorted(self.walls):
            paint(self.background, polygon(middle(cell, self.pitch), 4, 4.57), wall)
        paint(self.background, disc(middle(self.switch, self.pitch), 3.8), (150, 60, 200))
        self.choose_goal(lambda state: (state[0][axis] - line) * (start[axis] - line) <= 0)

    def move(self, state, action):
        (row, column), is_open = state
        there = row + MOVES[action][0], column + MOVES[action][1]
        if not inside(there, 7) or there in self.walls or (there in self.doors and not is_open):
            return state
        return there, is_open != (there == self.switch)

    def draw(self, state):
        picture = self.background.copy()
        place, is_open = state
        for cell in self.doors:
            paint(picture, polygon(middle(cell, self.pitch), 4, 4.57), (200, 90, 30))
            if is_open:
                paint(picture, polygon(middle(cell, self.pitch), 4, 3.4), (255, 250, 220))
        paint(picture, disc(middle(place, self.pitch), 2.9), (30, 60, 220))
        return frame(picture)


class Lake(GridlessWorld):
    """A frozen lake as in Gymnasium: holes are final; the figure faces where it last went, except on the gift."""

    down = 3

    def make_level(self):
        cells = self.shuffled(8, 8)
        self.gift, self.state = cells[0], (cells[1], self.down)
        self.holes = {cell for cell in cells[2:] if self.np_random.random() < 0.2}
        self.background = np.array(self.ground() * (0.8, 0.95, 1), np.float32)
        for cell in sorted(cells):
            paint(self.background, polygon(middle(cell, 8, side=8), 4, 3.6), self.background[0, 0] * 0.95)
        for cell in sorted(self.holes):
            paint(self.background, disc(middle(cell, 8, side=8), 3.4), (20, 60, 120))
        top, left = middle(self.gift, 8, side=8)
        paint(self.background, polygon((top, left), 4, 3.2), (220, 40, 60))
        paint(self.background, stick((top - 3, left), (top + 3, left), 0.6), (250, 220, 60))
        self.choose_goal(lambda state: state[0] == self.gift)

    def move(self, state, action):
        here = state[0]
        if here in self.holes or here == self.gift:
            return state
        there = here[0] + MOVES[action][0], here[1] + MOVES[action][1]
        there = there if inside(there, 8) else here
        return there, self.down if there in self.holes or there == self.gift else action

    def draw(self, state):
        picture = self.background.copy()
        (top, left), (down, right) = middle(state[0], 8, side=8), MOVES[state[1]]
        if state[0] in self.holes:
            for end in ((top - 2.5, left - 1.5), (top + 2.5, left - 2), (top + 0.5, left + 3)):
                paint(picture, stick((top, left), end, 0.5), (235, 245, 255))
        else:
            paint(picture, disc((top, left), 2.8), (30, 140, 50))
            paint(picture, disc((top + 1.7 * down, left + 1.7 * right), 1.5), (250, 200, 160))
        return frame(picture)


SQUARE = {world.__name__: world for world in (Overlapping, Wrapping, Textured, Doors, Lake)}

"""Ten worlds in which guessing a grid of cells fails: turned, slanted, round, overlapping, scrolling or textured.

A level is a seed. All frames are 64x64, and all shapes are antialiased: each is a signed distance in pixels, negative
inside, so that a pixel's coverage follows from it. Points are (row, column) in pixels.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from functools import cache
from typing import Any

import numpy as np
from PIL import Image
from shapes import COLUMNS, ROWS, Point, coverage, disc, frame, paint, polygon, stick
from small_worlds import MOVES, Cell, SmallWorld, State


def inside(cell: Cell, side: int) -> bool:
    """Whether a cell lies on a square board."""
    return min(cell) >= 0 and max(cell) < side


def middle(cell: Cell, pitch: float, turned: float = 0.0, side: int = 7) -> Point:
    """The middle of a cell of a square board that lies in the frame's middle, turned clockwise."""
    down, right = (pitch * (place - (side - 1) / 2) for place in cell)
    return (
        32 + down * np.cos(turned) + right * np.sin(turned),
        32 - down * np.sin(turned) + right * np.cos(turned),
    )


class GridlessWorld(SmallWorld):
    """What they share: a goal far from the start, a light ground and dark obstacles whose colours the level draws."""

    background: np.ndarray

    def choose_goal(self, wanted: Callable[[State], bool] = lambda state: True) -> None:
        """Draw a wanted state 4 to 12 steps away; if there is none, the goal is the start, and `reset` draws again."""
        steps = {self.state: 0}
        queue = deque([self.state])
        while queue:
            here = queue.popleft()
            for action in range(self.moves):
                there = self.move(here, action)
                if there not in steps:
                    steps[there] = steps[here] + 1
                    queue.append(there)
        far = [state for state, count in steps.items() if 4 <= count <= 12 and wanted(state)]
        self.goal = far[self.np_random.integers(len(far))] if far else self.state

    def ground(self) -> np.ndarray:
        """A picture [64,64,3] of one light colour."""
        return np.full((64, 64, 3), self.np_random.uniform(185, 250, 3), np.float32)

    def dark(self) -> np.ndarray:
        """A dark colour."""
        return self.np_random.uniform(15, 95, 3)


class RotatedIce(GridlessWorld):
    """Every move on the ice slides until a rock or the rim stops it; the board is turned by 27 degrees."""

    turned, pitch = float(np.radians(27)), 6.7

    def make_level(self):
        cells = self.shuffled(7, 7)
        self.rocks, self.state = set(cells[:11]), cells[11]
        self.background, rim, rock = self.ground(), self.dark(), self.dark()
        ice = self.background[0, 0].copy()
        self.background[:] = rim
        paint(self.background, polygon((32, 32), 4, 3.5 * self.pitch, self.turned), ice)
        for cell in sorted(self.rocks):
            centre = middle(cell, self.pitch, self.turned)
            paint(self.background, polygon(centre, 4, 0.45 * self.pitch, self.turned), rock)
        self.choose_goal()

    def move(self, state, action):
        there = state
        while inside(there, 7) and there not in self.rocks:
            state, there = there, (there[0] + MOVES[action][0], there[1] + MOVES[action][1])
        return state

    def draw(self, state):
        picture = self.background.copy()
        paint(picture, disc(middle(state, self.pitch, self.turned), 2.7), (220, 40, 40))
        return frame(picture)


HEXAGONS = [(row, slant) for row in range(-4, 5) for slant in range(-4, 5) if abs(row + slant) <= 4]
"""The cells of a hexagonal board: a step along `slant` goes right, a step along `row` down and half a cell right."""


def hexagon_middle(cell: Cell) -> Point:
    """The middle of a hexagon that is 6.8 pixels wide."""
    return 32 + 6.8 * np.sqrt(0.75) * cell[0], 32 + 6.8 * (cell[1] + cell[0] / 2)


@cache
def hexagon_coverages() -> np.ndarray:
    """[61,64,64] how much of each pixel each hexagon covers."""
    return np.stack([coverage(polygon(hexagon_middle(cell), 6, 3.1)) for cell in HEXAGONS])


class Hexagons(GridlessWorld):
    """A walker on a board of hexagons, some of them blocked, with six neighbours each."""

    moves = 6
    ways = ((0, 1), (1, 0), (1, -1), (0, -1), (-1, 0), (-1, 1))

    def make_level(self):
        cells = [HEXAGONS[place] for place in self.np_random.permutation(len(HEXAGONS))]
        self.open, self.state = set(cells[16:]), cells[16]
        free, blocked, gap = self.ground()[0, 0], self.dark(), self.np_random.uniform(110, 150, 3)
        colours = np.array([free if cell in self.open else blocked for cell in HEXAGONS]) - gap
        self.background = (gap + np.tensordot(hexagon_coverages(), colours, (0, 0))).astype(np.float32)
        self.choose_goal()

    def move(self, state, action):
        there = state[0] + self.ways[action][0], state[1] + self.ways[action][1]
        return there if there in self.open else state

    def draw(self, state):
        picture = self.background.copy()
        paint(picture, disc(hexagon_middle(state), 2.4), (200, 30, 120))
        return frame(picture)


class Perspective(GridlessWorld):
    """A maze of thin walls, seen from its near side: what is far is smaller and closer together."""

    def make_level(self):
        cells = self.shuffled(7, 7)
        self.state, self.walls = cells[0], set()
        self.background, wall = self.ground(), self.dark()
        (far, _, _), (near, _, _) = self.seen(0, 0), self.seen(7, 0)
        half = 31 * (ROWS + 55) / 117
        rim = np.maximum(np.abs(ROWS - (far + near) / 2) - (near - far) / 2, np.abs(COLUMNS - 32) - half)
        paint(self.background, rim - 1, wall)
        paint(self.background, rim, self.np_random.uniform(140, 180, 3))
        for row, column in sorted(cells):
            for (down, right), start in (((1, 0), (row + 1, column)), ((0, 1), (row, column + 1))):
                there = row + down, column + right
                if inside(there, 7) and self.np_random.random() < 0.38:
                    self.walls.add(frozenset(((row, column), there)))
                    (top, left, scale), end = self.seen(*start), self.seen(row + 1, column + 1)
                    paint(self.background, stick((top, left), end[:2], 0.9 * scale), wall)
        self.choose_goal()

    def seen(self, row: float, column: float) -> tuple[float, float, float]:
        """Where a point of the floor is seen, and how large things look there: 1 at the near rim."""
        scale = 1 / (1.8 - 0.8 * row / 7)
        return 117 * scale - 55, 32 + 62 * (column / 7 - 0.5) * scale, scale

    def move(self, state, action):
        there = state[0] + MOVES[action][0], state[1] + MOVES[action][1]
        return there if inside(there, 7) and frozenset((state, there)) not in self.walls else state

    def draw(self, state):
        picture = self.background.copy()
        top, left, scale = self.seen(state[0] + 0.55, state[1] + 0.5)
        paint(picture, disc((top, left), 3 * scale), (220, 30, 30))
        return frame(picture)


class Arm(GridlessWorld):
    """An arm of two links, each of which turns by a sixteenth; round obstacles stop it, on its way too."""

    links = (15.0, 12.0)

    def make_level(self):
        away, angles = self.np_random.uniform(13, 28, 4), self.np_random.uniform(0, 2 * np.pi, 4)
        self.obstacles = np.stack([32 + away * np.sin(angles), 32 + away * np.cos(angles)], axis=1)
        self.radii = self.np_random.uniform(2, 4.5, 4)
        self.background, dark = self.ground(), self.dark()
        for centre, radius in zip(self.obstacles, self.radii, strict=True):
            paint(self.background, disc(tuple(centre), radius), dark)
        paint(self.background, disc((32, 32), 3), (120, 120, 120))
        self.free = self.free_postures()
        self.state = tuple(int(angle) for angle in self.np_random.integers(16, size=2))
        if self.free[2 * self.state[0], 2 * self.state[1]]:
            self.choose_goal()
        else:
            self.goal = self.state

    def joints(self, first: Any, second: Any) -> tuple[np.ndarray, np.ndarray]:
        """[...,2] where the elbow and the hand are; angles are sixteenths, the second one is relative to the first."""
        angles = np.pi / 8 * np.asarray(first), np.pi / 8 * (np.asarray(first) + second)
        ways = [np.stack([np.sin(angle), np.cos(angle)], axis=-1) for angle in angles]
        elbow = 32 + self.links[0] * ways[0]
        return elbow, elbow + self.links[1] * ways[1]

    def free_postures(self) -> np.ndarray:
        """[32,32] whether the arm touches nothing, at every half of a step."""
        elbow, hand = self.joints(*np.mgrid[:32, :32] / 2)
        along = np.linspace(0, 1, 12)[:, None, None, None]
        points = np.concatenate([32 + along * (elbow - 32), elbow + along * (hand - elbow)])
        distances = np.linalg.norm(points[..., None, :] - self.obstacles, axis=-1)
        return (distances > self.radii + 1).all(axis=(0, -1))

    def move(self, state, action):
        joint, way = divmod(action, 2)
        turns = [0, 0]
        turns[joint] = 2 * way - 1
        path = [((2 * state[0] + part * turns[0]) % 32, (2 * state[1] + part * turns[1]) % 32) for part in (1, 2)]
        return (path[1][0] // 2, path[1][1] // 2) if all(self.free[place] for place in path) else state

    def draw(self, state):
        picture = self.background.copy()
        elbow, hand = self.joints(*state)
        paint(picture, stick((32, 32), tuple(elbow), 1.3), (30, 60, 200))
        paint(picture, stick(tuple(elbow), tuple(hand), 0.8), (220, 60, 20))
        paint(picture, disc(tuple(hand), 1.6), (220, 60, 20))
        return frame(picture)


@cache
def tile_coverages() -> np.ndarray:
    """[9,64,64] how much of each pixel each of nine rounded tiles covers."""
    centres = [middle(divmod(place, 3), 64 / 3.5, side=3) for place in range(9)]
    return np.stack([coverage(polygon(centre, 4, 5.3) - 0.2) * coverage(disc(centre, 7)) for centre in centres])


class Turning(GridlessWorld):
    """Nine tiles of three colours; each action turns one of the four blocks of 2x2 tiles clockwise by a quarter."""

    colours = np.array(((230, 60, 50), (50, 110, 230), (240, 200, 40), (40, 170, 90)), np.float32)

    def make_level(self):
        self.palette = self.np_random.permutation(self.colours)[:3]
        self.background = self.ground() if self.np_random.random() < 0.5 else 0.3 * self.ground()
        self.state = tuple(int(tile) for tile in self.np_random.permutation([0] * 5 + [1] * 3 + [2]))
        self.choose_goal()

    def move(self, state, action):
        corner = 3 * (action // 2) + action % 2
        ring = (corner, corner + 1, corner + 4, corner + 3)
        tiles = list(state)
        for place, there in zip(ring, ring[1:] + ring[:1], strict=True):
            tiles[there] = state[place]
        return tuple(tiles)

    def draw(self, state):
        tiles = tile_coverages()
        colours = self.palette[list(state)] - self.background[0, 0]
        return frame(self.background + np.tensordot(tiles, colours, (0, 0)))


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
    """A frozen lake as in Gymnasium: a hole is for ever; the figure faces where it last went, except on the gift."""

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


GRIDLESS = {
    world.__name__: world
    for world in (
        *(RotatedIce, Hexagons, Perspective, Arm, Turning),
        *(Overlapping, Wrapping, Textured, Doors, Lake),
    )
}

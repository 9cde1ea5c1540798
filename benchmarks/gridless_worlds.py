"""Worlds without rows and columns: a turned board, hexagons, a perspective view, an arm, and blocks that turn.

A level is a seed. All frames are 64x64, and all shapes are antialiased: each is a signed distance in pixels, negative
inside, so that a pixel's coverage follows from it. Points are (row, column) in pixels.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from functools import cache
from typing import Any

import numpy as np
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
    """What these worlds share; guessing a grid of cells fails in all of them.

    The goal is far from the start, the ground light, and obstacles are dark; the level draws their colours.
    """

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


TURNED = {world.__name__: world for world in (RotatedIce, Hexagons, Perspective, Arm, Turning)}

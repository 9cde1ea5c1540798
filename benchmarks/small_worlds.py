"""Seven small worlds, each with something that the three puzzles lack; `benchmarks/worlds.py` trains and judges them.

A level is a seed. States are tuples, so that the judge can search for shortest solutions; planners see frames only.
"""

from __future__ import annotations

from collections import deque
from typing import Any

import gymnasium
import numpy as np

MOVES = ((-1, 0), (0, 1), (0, -1), (1, 0))
State = tuple[Any, ...]
Cell = tuple[int, int]


class SmallWorld(gymnasium.Env):
    """What they share: a state, a goal state, how a move changes the state, and how it looks."""

    metadata = {"render_modes": ["rgb_array"]}
    moves = 4
    pixels = (64, 64)
    state: State
    goal: State

    def __init__(self, render_mode: str | None = "rgb_array") -> None:
        self.render_mode = render_mode
        self.action_space = gymnasium.spaces.Discrete(self.moves)
        self.observation_space = gymnasium.spaces.Box(0, 255, (*self.pixels, 3), np.uint8)

    def reset(self, *, seed=None, options=None):
        super().reset(seed=seed)
        self.make_level()
        while self.state == self.goal or self.shortest_solution() is None:
            self.make_level()
        self.drawn: dict[State, np.ndarray] = {}
        return self.render(), {"solved": False}

    def step(self, action):
        self.state = self.move(self.state, int(action))
        solved = self.state == self.goal
        return self.render(), float(solved), False, False, {"solved": solved}

    def render(self):
        """The frame of the state, drawn once per level: random play comes back again and again."""
        if self.state not in self.drawn:
            self.drawn[self.state] = self.draw(self.state)
        return self.drawn[self.state].copy()

    def goal_frame(self):
        return self.draw(self.goal)

    def shortest_solution(self):
        ways = {self.state: ()}
        queue = deque([self.state])
        while queue:
            here = queue.popleft()
            if here == self.goal:
                return ways[here]
            for action in range(self.moves):
                there = self.move(here, action)
                if there not in ways:
                    ways[there] = (*ways[here], action)
                    queue.append(there)
        return None

    def shuffled(self, rows: int, columns: int) -> list[Cell]:
        """The cells of a board in random order."""
        return [divmod(int(cell), columns) for cell in self.np_random.permutation(rows * columns)]

    def make_level(self) -> None:
        """Draw a level: its state, its goal, and what never changes in it."""
        raise NotImplementedError

    def move(self, state: State, action: int) -> State:
        """Where an action leads."""
        raise NotImplementedError

    def draw(self, state: State) -> np.ndarray:
        """The frame [H,W,3]."""
        raise NotImplementedError


def board(rows: int, columns: int, cell: int, colour: Any) -> np.ndarray:
    """[R,c,C,c,3] a picture that can be painted cell by cell; reshape it to see it whole."""
    return np.full((rows, cell, columns, cell, 3), colour, np.uint8)


def whole(picture: np.ndarray) -> np.ndarray:
    """The frame [R·c,C·c,3] of such a picture."""
    rows, cell, columns = picture.shape[:3]
    return picture.reshape(rows * cell, columns * cell, 3)


class LightsOut(SmallWorld):
    """Nine buttons; each turns its own light and its neighbours' on or off. Everything may change, nothing moves."""

    moves, pixels = 9, (48, 48)

    def make_level(self):
        self.goal = self.state = (0,) * 9
        for action in np.flatnonzero(self.np_random.integers(2, size=9)):
            self.state = self.move(self.state, int(action))

    def move(self, state, action):
        row, column = divmod(action, 3)
        touched = {(row, column)} | {(row + down, column + right) for down, right in MOVES}
        return tuple(light ^ (divmod(place, 3) in touched) for place, light in enumerate(state))

    def draw(self, state):
        frame = board(3, 3, 16, 30)
        for place, light in enumerate(state):
            row, column = divmod(place, 3)
            frame[row, 1:-1, column, 1:-1] = (250, 220, 80) if light else (60, 60, 70)
        return whole(frame)


class Hanoi(SmallWorld):
    """The towers of Hanoi, four disks. Things of several sizes, in cells that are wider than high."""

    moves, pixels = 6, (48, 72)
    ways = ((0, 1), (0, 2), (1, 0), (1, 2), (2, 0), (2, 1))
    colours = ((230, 60, 60), (60, 200, 60), (60, 60, 230), (220, 180, 40))

    def make_level(self):
        self.goal, self.state = (2,) * 4, tuple(int(peg) for peg in self.np_random.integers(3, size=4))

    def move(self, state, action):
        tops = [next((disk for disk in range(4) if state[disk] == peg), 4) for peg in range(3)]
        here, there = self.ways[action]
        if tops[here] >= tops[there]:
            return state
        return tuple(there if disk == tops[here] else peg for disk, peg in enumerate(state))

    def draw(self, state):
        frame = np.full((*self.pixels, 3), 255, np.uint8)
        for peg in range(3):
            middle = 24 * peg + 12
            frame[8:, middle - 1 : middle + 1] = 90
            for height, disk in enumerate(disk for disk in (3, 2, 1, 0) if state[disk] == peg):
                bottom, half = 48 - 8 * height, 3 + 2 * disk
                frame[bottom - 7 : bottom - 1, middle - half : middle + half] = self.colours[disk]
        return frame


class Portals(SmallWorld):
    """A walker among walls, and two pairs of portals: a step into one leads out of the other."""

    def make_level(self):
        cells = self.shuffled(8, 8)
        self.walls, (one, two, three, four) = set(cells[:14]), cells[14:18]
        self.portals = {one: two, two: one, three: four, four: three}
        self.state, self.goal = cells[18], cells[19]

    def move(self, state, action):
        there = state[0] + MOVES[action][0], state[1] + MOVES[action][1]
        if not (min(there) >= 0 and max(there) < 8) or there in self.walls:
            return state
        return self.portals.get(there, there)

    def draw(self, state):
        frame = board(8, 8, 8, 230)
        for row, column in self.walls:
            frame[row, :, column] = (40, 40, 60)
        for place, (row, column) in enumerate(self.portals):
            frame[row, 1:7, column, 1:7] = ((160, 60, 220), (40, 180, 120))[place // 2]
        frame[state[0], 2:6, state[1], 2:6] = (220, 40, 40)
        return whole(frame)


class Turtle(SmallWorld):
    """Turn left, turn right, go forward: where the turtle faces is part of the state, and only a dot shows it."""

    moves, pixels = 3, (84, 84)
    directions = ((-1, 0), (0, 1), (1, 0), (0, -1))

    def make_level(self):
        cells = self.shuffled(7, 7)
        self.walls = set(cells[:9])
        self.state, self.goal = ((cell, int(self.np_random.integers(4))) for cell in cells[9:11])

    def move(self, state, action):
        (row, column), look = state
        if action < 2:
            return (row, column), (look + (1 if action else -1)) % 4
        there = row + self.directions[look][0], column + self.directions[look][1]
        free = min(there) >= 0 and max(there) < 7 and there not in self.walls
        return (there, look) if free else state

    def draw(self, state):
        frame = board(7, 7, 12, 200)
        for row, column in self.walls:
            frame[row, :, column] = (20, 60, 20)
        (row, column), look = state
        frame[row, 2:10, column, 2:10] = (240, 240, 60)
        top, left = (5 + 3 * step for step in self.directions[look])
        frame[row, top : top + 2, column, left : left + 2] = 0
        return whole(frame)


class Twins(SmallWorld):
    """Two figures move at once, the second one mirrored; walls stop each of them separately."""

    pixels = (60, 60)

    def make_level(self):
        cells = self.shuffled(6, 6)
        self.walls, self.state, self.goal = set(cells[:6]), tuple(cells[6:8]), tuple(cells[8:10])

    def move(self, state, action):
        down, right = MOVES[action]
        there = tuple(
            self.free((row + down, column + side), (row, column))
            for (row, column), side in zip(state, (right, -right), strict=True)
        )
        return state if there[0] == there[1] else there

    def free(self, there: Cell, here: Cell) -> Cell:
        return there if min(there) >= 0 and max(there) < 6 and there not in self.walls else here

    def draw(self, state):
        frame = board(6, 6, 10, 245)
        for row, column in self.walls:
            frame[row, :, column] = 70
        for (row, column), colour in zip(state, ((220, 60, 60), (60, 60, 220)), strict=True):
            frame[row, 2:8, column, 2:8] = colour
        return whole(frame)


class Keys(SmallWorld):
    """Two keys, smaller than the walker, open a gate: an action in one place changes another, far away."""

    pixels = (56, 56)

    def make_level(self):
        cells = self.shuffled(7, 7)
        self.walls, self.keys, self.gate = set(cells[:8]), cells[8:10], cells[10]
        self.state, self.goal = (cells[11], (True, True)), (self.gate, (False, False))

    def move(self, state, action):
        (row, column), left = state
        there = row + MOVES[action][0], column + MOVES[action][1]
        if not (min(there) >= 0 and max(there) < 7) or there in self.walls or (there == self.gate and any(left)):
            return state
        return there, tuple(lies and there != key for lies, key in zip(left, self.keys, strict=True))

    def draw(self, state):
        frame = board(7, 7, 8, 235)
        for row, column in self.walls:
            frame[row, :, column] = (90, 50, 20)
        place, left = state
        for (row, column), lies in zip(self.keys, left, strict=True):
            if lies:
                frame[row, 3:5, column, 2:6] = (250, 180, 0)
        frame[self.gate[0], :, self.gate[1]] = (200, 40, 40) if any(left) else (40, 200, 40)
        frame[place[0], 2:6, place[1], 2:6] = (40, 40, 220)
        return whole(frame)


class Ball(SmallWorld):
    """A ball of 6 pixels rolls 4 pixels per step, eight ways, past blocks that stand anywhere: there are no cells."""

    moves = 8
    ways = tuple((down, right) for down in (-1, 0, 1) for right in (-1, 0, 1) if down or right)

    def make_level(self):
        self.blocks = self.np_random.integers((0, 0, 6, 6), (44, 44, 20, 20), (4, 4))
        self.colour = self.np_random.integers(150, 255, size=3)
        places = [(4 * row, 4 * column) for row, column in self.shuffled(15, 15)]
        self.state, self.goal = [place for place in places if self.free(place)][:2]

    def free(self, place: Cell) -> bool:
        inside = min(place) >= 0 and max(place) <= 58
        ends = self.blocks[:, :2] + self.blocks[:, 2:]
        return inside and not ((np.array(place) + 6 > self.blocks[:, :2]) & (np.array(place) < ends)).all(axis=1).any()

    def move(self, state, action):
        there = state[0] + 4 * self.ways[action][0], state[1] + 4 * self.ways[action][1]
        return there if self.free(there) else state

    def draw(self, state):
        frame = np.full((64, 64, 3), self.colour, np.uint8)
        for top, left, height, width in self.blocks:
            frame[top : top + height, left : left + width] = 30
        frame[state[0] : state[0] + 6, state[1] : state[1] + 6] = (200, 0, 120)
        return frame


WORLDS = {world.__name__: world for world in (LightsOut, Hanoi, Portals, Turtle, Twins, Keys, Ball)}

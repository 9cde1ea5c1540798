"""Six worlds of kinds that the world model had not been tried on. They judge it, and its network is not tuned on them.

Marbles that roll together, floods of colour, a body that follows its head, gravity, gears that turn others, a crane.
A level is a seed. The goal is 4 to 12 steps from the start.
"""

from __future__ import annotations

from itertools import pairwise

import numpy as np
from gridless_worlds import GridlessWorld
from shapes import disc, frame, paint, polygon, stick
from small_worlds import MOVES, board, whole

COLOURS = np.array([(210, 50, 45), (55, 110, 200), (240, 190, 40), (70, 160, 90)])


class Marbles(GridlessWorld):
    """Two marbles on a board that tilts four ways: both roll until a wall, the rim or the other one stops them."""

    def make_level(self):
        cells = self.shuffled(6, 6)
        self.walls, self.state = set(cells[:8]), (cells[8], cells[9])
        self.background, wall = self.ground(), self.dark()
        for row, column in sorted(self.walls):
            paint(self.background, polygon((6 + 10.4 * row, 6 + 10.4 * column), 4, 4.8), wall)
        self.choose_goal()

    def move(self, state, action):
        down, right = MOVES[action]
        places = list(state)
        for which in sorted((0, 1), key=lambda one: -(places[one][0] * down + places[one][1] * right)):
            row, column = places[which]
            other = places[1 - which]
            while self._is_free(there := (row + down, column + right)) and there != other:
                row, column = there
            places[which] = (row, column)
        return tuple(places)

    def _is_free(self, cell):
        return min(cell) >= 0 and max(cell) < 6 and cell not in self.walls

    def draw(self, state):
        picture = self.background.copy()
        for (row, column), colour in zip(state, COLOURS, strict=False):
            paint(picture, disc((6 + 10.4 * row, 6 + 10.4 * column), 3.9), colour)
        return frame(picture)


class Flood(GridlessWorld):
    """A board of four colours: an action gives its colour to the area that is connected to the upper left corner."""

    pixels = (45, 45)

    def make_level(self):
        self.state = tuple(int(colour) for colour in self.np_random.integers(4, size=25))
        self.choose_goal()

    def choose_goal(self, wanted=lambda state: True):
        """Where three to five floods lead that change something; a flood is never undone, so there is no way back."""
        self.goal = self.state
        for _ in range(int(self.np_random.integers(3, 6))):
            others = [action for action in range(4) if action != self.goal[0]]
            self.goal = self.move(self.goal, int(self.np_random.choice(others)))

    def move(self, state, action):
        area, edge = {0}, [0]
        while edge:
            place = edge.pop()
            row, column = divmod(place, 5)
            for down, right in MOVES:
                there = (row + down) * 5 + column + right
                inside = 0 <= row + down < 5 and 0 <= column + right < 5
                if inside and there not in area and state[there] == state[0]:
                    area.add(there)
                    edge.append(there)
        return tuple(action if place in area else colour for place, colour in enumerate(state))

    def draw(self, state):
        picture = board(5, 5, 9, 0)
        for place, colour in enumerate(state):
            row, column = divmod(place, 5)
            picture[row, :, column] = COLOURS[colour]
        return whole(picture)


class Worm(GridlessWorld):
    """A worm of four links creeps among stones: its body follows its head, and nothing may be in the head's way."""

    def make_level(self):
        cells = self.shuffled(6, 6)
        self.stones, head = set(cells[:6]), cells[6]
        body = [head]
        while len(body) < 4:
            ways = [(body[-1][0] + down, body[-1][1] + right) for down, right in MOVES]
            free = [cell for cell in ways if self._is_free(cell) and cell not in body]
            if not free:
                return self.make_level()
            body.append(free[self.np_random.integers(len(free))])
        self.state = tuple(body)
        self.background, stone = self.ground(), self.dark()
        for cell in sorted(self.stones):
            paint(self.background, disc(self._middle(cell), 4.6), stone)
        self.choose_goal()

    def _is_free(self, cell):
        return min(cell) >= 0 and max(cell) < 6 and cell not in self.stones

    def _middle(self, cell):
        return 6 + 10.4 * cell[0], 6 + 10.4 * cell[1]

    def move(self, state, action):
        head = (state[0][0] + MOVES[action][0], state[0][1] + MOVES[action][1])
        return (head, *state[:-1]) if self._is_free(head) and head not in state[:-1] else state

    def draw(self, state):
        picture = self.background.copy()
        for link, after in pairwise(state):
            paint(picture, stick(self._middle(link), self._middle(after), 2.4), (200, 120, 60))
        paint(picture, disc(self._middle(state[0]), 3.6), (190, 40, 60))
        return frame(picture)


class Climber(GridlessWorld):
    """A figure seen from the side walks, climbs one step, and falls where there is no ground; so does its crate."""

    moves = 3

    def make_level(self):
        heights = self.np_random.integers(1, 5, size=8)
        self.solid = {(row, column) for column in range(8) for row in range(8 - int(heights[column]), 8)}
        columns = self.np_random.permutation(8)
        places = [(7 - int(heights[column]), int(column)) for column in columns[:2]]
        self.state = (places[0], places[1], 0)
        self.background, rock = self.ground(), self.dark()
        for row, column in sorted(self.solid):
            paint(self.background, polygon((4 + 8 * row, 4 + 8 * column), 4, 4.0), rock)
        self.choose_goal()

    def _fallen(self, cell, other):
        row, column = cell
        while (row + 1, column) not in self.solid and (row + 1, column) != other:
            row += 1
        return row, column

    def move(self, state, action):
        """Actions: left, right, and lift the crate onto the head or put it down in front."""
        figure, crate, carries = state
        if action == 2:
            if carries:
                ahead = (figure[0], figure[1] + 1)
                free = ahead[1] < 8 and ahead not in self.solid
                return (figure, self._fallen(ahead, figure), 0) if free else state
            near = abs(crate[1] - figure[1]) == 1 and abs(crate[0] - figure[0]) <= 1
            return (figure, (figure[0] - 1, figure[1]), 1) if near else state
        column = figure[1] + (-1, 1)[action]
        blocked = self.solid if carries else self.solid | {crate}
        for row in (figure[0], figure[0] - 1):
            if 0 <= column < 8 and row >= 1 and (row, column) not in blocked:
                figure = self._fallen((row, column), None if carries else crate)
                return figure, (figure[0] - 1, figure[1]) if carries else crate, carries
        return state

    def draw(self, state):
        picture = self.background.copy()
        figure, crate, _ = state
        paint(picture, polygon((4 + 8 * crate[0], 4 + 8 * crate[1]), 4, 3.2), (150, 100, 50))
        paint(picture, disc((4 + 8 * figure[0], 4 + 8 * figure[1]), 3.4), (200, 50, 90))
        return frame(picture)


class Gears(GridlessWorld):
    """Four dials with hands; each action turns its own by an eighth, and those it is linked to the other way."""

    middles = ((16, 16), (16, 48), (48, 16), (48, 48))

    def make_level(self):
        pairs = [(first, second) for first in range(4) for second in range(first)]
        self.links = [pair for pair in pairs if self.np_random.random() < 0.4]
        self.state = tuple(int(turn) for turn in self.np_random.integers(8, size=4))
        self.background, face, link = self.ground(), self.ground()[0, 0], self.dark()
        for first, second in self.links:
            paint(self.background, stick(self.middles[first], self.middles[second], 1.5), link)
        for place in self.middles:
            paint(self.background, disc(place, 12), face)
        self.choose_goal()

    def move(self, state, action):
        linked = {place for pair in self.links if action in pair for place in pair} - {action}
        turns = [1 if place == action else -1 if place in linked else 0 for place in range(4)]
        return tuple((now + turn) % 8 for now, turn in zip(state, turns, strict=True))

    def draw(self, state):
        picture = self.background.copy()
        for (row, column), turn in zip(self.middles, state, strict=True):
            angle = turn * np.pi / 4
            paint(
                picture,
                stick((row, column), (row - 10 * np.cos(angle), column + 10 * np.sin(angle)), 1.6),
                (30, 30, 40),
            )
        return frame(picture)


class Crane(GridlessWorld):
    """A crane above four stacks: left, right, and grab or drop; its rope is as long as it must be to the next block."""

    moves, pixels = 3, (48, 80)

    def make_level(self):
        stacks = [[] for _ in range(5)]
        for colour in self.np_random.permutation(4):
            stacks[self.np_random.integers(5)].append(int(colour))
        self.state = (int(self.np_random.integers(5)), None, tuple(map(tuple, stacks)))
        self.choose_goal()

    def move(self, state, action):
        place, held, stacks = state
        if action < 2:
            return min(4, max(0, place + (-1, 1)[action])), held, stacks
        changed = list(stacks)
        if held is not None:
            changed[place], held = (*stacks[place], held), None
        elif stacks[place]:
            changed[place], held = stacks[place][:-1], stacks[place][-1]
        return place, held, tuple(changed)

    def draw(self, state):
        place, held, stacks = state
        picture = np.full((*self.pixels, 3), (225, 230, 235), np.uint8)
        picture[:3] = (90, 90, 100)
        for column, stack in enumerate(stacks):
            for level, colour in enumerate(stack):
                picture[40 - 8 * level : 47 - 8 * level, 16 * column + 3 : 16 * column + 13] = COLOURS[colour]
        rope = 12 if held is not None else 38 - 8 * len(stacks[place])
        picture[3:rope, 16 * place + 7 : 16 * place + 9] = (60, 60, 70)
        if held is not None:
            picture[12:19, 16 * place + 3 : 16 * place + 13] = COLOURS[held]
        return picture


FRESH = {world.__name__: world for world in (Marbles, Flood, Worm, Climber, Gears, Crane)}
"""The worlds by name."""

"""Sokoban: push both boxes onto the marked cells. Pushes cannot be undone, so levels can be lost.

A level is a seed. It is made by playing backwards from its solved state, so it can always be solved; `goal_frame` shows
the state that the backward play began in. The game goes on past the goal, and `info` says when it is solved.
"""

from __future__ import annotations

from collections import deque

import gymnasium
import numpy as np

MOVES = ((-1, 0), (0, 1), (0, -1), (1, 0))
FLOOR, WALL, TARGET, BOX, PLAYER = (238, 232, 220), (70, 74, 86), (226, 106, 92), (176, 122, 58), (46, 104, 190)
CELL = 8
State = tuple[tuple[int, int], frozenset[tuple[int, int]]]  # the player, the boxes


class Sokoban(gymnasium.Env):
    metadata = {"render_modes": ["rgb_array"]}
    action_names = ("up", "right", "left", "down")

    def __init__(self, size: int = 8, boxes: int = 2, render_mode: str | None = "rgb_array") -> None:
        self.size, self.boxes, self.render_mode = size, boxes, render_mode
        self.action_space = gymnasium.spaces.Discrete(len(MOVES))
        self.observation_space = gymnasium.spaces.Box(0, 255, (size * CELL, size * CELL, 3), np.uint8)

    def reset(self, *, seed: int | None = None, options: dict | None = None):
        super().reset(seed=seed)
        while not self._make_level():
            pass
        return self.draw(self.state), {"solved": False}

    def _make_level(self) -> bool:
        """Random walls and targets, then backward play: walk, and pull a box along wherever one can be pulled."""
        inside = [(row, column) for row in range(1, self.size - 1) for column in range(1, self.size - 1)]
        drawn = [inside[index] for index in self.np_random.permutation(len(inside))[: self.boxes + len(inside) // 6]]
        self.targets, self.free = frozenset(drawn[: self.boxes]), set(inside) - set(drawn[self.boxes :])
        row, column = MOVES[self.np_random.integers(len(MOVES))]
        player, boxes = (drawn[0][0] + row, drawn[0][1] + column), self.targets  # as if it had just pushed a box
        if player not in self.free - boxes:
            return False
        self.solved_state = player, boxes
        for _ in range(2 * self.size**2):
            row, column = MOVES[self.np_random.integers(len(MOVES))]
            there, behind = (player[0] + row, player[1] + column), (player[0] - row, player[1] - column)
            if there in self.free and there not in boxes:
                if behind in boxes and self.np_random.random() < 0.8:
                    boxes = boxes - {behind} | {player}
                player = there
        self.state = player, boxes
        self.background = self._draw_background()
        return not boxes & self.targets

    def move(self, state: State, action: int) -> State:
        player, boxes = state
        row, column = MOVES[action]
        there, beyond = (player[0] + row, player[1] + column), (player[0] + 2 * row, player[1] + 2 * column)
        if there in boxes:
            return (there, boxes - {there} | {beyond}) if beyond in self.free and beyond not in boxes else state
        return (there, boxes) if there in self.free else state

    def step(self, action: int):
        self.state = self.move(self.state, int(action))
        solved = self.state[1] == self.targets
        return self.draw(self.state), float(solved), False, False, {"solved": solved}

    def render(self) -> np.ndarray:
        return self.draw(self.state)

    def goal_frame(self) -> np.ndarray:
        return self.draw(self.solved_state)

    def _draw_background(self) -> np.ndarray:
        frame = np.full((self.size, CELL, self.size, CELL, 3), WALL, np.uint8)
        for row, column in self.free:
            frame[row, :, column] = TARGET if (row, column) in self.targets else FLOOR
        return frame

    def draw(self, state: State) -> np.ndarray:
        player, boxes = state
        frame = self.background.copy()
        for row, column in boxes:  # a target shows around what stands on it
            frame[row, 1:-1, column, 1:-1] = BOX
        frame[player[0], 2:-2, player[1], 2:-2] = PLAYER
        return frame.reshape(self.size * CELL, self.size * CELL, 3)

    def shortest_solution(self) -> tuple[int, ...] | None:
        """A shortest solution from here to any solved state: for the judge; planners never see it."""
        ways: dict[State, tuple[int, ...]] = {self.state: ()}
        queue = deque([self.state])
        while queue:
            here = queue.popleft()
            if here[1] == self.targets:
                return ways[here]
            for action in range(len(MOVES)):
                there = self.move(here, action)
                if there not in ways:
                    ways[there] = (*ways[here], action)
                    queue.append(there)
        return None


make = Sokoban

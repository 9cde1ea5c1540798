"""MiniGrid's DoorKey, fully observed: fetch the key, open the door, walk to the green square.

A level is a seed: where the wall, the door, the key and the agent are. The frame is the whole board as MiniGrid draws
it, so it shows the whole state: a key that is carried is missing from the board. The game goes on past the goal, and
`info` says when it is solved.
"""

from __future__ import annotations

from collections import deque

import gymnasium
import numpy as np
from minigrid.core.world_object import Door
from minigrid.envs import DoorKeyEnv

ACTIONS = {"turn left": 0, "turn right": 1, "forward": 2, "pick up": 3, "toggle": 5}
CELL = 8


class DoorKey(gymnasium.Env):
    metadata = {"render_modes": ["rgb_array"]}
    action_names = tuple(ACTIONS)

    def __init__(self, size: int = 6, render_mode: str | None = "rgb_array") -> None:
        self.render_mode = render_mode
        self.game = DoorKeyEnv(size=size, max_steps=10**9)
        self.action_space = gymnasium.spaces.Discrete(len(ACTIONS))
        self.observation_space = gymnasium.spaces.Box(0, 255, (size * CELL, size * CELL, 3), np.uint8)

    def reset(self, *, seed: int | None = None, options: dict | None = None):
        super().reset(seed=seed)
        self.game.reset(seed=seed)
        self.door = next(thing for thing in self.game.grid.grid if isinstance(thing, Door))
        return self.render(), {"solved": False}

    def step(self, action: int):
        solved = self.act(int(action))
        return self.render(), float(solved), False, False, {"solved": solved}

    def act(self, action: int) -> bool:
        """Take an action; whether the agent then stands on the green square."""
        self.game.step([*ACTIONS.values()][action])
        here = self.game.grid.get(*self.game.agent_pos)
        return here is not None and here.type == "goal"

    def render(self) -> np.ndarray:
        # MiniGrid's own get_frame would lighten what the agent sees; the board alone is enough.
        return self.game.grid.render(CELL, self.game.agent_pos, self.game.agent_dir).astype(np.uint8)

    def goal_frame(self) -> np.ndarray:
        """The level as it looks at the end: the key taken, the door open, the agent on the green square."""
        board = self.game.grid.copy()
        for index, thing in enumerate(board.grid):
            if thing is not None and thing.type == "key":
                board.grid[index] = None
            elif thing is not None and thing.type == "door":
                board.grid[index] = Door(thing.color, is_open=True)
        corner = board.width - 2, board.height - 2
        return board.render(CELL, corner, agent_dir=1).astype(np.uint8)  # it can always be entered from above

    def shortest_solution(self) -> tuple[int, ...] | None:
        """A shortest path from here onto the green square: for the judge; planners never see it."""
        start = self._state()
        ways: dict[tuple, tuple[int, ...]] = {start: ()}
        queue = deque([start])
        solution = None
        while queue and solution is None:
            here = queue.popleft()
            for action in range(len(ACTIONS)):
                self._restore(here)
                solved = self.act(action)
                if self._state() not in ways:
                    ways[self._state()] = (*ways[here], action)
                    queue.append(self._state())
                if solved:
                    solution = (*ways[here], action)
                    break
        self._restore(start)
        return solution

    def _state(self) -> tuple:
        game, door = self.game, self.door
        place = tuple(map(int, game.agent_pos))
        return place, game.agent_dir, game.carrying, tuple(game.grid.grid), door.is_open, door.is_locked

    def _restore(self, state: tuple) -> None:
        game, door = self.game, self.door
        game.agent_pos, game.agent_dir, game.carrying, things, door.is_open, door.is_locked = state
        game.grid.grid = list(things)


make = DoorKey

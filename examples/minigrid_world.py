"""MiniGrid's DoorKey, fully observed: fetch the key, open the door, walk to the green square.

A level is a seed: where the wall, the door, the key and the agent are. The frame is the whole board as MiniGrid draws
it, so it shows the whole state: a key that is carried is missing from the board. The game goes on past the goal, and
`info` says when it is solved.
"""

from __future__ import annotations

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
        return self.render(), {"solved": False}

    def step(self, action: int):
        self.game.step([*ACTIONS.values()][int(action)])
        here = self.game.grid.get(*self.game.agent_pos)
        solved = here is not None and here.type == "goal"
        return self.render(), float(solved), False, False, {"solved": solved}

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


make = DoorKey

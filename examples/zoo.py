"""Thin wrappers for other people's environments (`pip install 'pixelplan[zoo]'`); most need none.

Each adds only what its environment lacks: levels by seed, a picture, or what counts as solved. Use them as
`--env examples.zoo:frozen_lake`, and so on; docs/zoo.md lists them, along with environments that need no wrapper.
"""

from __future__ import annotations

import functools
import random
from typing import Any

import gymnasium
import numpy as np


class Remade(gymnasium.Wrapper):
    """Makes the environment anew if the seed changes, because its levels are arguments, not seeds."""

    def __init__(self, make: Any) -> None:
        self.make, self.seed = make, 0
        super().__init__(make(0))

    def reset(self, *, seed: int | None = None, options: dict | None = None) -> tuple[Any, dict]:
        if seed is not None and seed != self.seed:
            self.seed, self.env = seed, self.make(seed)
        return self.env.reset(seed=seed)


def frozen_lake(size: int = 5) -> gymnasium.Env:
    """FrozenLake, not slippery, with a random map for every seed."""
    from gymnasium.envs.toy_text.frozen_lake import generate_random_map

    def make(seed: int) -> gymnasium.Env:
        lake = generate_random_map(size, seed=seed)
        return gymnasium.make("FrozenLake-v1", desc=lake, is_slippery=False, render_mode="rgb_array").unwrapped

    return Remade(make)


class CliffWalking(gymnasium.Wrapper):
    """The one cliff, with random starts. Its goal pays no more than any step does, so `info` says when it is solved."""

    def reset(self, *, seed: int | None = None, options: dict | None = None) -> tuple[Any, dict]:
        _, info = self.env.reset(seed=seed)
        self.unwrapped.s = int(np.random.default_rng(seed).integers(36))
        return self.unwrapped.s, info

    def step(self, action: Any) -> Any:
        *shown, info = self.env.step(action)
        return (*shown, {**info, "solved": bool(shown[2])})


def cliff_walking() -> gymnasium.Env:
    """CliffWalking from random places."""
    return CliffWalking(gymnasium.make("CliffWalking-v1", render_mode="rgb_array").unwrapped)


class Seeded(gymnasium.Wrapper):
    """Seeds the global generators, from which the levels are drawn."""

    def reset(self, *, seed: int | None = None, options: dict | None = None) -> tuple[Any, dict]:
        random.seed(seed)
        np.random.seed(seed)  # noqa: NPY002
        return self.env.reset(seed=seed)


def sokoban(boxes: int = 2) -> gymnasium.Env:
    """gym-sokoban's 7 × 7 rooms. It reads its seven tiles from disk for every frame, unless they are kept."""
    from types import SimpleNamespace

    from gym_sokoban.envs import render_utils
    from gym_sokoban.envs.sokoban_env import SokobanEnv
    from imageio.v2 import imread
    from shimmy import GymV21CompatibilityV0

    render_utils.imageio = SimpleNamespace(imread=functools.cache(imread))
    rooms = SokobanEnv((7, 7), max_steps=10**6, num_boxes=boxes, reset=False)
    return Seeded(GymV21CompatibilityV0(env=rooms, render_mode="rgb_array"))


def painted(cells: np.ndarray, colours: np.ndarray) -> np.ndarray:
    """A frame with 8 × 8 pixels for each of the cells, which are numbers of colours."""
    return np.kron(colours[cells], np.ones((8, 8, 1), np.uint8))


class Jumanji(gymnasium.Env):
    """A jumanji environment: `cells` numbers what is in each cell of its state, and each number has a colour."""

    colours = np.random.default_rng(7).integers(30, 256, (32, 3), np.uint8)

    def __init__(self, game: Any, cells: Any) -> None:
        import jax

        self.cells, self.begin, self.go, self.key = cells, jax.jit(game.reset), jax.jit(game.step), jax.random.PRNGKey
        self.action_space = gymnasium.spaces.Discrete(int(game.action_spec.num_values))
        self.observation_space = gymnasium.spaces.Box(0, 255, self.reset()[0].shape, np.uint8)

    def reset(self, *, seed: int | None = None, options: dict | None = None) -> tuple[np.ndarray, dict]:
        super().reset(seed=seed)
        self.state, _ = self.begin(self.key(seed or 0))
        return painted(np.asarray(self.cells(self.state)), self.colours), {}

    def step(self, action: int) -> tuple[np.ndarray, float, bool, bool, dict]:
        self.state, timestep = self.go(self.state, action)
        frame = painted(np.asarray(self.cells(self.state)), self.colours)
        return frame, float(timestep.reward), bool(timestep.last()), False, {}


def jumanji_maze() -> gymnasium.Env:
    """jumanji's Maze, 10 × 10."""
    from jumanji.environments import Maze

    def cells(state: Any) -> np.ndarray:
        board = np.asarray(state.walls).astype(int)
        board[int(state.target_position.row), int(state.target_position.col)] = 2
        board[int(state.agent_position.row), int(state.agent_position.col)] = 3
        return board

    return Jumanji(Maze(time_limit=10**6), cells)


def jumanji_tiles(size: int = 3) -> gymnasium.Env:
    """jumanji's SlidingTilePuzzle, shuffled by 13 moves, an odd number, so that no level begins solved."""
    from jumanji.environments import SlidingTilePuzzle
    from jumanji.environments.logic.sliding_tile_puzzle.generator import RandomWalkGenerator

    game = SlidingTilePuzzle(RandomWalkGenerator(size, num_random_moves=13), time_limit=10**6)
    return Jumanji(game, lambda state: state.puzzle)


class PhotoTiles(gymnasium.Wrapper):
    """sliding-puzzles, with a photograph on its tiles."""

    render_mode = "rgb_array"

    def __init__(self, env: Any) -> None:
        from matplotlib import cbook
        from PIL import Image

        super().__init__(env)
        photo = np.array(Image.open(cbook.get_sample_data("grace_hopper.jpg")).resize((72, 72)).convert("RGB"))
        self.tiles = photo.reshape(3, 24, 3, 24, 3).swapaxes(1, 2).reshape(9, 24, 24, 3)
        self.tiles[8] = 0  # the empty place

    def render(self) -> np.ndarray:
        state = self.unwrapped.state
        return self.tiles[np.where(state < 0, 9, state) - 1].swapaxes(1, 2).reshape(72, 72, 3)


def photo_tiles() -> gymnasium.Env:
    """The 8-puzzle of sliding-puzzles as a photograph, shuffled by 10 moves; the finish pays."""
    from sliding_puzzles import SlidingEnv

    return PhotoTiles(SlidingEnv(w=3, h=3, sparse_rewards=True, shuffle_mode="serial", shuffle_steps=10))


class Cube(gymnasium.Env):
    """magiccube's 2 × 2 × 2, scrambled by four turns of three faces; turning the others would also turn it over."""

    action_space, action_names = gymnasium.spaces.Discrete(6), ("R", "R'", "U", "U'", "F", "F'")
    observation_space = gymnasium.spaces.Box(0, 255, (48, 64, 3), np.uint8)

    def reset(self, *, seed: int | None = None, options: dict | None = None) -> tuple[np.ndarray, dict]:
        from magiccube import Cube as Magic

        super().reset(seed=seed)
        self.cube = Magic(2)
        self.cube.rotate(" ".join(self.action_names[turn] for turn in self.np_random.integers(6, size=4)))
        return unfolded(self.cube), {"solved": self.cube.is_done()}

    def step(self, action: int) -> tuple[np.ndarray, float, bool, bool, dict]:
        self.cube.rotate(self.action_names[action])
        return unfolded(self.cube), 0.0, False, False, {"solved": self.cube.is_done()}


def unfolded(cube: Any) -> np.ndarray:
    """A frame of the six faces of magiccube's pocket cube."""
    colours = ((0, 0, 0), (255, 255, 255), (255, 230, 0), (200, 0, 0), (255, 140, 0), (0, 0, 220), (0, 160, 0))
    places = {"U": (0, 2), "L": (2, 0), "F": (2, 2), "R": (2, 4), "B": (2, 6), "D": (4, 2)}
    cells = np.zeros((6, 8), np.int64)
    for face, stickers in cube.get_all_faces().items():
        row, column = places[face.name]
        cells[row : row + 2, column : column + 2] = [
            [1 + "WYROBG".index(each.name) for each in line] for line in stickers
        ]
    return painted(cells, np.array(colours, np.uint8))


def magic_cube() -> gymnasium.Env:
    """magiccube's pocket cube."""
    return Cube()


class Procgen(gymnasium.Env):
    """A level of one of Procgen's games, begun from its saved state."""

    action_space = gymnasium.spaces.Discrete(15)
    observation_space = gymnasium.spaces.Box(0, 255, (64, 64, 3), np.uint8)

    def __init__(self, game: str, seed: int) -> None:
        from procgen import ProcgenGym3Env

        self.game = ProcgenGym3Env(1, game, num_levels=1, start_level=seed, distribution_mode="easy")
        self.start = self.game.callmethod("get_state")

    def reset(self, *, seed: int | None = None, options: dict | None = None) -> tuple[np.ndarray, dict]:
        self.game.callmethod("set_state", self.start)
        return self.game.observe()[1]["rgb"][0], {}

    def step(self, action: int) -> tuple[np.ndarray, float, bool, bool, dict]:
        self.game.act(np.array([action]))
        reward, shown, begins = self.game.observe()
        return shown["rgb"][0], float(reward[0]), bool(begins[0]), False, {}


def procgen(game: str = "coinrun") -> gymnasium.Env:
    """A negative control: Procgen's things glide, jump or aim, and one frame does not show where to."""
    return Remade(lambda seed: Procgen(game, seed))


class Counted(gymnasium.Wrapper):
    """A negative control: any world with a step counter in its picture."""

    count = 0

    def reset(self, **options: Any) -> tuple[Any, dict]:
        self.count = 0
        return self.env.reset(**options)

    def step(self, action: Any) -> Any:
        self.count += 1
        return self.env.step(action)

    def render(self) -> np.ndarray:
        frame = np.array(self.env.render())
        frame[:16, : 8 * (self.count % 64)] = 255
        return frame


def counted() -> gymnasium.Env:
    """MiniGrid with a step counter, so that no state ever comes back."""
    import minigrid  # noqa: F401

    return Counted(gymnasium.make("MiniGrid-Empty-Random-5x5-v0", render_mode="rgb_array", max_steps=10**6).unwrapped)

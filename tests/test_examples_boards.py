"""The larger examples: their rules by hand and against what is known of them, and their levels."""

from __future__ import annotations

import importlib
from typing import Any

import numpy as np
import pytest
from gymnasium.utils.env_checker import check_env as check_gymnasium

from examples.boards import BoardWorld, Layers
from examples.cube import Cube
from examples.hanoi import Hanoi
from examples.lights_out import LightsOut
from examples.sliding_puzzle import SlidingPuzzle
from pixelplan.types import InputError
from pixelplan.worlds.check_env import check_env
from pixelplan.worlds.gym_family import GymFamily

WORLDS: dict[str, dict[str, Any]] = {
    "sokoban_levels": {},
    "sliding_puzzle": {"size": 3},
    "cube": {"size": 2},
    "lights_out": {},
    "hanoi": {},
}
OTHERS = {"fifteen as a picture": ("sliding_puzzle", {"picture": True}), "large cube": ("cube", {"size": 3})}


@pytest.fixture(params=[*WORLDS, *OTHERS])
def world(request: pytest.FixtureRequest) -> BoardWorld:
    name, options = OTHERS.get(request.param, (request.param, WORLDS.get(request.param)))
    return importlib.import_module(f"examples.{name}").make(**options)


@pytest.mark.filterwarnings("ignore")  # Gymnasium warns of anything that is not usual
def test_they_are_gymnasium_environments(world):
    check_gymnasium(world, skip_render_check=True)


def test_they_fit(world):
    check = check_env(GymFamily(world), [4, 5, 6], episodes=8)
    assert check.fits and check.hidden == 0 and check.states_seen[-1] > 5


def test_every_state_looks_different(world):
    """Kinds have sprites of their own, so boards that differ look different."""
    assert len(np.unique(world.sprites.reshape(len(world.sprites), -1), axis=0)) == len(world.sprites)


def test_replay_is_play_step_by_step(world):
    family, random = GymFamily(world), [np.random.default_rng(3) for _ in range(2)]
    quick = family.play(2, 5, 12, random[0])
    family._env = _WithoutReplay(world)
    slow = family.play(2, 5, 12, random[1])
    np.testing.assert_array_equal(quick.frames, slow.frames)
    np.testing.assert_array_equal(quick.episodes, slow.episodes)


class _WithoutReplay:
    """A world that can only be played step by step."""

    def __init__(self, world: BoardWorld) -> None:
        self._world = world
        self.action_space, self.reset, self.step = world.action_space, world.reset, world.step
        self.unwrapped = world

    def has_wrapper_attr(self, name: str) -> bool:
        return name != "replay" and self._world.has_wrapper_attr(name)

    def get_wrapper_attr(self, name: str) -> Any:
        return self._world.get_wrapper_attr(name)


@pytest.mark.parametrize(
    ("name", "options"),
    [
        ("sliding_puzzle", {"size": 3, "steps": 14}),
        ("sliding_puzzle", {"steps": 7}),
        ("cube", {"size": 2, "steps": 5}),
        ("cube", {"size": 3, "steps": 2}),
        ("lights_out", {"steps": 7}),
        ("lights_out", {}),
        ("hanoi", {"steps": 14}),
        ("hanoi", {}),
        ("sliding_puzzle", {"size": 3}),
    ],
)
def test_levels_are_solved_by_their_shortest_solutions(name, options):
    env = importlib.import_module(f"examples.{name}").make(**options)
    for level in range(5):
        env.reset(seed=level)
        way = env.shortest_solution()
        assert options.get("steps") in (None, len(way))
        assert [env.step(action)[4]["solved"] for action in way] == [False] * (len(way) - 1) + [True]


@pytest.mark.parametrize(("turned", "times"), [("top", 4), ("right", 4), ("back", 4)])
def test_four_quarter_turns_are_none(turned, times):
    env = Cube()
    env.reset(seed=0)
    before, action = env.board.copy(), env.action_names.index(turned)
    for turn in range(times):
        env.step(action)
        assert np.array_equal(env.board, before) == (turn == times - 1)
    env.step(action)
    env.step(action + 1)
    np.testing.assert_array_equal(env.board, before)


def test_turns_of_the_cube_are_those_of_a_real_one():
    """Right, top, right back, top back: the order of that is 6, and of right, top 105."""
    for size in (2, 3):
        env = Cube(size=size)
        orders = []
        for names in (("right", "top", "right back", "top back"), ("right", "top")):
            board, count = env.goal[None], 0
            while count == 0 or not np.array_equal(board[0], env.goal):
                for name in names:
                    board = env.move(board, np.array([env.action_names.index(name)]))
                count += 1
            orders.append(count)
        assert orders == ([6, 15] if size == 2 else [6, 105])


def test_how_many_states_are_how_far():
    """Known counts: of the small cube in quarter turns, of the 15-puzzle, of Hanoi with three discs."""
    small, fifteen, hanoi = Cube(size=2), SlidingPuzzle(), Hanoi(discs=3)
    assert [len(Layers(small, small.goal).layer(steps)) for steps in range(6)] == [1, 6, 27, 120, 534, 2256]
    assert [len(fifteen.layers.layer(steps)) for steps in range(8)] == [1, 2, 4, 10, 24, 54, 107, 212]
    assert sum(len(hanoi.layers.layer(steps)) for steps in range(8)) == 27 and hanoi.layers.layer(8) is None


@pytest.mark.parametrize("size", [3, 4])
def test_orders_of_the_sliding_puzzle_can_be_solved(size):
    """Half of all orders can; whether one can does not change by a slide, and the goal can."""
    from examples.sliding_puzzle import _solvable

    env, random = SlidingPuzzle(size=size), np.random.default_rng(0)
    board = env.goal[None]
    for action in random.integers(4, size=300):
        board = env.move(board, np.array([action]))
        assert _solvable(board.reshape(-1), size)
        swapped = board.reshape(-1).copy()
        first, second = np.flatnonzero(swapped)[:2]
        swapped[[first, second]] = swapped[[second, first]]
        assert not _solvable(swapped, size)
    for level in range(20):
        env.reset(seed=level)
        assert _solvable(env.board.reshape(-1), size)


def test_lights_by_hand():
    env = LightsOut()
    env.reset(seed=0)
    board = env.move(np.zeros((1, 5, 5), np.uint8), np.array([0]))[0]
    assert np.argwhere(board).tolist() == [[0, 0], [0, 1], [1, 0]]
    with_neighbours = env.move(np.zeros((1, 5, 5), np.uint8), np.array([12]))[0]
    assert with_neighbours.sum() == 5


@pytest.mark.parametrize(
    ("make", "options", "words"),
    [
        (SlidingPuzzle, {"size": 9}, "size is 9"),
        (SlidingPuzzle, {"steps": 99}, "steps is 99"),
        (Cube, {"size": 4}, "size is 4"),
        (Cube, {"size": 2, "steps": 15}, "steps is 15"),
        (Cube, {"optimal": True}, "with size=2"),
        (Hanoi, {"discs": 8}, "discs is 8"),
        (Hanoi, {"steps": 128}, "steps is 128"),
        (LightsOut, {"steps": 16}, "steps is 16"),
    ],
)
def test_options_out_of_range_are_refused(make, options, words):
    with pytest.raises(InputError, match=words):
        make(**options)

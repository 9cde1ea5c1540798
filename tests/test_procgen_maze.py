"""The tables of ProcgenMaze against the real Procgen."""

from __future__ import annotations

import multiprocessing
import subprocess
import sys
import threading
import warnings
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np
import pytest

pytest.importorskip("procgen", reason="needs the extra `procgen`")

from procgen.env import ProcgenGym3Env

from pixelplan.puzzles import procgen_maze
from pixelplan.puzzles.level import Level
from pixelplan.puzzles.procgen_maze import ProcgenMaze
from pixelplan.types import InputError

UP, RIGHT, LEFT, DOWN, NO_OP = range(5)
PROCGEN_ACTIONS = np.array([5, 7, 1, 3, 4])
"""Procgen's numbers of our actions."""
LEVELS = (0, 1, 7, 2042, 10000, 2**31 - 1)


class RealProcgen:
    """A level in a Procgen of its own, made the documented way."""

    def __init__(self, number: int) -> None:
        self.game = ProcgenGym3Env(
            num=1, env_name="maze", start_level=number, num_levels=1, distribution_mode="easy", num_threads=1
        )

    def step(self, action: int) -> tuple[float, bool]:
        self.game.act(PROCGEN_ACTIONS[[action]])
        reward, _, first = self.game.observe()
        return float(reward[0]), bool(first[0])

    def frame(self) -> np.ndarray:
        return self.game.observe()[1]["rgb"][0]

    def cell(self) -> list[int]:
        return procgen_maze._mouse_cell(procgen_maze._parse(self.game.get_state()[0])).tolist()


def make(number: int) -> Level:
    return ProcgenMaze().make(number)


def arrays(level: Level) -> dict[str, Any]:
    return {name: value for name, value in vars(level).items() if isinstance(value, np.ndarray)}


def assert_equal(one: Level, other: Level) -> None:
    for name, value in vars(one).items():
        assert np.array_equal(value, getattr(other, name)), name


@pytest.mark.parametrize("number", LEVELS)
def test_any_level_by_number_equals_a_fresh_instance(number: int) -> None:
    level, real = make(number), RealProcgen(number)
    assert np.array_equal(level.frame(level.start), real.frame())
    grid = procgen_maze._cell_types(procgen_maze._parse(real.game.get_state()[0]))
    assert np.array_equal(np.argwhere(grid != 51), level.positions[::2])
    assert grid[tuple(level.positions[level.goal])] == 2
    assert level.number == number


@pytest.mark.parametrize("number", [*LEVELS, *range(2000, 2014)])
def test_random_play_is_byte_for_byte_that_of_procgen(number: int) -> None:
    level, real, random = make(number), RealProcgen(number), np.random.default_rng(number)
    state, rewarded = level.start, 0
    for action in random.integers(5, size=400):
        state = level.successors[state, action]
        reward, first = real.step(int(action))
        assert (reward, first) == ((10.0, True) if level.goals[state] else (0.0, False))
        if level.goals[state]:  # Procgen shows the next episode, which is the same level again
            state, rewarded = level.start, rewarded + 1
        assert np.array_equal(level.frame(state), real.frame())
        assert level.positions[state].tolist() == real.cell()
        if rewarded == 3:
            break


@pytest.mark.parametrize("number", [2, 5, 100, 1234, 20000])
def test_every_state_equals_procgen_with_a_single_mouse(number: int) -> None:
    level, simulator = make(number), procgen_maze._simulator()
    unsolved = simulator.load(number)
    solved = unsolved.copy()
    procgen_maze._cell_types(solved)[tuple(level.positions[level.goal])] = 100
    for state in range(len(level.goals)):
        record = solved if level.goals[state] else unsolved
        rendered = simulator.render(record, level.positions[[state]], state % 2)
        assert np.array_equal(level.frame(state), rendered)


def test_the_patches_of_different_cells_never_overlap() -> None:
    """What allows all mice in one frame, and what a patch of 4 pixels rests on."""
    levels = [make(number) for number in range(60)]
    cells = np.concatenate([level.positions for level in levels])
    corners = np.concatenate([level.corners for level in levels])
    for axis in (0, 1):
        lines = np.unique(np.stack([cells[:, axis], corners[:, axis]], axis=1), axis=0)  # [15,2] cell and first pixel
        assert lines[:, 0].tolist() == list(range(15))
        assert set(np.diff(lines[:, 1]).tolist()) == {4, 5}
        assert lines[-1, 1] + 4 == 64


def test_left_and_right_turn_the_mouse_even_at_a_wall_and_the_others_never_do() -> None:
    level = make(2042)
    states = np.flatnonzero(~level.goals)
    after = level.successors[states]
    assert (after[:, RIGHT] % 2 == 1).all()
    assert (after[:, LEFT] % 2 == 0).all()
    for action in (UP, DOWN, NO_OP):
        assert (after[:, action] % 2 == states % 2).all()
    assert (after[:, NO_OP] == states).all()
    bumps_right = (level.positions[after[:, RIGHT]] == level.positions[states]).all(axis=1)
    assert bumps_right.any()
    assert (after[bumps_right, RIGHT] == states[bumps_right] // 2 * 2 + 1).all()


def test_a_bump_turns_the_mouse_in_procgen() -> None:
    """Level 2042 starts with walls on both sides and below, so only the facing can change."""
    level, real = make(2042), RealProcgen(2042)
    facing_left, facing_right = level.start, level.start + 1
    for action, state in ((RIGHT, facing_right), (NO_OP, facing_right), (DOWN, facing_right), (LEFT, facing_left)):
        real.step(action)
        assert np.array_equal(real.frame(), level.frame(state))
    assert not np.array_equal(level.frame(facing_left), level.frame(facing_right))


@pytest.mark.parametrize("number", LEVELS)
def test_the_goal_is_absorbing_and_its_frame_has_no_cheese(number: int) -> None:
    level = make(number)
    solved = np.flatnonzero(level.goals)
    assert solved.tolist() == [level.goal, level.goal + 1]
    assert (level.successors[solved] == solved[:, None]).all()
    assert level.goal % 2 == level.start % 2 == 0
    assert level.positions[level.goal].tolist() == level.positions[level.goal + 1].tolist()
    simulator = procgen_maze._simulator()
    record = simulator.load(number)
    procgen_maze._cell_types(record)[tuple(level.positions[level.goal])] = 100
    empty = simulator.render(record, level.positions[:0], 0)
    cheese = (empty != level.background).any(axis=-1)
    assert cheese.any()
    for state in solved:
        assert (level.frame(state) != level.background).any(axis=-1)[cheese].all()


def test_the_start_is_the_bottom_left_of_a_tree_in_the_middle_of_the_world() -> None:
    sides = set()
    for number in range(40):
        level = make(number)
        cells = level.positions[::2]
        low, high = cells.min(), cells.max()
        side = high - low + 1
        sides.add(int(side))
        assert level.positions[level.start].tolist() == [high, low]
        assert low == 14 - high
        assert len(cells) == (side + 1) ** 2 // 2 - 1
        moves = (level.successors[:, [UP, RIGHT, LEFT, DOWN]] // 2 != np.arange(len(level.goals))[:, None] // 2)[::2]
        at_goal = sum(abs(cells - level.positions[level.goal]).sum(axis=1) == 1)
        assert moves.sum() + at_goal == 2 * (len(cells) - 1)
    assert sides == {3, 5, 7, 9, 11, 13, 15}


def test_starts_are_all_cells_but_the_goal_facing_as_the_start_does() -> None:
    level = make(7)
    assert level.start in level.starts
    assert sorted([*level.starts.tolist(), level.goal]) == list(range(0, len(level.goals), 2))


@pytest.mark.parametrize("number", [*LEVELS, 2000, 2001, 2002])
def test_the_shortest_path_solves_procgen(number: int) -> None:
    level, real = make(number), RealProcgen(number)
    path = level.shortest_path(level.start)
    assert path
    assert [real.step(action) for action in path] == [(0.0, False)] * (len(path) - 1) + [(10.0, True)]


def test_every_state_can_be_solved() -> None:
    level = make(1)
    assert all(level.shortest_path(state) is not None for state in range(len(level.goals)))


def test_frames_tell_states_apart_but_for_the_facing_in_two_cells() -> None:
    shared = set()
    for number in range(60):
        level = make(number)
        frames = level.frames(np.arange(len(level.goals)))
        same = (frames[0::2] == frames[1::2]).all(axis=(1, 2, 3))
        shared |= {tuple(cell) for cell in level.positions[::2][same].tolist()}
        assert len({frame.tobytes() for frame in frames}) == len(frames) - same.sum()
    assert shared == {(5, 7), (5, 11)}


def test_a_level_is_small() -> None:
    biggest = max((make(number) for number in range(40)), key=lambda level: len(level.goals))
    assert len(biggest.goals) == 254
    assert biggest.patches.shape == (254, 4, 4, 3)
    assert sum(array.nbytes for array in arrays(biggest).values()) < 40_000
    kinds = {name: array.dtype.name for name, array in arrays(biggest).items()}
    assert kinds == {
        **dict.fromkeys(("background", "patches"), "uint8"),
        **dict.fromkeys(("corners", "successors", "positions", "starts"), "int32"),
        "goals": "bool",
    }


def test_a_level_does_not_depend_on_what_was_made_before() -> None:
    first = make(5)
    make(6)
    assert_equal(first, make(5))


def test_threads_have_their_own_simulators() -> None:
    alone = [make(number) for number in range(40)]
    with ThreadPoolExecutor(3) as pool:
        for one, other in zip(alone, pool.map(make, range(40)), strict=True):
            assert_equal(one, other)


@pytest.mark.skipif("fork" not in multiprocessing.get_all_start_methods(), reason="no fork here")
def test_a_forked_process_can_use_it() -> None:
    level = make(3)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # later Pythons warn of any fork beside threads
        with multiprocessing.get_context("fork").Pool(1) as pool:
            assert_equal(level, pool.apply_async(make, (3,)).get(timeout=60))


def test_nothing_is_printed_and_nothing_warns() -> None:
    code = "from pixelplan.puzzles.procgen_maze import ProcgenMaze; ProcgenMaze().make(3)"
    result = subprocess.run([sys.executable, "-W", "error", "-c", code], capture_output=True, text=True, check=False)
    assert (result.returncode, result.stdout, result.stderr) == (0, "", "")


def test_without_procgen_the_user_is_told_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(procgen_maze, "_simulators", threading.local())
    monkeypatch.setitem(sys.modules, "procgen.env", None)
    with pytest.raises(InputError, match=r"pip install 'pixelplan\[procgen\]'"):
        make(0)

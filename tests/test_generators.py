"""Levels: the published ones bit for bit, the rules by hand and against a plain implementation."""

from __future__ import annotations

import random

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pixelplan.puzzles import get_level, make_puzzle
from pixelplan.puzzles.candidate_boards import first_suitable, has_dead_end
from pixelplan.puzzles.digit_jump import DigitJump, jumps
from pixelplan.puzzles.ice_slider import IceSlider, slides
from pixelplan.puzzles.random_words import Words, below
from pixelplan.types import InputError
from tests import published

numbers = st.integers(0, 2**31 - 1)


@given(numbers, st.integers(2, 255))
def test_draws_are_those_of_python(seed: int, bound: int) -> None:
    words = Words(seed)
    stream = words.take(700)
    _, values = below(stream, bound)
    plain = random.Random(seed)
    assert values[:100].tolist() == [plain.randint(0, bound - 1) for _ in range(100)]


def test_returned_words_come_again() -> None:
    words = Words(7)
    first = words.take(10)
    words.give_back(first[4:])
    again = words.take(20)
    assert again[:6].tolist() == first[4:].tolist() and len(again) == 20


@settings(max_examples=6, deadline=None)
@given(numbers)
def test_ice_slider_is_the_published_one(number: int) -> None:
    free, start, goal, solution = published.ice_slider(number)
    level = IceSlider().make(number)
    assert tuple(level.positions[level.start]) == start and tuple(level.positions[level.goal]) == goal
    assert level.shortest_path(level.start) == tuple(solution)
    for cell, (row, column) in enumerate(level.positions):
        if free[row][column]:
            ends = [published.slide(free, (int(row), int(column)), action) for action in range(4)]
            assert [tuple(level.positions[end]) for end in level.successors[cell, :4]] == ends


@settings(max_examples=20, deadline=None)
@given(numbers, st.sampled_from([4, 5, 8]))
def test_digit_jump_is_the_published_one(number: int, size: int) -> None:
    digits, _, goal, solution = published.digit_jump(number, size)
    level = DigitJump(size=size, pixels=8 * size).make(number)
    assert tuple(level.positions[level.goal]) == goal
    assert level.shortest_path(0) == tuple(solution)
    for cell, (row, column) in enumerate(level.positions):
        ends = [published.jump(digits, (int(row), int(column)), action) for action in range(4)]
        assert [tuple(level.positions[end]) for end in level.successors[cell, :4]] == ends


def test_first_published_levels_stay_what_they_are() -> None:
    """Recorded once: the published solutions of level 0."""
    assert IceSlider().make(0).shortest_path(IceSlider().make(0).start) == (3, 2, 3, 2, 0, 2, 3, 1, 3, 2, 3)
    assert DigitJump().make(0).shortest_path(0) == (3, 3, 1, 1, 1)


@given(st.integers(4, 9), st.integers(0, 2**32 - 1))
def test_slides_against_plain_rules(size: int, seed: int) -> None:
    free = np.random.default_rng(seed).random((3, size, size)) > 0.3
    fast = slides(free)
    for board in range(3):
        plain = free[board].tolist()
        for cell in range(size**2):
            for action in range(4):
                row, column = published.slide(plain, divmod(cell, size), action)
                assert fast[action, cell, board] == row * size + column


def board(*rows: str) -> np.ndarray:
    """Free cells [1,size,size] of a drawn board, # for rocks."""
    return np.array([[cell != "#" for cell in row] for row in rows])[None]


def test_sliding_over_the_goal_does_not_count() -> None:
    table = slides(board("....", "....", "....", "...."))
    start, goal = np.array([0]), np.array([13])  # the goal is inside the bottom row: every slide goes past it
    assert first_suitable(table, start, goal, 1, dead_ends=False) is None
    stopped = slides(board("....", "....", "....", "..#."))
    assert first_suitable(stopped, start, goal, 1, dead_ends=False) == 0


def test_one_move_from_solved() -> None:
    table = slides(board("....", "....", "....", "...."))
    assert table[3, 0, 0] == 12  # down the left edge, to the corner
    assert first_suitable(table, np.array([0]), np.array([12]), 1, dead_ends=False) == 0
    assert first_suitable(table, np.array([0]), np.array([12]), 2, dead_ends=False) is None


def test_dead_end_is_found_only_if_there_is_one() -> None:
    assert not has_dead_end(np.array([[1, 0], [2, 0], [2, 1]]), start=0, goal=2)
    assert has_dead_end(np.array([[1, 2], [1, 1], [2, 2]]), start=0, goal=2)
    assert not has_dead_end(np.array([[2, 0], [1, 1], [2, 2]]), start=0, goal=2)  # 1 is a trap out of reach


def test_a_jump_off_the_board_stays() -> None:
    table = jumps(np.full((1, 4, 4), 3))
    assert table[:, 0, 0].tolist() == [0, 3, 0, 12]
    assert table[:, 5, 0].tolist() == [5, 5, 5, 5]


@pytest.mark.parametrize("size,pixels", [(4, 64), (5, 60), (6, 48), (7, 28), (16, 128), (32, 128)])
def test_other_sizes(size: int, pixels: int) -> None:
    for puzzle in (IceSlider(size=size, pixels=pixels), DigitJump(size=size, pixels=pixels)):
        level = puzzle.make(3)
        assert level.frame(level.start).shape == (pixels, pixels, 3)
        assert level.shortest_path(level.start) is not None


def test_options_are_kept() -> None:
    long = IceSlider(minimum_length=12).make(1)
    assert len(long.shortest_path(long.start) or ()) >= 12
    trap = DigitJump(dead_ends=True).make(1)
    assert has_dead_end(trap.successors, trap.start, trap.goal)
    rocks = [(IceSlider(rock_density=density, minimum_length=3).make(1)).starts.size for density in (0.1, 0.4)]
    assert rocks[0] > rocks[1]
    plain, glyphs = DigitJump(look="colours").make(1), DigitJump().make(1)
    assert np.array_equal(plain.successors, glyphs.successors) and not np.array_equal(
        plain.background, glyphs.background
    )


@pytest.mark.parametrize(
    "name,options,word",
    [
        ("ice-slider", {"size": 3}, "size"),
        ("ice-slider", {"size": 33}, "size"),
        ("ice-slider", {"size": 10}, "multiple"),
        ("ice-slider", {"size": 32, "pixels": 64}, "4 to 64"),
        ("ice-slider", {"rock_density": 1.5}, "rock_density"),
        ("ice-slider", {"minimum_length": 0}, "minimum_length"),
        ("digit-jump", {"look": "braille"}, "look"),
        ("digit-jump", {"rocks": 1}, "rocks"),
        ("chess", {}, "chess"),
    ],
)
def test_bad_options_are_named(name: str, options: dict, word: str) -> None:
    with pytest.raises(InputError, match=word):
        make_puzzle(name, **options)


def test_a_generator_that_gives_up_says_so() -> None:
    with pytest.raises(InputError, match="lower minimum_length"):
        IceSlider(size=4, minimum_length=40).make(0)
    with pytest.raises(InputError, match="lower minimum_length"):
        DigitJump(size=4, minimum_length=40).make(0)


@pytest.mark.parametrize("number", [-1, 2**31, 1.5, "3", None])
def test_levels_that_do_not_exist(number: object) -> None:
    with pytest.raises(InputError, match="no level"):
        get_level(IceSlider(), number)  # type: ignore[arg-type]

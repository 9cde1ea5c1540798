"""One mover or several: what the data says."""

import itertools

import numpy as np
import pytest

from pixelplan.families.contents import cell_bounds
from pixelplan.families.identity import states_of_frames
from pixelplan.families.movers import one_mover
from pixelplan.model.batches import level_plays
from tests.tiny_world import play


def boards(frames: list[np.ndarray]) -> list[tuple[np.ndarray, np.ndarray]]:
    """One level of small boards [R,C] of grey values, enlarged to frames, each a state of its own."""
    pixels = [np.repeat(np.kron(board, np.ones((4, 4)))[..., None], 3, axis=2).astype(np.uint8) for board in frames]
    return [(np.stack(pixels), np.arange(len(pixels)))]


def test_a_walker_is_one_mover():
    data = play(levels=3)
    levels = level_plays(data, states_of_frames(data))
    assert one_mover([(level.frames, level.states) for level in levels], 4, 4)


def test_two_walkers_are_not():
    frames = []
    for first in range(4):
        for second in range(4, 8):
            board = np.zeros(9)
            board[[first, second]] = 100, 200
            frames.append(board.reshape(3, 3))
    assert not one_mover(boards(frames), 3, 3)


def test_something_that_changes_in_its_place_is_not():
    frames = []
    for place in range(9):
        for look in (50, 100, 150):
            board = np.zeros(9)
            board[place] = look
            frames.append(board.reshape(3, 3))
    assert not one_mover(boards(frames), 3, 3)


def test_with_too_few_states_one_mover_is_assumed():
    assert one_mover(boards([np.zeros((2, 2)), np.ones((2, 2))]), 2, 2)


@pytest.mark.parametrize(("lines", "pixels"), [(8, 64), (15, 64), (3, 10)])
def test_bounds_share_no_pixel(lines, pixels):
    bounds = cell_bounds(lines, pixels)
    assert all(first < behind for first, behind in bounds)
    assert all(one[1] <= other[0] for one, other in itertools.pairwise(bounds))

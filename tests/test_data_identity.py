"""Which frames are one state: by hand, and on a world whose agent looks left or right."""

import dataclasses
import itertools

import numpy as np
import pytest

from pixelplan.families.changes import difference_boxes, fitting_grid, patch_side
from pixelplan.families.identity import equal_frames, judge, near_pairs, states_of_frames
from pixelplan.families.reading_config import ReadingConfig
from pixelplan.types import Trajectories
from tests.tiny_world import play


def walk_with_facing(levels: int, length: int = 6, steps: int = 30, seed: int = 0) -> Trajectories:
    """A corridor in which moving left or right also turns the agent; action 2 does nothing. Cells are 4 × 4 pixels."""
    frames: list[np.ndarray] = []
    frame_level, rows, actions = [], [], []
    for level in range(levels):
        random = np.random.default_rng([seed, level])
        seen: dict[tuple[int, int], int] = {}
        place, facing, row = 0, 0, []
        taken = random.integers(3, size=steps)
        for step in range(steps + 1):
            if (place, facing) not in seen:
                frame = np.full((8, 4 * length, 3), 200, np.uint8)
                frame[:4, 4 * place : 4 * place + 4] = 50
                frame[1, 4 * place + 3 * facing] = 255  # the eye
                seen[place, facing] = len(frames)
                frames.append(frame)
                frame_level.append(level)
            row.append(seen[place, facing])
            if step < steps and taken[step] < 2:
                facing = int(taken[step])
                place = min(length - 1, max(0, place + 2 * facing - 1))
        rows.append(row)
        actions.append(taken)
    return Trajectories(
        np.stack(frames),
        np.array(frame_level),
        np.array(rows, np.int32),
        np.array(actions, np.uint8),
        np.arange(levels),
        {"actions": 3},
    )


def test_boxes_of_what_differs():
    first = np.zeros((3, 6, 6, 3), np.uint8)
    second = first.copy()
    second[0, 1:3, 2:5, 1] = 1
    second[1, 0, 0] = second[1, 5, 5] = 1
    assert difference_boxes(first, second).tolist() == [[2, 3], [6, 6], [0, 0]]


def test_the_side_of_what_moves():
    lying, standing = [[8, 12], [8, 16]], [[0, 12], [16, 20]]
    assert patch_side(np.array([lying, standing]), 64) == 4
    assert patch_side(np.zeros((0, 2, 2), int), 64) == 64
    two_at_once = [[8, 32], [0, 40]]
    several = np.array([lying, lying, lying, two_at_once])
    assert patch_side(several, 64) == 0
    assert patch_side(several, 64, ReadingConfig(large_width=0.5)) == 4
    assert patch_side(several, 64, ReadingConfig(usual_width=1.0, large_width=1.0)) > 4


@pytest.mark.parametrize(("rows", "columns", "pitch"), [(8, 8, 8), (15, 15, 64 / 15), (7, 9, 50 / 7), (2, 3, 16)])
def test_a_grid_is_found_from_moves_across_it(rows, columns, pitch):
    """Things inside the cells of a grid, whose size need not be whole pixels, move to the next cell."""
    row, column = np.divmod(np.arange(rows * columns), columns)
    rightwards = np.stack([row, row + 1, column, column + 2], axis=1)[column < columns - 1]
    downwards = np.stack([row, row + 2, column, column + 1], axis=1)[row < rows - 1]
    spans = np.rint(np.concatenate([rightwards, downwards]) * pitch).astype(int).reshape(-1, 2, 2)
    assert fitting_grid(spans, round(rows * pitch), round(columns * pitch)) == (rows, columns)


def test_no_grid_if_moves_fit_none():
    assert fitting_grid(np.zeros((0, 2, 2), int), 64, 64) is None
    wide = [[[first, first + 40], [0, 64]] for first in range(24)]
    assert fitting_grid(np.array(wide), 64, 64) is None


def test_plain_worlds_have_no_merges():
    data = play(levels=5)
    assert (states_of_frames(data) == np.arange(len(data.frames))).all()


def test_equal_frames_are_one_state():
    data = play(levels=1)
    doubled = dataclasses.replace(
        data,
        frames=np.concatenate([data.frames, data.frames[:1]]),
        frame_level=np.append(data.frame_level, 0),
        episodes=np.where(
            np.arange(11) == 5, np.where(data.episodes == 0, len(data.frames), data.episodes), data.episodes
        ),
    )
    states = states_of_frames(doubled)
    assert states[-1] == states[0] and len(np.unique(states)) == len(data.frames)
    assert equal_frames(doubled.frames).tolist()[-1] == 0


def test_facing_is_no_difference():
    data = walk_with_facing(levels=8)
    states = states_of_frames(data)
    place = (data.frames[:, 0, ::4, 0] == 50).argmax(axis=1) + 100 * data.frame_level
    same = states[:, None] == states
    assert (same == (place[:, None] == place)).all()


def test_a_coin_that_is_gone_is_a_difference():
    """A walker in a corridor takes a coin, smaller than it is; then walking onto its place leads to one frame."""
    frames = np.full((2 * 6, 4, 24, 3), 200, np.uint8)
    for coin, place in itertools.product(range(2), range(6)):
        frame = frames[6 * coin + place]
        frame[1:3, 21:23] = 120 if coin else 200
        frame[:, 4 * place : 4 * place + 4] = 50
    frames = np.delete(frames, 11, axis=0)  # on the coin's place it is gone
    state, row, actions = 6, [6], np.random.default_rng(0).integers(2, size=400).astype(np.uint8)
    for action in actions:
        there = min(5, max(0, state % 6 + 2 * int(action) - 1))
        state = there if state < 6 or there == 5 else 6 + there
        row.append(state)
    data = Trajectories(frames, np.zeros(11, int), np.array([row]), actions[None], np.zeros(1, int), {"actions": 2})
    assert {5, 10} <= set(row), "the coin is taken"
    assert (states_of_frames(data) == np.arange(11)).all()


def test_near_pairs_differ_in_a_small_square_only():
    frames = np.zeros((3, 16, 16, 3), np.uint8)
    frames[1, 2:5, 2:5] = 9
    frames[2, 2:5, 2:9] = 9
    assert near_pairs(frames, np.arange(3), 4) == [(0, 1)] or near_pairs(frames, np.arange(3), 4) == [(0, 1), (1, 2)]
    assert near_pairs(frames, np.array([0, 0, 2]), 4) == []


@pytest.mark.parametrize(
    ("steps", "verdict"),
    [
        ([[0, 0, 5], [1, 0, 5]], "same"),
        ([[0, 0, 5], [1, 0, 6]], "different"),
        ([[0, 0, 5], [1, 1, 5]], "unknown"),
        ([[0, 0, 0], [1, 0, 1]], "unknown"),
        ([[0, 0, 5], [1, 0, 5], [0, 1, 5], [1, 1, 7]], "different"),
        ([[0, 0, 5], [1, 0, 5], [0, 1, 0], [1, 1, 1]], "same"),
    ],
)
def test_what_steps_say_of_a_near_pair(steps, verdict):
    verdicts = judge([(0, 1)], np.array(steps))
    assert getattr(verdicts, verdict) == [(0, 1)]
    assert len(verdicts.same) + len(verdicts.different) + len(verdicts.unknown) == 1

"""The simplest grids on which states can be told apart, and what they decide about the networks."""

import dataclasses
import itertools
import json

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pixelplan.families import grid
from pixelplan.families.changes import changed_spans, fitting_grid
from pixelplan.families.contents import compact_grids
from pixelplan.families.grid import ModelConfig, suggest_grid
from pixelplan.families.reading_config import ReadingConfig
from pixelplan.families.stepping import stepping_grid
from pixelplan.model.find_family import config_from
from pixelplan.types import InputError, Trajectories


def drawn(boards: np.ndarray, cell: tuple[int, int] = (6, 6), seed: int = 0) -> np.ndarray:
    """Frames of boards [n,R,C] of small numbers; each number has a pattern of its own."""
    patterns = np.random.default_rng(seed).integers(0, 256, (boards.max() + 1, *cell, 3), dtype=np.uint8)
    size = boards.shape[1] * cell[0], boards.shape[2] * cell[1]
    return patterns[boards].transpose(0, 1, 3, 2, 4, 5).reshape(len(boards), *size, 3)


def leaping(boards: np.ndarray) -> Trajectories:
    """Play of one level in which every step leads to any of the boards [n,R,C]."""
    random = np.random.default_rng(0)
    places = random.integers(len(boards), size=(50, 21)).astype(np.int32)
    level = np.zeros(len(boards), np.int64)
    actions = random.integers(4, size=(50, 20)).astype(np.uint8)
    return Trajectories(drawn(boards), level, places, actions, np.zeros(50, np.int64), {"actions": 4})


@settings(max_examples=30, deadline=None)
@given(
    size=st.tuples(st.integers(2, 5), st.integers(2, 5)),
    kinds=st.integers(2, 6),
    cell=st.tuples(st.integers(4, 9), st.integers(4, 9)),
    seed=st.integers(0, 100),
)
def test_the_grid_of_a_board_is_found(size, kinds, cell, seed):
    boards = np.random.default_rng(seed).integers(0, kinds, (300, *size))
    assert compact_grids([drawn(boards, cell, seed)], most=16)[0] == size


def test_what_never_changes_does_not_count():
    boards = np.random.default_rng(0).integers(0, 2, (100, 3, 3))
    frames = np.pad(drawn(boards), ((0, 0), (0, 6), (0, 0), (0, 0)))  # a fourth row, below
    frames[:, 18:] = np.random.default_rng(1).integers(0, 256, (6, 18, 3), dtype=np.uint8)
    assert compact_grids([frames], most=2)[0] == (4, 3)


def test_without_few_things_in_cells_there_is_no_grid():
    frames = np.random.default_rng(0).integers(0, 256, (50, 24, 24, 3), dtype=np.uint8)
    assert not compact_grids([frames], most=16)


def leapers(movers: int) -> Trajectories:
    """Play in which things leap to any places of a board."""
    boards = np.zeros((0, 4, 4), int)
    for places in itertools.permutations(range(16), movers):
        board = np.zeros(16, int)
        board[list(places)] = np.arange(1, movers + 1)
        boards = np.concatenate([boards, board.reshape(1, 4, 4)])
    return leaping(boards)


def test_a_thing_that_leaps_is_seen_on_its_grid(monkeypatch):
    data = leapers(1)
    assert fitting_grid(changed_spans(data), 24, 24) != (4, 4), "steps alone do not tell"
    _, sizes = suggest_grid(ModelConfig(), None, data)
    assert (sizes.rows, sizes.columns) == (4, 4)
    monkeypatch.setattr(grid, "stepping_grid", lambda sample, reading: None)
    suggest_grid(ModelConfig(reading=ReadingConfig(most_things=2)), None, data)
    with pytest.raises(InputError, match="more than one thing changes"):
        suggest_grid(ModelConfig(reading=ReadingConfig(most_things=1)), None, data)


@pytest.mark.parametrize("given", [None, (4, 4)])
def test_two_things_are_refused_with_what_to_use_instead(given):
    with pytest.raises(InputError, match=r"more than one thing changes.*--preset picture"):
        suggest_grid(ModelConfig(), given, leapers(2))
    _, sizes = suggest_grid(ModelConfig("latent"), (4, 4), leapers(2))
    assert (sizes.rows, sizes.columns) == (4, 4), "an ablation takes any world"


@pytest.mark.parametrize(("step", "side"), [(4, 8), (3, 5), (5, 5)])
def test_a_mover_may_be_larger_than_its_steps(step, side):
    frames = np.full((8 * 8, 40, 40, 3), 200, np.uint8)
    frames[:, 10:14, 30:] = 50  # a wall that it never covers whole
    for place, (row, column) in enumerate(itertools.product(range(8), range(8))):
        frames[place, step * row : step * row + side, step * column : step * column + side] = 0
    data = dataclasses.replace(leaping(np.zeros((64, 4, 4), int)), frames=frames)
    _, sizes = suggest_grid(ModelConfig(), None, data)
    assert (sizes.rows, sizes.columns) == (round(40 / step), round(40 / step))


def test_steps_of_a_pixel_make_no_grid():
    frames = np.full((20, 30, 30, 3), 200, np.uint8)
    for place in range(20):
        frames[place, 5:10, place : place + 5] = 0
    assert stepping_grid([(frames, np.arange(20))]) is None
    assert stepping_grid([(frames[::4], np.arange(5))]) == (8, 8)
    assert stepping_grid([(frames, np.arange(20))], ReadingConfig(smallest_cell=1)) == (30, 30)
    assert stepping_grid([(frames[::4], np.arange(5))], ReadingConfig(enough_states=6)) is None


def test_how_play_is_read_is_a_setting():
    boards = np.random.default_rng(0).integers(0, 3, (40, 4, 4))
    assert compact_grids([drawn(boards)], most=16)[0] == (4, 4)
    assert (4, 4) not in compact_grids([drawn(boards)], 16, ReadingConfig(smallest_cell=7))
    data = leaping(boards)
    with pytest.raises(InputError, match="more than one thing changes"):
        suggest_grid(ModelConfig(), None, data)
    suggest_grid(ModelConfig(reading=ReadingConfig(enough_states=1000)), None, data)  # none tells, so one is assumed


def test_how_play_is_read_is_in_the_record_of_a_model():
    config = ModelConfig(least_updates=7, reading=ReadingConfig(within=0.9))
    written = json.loads(json.dumps(dataclasses.asdict(config)))
    assert written["reading"]["within"] == 0.9 and config_from(written) == config
    before = {name: value for name, value in written.items() if name not in ("reading", "least_updates")}
    assert config_from(before) == ModelConfig(), "older records have neither"
    assert config_from({**before, "kinds": 16, "pattern_frames": 1000}) == ModelConfig(), "and settings that are gone"
    for damaged in ("much", None, -1, True):
        with pytest.raises(InputError, match="within is"):
            config_from({**written, "reading": {"within": damaged}})


def test_a_given_grid_stays():
    data = leapers(1)
    assert fitting_grid(changed_spans(data), 24, 24) != (4, 4)
    _, sizes = suggest_grid(ModelConfig(reading=ReadingConfig(enough_states=1000)), (4, 4), data)
    assert (sizes.rows, sizes.columns) == (4, 4)

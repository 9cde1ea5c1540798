"""Worlds at the edge of what can be learned: each trains, or ends in one sentence."""

import json

import numpy as np
import pytest

from pixelplan.families.grid import ModelConfig
from pixelplan.families.presets import PRESETS
from pixelplan.families.vector import VectorConfig
from pixelplan.model.picture_config import PictureConfig
from pixelplan.model.race import title_of, train_best
from pixelplan.model.train_config import TrainConfig
from pixelplan.reports.summaries import summarise_training
from pixelplan.types import Trajectories

CANDIDATES = (
    PictureConfig(patches=8, width=8, wide=8, words=16),
    VectorConfig(dimensions=8, planes=2, width=8),
    ModelConfig(dimensions=8, encoder_width=8, context_width=8),
)
CONFIG = TrainConfig(candidates=CANDIDATES, updates=4, quiet=True, threads=1, batch=2, frames=8)


def walk(
    size: tuple[int, int] = (16, 16), levels: int = 4, actions: int = 2, useful: int = 2, seed: int = 0
) -> Trajectories:
    """A dot on the diagonal that the first action moves forward and the second back; any others do nothing."""
    random = np.random.default_rng(seed)
    places = min(4, *size)
    side = max(1, min(size) // places)
    frames = np.zeros((levels, places, *size, 3), np.uint8)
    for level in range(levels):
        frames[level] = random.integers(0, 60, 3)
        for place in range(places):
            corner = slice(place * side, (place + 1) * side)
            frames[level, place, corner, corner] = 250
    taken = random.integers(0, actions, (levels, 3, 10))
    states = np.zeros((levels, 3, 11), np.int64)
    for step in range(10):
        move = np.select([taken[..., step] == 0, taken[..., step] == 1], [1, -1], 0) if useful else 0
        states[..., step + 1] = np.clip(states[..., step] + move, 0, places - 1)
    return Trajectories(
        frames.reshape(-1, *size, 3),
        np.repeat(np.arange(levels), places),
        (states + np.arange(levels)[:, None, None] * places).reshape(-1, 11).astype(np.int32),
        taken.reshape(-1, 10).astype(np.uint8),
        np.repeat(np.arange(levels), 3),
        {"env": "walk", "actions": actions, "options": {}},
    )


@pytest.mark.parametrize(
    ("size", "levels", "actions"),
    [((3, 3), 4, 2), ((256, 256), 3, 2), ((16, 40), 4, 2), ((17, 23), 4, 2), ((16, 16), 1, 2), ((16, 16), 2, 200)],
    ids=["3 × 3 frames", "256 × 256 frames", "wide frames", "odd frames", "a single level", "200 actions"],
)
def test_odd_worlds_are_trained(size, levels, actions, tmp_path):
    data = walk(size, levels, actions)
    model = train_best(data, tmp_path / "model", CONFIG)
    z = model.encode(data.frames[:2])
    assert model.step(z, model.context(data.frames[0])).shape == (2, actions, z.shape[1])
    description = json.loads((tmp_path / "model" / "config.json").read_text())
    assert description["race"] and summarise_training(description)


def test_a_world_in_which_nothing_changes_says_so(tmp_path):
    data = walk(useful=0)
    train_best(data, tmp_path / "model", CONFIG)
    description = json.loads((tmp_path / "model" / "config.json").read_text())
    assert any("nothing ever changes" in line for line in summarise_training(description))


def test_a_world_in_which_every_frame_is_new_says_so(tmp_path):
    random = np.random.default_rng(0)
    frames = random.integers(0, 255, (44, 16, 16, 3), dtype=np.uint8)
    data = Trajectories(
        frames,
        np.repeat(np.arange(2), 22),
        np.arange(44).reshape(4, 11).astype(np.int32),
        random.integers(0, 2, (4, 10), dtype=np.uint8),
        np.repeat(np.arange(2), 2),
        {"env": "noise", "actions": 2, "options": {}},
    )
    train_best(data, tmp_path / "model", CONFIG)
    description = json.loads((tmp_path / "model" / "config.json").read_text())
    assert any("was not learned" in line for line in summarise_training(description))


def test_the_default_preset_guesses_nothing_and_tells_its_candidates_apart():
    assert [title_of(candidate) for candidate in PRESETS["auto"].candidates] == ["picture", "picture (features 8)"]

"""The rehearsal: plans in held-out levels tell before any evaluation whether plans will fail."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
import torch

import pixelplan
from pixelplan.by_name.open_model import model_warnings
from pixelplan.model.batches import LevelPlay
from pixelplan.model.checkpoint import read_description
from pixelplan.reports.summaries import summarise_training
from pixelplan.training.rehearsal import follow, plans_found, too_few, warnings
from tests.own_worlds import Corridor
from tests.toy import ToyModel, frame_of

LINE = [[max(0, place - 1), min(5, place + 1)] for place in range(6)]
"""Six places in a row; actions: back, forward."""


def level(solved: int) -> LevelPlay:
    """All of the row, walked once to its end and once on the spot, with one solved place."""
    frames = np.stack([frame_of(state) for state in range(6)])
    episodes = np.array([[0, 1, 2, 3, 4, 5], [0, 0, 0, 0, 0, 0]])
    actions = np.array([[1, 1, 1, 1, 1], [0, 0, 0, 0, 0]])
    return LevelPlay(frames, np.arange(6), episodes, actions, solved=(np.arange(6) == solved).astype(np.int8))


def knowing(solved: int | None) -> ToyModel:
    """A model of the row that takes one place, or none, for solved."""
    model = ToyModel(LINE)
    wanted = None if solved is None else model.encode(frame_of(solved)[None])

    def doubt(z: torch.Tensor) -> torch.Tensor:
        return torch.full((len(z),), 9.0) if wanted is None else (z - wanted).norm(dim=1)

    model.goal_test = doubt  # type: ignore[attr-defined]
    return model


def test_plans_are_counted_and_compared_with_recorded_play() -> None:
    assert plans_found(knowing(4), [level(4), level(4)]) == {"levels": 2, "found": 2, "wrong": 0}
    assert plans_found(knowing(4), [level(4), level(5)]) == {"levels": 2, "found": 2, "wrong": 1}
    assert plans_found(knowing(None), [level(4)]) == {"levels": 1, "found": 0, "wrong": 0}


def test_recorded_steps_are_followed_as_far_as_they_go() -> None:
    assert follow(level(5), 0, [1, 1]) == 2 and follow(level(5), 0, []) == 0
    assert follow(level(5), 0, [1, 0, 1]) is None


@pytest.mark.parametrize(
    ("found", "wrong", "says"), [(10, 0, ""), (9, 0, ""), (3, 0, "a plan in 3 of 10"), (10, 2, "2 of these plans")]
)
def test_it_warns_if_many_plans_fail(found: int, wrong: int, says: str) -> None:
    sentences = warnings({"levels": 10, "found": found, "wrong": wrong}, 0.9)
    assert bool(sentences) == bool(says) and all(says in sentence for sentence in sentences)


def test_training_ends_with_it(tmp_path: Path) -> None:
    """Said by training, kept in the model's folder, and repeated by whatever plans with a goal test."""
    data = pixelplan.collect(Corridor, "0:12", tmp_path / "data", episodes=8, steps=12)
    pixelplan.train(data, tmp_path / "model", "tiny", quiet=True, threads=1)
    description = read_description(tmp_path / "model")
    rehearsal = description["findings"]["rehearsal"]
    assert rehearsal["levels"] == 2 and f"rehearsal: {rehearsal['found']} plans found in 2" in "\n".join(
        summarise_training(description)
    )
    assert [*warnings(rehearsal, 0.9), too_few(2)] == [
        sentence for sentence in model_warnings(tmp_path / "model", by_goal_test=True) if "rehears" in sentence
    ]
    before = (tmp_path / "model" / "config.json").read_bytes()
    pixelplan.train(data, tmp_path / "model", "tiny", quiet=True, threads=1, resume=True)
    assert (tmp_path / "model" / "config.json").read_bytes() == before

"""Training on noisy frames that starts again if it has found nothing."""

import dataclasses
import json

import pytest
import torch

import pixelplan
from pixelplan.families.presets import PRESETS
from pixelplan.model.calibrate import JudgingConfig
from pixelplan.model.checkpoint import read_description
from pixelplan.model.restarts import RestartConfig, last_attempt, next_pass
from pixelplan.model.train import train
from pixelplan.model.train_config import ScheduleConfig
from tests.tiny_world import play


def row(number: int, accuracy: float, attempt: int | None = None) -> dict[str, float]:
    return {"pass": number, "accuracy": accuracy} | ({} if attempt is None else {"attempt": attempt})


@pytest.mark.parametrize(
    ("rows", "after"),
    [
        ([], (1, 1)),
        ([row(1, 0.1)], (1, 2)),
        ([row(3, 0.1) | {"agree": 0.7}], (1, 4)),
        ([row(3, 0.9) | {"agree": 1.0}], (2, 1)),
        ([row(4, 0.9) | {"agree": 1.0}], (1, 5)),
        ([row(6, 0.89)], (2, 1)),
        ([row(6, 0.91)], (1, 7)),
        ([row(6, 0.91) | {"look": 0.4}], (1, 7)),
        ([row(6, 1.0) | {"look": 2.5}], (2, 1)),
        ([row(7, 0.1)], (1, 8)),
        ([row(6, 0.1), row(1, 0.2, 2)], (2, 2)),
        ([row(6, 0.1, 2)], (3, 1)),
        ([row(6, 0.1, 8)], (8, 7)),
    ],
)
def test_what_comes_next(rows, after):
    assert next_pass(rows, 11, noisy=True) == after


def test_only_noisy_training_starts_again():
    assert next_pass([row(6, 0.1)], 11, noisy=False) == (1, 7)
    assert next_pass([row(1, 0.1)], 1, noisy=True) == (1, 2), "with one pass there is no half"
    assert next_pass([row(1, 0.1) | {"agree": 1.0}], 3, noisy=True) == (1, 2), "a third is no moment"
    assert last_attempt([row(1, 0.1), row(1, 0.2, 2), row(2, 0.3, 2)]) == [row(1, 0.2, 2), row(2, 0.3, 2)]


def test_a_killed_run_starts_again_as_it_would_have(tmp_path, monkeypatch, capsys):
    """No attempt of this short training finds anything; interrupted right before the second one, it ends the same."""
    data = play(levels=2)
    tiny = PRESETS["tiny"]
    config = dataclasses.replace(
        tiny,
        updates=40,
        schedule=ScheduleConfig(least_updates=10),
        threads=1,
        batch=1,
        frames=4,
        model=dataclasses.replace(tiny.model, noisy=True),
        restarts=RestartConfig(attempts=3, least_passes=4, least_accuracy=1.1, most_agree_loss=9),
        judging=JudgingConfig(quick_levels=1, final_levels=1),
    )
    whole = train(data, tmp_path / "whole", config)
    assert capsys.readouterr().err.count("attempt 2 begins") == 1
    rows = [json.loads(line) for line in (tmp_path / "whole" / "metrics.jsonl").read_text().splitlines()]
    halves = [(line.get("attempt", 1), line["pass"]) for line in rows]
    assert halves == [(1, 1), (1, 2), (2, 1), (2, 2), (3, 1), (3, 2), (3, 3), (3, 4)]

    def killed(*_: object) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as patched:
        patched.setattr("pixelplan.model.train.start_over", killed)
        with pytest.raises(KeyboardInterrupt):
            train(data, tmp_path / "cut", config)
    resumed = train(data, tmp_path / "cut", config, resume=True)
    description = read_description(tmp_path / "whole")
    assert description["config"]["restarts"]["attempts"] == 3 and description["config"]["judging"]["final_levels"] == 1
    assert description["validation_metrics"]["levels"] == 1
    ours, theirs = whole.networks.state_dict(), resumed.networks.state_dict()
    assert all(torch.equal(ours[name], theirs[name]) for name in ours)


def test_noisy_training_from_python(tmp_path):
    data = play(levels=4)
    options = {"preset": "tiny", "updates": 2, "threads": 1, "quiet": True}
    model = pixelplan.train(data, tmp_path / "model", validation=data, noisy=True, **options)
    assert model.noisy and model.config.family == "position"
    again = pixelplan.train(data, tmp_path / "model", validation=data, noisy=True, resume=True, **options)
    assert torch.equal(model.encode(data.frames), again.encode(data.frames))
    with pytest.raises(pixelplan.InputError, match="already holds"):
        pixelplan.train(data, tmp_path / "model", validation=data, noisy=True, **options)

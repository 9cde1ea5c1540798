"""Training end to end with the tiny preset: learning, resuming, processes, and what goes wrong."""

import dataclasses
import json
import math
import os
import signal
import subprocess
import sys
import time

import pytest
import torch

from pixelplan.families.identity import states_of_frames
from pixelplan.families.position import Position
from pixelplan.files import read_json
from pixelplan.model import train as training
from pixelplan.model.batches import level_plays
from pixelplan.model.checkpoint import CHECKPOINT, WEIGHTS_FILE, load_model
from pixelplan.model.metrics import step_errors
from pixelplan.model.schedule import ScheduleConfig
from pixelplan.model.train import train
from pixelplan.reports.inspect_model import inspect_model
from pixelplan.types import InputError
from tests.tiny_world import TINY, play

SHORT_PASSES = dataclasses.replace(TINY, schedule=ScheduleConfig(least_updates=5))
"""A few updates make several passes."""


def test_one_level_is_learned_to_the_last_step(tmp_path):
    data = play(levels=1)
    config = dataclasses.replace(TINY, updates=100, colour=0.0, batch=1)
    model = train(data, tmp_path / "model", config)
    errors = step_errors(model, level_plays(data, states_of_frames(data)))
    assert errors.accuracy(model.threshold) == 1.0


def test_the_folder_is_complete_and_readable(tmp_path):
    data = play(levels=12)
    model = train(data, tmp_path / "model", TINY, play(levels=3, seed=9))
    assert {path.name for path in (tmp_path / "model").iterdir()} == {
        "config.json",
        "curves.png",
        "metrics.jsonl",
        "weights.safetensors",
    }
    text = (tmp_path / "model" / "config.json").read_text()
    config = json.loads(text)
    assert config["data"]["env"] == "tiny-world" and len(config["data"]["fingerprint"]) == 64
    assert config["sizes"] == {
        "height": 16,
        "width": 16,
        "actions": 5,
        "rows": 4,
        "columns": 4,
        "reach": 1,
        "glide": None,
    }
    assert config["threshold"] == model.threshold == config["calibration"]["threshold"]
    assert str(tmp_path) not in text
    rows = [json.loads(line) for line in (tmp_path / "model" / "metrics.jsonl").read_text().splitlines()]
    assert [row["pass"] for row in rows] == [1] and rows[0]["accuracy"] >= 0


def test_saved_and_loaded_models_are_equal(tmp_path):
    data = play(levels=2)
    model = train(data, tmp_path / "model", TINY)
    again = load_model(tmp_path / "model")
    assert torch.equal(model.encode(data.frames), again.encode(data.frames))
    assert again.threshold == model.threshold and not again.networks.training


def test_the_same_seed_gives_the_same_weights(tmp_path):
    for name, seed in (("one", 0), ("two", 0), ("three", 1)):
        train(play(), tmp_path / name, dataclasses.replace(TINY, updates=8, seed=seed))
    one, two, three = ((tmp_path / name / WEIGHTS_FILE).read_bytes() for name in ("one", "two", "three"))
    assert one == two != three


def test_resumed_training_ends_with_the_same_weights(tmp_path, monkeypatch):
    data, config = play(), dataclasses.replace(SHORT_PASSES, updates=20)
    train(data, tmp_path / "whole", config)

    look = training.quick_look

    def stop_before_pass_three(*arguments):
        passes_done = len((tmp_path / "cut" / "metrics.jsonl").read_text().splitlines()) if started else 0
        started.append(passes_done)
        if passes_done == 2:
            raise KeyboardInterrupt
        return look(*arguments)

    started: list[int] = []
    monkeypatch.setattr(training, "quick_look", stop_before_pass_three)
    with pytest.raises(KeyboardInterrupt):
        train(data, tmp_path / "cut", config)
    monkeypatch.setattr(training, "quick_look", look)
    with pytest.raises(InputError, match="unfinished training; --resume"):
        train(data, tmp_path / "cut", config)
    with pytest.raises(InputError, match="unfinished"):
        load_model(tmp_path / "cut")
    with pytest.raises(InputError, match="other config"):
        train(data, tmp_path / "cut", dataclasses.replace(config, seed=5), resume=True)
    train(data, tmp_path / "cut", config, resume=True)
    assert (tmp_path / "cut" / WEIGHTS_FILE).read_bytes() == (tmp_path / "whole" / WEIGHTS_FILE).read_bytes()
    assert not (tmp_path / "cut" / CHECKPOINT).exists()
    train(data, tmp_path / "cut", config, resume=True)  # finished: nothing to do
    with pytest.raises(InputError, match="already holds a trained model"):
        train(data, tmp_path / "cut", config)
    with pytest.raises(InputError, match="other data"):
        train(play(seed=3), tmp_path / "cut", config, resume=True)


KILLED = """
import sys, dataclasses
from tests.test_model_training import SHORT_PASSES, play
from pixelplan.model.train import train
train(play(), sys.argv[1], dataclasses.replace(SHORT_PASSES, updates=40), resume=True)
"""


def test_killed_and_resumed(tmp_path, monkeypatch):
    """kill -9 as soon as there is a checkpoint, then resume: the same bytes as an undisturbed run."""
    command = [sys.executable, "-c", KILLED]
    process = subprocess.Popen([*command, str(tmp_path / "killed")], env={**os.environ, "OMP_NUM_THREADS": "1"})
    while process.poll() is None and not (tmp_path / "killed" / CHECKPOINT).exists():
        time.sleep(0.002)
    if process.poll() is None:
        process.send_signal(signal.SIGKILL)
    process.wait()
    for name in ("killed", "whole"):
        train(play(), tmp_path / name, dataclasses.replace(SHORT_PASSES, updates=40), resume=True)
    assert (tmp_path / "killed" / WEIGHTS_FILE).read_bytes() == (tmp_path / "whole" / WEIGHTS_FILE).read_bytes()


@pytest.mark.filterwarnings("ignore")
def test_two_processes_follow_the_curve_of_one(tmp_path):
    """Means over halves of a batch are not means over the batch, so losses agree to 10 %, not to the bit."""
    rows = []
    for devices in (1, 2):
        out = tmp_path / str(devices)
        train(play(levels=8), out, dataclasses.replace(TINY, updates=10, devices=devices, frames=100))
        rows.append(json.loads((out / "metrics.jsonl").read_text()))
    for name in ("forward", "inverse", "margin"):
        assert rows[1][name] == pytest.approx(rows[0][name], rel=0.1), name


def test_a_loss_that_is_not_a_number_stops_training(tmp_path, monkeypatch):
    real, calls = Position.forward, []

    def broken(*arguments):
        calls.append(1)
        losses = real(*arguments)
        return {**losses, "total": losses["total"] * (math.nan if len(calls) > 7 else 1)}

    monkeypatch.setattr(Position, "forward", broken)
    with pytest.raises(InputError, match=r"not a number in pass 2; the checkpoint of pass 1 is kept"):
        train(play(), tmp_path / "model", dataclasses.replace(SHORT_PASSES, updates=20))
    assert (tmp_path / "model" / CHECKPOINT).exists()


def test_damaged_model_folders_are_refused(tmp_path):
    with pytest.raises(InputError, match=r"not a model folder"):
        load_model(tmp_path)
    folder = tmp_path / "model"
    train(play(levels=1), folder, dataclasses.replace(TINY, updates=2))
    config = read_json(folder / "config.json")
    (folder / "config.json").write_text(json.dumps({**config, "format": 99}))
    with pytest.raises(InputError, match="format 99"):
        load_model(folder)
    (folder / "config.json").write_text(json.dumps({**config, "model": {**config["model"], "maps": 2}}))
    with pytest.raises(InputError, match="has shape"):
        load_model(folder)
    (folder / "config.json").write_text(json.dumps({**config, "model": {**config["model"], "inverse": False}}))
    with pytest.raises(InputError, match=r"has a tensor inverse\."):
        load_model(folder)
    (folder / "config.json").write_text(json.dumps({**config, "model": {**config["model"], "family": "latent"}}))
    with pytest.raises(InputError, match="lacks the tensor"):
        load_model(folder)
    (folder / "config.json").write_text(json.dumps(config))
    (folder / WEIGHTS_FILE).write_bytes((folder / WEIGHTS_FILE).read_bytes()[:-100])
    with pytest.raises(InputError, match="damaged"):
        load_model(folder)


def test_inspection(tmp_path):
    data = play(levels=3)
    train(data, tmp_path / "model", dataclasses.replace(TINY, updates=4))
    inspection = inspect_model(tmp_path / "model", data, level=2)
    for word in ("parameters", "4 × 4 cells", "threshold", "one-step", "H@10", "tiny-world"):
        assert word in inspection.report
    assert inspection.picture is not None
    inspection.picture.savefig(tmp_path / "picture.png")
    assert inspect_model(tmp_path / "model").picture is None
    with pytest.raises(InputError, match="no level 7"):
        inspect_model(tmp_path / "model", data, level=7)
    with pytest.raises(InputError, match="frames of 15 × 15 pixels are not a whole number of cells"):
        inspect_model(tmp_path / "model", play(levels=1, size=3, cell=5))

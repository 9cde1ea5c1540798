"""`train` and `inspect` as a user calls them."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

import pixelplan
from pixelplan.files import read_json
from tests.conftest import one_sentence, run_command


@pytest.fixture(scope="module")
def data(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A small data set of a small puzzle."""
    folder = tmp_path_factory.mktemp("cli") / "data"
    puzzle = pixelplan.puzzles.make_puzzle("digit-jump", size=4, pixels=16, look="colours")
    pixelplan.collect(puzzle, "0:24", folder, episodes=6, steps=10)
    return folder


@pytest.fixture(scope="module")
def model(data: Path) -> Path:
    """A model trained on it by the command, without interruption."""
    folder = data.parent / "model"
    output = run_command("train", "--data", data, "--out", folder, "--preset", "tiny", "--threads", "1")
    assert "parameters" in output.stdout
    return folder


def test_the_folder_is_all_that_later_commands_need(model: Path, tmp_path: Path) -> None:
    moved = tmp_path / "elsewhere"
    shutil.copytree(model, moved)
    assert {"weights.safetensors", "config.json", "metrics.jsonl", "curves.png"} <= set(os.listdir(moved))
    config = json.loads((moved / "config.json").read_text())
    assert config["data"]["env"] == "digit-jump" and config["data"]["fingerprint"] and config["threshold"] > 0
    report = run_command("inspect", moved).stdout
    assert "H@10" in report and "threshold" in report
    assert (moved / "inspect.png").read_bytes().startswith(b"\x89PNG")
    options = ["--option", "size=4", "pixels=16", "look=colours"]
    run_command("evaluate", "--env", "digit-jump", *options, "--levels", "1000:1003", "--model", moved)


def test_a_killed_and_resumed_training_has_the_same_weights(data: Path, model: Path, tmp_path: Path) -> None:
    out = tmp_path / "model"
    words = ["train", "--data", data, "--out", out, "--preset", "tiny", "--threads", "1", "--resume"]
    process = subprocess.Popen(
        [sys.executable, "-m", "pixelplan", *map(str, words)], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
    )
    until = time.monotonic() + 60
    while not list(out.glob("*.safetensors")) and process.poll() is None and time.monotonic() < until:
        time.sleep(0.01)
    process.send_signal(signal.SIGKILL)
    process.wait()
    run_command(*words)
    assert (out / "weights.safetensors").read_bytes() == (model / "weights.safetensors").read_bytes()


def test_bad_input_is_one_sentence(data: Path, model: Path, tmp_path: Path) -> None:
    out = tmp_path / "out"
    train = ["train", "--out", out, "--preset", "tiny", "--data"]
    assert "not a trajectory folder" in one_sentence(run_command(*train, model, code=2))
    damaged = tmp_path / "damaged"
    shutil.copytree(data, damaged)
    os.truncate(damaged / "frames.npy", 500)
    assert "frames.npy" in one_sentence(run_command(*train, damaged, code=2))
    assert not out.exists()
    words = ["train", "--data", data, "--out", model, "--preset", "tiny"]
    assert "already holds" in one_sentence(run_command(*words, code=2))
    assert "batch" in one_sentence(run_command(*train, data, "--batch", "0", code=2))


def test_a_damaged_model_is_one_sentence(model: Path, tmp_path: Path) -> None:
    folder = tmp_path / "model"
    shutil.copytree(model, folder)
    play = ["evaluate", "--env", "digit-jump", "--levels", "0:2", "--model", folder]
    assert "size=4" in one_sentence(run_command(*play, code=2)), "boards of another size"
    assert "digit-jump" in one_sentence(run_command(*play[:2], "ice-slider", *play[3:], code=2))
    (folder / "weights.safetensors").write_bytes(b"nothing")
    assert "weights.safetensors" in one_sentence(run_command("inspect", folder, code=2))
    config = read_json(folder / "config.json")
    (folder / "config.json").write_text(json.dumps({**config, "format": 99}))
    assert "format 99" in one_sentence(run_command("inspect", folder, code=2))

"""The commands that faults hit, as small as they can be, and how to compare two of their results."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
from fault_shim import run

WORLD = ("--env", "digit-jump", "--option", "size=4", "pixels=16")
SOUND = ("--option", "where=nowhere")
"""What makes a world of `fault_worlds` behave."""
BOXES = ("--env", "examples.sokoban_levels:make", "--model", "oracle")
TIMES = {"seconds", "seconds_per_plan", "steps_per_second", "rows", "seal", "commit"}
"""Keys whose values are measured times, or depend on when a checkpoint was due or what was committed meanwhile."""


@dataclass(frozen=True)
class Command:
    """A command that can be cut off and resumed."""

    name: str
    arguments: Callable[[Path], list[str | Path]]
    """Its arguments, for a folder that will hold everything it writes."""
    inputs: Callable[[Path], None] = lambda place: None
    """Makes its inputs, once."""
    resume: tuple[str, ...] = ("--resume",)


def quick() -> None:
    """Make notes and checkpoints often, although there is little work; called in the process that runs the command."""
    from pixelplan.data import collect, dataset
    from pixelplan.evaluation import finished_levels

    collect.LEVELS_AT_ONCE, dataset.SECONDS_BETWEEN_NOTES = 2, 0.0
    finished_levels.SECONDS_BETWEEN_NOTES = 0.0
    from pixelplan.baselines import glamor, ppo
    from pixelplan.families.grid import ModelConfig
    from pixelplan.families.presets import PRESETS
    from pixelplan.families.vector import VectorConfig
    from pixelplan.model import goal_test, train_config
    from pixelplan.model.picture_config import PictureConfig

    small = (
        PictureConfig(patches=4, width=8, wide=8),
        VectorConfig(dimensions=8, planes=4, width=8),
        ModelConfig(),
    )
    presets, passes = PRESETS, train_config.ScheduleConfig(least_updates=3)
    race, test = train_config.RaceConfig(updates=6), goal_test.GoalTestConfig(updates=40)
    presets["auto"] = replace(presets["auto"], candidates=small, schedule=passes, race=race, goal_test=test)
    presets["tiny"] = replace(presets["tiny"], updates=6, schedule=passes)
    glamor.SECONDS_BETWEEN_CHECKPOINTS = 0.02
    ppo.Keeper.SECONDS_BETWEEN_CHECKPOINTS = 0.0


def _data(place: Path, levels: int = 24) -> None:
    _must(["collect", *WORLD, "--levels", f"0:{levels}", "--episodes", "3", "--steps", "6", "--out", place / "data"])


def _recording(place: Path) -> None:
    place.mkdir(parents=True, exist_ok=True)
    random = np.random.default_rng(0)
    frames = random.integers(0, 256, (5, 7, 16, 16, 3), dtype=np.uint8)
    np.savez_compressed(place / "recording.npz", frames=frames, actions=random.integers(0, 4, (5, 6)))


def _must(arguments: list[str | Path]) -> None:
    done = run(arguments, prepare=quick)
    if done.code:
        raise SystemExit(f"{' '.join(map(str, arguments))} failed: {done.errors}")


def commands(inputs: Path) -> dict[str, Command]:
    """All of them by name; `inputs` is the folder for what they read."""
    train = ("--data", inputs / "data", "--preset", "tiny", "--updates", "9", "--batch", "8", "--threads", "1")
    baseline = (*WORLD, "--levels", "1000:1002", "--step-limit", "6")
    larger = ("--env", "digit-jump", "--option", "size=4", "pixels=36", *baseline[len(WORLD) :])
    play = ("--levels", "0:7", "--episodes", "2", "--steps", "5")
    listed = [
        Command("collect", lambda out: ["collect", *WORLD, *play, "--out", out / "data"]),
        Command("import", lambda out: ["import", inputs / "recording.npz", "--out", out / "data"], _recording),
        Command(
            "evaluate",
            lambda out: ["evaluate", *WORLD, "--model", "oracle", "--levels", "0:5", "--json", out / "record.json"],
        ),
        Command(
            "explore",
            lambda out: ["collect", "--env", "fault_worlds:make", *SOUND, "--explore", *play, "--out", out / "data"],
        ),
        Command(
            "solved",
            lambda out: [
                *("evaluate", *WORLD, "--model", inputs / "model", "--goals", "solved", "--levels", "0:3"),
                *("--node-limit", "30", "--step-limit", "6", "--json", out / "record.json"),
            ],
        ),
        Command(
            "rules",
            lambda out: [
                *("train", "--data", inputs / "data", "--family", "rules", "--updates", "6", "--threads", "1"),
                *("--out", out / "model"),
            ],
        ),
        Command("train", lambda out: ["train", *train, "--out", out / "model"], _data),
        Command(
            "on-policy",
            lambda out: ["train", *train, "--out", out / "model", "--on-policy", "1", "--on-policy-episodes", "1"],
        ),
        Command(
            "race",
            lambda out: [
                *("train", "--data", inputs / "data", "--out", out / "model"),
                *("--updates", "6", "--batch", "8", "--threads", "1"),
            ],
        ),
        Command(
            "heuristic",
            lambda out: [
                *("train-heuristic", *BOXES, "--levels", "0:4", "--held-out", "4:6", "--out", out / "heuristic"),
                *("--rounds", "3", "--searches", "3", "--nodes", "40", "--updates", "3", "--held-out-nodes", "40"),
                *("--hidden", "16", "--goal-blocks", "1", "--goal-width", "4"),
            ],
        ),
        Command(
            "export",
            lambda out: ["export", inputs / "model", "--out", out / "onnx"],
            lambda place: _must(["train", *train, "--out", place / "model"]),
            resume=(),
        ),
        Command(
            "reproduce",
            lambda out: [
                *("reproduce", "generalisation", "--run", "--puzzles", "digit-jump", "--levels", "1", "--seeds", "0"),
                *("--preset", "tiny", "--test-levels", "2000:2002", "--threads", "1"),
                *("--results", out / "results", "--out", out / "docs", "--runs", out / "runs"),
            ],
            resume=(),
        ),
        Command(
            "ppo",
            lambda out: [
                *("baseline", "ppo", *larger, "--games", "2", "--rollout-steps", "8", "--steps", "64"),
                *("--train-levels", "0:20", "--out", out / "run", "--json", out / "record.json"),
            ],
        ),
        Command(
            "glamor",
            lambda out: [
                *("baseline", "glamor", *baseline, "--horizon", "6", "--samples", "4", "--steps", "60"),
                *("--train-levels", "0:20", "--out", out / "run", "--json", out / "record.json"),
            ],
        ),
        Command(
            "random",
            lambda out: ["baseline", "random", *baseline, "--json", out / "record.json"],
            resume=(),
        ),
    ]
    return {command.name: command for command in listed}


def contents(folder: Path) -> dict[str, str]:
    """The files of a folder as digests by name: all bytes, except for measured times and who held a lock."""
    files = {str(path.relative_to(folder)): path for path in sorted(folder.rglob("*")) if path.is_file()}
    return {name: _digest(path) for name, path in files.items() if not name.endswith(".lock")}


def _digest(path: Path) -> str:
    data = path.read_bytes()
    if path.suffix == ".json":
        from pixelplan.files import read_json

        data = _canonical(read_json(path))
    elif path.suffix == ".jsonl":
        data = b"metrics"  # one line per checkpoint: their number depends on time
    elif path.name == "checkpoint.safetensors":
        data = _tensors(data)
    elif path.suffix == ".svg":
        data = re.sub(rb"<dc:date>.*?</dc:date>", b"", data)
    return hashlib.sha256(data).hexdigest()[:16]


def _tensors(data: bytes) -> bytes:
    """A checkpoint's header without times, and its tensors."""
    length = int.from_bytes(data[:8], "little")
    header = json.loads(data[8 : 8 + length])
    note = json.loads(header.pop("__metadata__")["note"])
    note.pop("sha256", None)
    return _canonical([header, note]) + data[8 + length :]


def _canonical(value: Any) -> bytes:
    return json.dumps(without_times(value), sort_keys=True).encode()


def without_times(value: Any) -> Any:
    """A JSON value without what is measured in seconds."""
    if isinstance(value, dict):
        return {key: without_times(part) for key, part in value.items() if key not in TIMES}
    return [without_times(part) for part in value] if isinstance(value, list) else value

"""Damaged models, checkpoints, learned distances and exported models, and what each command must make of them."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import numpy as np
from fault_commands import BOXES, WORLD, Command, contents, quick, without_times
from fault_inputs import Case, damage_file, judged, one_of, picture_arguments, well, without_times_and_places
from fault_shim import SLOWEST, Done, Shim, run


def models(base: Path, commands: dict[str, Command]) -> Case:
    """A model folder with its goal test, under `solve`: to a picture, to what solves the level, and in a level."""
    well(run(commands["train"].arguments(base), prepare=quick))
    pictures = picture_arguments(base)
    level = [*WORLD, "--planner", "one-shot", "--node-limit", "30"]
    ways = [
        ["solve", *pictures],
        ["solve", *pictures[:2], "--goals", "solved"],
        ["solve", *level, "--level", "3"],
        ["evaluate", *level, "--levels", "3:4", "--goals", "solved"],
    ]

    def think(way: int, model: Path) -> Done:
        return run([*ways[way], "--model", model], seconds=SLOWEST)

    usual = [without_times_and_places(well(think(way, base / "model"))) for way in range(len(ways))]

    def case(random: np.random.Generator, place: Path) -> str:
        (place / "model").mkdir()
        for name in ("config.json", "weights.safetensors", "goal-test.safetensors"):
            shutil.copy(base / "model" / name, place / "model" / name)
        sealed = damage_file(random, one_of(random, place / "model"))
        way = int(random.integers(len(ways)))
        done = think(way, place / "model")
        return judged(done, without_times_and_places(done) == usual[way], not sealed)

    return case


def checkpoints(base: Path, commands: dict[str, Command]) -> Case:
    """The checkpoint of a training that was interrupted (of a model, in a race, of a distance), under `--resume`."""
    interrupted = [_checkpoint(base / name, commands[name]) for name in ("train", "race", "heuristic")]

    def case(random: np.random.Generator, place: Path) -> str:
        command, cut, checkpoint, whole = interrupted[int(random.integers(len(interrupted)))]
        shutil.copytree(cut, place, dirs_exist_ok=True)
        damage_file(random, place / checkpoint)
        done = run([*command.arguments(place), "--resume"], prepare=quick, seconds=60)
        return judged(done, done.code == 0 and contents(place) == whole)

    return case


def _checkpoint(base: Path, command: Command) -> tuple[Command, Path, Path, dict[str, str]]:
    """An interrupted command, its folder, its last checkpoint there, and what it writes undisturbed."""
    (base / "whole").mkdir(parents=True)
    operations = well(run(command.arguments(base / "whole"), Shim(base / "whole"), quick)).operations
    cut = base / "cut"
    cut.mkdir()
    run(command.arguments(cut), Shim(cut, "kill", operations // 2), quick)
    last = max(cut.rglob("checkpoint.safetensors"), key=lambda path: path.stat().st_mtime)
    return command, cut, last.relative_to(cut), contents(base / "whole")


def heuristics(base: Path, commands: dict[str, Command]) -> Case:
    """A learned distance, under `evaluate --heuristic`."""
    well(run(commands["heuristic"].arguments(base), prepare=quick))
    play = ["evaluate", *BOXES, "--levels", "0:1", "--planner", "one-shot", "--frontier", "best-first"]
    play += ["--node-limit", "30", "--json", "-", "--heuristic"]

    def evaluate(folder: Path) -> tuple[Done, str]:
        done = run([*play, folder / "heuristic"], seconds=SLOWEST)
        return done, json.dumps(without_times(json.loads(done.out)["episodes"])) if done.code == 0 else ""

    undamaged, usual = evaluate(base)
    well(undamaged)

    def case(random: np.random.Generator, place: Path) -> str:
        shutil.copytree(base / "heuristic", place / "heuristic")
        sealed = damage_file(random, one_of(random, place / "heuristic"))
        done, story = evaluate(place)
        return judged(done, story == usual, not sealed)

    return case


def exported(base: Path, commands: dict[str, Command]) -> Case:
    """A model as ONNX, under `inspect`."""
    well(run(commands["export"].arguments(base), prepare=quick))
    usual = well(run(["inspect", base / "onnx"])).out.replace(str(base), "")

    def case(random: np.random.Generator, place: Path) -> str:
        shutil.copytree(base / "onnx", place / "onnx")
        sealed = damage_file(random, one_of(random, place / "onnx"))
        done = run(["inspect", place / "onnx"], seconds=SLOWEST)
        return judged(done, done.out.replace(str(place), "") == usual, not sealed)

    return case

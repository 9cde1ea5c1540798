"""Damaged and crafted files of our own formats, and what each command must make of them.

A file with a checksum or a seal must be refused when it is damaged, unless the damage changes nothing. What has none
(CSV, HDF5, JSON that somebody wrote anew) may be taken for what it says, but never with a traceback, a hang, or more
memory than there is.
"""

from __future__ import annotations

import json
import re
import shutil
from collections.abc import Callable
from pathlib import Path

import numpy as np
from fault_commands import BOXES, Command, contents, quick, without_times
from fault_damage import damaged_bytes, damaged_value
from fault_shim import SLOWEST, Done, Shim, run
from PIL import Image

Case = Callable[[np.random.Generator, Path], str]
"""One case in a fresh folder: how it went, in a word; a Wrong for what must not be."""


class Wrong(Exception):
    """Something that must not be."""


def judged(done: Done, same: bool, taken: bool = False) -> str:
    """How a command dealt with bad input; `same`: its result is the undamaged one, `taken`: it may be another."""
    if done.fault is not None:
        raise Wrong(done.fault)
    if done.code == 2:
        if done.sentence is None:
            raise Wrong(f"not one sentence: {done.errors[:300]}")
        return "refused"
    if same:
        return "harmless"
    if not taken:
        raise Wrong(f"believed: {done.out[:200]}")
    return "taken"


def damage_file(random: np.random.Generator, path: Path) -> bool:
    """Damage a file, JSON also by its values; gives whether it still has its old seal or checksum."""
    if path.suffix == ".json" and random.random() < 0.6:
        value = json.loads(path.read_text())
        kept = random.random() < 0.6
        if not kept:
            value.pop("seal", None)
        path.write_text(json.dumps(damaged_value(random, value)))
        return kept and "seal" in json.loads(path.read_text())
    if random.random() < 0.03:
        path.unlink()
    else:
        path.write_bytes(damaged_bytes(random, path.read_bytes())[1])
    return True


def one_of(random: np.random.Generator, folder: Path) -> Path:
    files = sorted(path for path in folder.rglob("*") if path.is_file())
    return files[int(random.integers(len(files)))]


def data_sets(base: Path, commands: dict[str, Command]) -> Case:
    """A complete data set, under `inspect`."""
    run(commands["collect"].arguments(base), prepare=quick)
    usual = run(["inspect", base / "data", "--out", base / "seen.png"]).out.replace(str(base), "")

    def case(random: np.random.Generator, place: Path) -> str:
        shutil.copytree(base / "data", place / "data")
        sealed = damage_file(random, one_of(random, place / "data"))
        done = run(["inspect", place / "data", "--out", place / "seen.png"], seconds=SLOWEST)
        return judged(done, done.out.replace(str(place), "") == usual, not sealed)

    return case


def unfinished_data(base: Path, commands: dict[str, Command]) -> Case:
    """A data set that was cut off, under `collect --resume`."""
    command = commands["collect"]
    (base / "whole").mkdir(parents=True)
    run(command.arguments(base / "whole"), prepare=quick)
    whole = contents(base / "whole")
    (base / "cut").mkdir()
    run(command.arguments(base / "cut"), Shim(base / "cut", "kill", 60), quick)

    def case(random: np.random.Generator, place: Path) -> str:
        shutil.copytree(base / "cut" / "data", place / "data")
        damage_file(random, one_of(random, place / "data"))
        done = run([*command.arguments(place), "--resume"], prepare=quick, seconds=SLOWEST)
        return judged(done, done.code == 0 and contents(place) == whole)

    return case


def models(base: Path, commands: dict[str, Command]) -> Case:
    """A model folder, under `solve` from picture to picture."""
    run(commands["train"].arguments(base), prepare=quick)
    pictures = _pictures(base)

    def solve(model: Path) -> Done:
        return run(["solve", *pictures, "--model", model], seconds=SLOWEST)

    usual = _story(solve(base / "model"))

    def case(random: np.random.Generator, place: Path) -> str:
        (place / "model").mkdir()
        for name in ("config.json", "weights.safetensors"):
            shutil.copy(base / "model" / name, place / "model" / name)
        sealed = damage_file(random, one_of(random, place / "model"))
        done = solve(place / "model")
        return judged(done, _story(done) == usual, not sealed)

    return case


def pictures(base: Path, commands: dict[str, Command]) -> Case:
    """PNG files, under `solve` from picture to picture."""
    run(commands["train"].arguments(base), prepare=quick)
    frame, start, goal, end = _pictures(base)

    def solve(picture: Path | str) -> Done:
        return run(["solve", frame, picture, goal, end, "--model", base / "model"], seconds=SLOWEST)

    usual = _story(solve(start))

    def case(random: np.random.Generator, place: Path) -> str:
        shutil.copy(start, place / "start.png")
        damage_file(random, place / "start.png")
        done = solve(place / "start.png")
        return judged(done, _story(done) == usual)

    return case


def _pictures(base: Path) -> list[str]:
    """Two frames of a level as --frame and --goal."""
    from pixelplan.envs import get_level, make_puzzle

    level = get_level(make_puzzle("digit-jump", size=4, pixels=16), 3)
    for name, state in (("start", level.start), ("goal", level.goal)):
        Image.fromarray(level.frame(state)).save(base / f"{name}.png")
    return ["--frame", str(base / "start.png"), "--goal", str(base / "goal.png")]


def _story(done: Done) -> str:
    return re.sub(r"\d+ ms", "", done.out)


def checkpoints(base: Path, commands: dict[str, Command]) -> Case:
    """The checkpoint of a training that was interrupted (of a model, in a race, of a distance), under `--resume`."""
    found = [_checkpoint(base / name, commands[name]) for name in ("train", "race", "heuristic")]

    def case(random: np.random.Generator, place: Path) -> str:
        command, cut, checkpoint, whole = found[int(random.integers(len(found)))]
        shutil.copytree(cut, place, dirs_exist_ok=True)
        damage_file(random, place / checkpoint)
        done = run([*command.arguments(place), "--resume"], prepare=quick, seconds=60)
        return judged(done, done.code == 0 and contents(place) == whole)

    return case


def _checkpoint(base: Path, command: Command) -> tuple[Command, Path, Path, dict[str, str]]:
    """A command that was interrupted, where, its last checkpoint there, and what it writes undisturbed."""
    (base / "whole").mkdir(parents=True)
    operations = run(command.arguments(base / "whole"), Shim(base / "whole"), quick).operations
    cut = base / "cut"
    cut.mkdir()
    run(command.arguments(cut), Shim(cut, "kill", operations // 2), quick)
    last = max(cut.rglob("checkpoint.safetensors"), key=lambda path: path.stat().st_mtime)
    return command, cut, last.relative_to(cut), contents(base / "whole")


def heuristics(base: Path, commands: dict[str, Command]) -> Case:
    """A learned distance, under `evaluate --heuristic`."""
    run(commands["heuristic"].arguments(base), prepare=quick)
    play = ["evaluate", *BOXES, "--levels", "0:1", "--planner", "one-shot", "--frontier", "best-first"]
    play += ["--node-limit", "30", "--json", "-", "--heuristic"]

    def evaluate(folder: Path) -> tuple[Done, str]:
        done = run([*play, folder / "heuristic"], seconds=SLOWEST)
        return done, json.dumps(without_times(json.loads(done.out)["episodes"])) if done.code == 0 else ""

    usual = evaluate(base)[1]

    def case(random: np.random.Generator, place: Path) -> str:
        shutil.copytree(base / "heuristic", place / "heuristic")
        sealed = damage_file(random, one_of(random, place / "heuristic"))
        done, story = evaluate(place)
        return judged(done, story == usual, not sealed)

    return case


def exported(base: Path, commands: dict[str, Command]) -> Case:
    """A model as ONNX, under `inspect`."""
    run(commands["export"].arguments(base), prepare=quick)
    usual = run(["inspect", base / "onnx"]).out.replace(str(base), "")

    def case(random: np.random.Generator, place: Path) -> str:
        shutil.copytree(base / "onnx", place / "onnx")
        sealed = damage_file(random, one_of(random, place / "onnx"))
        done = run(["inspect", place / "onnx"], seconds=SLOWEST)
        return judged(done, done.out.replace(str(place), "") == usual, not sealed)

    return case


def level_files(base: Path, commands: dict[str, Command]) -> Case:
    """A text file of Sokoban levels, under `levels`; it has no checksum."""
    base.mkdir(parents=True, exist_ok=True)
    levels = (Path(__file__).parents[1] / "examples" / "sokoban_levels.txt").read_bytes()

    def case(random: np.random.Generator, place: Path) -> str:
        (place / "levels.txt").write_bytes(levels)
        damage_file(random, place / "levels.txt")
        world = [*BOXES[:2], "--option", f"levels={place / 'levels.txt'}"]
        done = run(["levels", *world, "--levels", "0:2", "--out", place / "levels.png"], seconds=SLOWEST)
        return judged(done, False, True)

    return case


def records(base: Path, commands: dict[str, Command]) -> Case:
    """The record of an evaluation, or what is kept of an unfinished one, under `evaluate --resume`."""
    command = commands["evaluate"]
    operations = run(command.arguments(base), Shim(base), quick).operations
    whole = without_times(json.loads((base / "record.json").read_text()))
    (base / "cut").mkdir()
    run(command.arguments(base / "cut"), Shim(base / "cut", "kill", operations // 2), quick)

    def case(random: np.random.Generator, place: Path) -> str:
        complete = random.random() < 0.5
        source = base / "record.json" if complete else base / "cut" / "record.json.unfinished"
        damaged = place / source.name
        sealed = damage_file(random, shutil.copy(source, place / "copy.json"))
        if (place / "copy.json").exists():
            (place / "copy.json").rename(damaged)
        done = run([*command.arguments(place), "--resume"], prepare=quick, seconds=SLOWEST)
        written = place / "record.json"
        same = done.code == 0 and without_times(json.loads(written.read_text())) == whole
        return judged(done, same, not sealed)

    return case


def cells(base: Path, commands: dict[str, Command]) -> Case:
    """Records of an experiment's cells, under `reproduce`."""
    run(commands["reproduce"].arguments(base), prepare=quick)
    table = [*("reproduce", "generalisation", "--test-levels", "2000:2002", "--preset", "tiny"), "--seeds", "0"]
    usual = run([*table, "--results", base / "results", "--out", base / "docs"], prepare=quick).out

    def case(random: np.random.Generator, place: Path) -> str:
        shutil.copytree(base / "results", place / "results")
        sealed = damage_file(random, one_of(random, place / "results"))
        done = run([*table, "--results", place / "results", "--out", place / "docs"], prepare=quick, seconds=30)
        return judged(done, done.out == usual, not sealed or not any((place / "results").rglob("*.json")))

    return case

"""Damaged and crafted inputs of every format, and what each command must make of them.

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
from typing import Any

import numpy as np
from fault_commands import WORLD, Command, contents, quick, without_times
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


def _one_of(random: np.random.Generator, folder: Path) -> Path:
    files = sorted(path for path in folder.rglob("*") if path.is_file())
    return files[int(random.integers(len(files)))]


def data_sets(base: Path, commands: dict[str, Command]) -> Case:
    """A complete data set, under `inspect`."""
    run(commands["collect"].arguments(base), prepare=quick)
    usual = run(["inspect", base / "data", "--out", base / "seen.png"]).out.replace(str(base), "")

    def case(random: np.random.Generator, place: Path) -> str:
        shutil.copytree(base / "data", place / "data")
        sealed = damage_file(random, _one_of(random, place / "data"))
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
        damage_file(random, _one_of(random, place / "data"))
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
        sealed = damage_file(random, _one_of(random, place / "model"))
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
    """The checkpoint of training that was cut off, under `train --resume`."""
    command = commands["train"]
    (base / "whole").mkdir(parents=True)
    operations = run(command.arguments(base / "whole"), Shim(base / "whole"), quick).operations
    whole = contents(base / "whole")
    (base / "cut").mkdir()
    run(command.arguments(base / "cut"), Shim(base / "cut", "kill", operations // 2), quick)

    def case(random: np.random.Generator, place: Path) -> str:
        shutil.copytree(base / "cut" / "model", place / "model")
        damage_file(random, place / "model" / "checkpoint.safetensors")
        done = run([*command.arguments(place), "--resume"], prepare=quick, seconds=60)
        return judged(done, done.code == 0 and contents(place) == whole)

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
    usual = run([*table, "--results", base / "results", "--out", base / "docs"]).out

    def case(random: np.random.Generator, place: Path) -> str:
        shutil.copytree(base / "results", place / "results")
        sealed = damage_file(random, _one_of(random, place / "results"))
        done = run([*table, "--results", place / "results", "--out", place / "docs"], seconds=30)
        return judged(done, done.out == usual, not sealed or not any((place / "results").rglob("*.json")))

    return case


def recordings(base: Path, commands: dict[str, Command]) -> Case:
    """npz files, HDF5 files, and folders of PNG files with a CSV, under `import`; nothing partial may be left."""
    base.mkdir(parents=True, exist_ok=True)
    commands["import"].inputs(base)
    with np.load(base / "recording.npz") as arrays:
        frames, actions = arrays["frames"][:2, :4], arrays["actions"][:2, :3]
    np.savez(base / "plain.npz", frames=frames, actions=actions, levels=np.array([3, 9]))
    _write_hdf5(base / "minari.hdf5", frames, actions)
    _write_folder(base / "folder", frames, actions)
    sources = ["recording.npz", "plain.npz", "minari.hdf5", "folder"]
    usual = {}
    for name in sources:
        run(["import", base / name, "--out", base / f"{name}-data"])
        usual[name] = _arrays(base / f"{name}-data")

    def case(random: np.random.Generator, place: Path) -> str:
        name = sources[int(random.integers(len(sources)))]
        copy = place / name
        if (base / name).is_dir():
            shutil.copytree(base / name, copy)
            path = _one_of(random, copy)
        else:
            path = Path(shutil.copy(base / name, copy))
        damage_file(random, path)
        done = run(["import", copy, "--out", place / "data"], seconds=SLOWEST)
        if done.code == 2 and (place / "data").exists():
            raise Wrong("a partial folder is left")
        same = done.code == 0 and _arrays(place / "data") == usual[name]
        return judged(done, same, path.suffix in (".csv", ".hdf5"))

    return case


def _arrays(folder: Path) -> Any:
    return json.loads((folder / "manifest.json").read_text())["sha256"]


def _write_hdf5(path: Path, frames: np.ndarray, actions: np.ndarray) -> None:
    import h5py

    with h5py.File(path, "w") as file:
        for number, (pictures, taken) in enumerate(zip(frames, actions, strict=True)):
            group = file.create_group(f"episode_{number}")
            group.create_dataset("observations", data=pictures, chunks=(1, *pictures.shape[1:]), compression="gzip")
            group.create_dataset("actions", data=taken)
            group.attrs["seed"] = number


def _write_folder(folder: Path, frames: np.ndarray, actions: np.ndarray) -> None:
    folder.mkdir()
    lines = ["frame,action,episode"]
    for episode, (pictures, taken) in enumerate(zip(frames, actions, strict=True)):
        for step, picture in enumerate(pictures):
            Image.fromarray(picture).save(folder / f"{episode}-{step}.png")
            lines.append(f"{episode}-{step}.png,{taken[step] if step < len(taken) else ''},{episode}")
    (folder / "steps.csv").write_text("\n".join(lines) + "\n")


def arguments(base: Path, commands: dict[str, Command]) -> Case:
    """The command line: options with values that nobody should give."""
    base.mkdir(parents=True, exist_ok=True)
    good = {
        "collect": [*WORLD, "--levels", "0:2", "--episodes", "1", "--steps", "4", "--seed", "0", "--out", "OUT"],
        "levels": [*WORLD, "--levels", "0:2", "--columns", "2", "--out", "OUT.png"],
        "check-env": [*WORLD, "--levels", "0:1", "--episodes", "2", "--steps", "4", "--seed", "0"],
        "evaluate": [*WORLD, "--levels", "0:1", "--model", "oracle", "--planner", "one-shot", "--seed", "0"],
        "solve": [*WORLD, "--level", "0", "--model", "oracle", "--planner", "one-shot", "--seed", "0"],
        "train": ["--data", "OUT", "--out", "OUT2", "--preset", "tiny", "--seed", "0", "--updates", "1"],
        "inspect": ["OUT"],
        "import": ["OUT.npz", "--out", "OUT", "--pixels", "16"],
        "reproduce": ["generalisation", "--dry-run", "--levels", "1", "--seeds", "0", "--runs", "OUT"],
        "web": ["--port", "abc", "--host", "x"],
    }
    odd = [
        *(
            "",
            " ",
            "-1",
            "0",
            "abc",
            "nan",
            "inf",
            "-inf",
            "1e9",
            "1.5",
            "999999999",
            "9" * 400,
            "--",
            "-",
            "🙂",
            "\x07",
        ),
        *(
            "0:",
            ":5",
            "5:1",
            "0:2000000000",
            "0:2,1",
            "0:3000000000",
            "a:b",
            "../../..",
            "/",
            "/dev/null",
            "/proc/self",
        ),
        *(
            "oracle",
            "ice-slider",
            "size=1000000",
            "size=-1",
            "pixels=10000000",
            "size",
            "=",
            "x=y",
            "[bold]",
            "%s",
            "{}",
        ),
    ]

    def case(random: np.random.Generator, place: Path) -> str:
        name = str(random.choice(list(good)))
        words = [word.replace("OUT", str(place / "out")) for word in good[name]]
        for _ in range(int(random.integers(1, 3))):
            at = int(random.integers(1 if name == "web" else 0, len(words)))
            change = random.random()
            if change < 0.7 or name == "web":
                words[at] = odd[int(random.integers(len(odd)))] if name != "web" else "-5"
            elif change < 0.85 and len(words) > 1:
                del words[at]
            else:
                words.insert(at, odd[int(random.integers(len(odd)))])
        done = run([name, *words], seconds=SLOWEST)
        if done.fault is not None:
            raise Wrong(f"{[name, *words]}: {done.fault}"[:500])
        return "refused" if done.code else "taken"

    return case


FORMATS: dict[str, Callable[[Path, dict[str, Command]], Case]] = {
    "data sets": data_sets,
    "unfinished data sets": unfinished_data,
    "models": models,
    "pictures": pictures,
    "records": records,
    "recordings": recordings,
    "command line": arguments,
    "checkpoints": checkpoints,
    "cells": cells,
}
"""What is damaged, by name."""

"""Damaged and crafted data, pictures, records and level files, and what each command must make of them.

A file with a checksum or a seal must be refused when it is damaged, unless the damage changes nothing. What has none
(CSV, HDF5, JSON that was rewritten) may be taken at face value, but never with a traceback, a hang, or more memory
than there is.
"""

from __future__ import annotations

import json
import re
import shutil
from collections.abc import Callable
from pathlib import Path

import numpy as np
from fault_commands import BOXES, WORLD, Command, contents, quick, without_times
from fault_damage import damaged_bytes, damaged_value
from fault_shim import SLOWEST, Done, Shim, run
from PIL import Image

Case = Callable[[np.random.Generator, Path], str]
"""One case in a fresh folder: how it went, in a word; a Wrong for what must not happen."""


class Wrong(Exception):
    """Something that must not happen."""


def judged(done: Done, same: bool, taken: bool = False) -> str:
    """How a command dealt with bad input; `same`: its result is the undamaged one; `taken`: it may be another."""
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


def well(done: Done) -> Done:
    """Check that a command accepted undamaged input: otherwise, that it refuses damaged input proves nothing."""
    if done.code:
        raise SystemExit(f"a command fails on undamaged input: {done.errors}")
    return done


def damage_file(random: np.random.Generator, path: Path) -> bool:
    """Damage a file, JSON also by its values; returns whether it still has its old seal or checksum."""
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
    well(run(commands["collect"].arguments(base), prepare=quick))
    usual = well(run(["inspect", base / "data", "--out", base / "seen.png"])).out.replace(str(base), "")

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
    well(run(command.arguments(base / "whole"), prepare=quick))
    whole = contents(base / "whole")
    (base / "cut").mkdir()
    run(command.arguments(base / "cut"), Shim(base / "cut", "kill", 60), quick)

    def case(random: np.random.Generator, place: Path) -> str:
        shutil.copytree(base / "cut" / "data", place / "data")
        damage_file(random, one_of(random, place / "data"))
        done = run([*command.arguments(place), "--resume"], prepare=quick, seconds=SLOWEST)
        return judged(done, done.code == 0 and contents(place) == whole)

    return case


def pictures(base: Path, commands: dict[str, Command]) -> Case:
    """PNG files, under `solve` from picture to pictures: the start, a goal, or one of which only a part matters."""
    well(run(commands["train"].arguments(base), prepare=quick))
    picture_arguments(base)
    goal = np.array(Image.open(base / "goal.png"))
    alpha = np.full((*goal.shape[:2], 1), 255, np.uint8)
    alpha[4:8, 4:12] = 0
    Image.fromarray(np.concatenate([goal, alpha], axis=2)).save(base / "part.png")
    names = ("start.png", "goal.png", "part.png")

    def solve(place: Path) -> Done:
        start, *goals = (place / name for name in names)
        return run(["solve", "--frame", start, "--goal", *goals, "--model", base / "model"], seconds=SLOWEST)

    usual = without_times_and_places(well(solve(base)))

    def case(random: np.random.Generator, place: Path) -> str:
        for name in names:
            shutil.copy(base / name, place / name)
        damage_file(random, place / names[int(random.integers(len(names)))])
        done = solve(place)
        return judged(done, without_times_and_places(done) == usual)

    return case


def picture_arguments(base: Path) -> list[str]:
    """Two frames of a level as --frame and --goal."""
    from pixelplan.puzzles import get_level, make_puzzle

    level = get_level(make_puzzle("digit-jump", size=4, pixels=16), 3)
    for name, state in (("start", level.start), ("goal", level.goal)):
        Image.fromarray(level.frame(state)).save(base / f"{name}.png")
    return ["--frame", str(base / "start.png"), "--goal", str(base / "goal.png")]


def without_times_and_places(done: Done) -> str:
    """What a command printed, without times and where its model is."""
    return re.sub(r"[\d.]+ ms|\S+/model", "", done.out)


def level_files(base: Path, commands: dict[str, Command]) -> Case:
    """A text file of Sokoban levels, under `collect`; it has no checksum."""
    levels = (Path(__file__).parents[1] / "examples" / "sokoban_levels.txt").read_bytes()

    def collect(place: Path) -> Done:
        world = [*BOXES[:2], "--option", f"levels={place / 'levels.txt'}"]
        play = ["--levels", "0:2", "--episodes", "1", "--steps", "3", "--random", "--out", place / "data"]
        return run(["collect", *world, *play], seconds=SLOWEST)

    (base / "levels.txt").write_bytes(levels)
    well(collect(base))
    usual = contents(base / "data")

    def case(random: np.random.Generator, place: Path) -> str:
        (place / "levels.txt").write_bytes(levels)
        damage_file(random, place / "levels.txt")
        done = collect(place)
        return judged(done, done.code == 0 and contents(place / "data") == usual, True)

    return case


def calibrations(base: Path, commands: dict[str, Command]) -> Case:
    """The record of an evaluation that tells how likely plans are to succeed, under `solve --calibration`."""
    well(run(commands["train"].arguments(base), prepare=quick))
    play = [*WORLD, "--model", base / "model", "--planner", "one-shot", "--node-limit", "10"]
    well(run(["evaluate", *play, "--levels", "0:20", "--json", base / "record.json"], prepare=quick))

    def solve(record: Path) -> Done:
        return run(["solve", *play, "--level", "30", "--calibration", record], seconds=SLOWEST)

    usual = without_times_and_places(well(solve(base / "record.json")))

    def case(random: np.random.Generator, place: Path) -> str:
        sealed = damage_file(random, Path(shutil.copy(base / "record.json", place / "record.json")))
        done = solve(place / "record.json")
        return judged(done, without_times_and_places(done) == usual, not sealed)

    return case


def records(base: Path, commands: dict[str, Command]) -> Case:
    """The record of an evaluation, or what is kept of an unfinished one, under `evaluate --resume`."""
    command = commands["evaluate"]
    operations = well(run(command.arguments(base), Shim(base), quick)).operations
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
    well(run(commands["reproduce"].arguments(base), prepare=quick))
    table = [*("reproduce", "generalisation", "--test-levels", "2000:2002", "--preset", "tiny"), "--seeds", "0"]
    usual = well(run([*table, "--results", base / "results", "--out", base / "docs"], prepare=quick)).out

    def case(random: np.random.Generator, place: Path) -> str:
        shutil.copytree(base / "results", place / "results")
        damaged = one_of(random, place / "results")
        sealed = damage_file(random, damaged)
        done = run([*table, "--results", place / "results", "--out", place / "docs"], prepare=quick, seconds=30)
        gone = not damaged.exists()  # a cell without a record was not run
        return judged(done, done.out == usual, gone or not sealed)

    return case

"""A campaign of faults: kills, full disks, damaged inputs, bombs, bad environments, two at once.

    python benchmarks/faults.py [--share 1.0] [--only kills] [--json results/benchmark-faults.json]

The seed and its number decide every case. The record is written as the campaign goes. A second start continues it if
the commit is the same, and otherwise starts again. docs/reliability.md says what is promised and what was found.
"""

from __future__ import annotations

import argparse
import contextlib
import io
import itertools
import os
import resource
import shutil
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

os.environ.setdefault("OMP_NUM_THREADS", "1")

import fault_inputs
import fault_models
import numpy as np
from fault_bombs import bombs
from fault_commands import Command, commands, contents, quick
from fault_environments import bad_environments, environments
from fault_inputs import Case, Wrong
from fault_recordings import recordings
from fault_shim import KILLED, Done, Fault, Shim, run, start
from fault_words import arguments

from pixelplan.files import read_json, write_json
from pixelplan.machine import describe_machine

KILLS = {
    "collect": 130, "import": 130, "evaluate": 80, "train": 40, "race": 24, "heuristic": 40, "on-policy": 20,
    "export": 8, "reproduce": 10, "ppo": 20, "glamor": 20, "random": 8, "explore": 40, "solved": 16, "rules": 12,
}  # fmt: skip
RANDOM_KILLS = {
    "collect": 20, "import": 10, "evaluate": 10, "train": 6, "race": 4, "heuristic": 6, "on-policy": 3, "reproduce": 2,
    "ppo": 4, "glamor": 4, "explore": 4,
}  # fmt: skip
FULL_DISKS = {
    "collect": 70, "import": 60, "evaluate": 28, "train": 10, "race": 8, "heuristic": 16, "on-policy": 6, "export": 4,
    "reproduce": 4, "ppo": 6, "glamor": 6, "random": 5, "explore": 12, "solved": 6, "rules": 4,
}  # fmt: skip
DAMAGES: dict[str, tuple[int, Callable[[Path, dict[str, Command]], Case]]] = {
    "data sets": (1100, fault_inputs.data_sets),
    "unfinished data sets": (400, fault_inputs.unfinished_data),
    "models": (1100, fault_models.models),
    "heuristics": (400, fault_models.heuristics),
    "exported models": (300, fault_models.exported),
    "pictures": (400, fault_inputs.pictures),
    "records": (600, fault_inputs.records),
    "calibrations": (150, fault_inputs.calibrations),
    "recordings": (400, recordings),
    "level files": (150, fault_inputs.level_files),
    "command line": (350, arguments),
    "checkpoints": (60, fault_models.checkpoints),
    "cells": (10, fault_inputs.cells),
}


def interrupted(command: Command, fault: Fault | None, base: Path, first: int) -> Case:
    """The command cut off at a file operation (or, without a fault, killed at a random moment), and resumed.

    The operations come in a shuffled order, so that many cases try each of them; `first` is the number of the first
    case. After some kills the resumed run is killed, too.
    """
    (base / "whole").mkdir(parents=True)
    undisturbed = run(command.arguments(base / "whole"), Shim(base / "whole", fault, 10**9), quick)
    if undisturbed.code:
        raise SystemExit(f"{command.name} fails undisturbed: {undisturbed.errors}")
    whole, operations = contents(base / "whole"), undisturbed.operations
    order = np.random.default_rng(0).permutation(operations) + 1
    number = itertools.count(first)

    def cut(random: np.random.Generator, place: Path, words: list[str | Path], again: bool) -> Done:
        if fault is None:
            return run(words, None, quick, kill_after=float(random.uniform(0.02, undisturbed.seconds)))
        at = int(random.integers(1, operations + 1)) if again else int(order[next(number) % operations])
        return run(words, Shim(place, fault, at), quick)

    def case(random: np.random.Generator, place: Path) -> str:
        words = command.arguments(place)
        done = cut(random, place, words, False)
        label = "finished before" if done.code == 0 else "cut off"
        if fault == "full" and done.code:
            _check_full(done, command)
        elif fault != "full" and done.code not in (0, KILLED, -9):
            raise Wrong(f"exit code {done.code}: {done.errors[-300:]}")
        if fault != "full" and random.random() < 0.25:
            cut(random, place, [*words, *command.resume], True)
            label = "cut off twice"
        done = run([*words, *command.resume], None, quick)
        if done.code:
            raise Wrong(f"it does not continue: {done.errors[-300:]}")
        written = contents(place)
        if written != whole:
            others = sorted(name for name in whole | written if whole.get(name) != written.get(name))
            raise Wrong(f"another result: {others}")
        return label

    return case


def _check_full(done: Done, command: Command) -> None:
    """A Wrong for anything but one sentence that says that the disk is full, where, and how to continue."""
    last = (done.errors.strip().splitlines() or [""])[-1]
    words = ["no space is left on the disk for /", "--resume continues" if command.resume else "start the same command"]
    if command.name == "reproduce" and done.code == 1:
        words = ["No space left"]  # a cell that failed
    says_so = last.startswith("pixelplan: ") and all(word in last for word in words)
    if "Traceback" in done.errors or done.code not in (1, 2) or not says_so:
        raise Wrong(f"exit code {done.code}: {done.errors[-300:]}")


def two_at_once(base: Path, listed: dict[str, Command]) -> Case:
    """Two processes that write one data set: the second waits its turn, or takes over from a dead one."""
    command = listed["collect"]
    (base / "whole").mkdir(parents=True)
    run(command.arguments(base / "whole"), None, quick)
    whole = contents(base / "whole")

    def case(random: np.random.Generator, place: Path) -> str:
        words = [*command.arguments(place), "--resume"]
        first = start(words, None, quick)
        time.sleep(float(random.uniform(0, 0.1)))
        second = start(words, None, quick)
        killed = random.random() < 0.5
        ends = [first.wait(kill_after=float(random.uniform(0, 0.1)) if killed else None), second.wait()]
        for done in ends:
            if done.code not in (0, -9) and "is being written by" not in (done.sentence or ""):
                raise Wrong(f"exit code {done.code}: {done.errors[-300:]}")
        if run(words, None, quick).code or contents(place) != whole:
            raise Wrong("the data set is not the one that was asked for")
        return "refused" if any(done.code == 2 for done in ends) else "one after the other"

    return case


def groups(listed: dict[str, Command]) -> dict[str, tuple[int, Callable[[Path, int], Case]]]:
    """All kinds of cases: how many of each, and what prepares them in a folder, from a number on."""
    kinds: dict[str, tuple[int, Callable[[Path, int], Case]]] = {}
    faults: list[tuple[str, dict[str, int], Fault | None]] = [
        ("kills", KILLS, "kill"),
        ("random kills", RANDOM_KILLS, None),
        ("full disks", FULL_DISKS, "full"),
    ]
    for kind, counts, fault in faults:
        for name, count in counts.items():
            kinds[f"{kind}: {name}"] = count, partial(interrupted, listed[name], fault)
    for name, (count, prepare) in DAMAGES.items():
        kinds[f"damaged inputs: {name}"] = count, lambda base, first, p=prepare: p(base, listed)
    kinds["bombs"] = 120, lambda base, first: bombs(base, listed)
    kinds["bad environments"] = len(bad_environments()), lambda base, first: environments(first)
    kinds["two at once"] = 40, lambda base, first: two_at_once(base, listed)
    return kinds


def campaign(record: dict[str, Any], share: float, only: list[str], seed: int, save: Callable[[], None]) -> None:
    """Run what the record lacks."""
    with tempfile.TemporaryDirectory() as folder:
        work = Path(folder)
        listed = commands(work / "inputs")
        for command in listed.values():
            command.inputs(work / "inputs")
        for index, (name, (count, prepare)) in enumerate(groups(listed).items()):
            group = record["groups"].get(name, _nothing())
            wanted = -(-count * share // 1)
            if not name.startswith(tuple(only)) or group["cases"] >= wanted:
                continue
            record["groups"][name] = group
            base = work / f"base-{index}"
            base.mkdir()
            case = prepare(base, group["cases"])
            outcomes = Counter(group["outcomes"])
            while group["cases"] < wanted:
                began, used, place = time.monotonic(), _processor_seconds(), work / "case"
                place.mkdir()
                try:
                    outcomes[case(np.random.default_rng([seed, index, group["cases"]]), place)] += 1
                except Wrong as problem:
                    outcomes["WRONG"] += 1
                    why = str(problem).replace(str(work), "WORK")
                    group["failures"].append({"case": group["cases"], "why": why})
                    print(f"{name}, case {group['cases']}: {why}", file=sys.stderr, flush=True)
                shutil.rmtree(place)
                group["cases"] += 1
                took = time.monotonic() - began
                group["seconds"] = round(group["seconds"] + took, 2)
                group["slowest"] = max(group["slowest"], round(took, 2))
                group["processor_seconds"] = round(group["processor_seconds"] + _processor_seconds() - used, 2)
                group["outcomes"] = dict(outcomes)
                if group["cases"] % 20 == 0:
                    save()
            shutil.rmtree(base)
            largest = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss // 1024
            record["largest_process_mb"] = max(record["largest_process_mb"], largest)
            save()
            print(f"{name}: {group['cases']} cases, {dict(outcomes)}, {group['processor_seconds']} s", flush=True)


def _nothing() -> dict[str, Any]:
    """The record of a group before its first case; processor seconds do not count others' work."""
    return {"cases": 0, "outcomes": {}, "failures": [], "seconds": 0.0, "slowest": 0.0, "processor_seconds": 0.0}


def _processor_seconds() -> float:
    """Of this process and of all that it started and waited for."""
    used = [resource.getrusage(whose) for whose in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    return sum(usage.ru_utime + usage.ru_stime for usage in used)


def warm_up() -> None:
    """Import what commands import, once, so that forked processes have it."""
    import h5py  # noqa: F401
    import matplotlib.figure  # noqa: F401

    import pixelplan.cli.app
    import pixelplan.distance.rounds
    import pixelplan.exchange.export_onnx
    import pixelplan.experiments.generalisation_table
    import pixelplan.experiments.reproduce
    import pixelplan.model.race
    from pixelplan.baselines import need_extra
    from pixelplan.cli import main

    need_extra("stable_baselines3", "baselines", "PPO")
    import pixelplan.baselines.glamor
    import pixelplan.baselines.ppo  # noqa: F401

    with contextlib.redirect_stderr(io.StringIO()):
        for command in ("collect", "evaluate", "check-env"):
            words = [] if command == "check-env" else ["--levels", "9:1"]
            main([command, "--env", "nothing", *words, *(["--out", "x"] if command == "collect" else [])])
        main(["solve", "--env", "nothing", "--level", "0"])


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--share", type=float, default=1.0, help="the share of all cases to run")
    parser.add_argument("--only", nargs="*", default=[""], help="only kinds whose names begin like this")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--json", type=Path, default=None, help="the record to write, or to continue if it exists")
    wish = parser.parse_args()
    warm_up()
    record: dict[str, Any] = {"seed": wish.seed, **describe_machine(), "largest_process_mb": 0, "groups": {}}
    if wish.json is not None and wish.json.exists():
        begun = read_json(wish.json)
        if all(begun.get(key) == record[key] for key in ("seed", "commit")):
            record = begun  # a record is of one commit; on another one it starts again
    campaign(
        record, wish.share, wish.only, wish.seed, lambda: None if wish.json is None else write_json(wish.json, record)
    )
    failures = sum(len(group["failures"]) for group in record["groups"].values())
    print(f"{sum(group['cases'] for group in record['groups'].values())} cases, {failures} failed")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())

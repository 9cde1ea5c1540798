"""How long a plan takes with the shipped models, and with GS on Images, on one core.

    python benchmarks/planning.py [--json results/benchmark-planning.json]
    python benchmarks/planning.py --beside 3a48716 [--json results/benchmark-planning-before.json]

With `--beside`, the code of an earlier commit makes the same plans, too: 3a48716 is the last one before best-first
search. Both run in processes of their own, in turn, and the least processor time of each counts.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import subprocess
import sys
import tarfile
import tempfile
import time
from io import BytesIO
from pathlib import Path
from typing import Any

import numpy as np

import pixelplan
from pixelplan.by_name.evaluate import evaluate
from pixelplan.files import write_json
from pixelplan.machine import describe_machine
from pixelplan.puzzles import PUZZLES, get_level, make_puzzle

LEVELS = range(1000, 1100)
ROOT = Path(__file__).parent.parent
TIMES = 7
"""How often the plans of each commit are made."""


def frames(name: str) -> list[tuple[np.ndarray, np.ndarray]]:
    """The first frame and the goal of each level of a puzzle."""
    levels = [get_level(make_puzzle(name), number) for number in LEVELS]
    return [(level.frame(level.start), level.frame(level.goal)) for level in levels]


def measured(name: str) -> dict[str, float]:
    """How long plans for a puzzle take, and how many steps the full planner needs."""
    model, pairs = pixelplan.load(name), frames(name)
    pixelplan.plan(model, *pairs[0])
    plans = [pixelplan.plan(model, frame, goal) for frame, goal in pairs]
    begin = time.perf_counter()
    full = evaluate(name, f"{LEVELS.start}:{LEVELS.stop}", planner="full", model=model)
    full_seconds = time.perf_counter() - begin
    images = evaluate(name, f"{LEVELS.start}:{LEVELS.stop}", planner="image-search")
    result = {
        "one_shot_milliseconds": 1e3 * statistics.mean(plan.seconds for plan in plans),
        "one_shot_median_milliseconds": 1e3 * statistics.median(plan.seconds for plan in plans),
        "microseconds_a_node": 1e6 * sum(plan.seconds for plan in plans) / sum(plan.nodes for plan in plans),
        "full_100_levels_seconds": full_seconds,
        "steps_against_image_search": float(
            np.mean([played.steps for played in full.episodes]) / np.mean([played.steps for played in images.episodes])
        ),
    }
    print(
        f"{name:13} one-shot {result['one_shot_milliseconds']:.1f} ms a level (median "
        f"{result['one_shot_median_milliseconds']:.1f}), full {full_seconds:.1f} s for 100 levels, in "
        f"{result['steps_against_image_search']:.2f} of the steps that GS on Images takes"
    )
    return result


def plans_by_this_code() -> dict[str, dict[str, float]]:
    """Of each puzzle the processor time of all plans, their nodes and actions, by whichever pixelplan is imported."""
    measured = {}
    for name in PUZZLES:
        model, pairs = pixelplan.load(name), frames(name)
        pixelplan.plan(model, *pairs[0])
        begin = time.process_time()
        plans = [pixelplan.plan(model, frame, goal) for frame, goal in pairs]
        seconds = time.process_time() - begin
        actions = sum(len(plan.actions) for plan in plans)
        measured[name] = {"seconds": seconds, "nodes": sum(plan.nodes for plan in plans), "actions": actions}
    return measured


def beside(commit: str) -> dict[str, Any]:
    """For each puzzle what today's code and a commit's take for the same plans, and the ratio of their times."""
    with tempfile.TemporaryDirectory() as folder:
        archive = subprocess.run(["git", "archive", commit, "pixelplan"], cwd=ROOT, check=True, capture_output=True)
        with tarfile.open(fileobj=BytesIO(archive.stdout)) as packed:
            packed.extractall(folder, filter="data")
        runs: dict[str, list[Any]] = {"now": [], "before": []}
        for _ in range(TIMES):
            for version, code in (("now", str(ROOT)), ("before", folder)):
                command = [sys.executable, __file__, "--plans"]
                environment = {**os.environ, "PYTHONPATH": code, "OMP_NUM_THREADS": "1"}
                done = subprocess.run(command, env=environment, cwd=folder, check=True, capture_output=True, text=True)
                runs[version].append(json.loads(done.stdout))
    measured = {}
    for name in PUZZLES:
        now, before = (
            min((run[name] for run in runs[version]), key=lambda plans: plans["seconds"]) for version in runs
        )
        ratio = now["seconds"] / before["seconds"]
        measured[name] = {"now": now, "before": before, "ratio": round(ratio, 3)}
        print(f"{name:13} {ratio:.2f} times as long as {commit}; {now['nodes']:,} nodes, then {before['nodes']:,}")
    return measured


def main() -> None:
    """Measure, print and optionally record."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--json", type=Path)
    parser.add_argument("--beside", metavar="COMMIT")
    parser.add_argument("--plans", action="store_true", help="only make the plans, and print what they took")
    arguments = parser.parse_args()
    if arguments.plans:
        print(json.dumps(plans_by_this_code()))
        return
    command = "python benchmarks/planning.py"
    record: dict[str, Any] = {"command": command, **describe_machine(), "levels": [LEVELS.start, LEVELS.stop]}
    if arguments.beside:
        record.update(command=f"{command} --beside {arguments.beside}", before=arguments.beside)
        record.update(times=TIMES, puzzles=beside(arguments.beside))
    else:
        record.update({name: measured(name) for name in PUZZLES})
    if arguments.json:
        write_json(arguments.json, record)


if __name__ == "__main__":
    main()

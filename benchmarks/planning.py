"""The time of a plan with the shipped models, beside the time that GS on Images spends, on one core.

python benchmarks/planning.py [--json results/benchmark-planning.json]
"""

from __future__ import annotations

import argparse
import statistics
import time
from pathlib import Path

import numpy as np

import pixelplan
from pixelplan.envs import PUZZLES, get_level, make_puzzle
from pixelplan.evaluation.run import evaluate
from pixelplan.files import write_json
from pixelplan.machine import describe_machine

LEVELS = range(1000, 1100)


def main() -> None:
    """Measure, print and optionally record."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--json", type=Path)
    arguments = parser.parse_args()
    record: dict[str, object] = {
        "command": "python benchmarks/planning.py",
        **describe_machine(),
        "levels": [1000, 1100],
    }
    for name in PUZZLES:
        model = pixelplan.load(name)
        levels = [get_level(make_puzzle(name), number) for number in LEVELS]
        pairs = [(level.frame(level.start), level.frame(level.goal)) for level in levels]
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
                np.mean([one.steps for one in full.episodes]) / np.mean([one.steps for one in images.episodes])
            ),
        }
        print(
            f"{name:13} one-shot {result['one_shot_milliseconds']:.1f} ms a level (median "
            f"{result['one_shot_median_milliseconds']:.1f}), full {full_seconds:.1f} s for 100 levels, in "
            f"{result['steps_against_image_search']:.2f} of the steps that GS on Images takes"
        )
        record[name] = result
    if arguments.json:
        write_json(arguments.json, record)


if __name__ == "__main__":
    main()

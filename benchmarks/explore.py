"""What exploring costs compared with random play, and what it sees, in one run.

python benchmarks/explore.py [--json results/benchmark-explore.json]
"""

from __future__ import annotations

import argparse
import tempfile
import time
from pathlib import Path
from typing import Any

import numpy as np

import pixelplan
from pixelplan.by_name.resolve import open_family
from pixelplan.envs.family import Family
from pixelplan.files import write_json
from pixelplan.machine import describe_machine
from tests.own_worlds import Corridor
from tests.test_explore import long_corridor

LEVELS, TIMES = 100, 3
"""Levels that are recorded each way, and how often; the least processor time counts."""
WORLDS: dict[str, Any] = {"ice-slider": "ice-slider", "digit-jump": "digit-jump", "corridor of 6 cells": Corridor}
BUDGETS = (50, 100, 150, 200, 300, 400, 1000, 4000)
"""Steps in which the end of the long corridor may be seen."""


def cost(world: Any) -> dict[str, float]:
    """Microseconds per step of collecting, at random and exploring in turn, after levels were made once."""
    took = {False: float("inf"), True: float("inf")}
    with tempfile.TemporaryDirectory() as folder:
        pixelplan.collect(world, f"0:{LEVELS}", Path(folder) / "first", explore=False, steps=20)
        for run in range(TIMES):
            for explore in took:
                begin = time.process_time()
                out = Path(folder) / f"{run}-{explore}"
                pixelplan.collect(world, f"0:{LEVELS}", out, explore=explore, steps=20)
                took[explore] = min(took[explore], time.process_time() - begin)
    steps = LEVELS * 20 * 20
    microseconds = {name: 1e6 * took[explore] / steps for name, explore in (("random", False), ("exploring", True))}
    return {**microseconds, "ratio": took[True] / took[False]}


def steps_to_goal(family: Family, explore: bool) -> int | None:
    """The first of BUDGETS within which the goal is seen in each of 4 levels; None if none is enough."""
    for steps in BUDGETS:
        plays = [family.play(n, steps // 10, 10, np.random.default_rng([0, n]), explore) for n in range(4)]
        if all(play.solved is not None and play.solved.any() for play in plays):
            return steps
    return None


def main() -> None:
    """Measure, print and optionally record."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--json", type=Path)
    arguments = parser.parse_args()
    record: dict[str, Any] = {"command": "python benchmarks/explore.py", **describe_machine()}
    for name, world in WORLDS.items():
        record[name] = measured = cost(world)
        random, exploring = measured["random"], measured["exploring"]
        print(f"{name:20} {random:.1f} µs a step at random, {exploring:.1f} exploring: {measured['ratio']:.2f}")
    family = open_family(long_corridor)
    reached = {name: steps_to_goal(family, name == "exploring") for name in ("random", "exploring")}
    record["steps to the end of 60 cells with a door"] = reached
    print(f"60 cells with a door: {reached}")
    if arguments.json:
        write_json(arguments.json, record)


if __name__ == "__main__":
    main()

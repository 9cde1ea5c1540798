"""Success in worlds that the package has no knowledge of, with default settings, on one core.

python benchmarks/worlds.py [WORLD …] [--json results/benchmark-worlds.json] [--runs runs/worlds] [--seeds 0 1 2]

Seven small worlds, ten without a grid, and six fresh ones on which no network was tuned. Levels: training 0-299,
validation 1000-1049, test 3000-3049 (for Keys 4000-4049, because a setting of the full planner was chosen on its level
3000). Seeds are of training; play is the same for all of them. What is finished is not run again, so it can be
interrupted. An existing record keeps its entries of other worlds and seeds. Each entry names its commit.
"""

from __future__ import annotations

import argparse
import json
from pathlib import Path
from typing import Any

from fresh_worlds import FRESH
from gridless_worlds import TURNED
from small_worlds import WORLDS as SMALL
from square_worlds import SQUARE

import pixelplan
from pixelplan.files import read_json, write_json
from pixelplan.machine import describe_machine

LEVELS, VALIDATION, TEST = "0:300", "1000:1050", "3000:3050"
OTHER_TEST = {"Keys": "4000:4050"}
STEPS = {"Keys": 100}
"""Steps per episode if the usual 20 are too few: random play must find both keys, and then the gate."""

WORLDS = {**TURNED, **SQUARE, **SMALL, **FRESH}


def measure(name: str, runs: Path, seed: int) -> dict[str, Any]:
    """Record, train and judge one world."""
    world = WORLDS[name]
    steps = STEPS.get(name, 20)
    data = pixelplan.collect(world, LEVELS, runs / name, steps=steps, explore=False, resume=True)
    validation = pixelplan.collect(
        world, VALIDATION, runs / f"{name}-validation", steps=steps, explore=False, resume=True
    )
    folder = runs / f"{name}-model-{seed}"
    model = pixelplan.train(data, folder, validation=validation, resume=True, threads=1, seed=seed)
    trained = json.loads((folder / "config.json").read_text())
    worlds: dict[str, Any] = {
        "commit": trained["versions"]["commit"],
        "family": model.config.family,
        "grid": [model.sizes.rows, model.sizes.columns],
        "training_seconds": trained["seconds"],
        "race": trained["race"],
        "exact": trained["validation_metrics"]["exact"],
        "one_step_accuracy": trained["validation_metrics"]["one_step_accuracy"],
        "rollouts": trained["validation_metrics"]["rollouts"],
        "warnings": trained["findings"]["warnings"],
    }
    for planner in ("one-shot", "full"):
        out = runs / f"{name}-{planner}-{seed}.json"
        judged = pixelplan.evaluate(
            world, OTHER_TEST.get(name, TEST), planner=planner, model=model, out=out, resume=True
        )
        worlds[planner] = {
            "success": judged.success,
            "optimal": judged.optimal,
            "seconds_per_plan": judged.seconds_per_plan,
        }
    return worlds


def main() -> None:
    """Measure, print and optionally record."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("worlds", nargs="*", metavar="WORLD", help=f"by default all: {', '.join(WORLDS)}")
    parser.add_argument("--json", type=Path)
    parser.add_argument("--runs", type=Path, default=Path("runs/worlds"))
    parser.add_argument("--seeds", type=int, nargs="*", default=[0, 1, 2])
    arguments = parser.parse_args()
    if unknown := set(arguments.worlds) - set(WORLDS):
        parser.error(f"there is no world {', '.join(sorted(unknown))}; the worlds are {', '.join(WORLDS)}")
    arguments.runs.mkdir(parents=True, exist_ok=True)
    worlds: dict[str, Any] = {}
    if arguments.json and arguments.json.exists():
        worlds = read_json(arguments.json)["worlds"]
    levels = {"training": LEVELS, "validation": VALIDATION, "test": TEST}
    for seed in arguments.seeds:
        for name in arguments.worlds or WORLDS:
            worlds.setdefault(name, {})[str(seed)] = measured = measure(name, arguments.runs, seed)
            print(name, seed, json.dumps(measured), flush=True)
            if arguments.json:
                in_order = {world: worlds[world] for world in WORLDS if world in worlds}
                record = {"command": "python benchmarks/worlds.py", **describe_machine(), "levels": levels}
                write_json(arguments.json, {**record, "worlds": in_order})


if __name__ == "__main__":
    main()

"""A new world from few levels: training from another model's weights compared with training from scratch.

python benchmarks/few_levels.py [WORLD …] --init MODEL [--counts 5 20 100] [--json results/benchmark-few-levels.json]

A world is one of benchmarks/worlds.py, or a puzzle. Both trainings have the same data, seed, settings and number of
gradient steps, and only those few levels: the threshold is calibrated on some of them. Predictions are judged on
levels 1000-1049, plans on levels 3000-3049. It can be interrupted: what is finished is not run again.
"""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

from worlds import WORLDS

import pixelplan
from pixelplan.files import read_json, write_json
from pixelplan.machine import describe_machine
from pixelplan.model.batches import level_plays
from pixelplan.model.metrics import step_errors
from pixelplan.puzzles import PUZZLES

PREDICTED, PLANNED = "1000:1050", "3000:3050"


def measure(name: str, count: int, init: str | None, runs: Path, options: dict[str, Any]) -> dict[str, Any]:
    """Record, train and judge one world with `count` levels."""
    world: Any = WORLDS.get(name, name)
    data = pixelplan.collect(world, f"0:{count}", runs / f"{name}-{count}", resume=True)
    unseen = pixelplan.collect(world, PREDICTED, runs / f"{name}-unseen", resume=True)
    folder = runs / f"{name}-{count}-{'begun' if init else 'nothing'}-{options['seed']}"
    model = pixelplan.train(data, folder, init=init, resume=True, threads=1, **options)
    trained = read_json(folder / "config.json")
    judged = pixelplan.evaluate(
        world, PLANNED, planner="one-shot", model=model, out=folder / "one-shot.json", resume=True
    )
    return {
        "seconds": trained["seconds"],
        "exact": step_errors(model, level_plays(unseen)).exact,
        "one_shot": judged.success,
        "interval": judged.interval,
    }


def main() -> None:
    """Measure, print and optionally record."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("worlds", nargs="*", default=["digit-jump"], choices=[*PUZZLES, *WORLDS])
    parser.add_argument("--init", required=True)
    parser.add_argument("--counts", nargs="*", type=int, default=[5, 20, 100])
    parser.add_argument("--preset", default="spatial")
    parser.add_argument("--updates", type=int)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--runs", type=Path, default=Path("runs/few-levels"))
    parser.add_argument("--json", type=Path)
    arguments = parser.parse_args()
    options = {"preset": arguments.preset, "updates": arguments.updates, "seed": arguments.seed}
    by_world: dict[str, Any] = {}
    for name in arguments.worlds:
        for count in arguments.counts:
            for label, init in (("begun", arguments.init), ("nothing", None)):
                result = measure(name, count, init, arguments.runs, options)
                by_world.setdefault(name, {}).setdefault(str(count), {})[label] = result
                print(
                    f"{name}, {count} levels, {label}: exact {result['exact']:.4f}, one-shot {result['one_shot']:.2f}"
                )
    if arguments.json:
        command = f"python benchmarks/few_levels.py {' '.join(arguments.worlds)} --init {arguments.init}"
        write_json(arguments.json, {"command": command, **options, **describe_machine(), "worlds": by_world})


if __name__ == "__main__":
    main()

"""A quick trial of the world model `picture`: how well it learns some worlds in a fixed number of gradient steps.

python benchmarks/trial.py WORLD … [--levels 300] [--updates 300] [--set features=8 …] [--seeds 0] [--json FILE]

A world is one of benchmarks/worlds.py, or a puzzle. Levels: training 0-, validation 1000-1049, on which the trial is
judged too, so nothing is learned about test levels. The rate falls over the last third of the steps. Each pass is
printed, then what the model predicts and plans. Choices between networks are made with this script, and the outcomes
stand in results/world-model-trials.md.
"""

from __future__ import annotations

import argparse
import ast
import json
import tempfile
from dataclasses import replace
from pathlib import Path
from typing import Any

from worlds import STEPS, VALIDATION, WORLDS

import pixelplan
from pixelplan.families.presets import PRESETS
from pixelplan.files import read_json, write_json
from pixelplan.machine import describe_machine
from pixelplan.model.train import train
from pixelplan.puzzles import PUZZLES


def measure(
    name: str, levels: int, updates: int, settings: dict[str, Any], seed: int, runs: Path, plans: bool
) -> dict[str, Any]:
    """Train once, and judge on validation levels."""
    world: Any = WORLDS.get(name, name)
    steps = STEPS.get(name, 20)
    explore = False if name in WORLDS else None
    data, unseen = (
        pixelplan.collect(world, numbers, runs / folder, steps=steps, explore=explore, resume=True)
        for numbers, folder in ((f"0:{levels}", f"{name}-{levels}"), (VALIDATION, f"{name}-unseen"))
    )
    preset = PRESETS["picture"]
    config = replace(preset, model=replace(preset.model, **settings), updates=updates, seed=seed, threads=1)
    with tempfile.TemporaryDirectory(dir=runs) as folder:
        model = train(data, Path(folder) / "model", config, unseen)
        described = read_json(Path(folder) / "model" / "config.json")
        judged = pixelplan.evaluate(world, VALIDATION, planner="one-shot", model=model) if plans else None
    measured = described["validation_metrics"]
    predicts = {"seconds": described["seconds"], "exact": measured["exact"], "rollouts": measured["rollouts"]}
    return predicts if judged is None else {**predicts, "one_shot": judged.success, "optimal": judged.optimal}


def main() -> None:
    """Measure, print and optionally record."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("worlds", nargs="+", choices=[*PUZZLES, *WORLDS], metavar="WORLD")
    parser.add_argument("--levels", type=int, default=300)
    parser.add_argument("--updates", type=int, default=300)
    parser.add_argument("--seeds", type=int, nargs="*", default=[0])
    parser.add_argument("--set", nargs="*", default=[], metavar="NAME=VALUE", help="settings of PictureConfig")
    parser.add_argument(
        "--plans", action="store_true", help="also plan in one shot, which is slow if little is learned"
    )
    parser.add_argument("--runs", type=Path, default=Path("runs/trials"))
    parser.add_argument("--json", type=Path)
    arguments = parser.parse_args()
    settings = {name: ast.literal_eval(value) for name, _, value in (each.partition("=") for each in arguments.set)}
    arguments.runs.mkdir(parents=True, exist_ok=True)
    trials = []
    for name in arguments.worlds:
        for seed in arguments.seeds:
            asked = {"levels": arguments.levels, "updates": arguments.updates, "settings": settings, "seed": seed}
            measured = measure(name, **asked, runs=arguments.runs, plans=arguments.plans)
            trials.append({"world": name, **asked, **measured})
            print(json.dumps(trials[-1]), flush=True)
            if arguments.json:
                write_json(arguments.json, {**describe_machine(), "trials": trials})


if __name__ == "__main__":
    main()

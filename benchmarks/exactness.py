"""How long a model stays right: the share of rollouts still in the right state after 1 to 10,000 random steps.

python benchmarks/exactness.py NAME=MODEL:DATA … [--steps 10000] [--json results/benchmark-exactness.json]

DATA is recorded play of levels that the model was not trained on. What is true is known from its frames; the model sees
one frame and the actions. 50 walks on 10 levels each. New names are added to an existing record.
"""

from __future__ import annotations

import argparse
import json
import time
from pathlib import Path

import torch

from pixelplan.data.dataset import open_trajectories
from pixelplan.files import write_json
from pixelplan.machine import describe_machine
from pixelplan.model.batches import level_plays
from pixelplan.model.checkpoint import load_model
from pixelplan.model.metrics import rollout_exactness


def main() -> None:
    """Measure, print and optionally record."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("models", nargs="+", metavar="NAME=MODEL:DATA")
    parser.add_argument("--steps", type=int, default=10_000)
    parser.add_argument("--json", type=Path)
    arguments = parser.parse_args()
    torch.set_num_threads(1)
    by_model = {}
    if arguments.json and arguments.json.exists():
        by_model = json.loads(arguments.json.read_text())["models"]
    for entry in arguments.models:
        name, _, paths = entry.partition("=")
        model_path, _, data_path = paths.partition(":")
        model, began = load_model(model_path), time.perf_counter()
        levels = level_plays(open_trajectories(data_path))
        horizons = [steps for steps in (1, 10, 100, 1000, 10_000) if steps <= arguments.steps]
        shares = rollout_exactness(model.networks, levels, horizons)
        by_model[name] = {"family": model.config.family, "rollouts": shares, "levels": len(levels)}
        print(f"{name}: {shares} in {time.perf_counter() - began:.0f} s", flush=True)
        if arguments.json:
            record = {"command": "python benchmarks/exactness.py", **describe_machine(), "models": by_model}
            write_json(arguments.json, record)


if __name__ == "__main__":
    main()

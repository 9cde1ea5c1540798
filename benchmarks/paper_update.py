"""What PPGS costs at the paper's size on one core: seconds of a gradient step, and so of the whole training.

python benchmarks/paper_update.py [--json results/benchmark-paper-update.json]

A quarter of the paper's batch is timed, in processor seconds, which other work on the machine hardly changes.
"""

from __future__ import annotations

import argparse
import dataclasses
import tempfile
import time
from pathlib import Path
from typing import Any

import numpy as np
import torch

import pixelplan
from pixelplan.experiments.paper_miniature_table import SMALL, papers_config
from pixelplan.families.paper import Paper
from pixelplan.files import write_json
from pixelplan.machine import describe_machine
from pixelplan.model.batches import level_plays, make_batch
from pixelplan.model.train import with_precision
from pixelplan.model.train_config import TrainConfig
from pixelplan.types import Trajectories

BATCH = 128
"""Transitions of a gradient step."""


def seconds_an_update(settings: TrainConfig, data: Trajectories, levels: int, rounds: int) -> float:
    """Processor seconds of a gradient step on one core, scaled to 128 transitions."""
    height, width = data.frames.shape[1:3]
    networks = Paper(settings.model, settings.model.sizes(height, width, 5)).train()
    optimizer = networks.optimizer(settings.learning_rate, settings.weight_decay)
    plays = level_plays(data)[:levels]
    times = []
    for number in range(rounds):
        randoms = [np.random.default_rng([number, place]) for place in range(levels)]
        batch = make_batch(plays, randoms, settings.frames, 0.0, scattered=True)
        begin = time.process_time()
        optimizer.zero_grad()
        with torch.autocast("cpu", torch.bfloat16, enabled=settings.precision == "bf16-mixed"):
            total = networks(batch, settings.objective, 0.5)["total"]
        total.backward()
        optimizer.step()
        times.append((time.process_time() - begin) * BATCH / len(batch.steps))
    return float(np.median(times))


def main() -> None:
    """Measure, print and optionally record."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--json", type=Path)
    arguments = parser.parse_args()
    torch.set_num_threads(1)
    record: dict[str, Any] = {"command": "python benchmarks/paper_update.py", **describe_machine()}
    with tempfile.TemporaryDirectory() as folder:
        whole = pixelplan.collect("ice-slider", "0:8", Path(folder) / "whole")
        small = pixelplan.collect(SMALL["ice-slider"].levels_of("ice-slider"), "0:8", Path(folder) / "small")
        sizes = {
            "full size": (dataclasses.replace(papers_config(True, "ice-slider"), precision="auto"), whole, 2, 2),
            "miniature": (papers_config(False, "ice-slider"), small, 8, 9),
        }
        for name, (config, data, levels, rounds) in sizes.items():
            config = with_precision(config)
            seconds = seconds_an_update(config, data, levels, rounds)
            record[name] = {
                "seconds_an_update": round(seconds, 2),
                "updates": config.model.updates,
                "hours": round(seconds * config.model.updates / 3600, 1),
                "precision": config.precision,
            }
    print(record)
    if arguments.json:
        write_json(arguments.json, record)


if __name__ == "__main__":
    main()

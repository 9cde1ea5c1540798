"""What PPGS costs at the paper's size on one core: seconds of a gradient step, and so of the whole training.

python benchmarks/paper_update.py [--json results/benchmark-paper-update.json]

A quarter of the paper's batch is timed, in processor seconds, which other work on the machine hardly changes.
"""

from __future__ import annotations

import argparse
import tempfile
import time
from pathlib import Path
from typing import Any

import numpy as np
import torch

import pixelplan
from pixelplan.experiments.paper_miniature_table import SMALL, STEM, UPDATES
from pixelplan.families.paper import Paper, PaperConfig
from pixelplan.families.presets import preset
from pixelplan.files import write_json
from pixelplan.machine import describe_machine
from pixelplan.model.batches import level_plays, make_batch
from pixelplan.types import Trajectories

BATCH = 128
"""Transitions of a gradient step."""


def seconds_an_update(config: PaperConfig, data: Trajectories, levels: int, rounds: int) -> float:
    """Processor seconds of a gradient step on one core, scaled to 128 transitions."""
    settings = preset("paper")
    height, width = data.frames.shape[1:3]
    networks = Paper(config, config.sizes(height, width, 5)).train()
    optimizer = networks.optimizer(settings.learning_rate, settings.weight_decay)
    plays = level_plays(data)[:levels]
    times = []
    for number in range(rounds):
        randoms = [np.random.default_rng([number, place]) for place in range(levels)]
        batch = make_batch(plays, randoms, settings.frames, 0.0, scattered=True)
        begin = time.process_time()
        optimizer.zero_grad()
        networks(batch, settings.objective, 0.5)["total"].backward()
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
            "full size": (PaperConfig(), whole, 2, 2),
            "miniature": (PaperConfig(stem=STEM, updates=UPDATES), small, 8, 5),
        }
        for name, (config, data, levels, rounds) in sizes.items():
            seconds = seconds_an_update(config, data, levels, rounds)
            record[name] = {
                "seconds_an_update": round(seconds, 2),
                "updates": config.updates,
                "hours": round(seconds * config.updates / 3600, 1),
            }
    print(record)
    if arguments.json:
        write_json(arguments.json, record)


if __name__ == "__main__":
    main()

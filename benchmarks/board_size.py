"""How the time of training and of planning grows with the board: IceSlider of 8 × 8 and of 16 × 16 cells, on one core.

python benchmarks/board_size.py [--json results/benchmark-board-size.json]

Times do not depend on the weights, so nothing is trained to the end; `pixelplan reproduce boards` does that.
"""

from __future__ import annotations

import argparse
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np
import torch

import pixelplan
from pixelplan.families.grid import ModelConfig, sizes_of
from pixelplan.files import write_json
from pixelplan.machine import describe_machine
from pixelplan.model.batches import level_plays, make_batch
from pixelplan.model.schedule import plan_passes
from pixelplan.model.train_config import TrainConfig
from pixelplan.model.world_model import WorldModel
from pixelplan.puzzles import get_level, make_puzzle

SIZES = (8, 16)
LEVELS = 40


def milliseconds(act: Callable[[], object], rounds: int) -> float:
    """The median time of a call, after one that does not count."""
    times = []
    for _ in range(rounds + 1):
        begin = time.perf_counter()
        act()
        times.append(1e3 * (time.perf_counter() - begin))
    return float(np.median(times[1:]))


def measure(size: int, folder: Path) -> dict[str, float]:
    """The times of one size of board."""
    puzzle = make_puzzle("ice-slider", size=size, pixels=8 * size)
    data = pixelplan.collect(puzzle, f"0:{LEVELS}", folder)
    config = TrainConfig()
    model = WorldModel(ModelConfig(), sizes_of(data), threshold=0.5)
    plays = level_plays(data, np.arange(len(data.frames)))[: config.batch]
    optimizer = torch.optim.AdamW(model.networks.parameters(), config.learning_rate)

    def update() -> None:
        randoms = [np.random.default_rng(place) for place in range(config.batch)]
        batch = make_batch(plays, randoms, config.frames, config.colour)
        optimizer.zero_grad()
        model.networks.train()(batch, config.objective, 0.5)["total"].backward()
        optimizer.step()

    levels = [get_level(puzzle, number) for number in range(LEVELS)]
    states = float(np.mean([level.reachable(level.start).sum() for level in levels]))
    frame = levels[0].frame(levels[0].start)
    planned = plan_passes(1000, config.batch, model.networks.usual_updates(), until_learned=False)
    times = {"gradient_step": milliseconds(update, 10), "gradient_steps": float(planned.passes * planned.updates)}
    model.networks.eval()
    context = model.context(frame)
    nodes = model.encode(data.frames[:32])
    times["context"] = milliseconds(lambda: model.context(frame), 30)
    times["encode"] = milliseconds(lambda: model.encode(frame[None]), 30)
    times["step_of_32_nodes"] = milliseconds(lambda: model.step(nodes, context), 100)
    times["reachable_states"] = states
    times["training"] = times["gradient_step"] * times["gradient_steps"]
    times["search_of_all_states"] = times["context"] + times["step_of_32_nodes"] * states / 32
    return times


def main() -> None:
    """Measure, print and optionally record."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--json", type=Path)
    arguments = parser.parse_args()
    torch.set_num_threads(1)
    with tempfile.TemporaryDirectory() as place:
        by_size = {size: measure(size, Path(place) / str(size)) for size in SIZES}
    small, large = (by_size[size] for size in SIZES)
    growth = {name: large[name] / small[name] for name in small}
    for name in small:
        unit = "" if name in ("gradient_steps", "reachable_states") else " ms"
        print(f"{name:20} {small[name]:10.1f}{unit} -> {large[name]:10.1f}{unit}, times {growth[name]:.1f}")
    if arguments.json:
        record = {"command": "python benchmarks/board_size.py", **describe_machine()}
        write_json(arguments.json, {**record, "8": small, "16": large, "growth": growth})


if __name__ == "__main__":
    main()

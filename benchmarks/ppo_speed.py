"""How many steps PPO learns from in a second of one core's time, with each of its networks.

python benchmarks/ppo_speed.py [--json results/benchmark-ppo-speed.json]

Processor seconds are counted, which other work on the machine changes little. What is timed is whole training: playing
64 games, three epochs over what was played, checkpoints.
"""

from __future__ import annotations

import argparse
import tempfile
import time
from pathlib import Path
from typing import Any

import torch

from pixelplan.baselines.ppo import ROLLOUT_STEPS, PpoConfig, train_ppo
from pixelplan.files import write_json
from pixelplan.machine import describe_machine
from pixelplan.puzzles import PUZZLES, make_puzzle

NETWORKS = ("cells", "nature")


def steps_a_second(name: str, network: Any, folder: Path) -> float:
    """Environment steps of training in a processor second, the second rollout of two: the first makes levels."""
    config = PpoConfig(network=network)
    rollout = config.games * ROLLOUT_STEPS[name]
    puzzle = make_puzzle(name)
    train_ppo(puzzle, name, (0, 1000), rollout, folder, config=config)
    begin = time.process_time()
    train_ppo(puzzle, name, (0, 1000), 2 * rollout, folder, config=config, resume=True)
    return rollout / (time.process_time() - begin)


def main() -> None:
    """Measure, print and optionally record."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("puzzles", nargs="*", default=list(PUZZLES), metavar="PUZZLE")
    parser.add_argument("--json", type=Path)
    arguments = parser.parse_args()
    torch.set_num_threads(1)
    record: dict[str, Any] = {"command": "python benchmarks/ppo_speed.py", **describe_machine()}
    with tempfile.TemporaryDirectory() as folder:
        for name in arguments.puzzles:
            rates = {network: steps_a_second(name, network, Path(folder) / name / network) for network in NETWORKS}
            record[name] = {network: round(rate) for network, rate in rates.items()}
            print(name, record[name], flush=True)
    if arguments.json:
        write_json(arguments.json, record)


if __name__ == "__main__":
    main()

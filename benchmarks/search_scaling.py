"""Does a search's time per node stay the same as its graph grows? A synthetic world model of a large open grid.

    python benchmarks/search_scaling.py [--json results/benchmark-search-scaling.json]

Searches of 100 and of 10,000 nodes alternate in one run, so that both see the same machine; the median counts.
"""

from __future__ import annotations

import argparse
import json
from pathlib import Path
from typing import Any

import numpy as np
import torch

from pixelplan.files import write_json
from pixelplan.machine import describe_machine
from pixelplan.planning.latent_goal import LatentGoal
from pixelplan.planning.one_shot import OneShotConfig, inference, search


class GridWorld:
    """Cells of a `side` × `side` grid with random embeddings on the sphere; moves up, right, left, down and none."""

    threshold = 0.25
    noisy = False

    def __init__(self, side: int, dimensions: int = 32) -> None:
        random = np.random.default_rng(0)
        cells = random.standard_normal((side * side + 1, dimensions)).astype(np.float32)
        self.embeddings = torch.from_numpy(cells / np.linalg.norm(cells, axis=1, keepdims=True))  # the last: the goal
        row, column = np.divmod(np.arange(side * side), side)
        moves = ((-1, 0), (0, 1), (0, -1), (1, 0), (0, 0))
        there = [
            np.clip(row + down, 0, side - 1) * side + np.clip(column + right, 0, side - 1) for down, right in moves
        ]
        self.successors = torch.from_numpy(np.stack(there, axis=1))  # [cells,A]
        self._cell = {bytes(cell): number for number, cell in enumerate(self.embeddings.numpy())}

    def encode(self, frames: np.ndarray) -> torch.Tensor:
        """Not needed here."""
        raise NotImplementedError

    def context(self, frame: np.ndarray) -> None:
        """Not needed here."""

    def step(self, z: torch.Tensor, context: Any) -> torch.Tensor:
        """The embeddings [N,A,d] after each action from each of z [N,d]."""
        cells = torch.tensor([self._cell[bytes(state)] for state in z.numpy()])
        return self.embeddings[self.successors[cells]]


def main(sizes: tuple[int, int] = (100, 10_000), repeats: int = 9) -> dict[str, Any]:
    """Microseconds per node at both sizes, and their ratio."""
    world = GridWorld(side=256)
    start, goal = world.embeddings[0].numpy(), world.embeddings[-1].numpy()
    times: dict[int, list[float]] = {size: [] for size in sizes}
    with inference():
        for _ in range(repeats):
            for size in sizes:
                config = OneShotConfig(node_limit=size, depth_limit=10_000)
                for _ in range(max(1, sizes[1] // size // 10)):
                    plan = search(world, None, start, LatentGoal(goal[None]), config)
                    times[size].append(1e6 * plan.seconds / plan.nodes)
    small, large = (float(np.median(times[size])) for size in sizes)
    return {"nodes": sizes, "microseconds a node": [round(small, 1), round(large, 1)], "ratio": round(large / small, 2)}


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--json", type=Path)
    arguments = parser.parse_args()
    record = {"command": "python benchmarks/search_scaling.py", **describe_machine(), **main()}
    print(json.dumps(record))
    if arguments.json:
        write_json(arguments.json, record)

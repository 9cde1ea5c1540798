"""Nodes per second and bytes per node: packed bits against plain floats, in one run, on a level of four boxes.

    python benchmarks/search_nodes.py [--json results/benchmark-search-nodes.json] [--million]

Both search the same level with the true rules as the model (700 zeros and ones per state), breadth-first and without a
limit to a layer, up to the same number of nodes; plain floats are what every search was made of before nodes were
packed. Runs alternate, so that both see the same machine, and the median counts; the model's own time is taken out to
show the search's. `--million` also searches a million nodes in a process of its own and says how much memory it took.
`--model DIR` is a trained model of Boxoban's frames, `--heuristic DIR` its learned distance: states expanded in a
second of processor time as plain floats, packed, with the answers of rules looked up, and with the distance.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import numpy as np
import torch

from examples.boards import TrueRules
from examples.sokoban_levels import SokobanLevels
from pixelplan.distance.learned_distance import load_distance
from pixelplan.files import write_json
from pixelplan.machine import describe_machine
from pixelplan.model.checkpoint import load_model
from pixelplan.planning.latent_goal import LatentGoal
from pixelplan.planning.one_shot import OneShotConfig, inference, search
from pixelplan.planning.plan import Plan
from pixelplan.types import Distance, is_discrete

LEVEL = """
##########
#@   #   #
#  $   $ #
# #  .   #
#    #.  #
#  $   # #
#   .    #
# #  $ . #
#        #
##########
"""


class Timed(TrueRules):
    """The true rules, and how long they took."""

    def __init__(self, world: SokobanLevels, discrete: bool) -> None:
        super().__init__(world)
        self.discrete, self.seconds = discrete, 0.0

    def step(self, z: torch.Tensor, context: Any) -> torch.Tensor:
        began = time.perf_counter()
        after = super().step(z, context)
        self.seconds += time.perf_counter() - began
        return after


def grow(world: SokobanLevels, discrete: bool, config: OneShotConfig) -> tuple[Plan, float]:
    """A search for a goal that cannot be reached, and how long the model took in it."""
    frame, _ = world.reset(seed=0)
    model = Timed(world, discrete)
    with inference():
        start = model.encode(frame[None]).numpy()[0]
        nowhere = np.zeros((1, len(start)), np.float32)  # no state has empty cells only
        return search(model, None, start, LatentGoal(nowhere), config), model.seconds


def open_level(folder: Path) -> SokobanLevels:
    """The level, as a world."""
    path = folder / "search-nodes-level.txt"
    path.write_text(LEVEL)
    world = SokobanLevels(str(path))
    path.unlink()
    return world


def main(world: SokobanLevels, nodes: int, repeats: int) -> dict[str, Any]:
    """Nodes per second of both, with and without the model's time."""
    measured: dict[str, dict[str, list[float]]] = {}
    for _ in range(repeats):
        for name, discrete in (("plain", False), ("packed", True)):
            config = OneShotConfig(node_limit=nodes, depth_limit=10**6, cutoff=10**6, second_look=False)
            plan, model = grow(world, discrete, config)
            rates_of = measured.setdefault(name, {"whole": [], "search": []})
            rates_of["whole"].append(plan.nodes / plan.seconds)
            rates_of["search"].append(plan.nodes / (plan.seconds - model))
    rates = {
        f"{name}, {part}": float(np.median(repeated))
        for name, parts in measured.items()
        for part, repeated in parts.items()
    }
    return {
        "nodes": nodes,
        "nodes a second": {name: round(rate) for name, rate in rates.items()},
        "packed against plain": round(rates["packed, whole"] / rates["plain, whole"], 2),
        "packed against plain, without the model": round(rates["packed, search"] / rates["plain, search"], 2),
    }


class Trained:
    """A trained model, packed or not, with a distance or not."""

    def __init__(self, model: Any, discrete: bool, distance: Distance | None) -> None:
        self.threshold, self.noisy, self.discrete, self.distance = model.threshold, model.noisy, discrete, distance
        self.step = model.step


def learned(world: SokobanLevels, folder: Path, heuristic: Path | None, nodes: int, repeats: int) -> dict[str, Any]:
    """States that a search in a trained model expands in a second of processor time, before and now."""
    opened = load_model(folder)
    lookup = getattr(opened.networks, "lookup", None)
    ways: dict[str, tuple[bool, Any, Distance | None]] = {"plain floats": (False, None, None)}
    if is_discrete(opened):
        ways["packed"] = True, None, None
    if lookup is not None:
        ways["packed, answers looked up"] = True, lookup, None
    if heuristic is not None:
        ways["all of it, with a learned distance"] = True, lookup, load_distance(heuristic)[0]
    frame, _ = world.reset(seed=0)
    config = OneShotConfig(node_limit=nodes, depth_limit=10**6, frontier="best-first", weight=2.0, batch=256)
    rates: dict[str, list[float]] = {}
    for _ in range(repeats):
        for name, (discrete, known, distance) in ways.items():
            if lookup is not None:
                opened.networks.lookup = known
            with inference():
                start, context = opened.encode(frame[None]).numpy()[0], opened.context(frame)
                nowhere = LatentGoal(np.zeros((1, len(start)), np.float32))
                began = time.process_time()
                plan = search(Trained(opened, discrete, distance), context, start, nowhere, config)  # type: ignore[arg-type]
            rates.setdefault(name, []).append(sum(plan.leaves) / (time.process_time() - began))
    medians = {name: round(float(np.median(all_))) for name, all_ in rates.items()}
    return {"model": str(folder), "family": opened.config.family, "states expanded a second": medians}


def peak() -> int:
    """The most bytes of memory that this process has had (Linux; `getrusage` would count its parent's, too)."""
    lines = Path("/proc/self/status").read_text().splitlines()
    return 1024 * int(next(line.split()[1] for line in lines if line.startswith("VmHWM")))


def million(world: SokobanLevels) -> dict[str, Any]:
    """A best-first search of a million nodes: its rate, and the memory that it took on top of what was there."""
    before = peak()
    config = OneShotConfig(node_limit=10**6, depth_limit=10**6, frontier="best-first", weight=2.0, batch=512)
    plan, model = grow(world, True, config)
    return {
        "nodes": plan.nodes,
        "nodes a second": round(plan.nodes / plan.seconds),
        "nodes a second, without the model": round(plan.nodes / (plan.seconds - model)),
        "megabytes": round((peak() - before) / 2**20),
        "bytes of a state as floats": 4 * (plan.graph.bits or 0),
    }


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--json", type=Path)
    parser.add_argument("--nodes", type=int, default=20_000)
    parser.add_argument("--repeats", type=int, default=5)
    parser.add_argument("--million", action="store_true")
    parser.add_argument("--model", type=Path)
    parser.add_argument("--heuristic", type=Path)
    parser.add_argument("--only-million", action="store_true", help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    level = open_level(Path.cwd())
    if arguments.only_million:
        print(json.dumps(million(level)))
        sys.exit()
    record = {"command": f"python benchmarks/search_nodes.py {' '.join(sys.argv[1:])}", **describe_machine()}
    record.update(main(level, arguments.nodes, arguments.repeats))
    if arguments.million:
        done = subprocess.run([sys.executable, __file__, "--only-million"], check=True, capture_output=True, text=True)
        record["a million"] = json.loads(done.stdout)
    if arguments.model:
        record["trained"] = learned(level, arguments.model, arguments.heuristic, 4000, arguments.repeats)
    print(json.dumps(record))
    if arguments.json:
        write_json(arguments.json, record)

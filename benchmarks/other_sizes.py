"""Success on larger and smaller boards than a model was trained on, without training again.

python benchmarks/other_sizes.py [NAME …] [--models runs/race] [--seeds 0] [--json results/benchmark-other-sizes.json]

A name is that of a model made by results/race.sh, which trains on boards of 8 × 8 cells: ice-slider, digit-jump or
sokoban, perhaps with a number of training levels (ice-slider-10). Test levels 10000-10049. What is finished is not run
again.
"""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

from examples import sokoban
from pixelplan import GymFamily, evaluate
from pixelplan.files import read_json, write_json
from pixelplan.machine import describe_machine
from pixelplan.model.checkpoint import load_model
from pixelplan.planning import FullConfig, OneShotConfig
from pixelplan.puzzles import make_puzzle

CELL, LEVELS = 8, "10000:10050"
SIZES = {"ice-slider": (6, 8, 12, 16, 20), "digit-jump": (6, 8, 12, 16, 20), "sokoban": (8, 10, 12)}
WIDE = OneShotConfig(cutoff=4096, node_limit=40_000)
"""Two boxes have thousands of states; the puzzles' boards have at most 400."""
SEARCH = {"sokoban": {"one-shot": WIDE, "full": FullConfig(search=WIDE)}}


def board(world: str, size: int) -> Any:
    """The levels of a world on boards of size × size cells."""
    if world == "sokoban":
        return GymFamily(lambda: sokoban.make(size=size), name=f"sokoban of size {size}")
    return make_puzzle(world, size=size, pixels=size * CELL)


def measure(name: str, size: int, planner: str, model: Path, out: Path) -> dict[str, Any]:
    """One planner on boards of one size."""
    world = next(world for world in SIZES if name.startswith(world))
    suited = load_model(model).for_frames(size * CELL, size * CELL)
    config = SEARCH.get(world, {}).get(planner)
    judged = evaluate(board(world, size), LEVELS, planner=planner, model=suited, config=config, out=out, resume=True)
    return {
        "success": judged.success,
        "interval": judged.interval,
        "optimal": judged.optimal,
        "seconds_per_plan": judged.seconds_per_plan,
    }


def main() -> None:
    """Measure, print and optionally record."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("names", nargs="*", default=list(SIZES))
    parser.add_argument("--models", type=Path, default=Path("runs/race"))
    parser.add_argument("--seeds", type=int, nargs="*", default=[0])
    parser.add_argument("--json", type=Path)
    arguments = parser.parse_args()
    models: dict[str, Any] = {}
    if arguments.json and arguments.json.exists():
        models = read_json(arguments.json)["models"]
    for name in arguments.names:
        if not name.startswith(tuple(SIZES)):
            parser.error(f"there is no world for {name}; the worlds are {', '.join(SIZES)}")
        for seed in arguments.seeds:
            folder = arguments.models / f"{name}-model-{seed}"
            described = read_json(folder / "config.json")
            of_model = models.setdefault(name, {}).setdefault(str(seed), {})
            for size in next(sizes for world, sizes in SIZES.items() if name.startswith(world)):
                of_size = of_model[str(size)] = {"commit": described["versions"]["commit"]}
                for planner in ("one-shot", "full"):
                    out = arguments.models / f"{name}-{seed}-of-size-{size}-{planner}.json"
                    of_size[planner] = result = measure(name, size, planner, folder, out)
                    print(f"{name}, seed {seed}, {size} × {size}, {planner}: {result['success']:.2f}", flush=True)
                if arguments.json:
                    command = "python benchmarks/other_sizes.py"
                    write_json(arguments.json, {"command": command, **describe_machine(), "models": models})


if __name__ == "__main__":
    main()

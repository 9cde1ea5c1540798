"""How fast levels are made, stepped and recorded, next to what limits them on the same machine, in one run.

python benchmarks/environments.py [--json results/benchmark-environments.json]
"""

from __future__ import annotations

import argparse
import resource
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np

import pixelplan
from pixelplan.files import write_json
from pixelplan.machine import describe_machine
from pixelplan.puzzles import make_puzzle, make_vector_env

GAMES = 1024


def seconds(work: Callable[[], object], repeats: int = 5) -> float:
    """The best of some runs: what the machine can do when nothing else disturbs it."""
    best = float("inf")
    for _ in range(repeats):
        begin = time.perf_counter()
        work()
        best = min(best, time.perf_counter() - begin)
    return best


def stepping(name: str) -> dict[str, float]:
    """Frames per second of the vectorised environment, and of copying as many bytes."""
    env = make_vector_env(name, GAMES, levels=(0, 64), terminate_on_goal=False)
    frames, _ = env.reset(seed=0)
    actions = np.random.default_rng(0).integers(5, size=(20, GAMES))

    def step() -> None:
        for action in actions:
            env.step(action)

    def copy() -> None:
        for _ in actions:
            frames.copy()

    step_seconds, copy_seconds = seconds(step), seconds(copy)
    return {
        "frames_per_second": actions.size / step_seconds,
        "copied_frames_per_second": actions.size / copy_seconds,
        "share_of_copying_speed": copy_seconds / step_seconds,
    }


def bare_procgen_rate() -> float:
    """Steps per second of Procgen itself, one game, stepped and observed in a plain loop."""
    from pixelplan.puzzles.procgen_maze import _import_procgen

    game = _import_procgen()(num=1, env_name="maze", distribution_mode="easy", num_threads=0)
    actions = np.random.default_rng(0).integers(9, size=(4000, 1))

    def play() -> None:
        for action in actions:
            game.act(action)
            game.observe()

    return len(actions) / seconds(play, 3)


def collecting(name: str) -> dict[str, float]:
    """Seconds to record 1000 levels × 20 × 20 steps to a new folder, making the levels included."""
    from pixelplan.puzzles import base

    with tempfile.TemporaryDirectory() as folder:
        base._cached_level.cache_clear()
        took = seconds(lambda: pixelplan.collect(name, "0:1000", Path(folder) / "data"), 1)
    return {"seconds": took, "steps_per_second": 400_000 / took}


def making(name: str) -> float:
    """Seconds to make 1000 levels."""
    puzzle = make_puzzle(name)
    puzzle.make(0)
    return seconds(lambda: [puzzle.make(number) for number in range(1000)], 1)


def main() -> None:
    """Measure, print and optionally record."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--json", type=Path)
    arguments = parser.parse_args()
    record: dict[str, object] = {"command": "python benchmarks/environments.py", **describe_machine()}
    for name in ("ice-slider", "digit-jump", "procgen-maze"):
        result = {
            "making_1000_levels_seconds": making(name),
            "collecting": collecting(name),
            "stepping": stepping(name),
        }
        print(
            f"{name:13} 1000 levels made in {result['making_1000_levels_seconds']:.1f} s, "
            f"1000 × 20 × 20 steps recorded in {result['collecting']['seconds']:.1f} s, "
            f"{result['stepping']['frames_per_second']:,.0f} frames/s stepped: "
            f"{result['stepping']['share_of_copying_speed']:.2f} of the speed of copying them"
        )
        record[name] = result
    bare = bare_procgen_rate()
    ratio = record["procgen-maze"]["collecting"]["steps_per_second"] / bare  # type: ignore[index]
    print(f"procgen-maze  recorded at {ratio:.1f} times the rate of bare Procgen ({bare:,.0f} steps/s)")
    record["bare_procgen_steps_per_second"], record["collecting_against_bare_procgen"] = bare, ratio
    record["peak_memory_mib"] = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    if arguments.json:
        write_json(arguments.json, record)


if __name__ == "__main__":
    main()

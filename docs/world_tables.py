"""The tables of worlds other than the paper's: the examples, the small worlds, and default settings."""

from __future__ import annotations

import itertools
import statistics
from collections import Counter
from collections.abc import Iterable, Iterator
from typing import Any

from recorded import SEEDS, all_if_made, record, table

from pixelplan.puzzles import PUZZLES

EXAMPLES = {"sokoban": "Sokoban", "minigrid_world": "MiniGrid's DoorKey", "tiles": "sliding tiles"}


def own_worlds() -> str:
    """What the examples reached, as far as it is recorded."""
    rows = []
    for name, title in EXAMPLES.items():
        records = all_if_made(*(f"race/{name}-{part}-seed0" for part in ("training", "one-shot", "full")))
        if records is None:
            continue
        training, *planners = records
        success = (f"{run['success']:.2f}" for run in planners)
        optimal = ", ".join(f"{run['optimal']:.2f}" for run in planners)
        cores = training["config"]["threads"]
        link = f"[{title}](examples/{name.removesuffix('_world')}.md)"
        minutes = f"{training['seconds'] / 60:.1f} min on {cores} core"
        accuracy = f"{training['validation_metrics']['one_step_accuracy']:.4f}"
        rows.append((link, minutes, accuracy, *success, optimal, f"{planners[0]['seconds_per_plan']:.2f} s"))
    header = "example | training | one-step accuracy | one-shot | full | optimal among solved (one-shot, full) | a plan"
    intro = "Success on levels 10000–10099, none of them in training (levels 0–999), default settings, one seed:"
    return f"{intro}\n\n{table(header, rows)}"


def small_worlds() -> str:
    """What was reached in the worlds of benchmarks/worlds.py: means over training seeds, and the worst success."""
    rows = []
    for name, by_seed in record("benchmark-worlds")["worlds"].items():
        runs = list(by_seed.values())
        exact = f"{statistics.mean(run['exact'] for run in runs):.4f}"
        optimal = f"{_optimal(runs, 'one-shot')}, {_optimal(runs, 'full')}"
        rows.append((name, *_raced(runs), exact, *_by_planner(runs), optimal))
    return table(
        "world | seeds | winners of the race | training | exact | one-shot (worst seed) | full (worst seed) | "
        "optimal among solved (one-shot, full)",
        rows,
    )


def default_settings() -> str:
    """What `results/race.sh` reached with default settings: puzzles and examples, on many levels and on few."""
    rows = []
    titles = {**{name: kind.__name__ for name, kind in PUZZLES.items()}, **EXAMPLES}
    for name, count in itertools.product(titles, (1000, 100, 10, 5)):
        runs = list(_default_runs(name if count == 1000 else f"{name}-{count}"))
        if not runs:
            continue
        horizons = [steps for steps in ("100", "1000", "10000") if all(steps in run["rollouts"] for run in runs)]
        lasting = ", ".join(
            f"{statistics.mean(run['rollouts'][steps] for run in runs):.2f} after {int(steps):,}" for steps in horizons
        )
        rows.append((titles[name], f"{count:,}", *_raced(runs), lasting, *_by_planner(runs)))
    header = (
        "world | training levels | seeds | winners of the race | training | rollouts still right | "
        "one-shot (worst seed) | full (worst seed)"
    )
    return table(header, rows) if rows else "Not recorded with the present code yet."


def other_sizes() -> str:
    """Success on boards of other sizes than trained on, by model and size."""
    records = all_if_made("benchmark-other-sizes")
    if records is None:
        return "Not recorded with the present code yet."
    titles = {**{name: kind.__name__ for name, kind in PUZZLES.items()}, **EXAMPLES}
    rows = []
    for name, by_seed in records[0]["models"].items():
        world = name.removesuffix("-10")
        levels = "1,000" if name == world else "10"
        for size in next(iter(by_seed.values())):
            runs = [of_model[size] for of_model in by_seed.values() if size in of_model]
            cells = (_successes(runs, planner) for planner in ("one-shot", "full"))
            rows.append((titles[world], levels, f"{size} × {size}", str(len(runs)), *cells, _optimal(runs, "full")))
    header = "world | training levels | board | seeds | one-shot (worst seed) | full (worst seed) | optimal (full)"
    return table(header, rows)


def _default_runs(name: str) -> Iterator[dict[str, Any]]:
    """The runs of `results/race.sh` with one name that are recorded in full, one per seed."""
    for seed in SEEDS:
        parts = (f"race/{name}-{part}-seed{seed}" for part in ("training", "one-shot", "full"))
        records = all_if_made(*parts, f"race/exactness-seed{seed}")
        if records is None or name not in records[3]["models"]:
            continue
        training, one_shot, full, exactness = records
        yield {
            "family": training["model"]["family"],
            "race": training["race"],
            "training_seconds": training["seconds"],
            "rollouts": exactness["models"][name]["rollouts"],
            "one-shot": one_shot,
            "full": full,
        }


def _raced(runs: list[dict[str, Any]]) -> tuple[str, str, str]:
    """How many seeds there are, which families won, and how long training took on average."""
    minutes = statistics.mean(_race_seconds(run) for run in runs) / 60
    return str(len(runs)), _winners(run["family"] for run in runs), f"{minutes:.1f} min"


def _race_seconds(run: dict[str, Any]) -> float:
    """Seconds of training, those of the families that lost the race included."""
    winner = max(run["race"], key=lambda entry: (entry["score"], -entry["place"]))
    return float(run["training_seconds"] + sum(entry["seconds"] for entry in run["race"] if entry is not winner))


def _winners(families: Iterable[str]) -> str:
    """Families with how often each won, if they differ."""
    counts = Counter(families)
    return next(iter(counts)) if len(counts) == 1 else ", ".join(f"{name} {count}" for name, count in counts.items())


def _by_planner(runs: list[dict[str, Any]]) -> tuple[str, str]:
    """The success of both planners."""
    return _successes(runs, "one-shot"), _successes(runs, "full")


def _successes(runs: list[dict[str, Any]], planner: str) -> str:
    """The mean share of solved levels and, if seeds differ, the least."""
    shares = [run[planner]["success"] for run in runs]
    mean = f"{statistics.mean(shares):.2f}"
    return mean if min(shares) == max(shares) else f"{mean} ({min(shares):.2f})"


def _optimal(runs: list[dict[str, Any]], planner: str) -> str:
    """The mean share of solved levels with the fewest steps; a dash if that is not known."""
    shares = [run[planner]["optimal"] for run in runs]
    return "–" if None in shares else f"{statistics.mean(shares):.2f}"

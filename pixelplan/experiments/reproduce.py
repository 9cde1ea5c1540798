"""One experiment: list its cells, run those that are missing, and show what is recorded."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from pixelplan.experiments.registry import Experiment, Records
from pixelplan.experiments.runner import Failure, jobs_of, missing_cells, run_here, state_of
from pixelplan.experiments.selection import Selection
from pixelplan.experiments.specs import Cell
from pixelplan.puzzles import PUZZLES
from pixelplan.types import InputError


@dataclass(frozen=True)
class Places:
    """Where things are read and written."""

    results: Path = Path("results")
    """Records, in its folders cells, main and baselines."""
    out: Path = Path("docs/results")
    """Tables and figures."""
    runs: Path = Path("runs")
    """Data, models and unfinished work."""


def run_cells(cells: Sequence[Cell], places: Places, threads: int, cluster: str | None, retries: int) -> list[Failure]:
    """Run what has no record yet, here or on a ray cluster; returns what failed."""
    if cluster is None:
        return run_here(cells, places.results, places.runs, threads)
    from pixelplan.experiments.cluster import run_there

    return run_there(cells, places.results, places.runs, threads, cluster, retries)


def show(name: str, module: Experiment, selection: Selection, places: Places) -> str:
    """Write the experiment's table and figure from the records there are, and return the table.

    All puzzles and seeds are shown, whichever were selected to run.
    """
    seeds = range(max(3, 1 + max(selection.seeds)))
    shown = replace(selection, puzzles=tuple(PUZZLES), seeds=tuple(seeds))
    declared = module.cells(shown)
    if declared and not any(places.results.rglob("*.json")):
        raise InputError(f"there is no record in {places.results}; --run makes them")
    report = module.report(shown, Records(places.results))
    report.write(places.out, name)
    missing = missing_cells(declared, places.results)
    words = f"{len(declared) - len(missing)} of {len(declared)} cells are recorded"
    if missing:
        words += f"; `pixelplan reproduce {name} --run` runs the others, `--dry-run` lists them"
    return f"{report.markdown}\n{words}." if declared else report.markdown


def listing(cells: Sequence[Cell], places: Places) -> str:
    """The cells with their states, and how many models remain to be trained."""
    states = [state_of(cell, places.results, places.runs) for cell in cells]
    lines = [f"{state:10}  {cell.name}" for state, cell in zip(states, cells, strict=True)]
    missing = jobs_of([cell for state, cell in zip(states, cells, strict=True) if state in ("to train", "begun")])
    return "\n".join([*lines, f"{states.count('done')} of {len(cells)} cells done; {len(missing)} models to train"])


def check_selection(selection: Selection) -> None:
    """An InputError for what does not exist."""
    for puzzle in selection.puzzles:
        if puzzle not in PUZZLES:
            raise InputError(f"there is no puzzle {puzzle!r}; the puzzles are {', '.join(PUZZLES)}")
    if any(count < 1 for count in selection.levels or ()):
        raise InputError("numbers of training levels are at least 1")

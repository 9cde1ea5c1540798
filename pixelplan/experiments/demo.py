"""The demonstration: unseen levels of every puzzle, solved live with the shipped models."""

from __future__ import annotations

import time
from pathlib import Path

from rich.console import Console
from rich.table import Table

from pixelplan.by_name.evaluate import evaluate
from pixelplan.by_name.open_model import open_model
from pixelplan.by_name.solve import solve
from pixelplan.evaluation.result import Result
from pixelplan.experiments.paper_numbers import success_rates
from pixelplan.files import write_picture
from pixelplan.puzzles import PUZZLES, get_level, make_puzzle
from pixelplan.puzzles.table_family import Tables
from pixelplan.reports.figures import solution_picture, write_figure
from pixelplan.reports.pictures import sheet
from pixelplan.types import InputError

LEVELS = range(3000, 3050)
"""Levels on which nothing was trained, tuned or measured."""
SHOWN_LEVEL = 3004


def demo(out: Path) -> None:
    """Solve levels, print how it went beside the paper's figures, and write pictures and GIFs to a folder."""
    console = Console(width=110)
    console.print(f"Planning from pixels on levels {LEVELS.start} to {LEVELS.stop - 1}, none of them seen in training.")
    table = Table("puzzle", "planner", "solved", "optimal", "ms per plan", "PPGS in the paper")
    pictures, titles = [], []
    began = time.perf_counter()
    for name in PUZZLES:
        try:
            get_level(make_puzzle(name), SHOWN_LEVEL)
        except InputError as problem:
            console.print(f"{name} is left out: {problem}", markup=False)
            continue
        model = open_model(name, Tables(make_puzzle(name), name))
        for planner in ("one-shot", "full"):
            result = evaluate(name, f"{LEVELS.start}:{LEVELS.stop}", planner=planner, model=model)
            table.add_row(name, planner, *_cells(result), f"{success_rates(f'ppgs-{planner}')[name]:.2f}")
        challenge, episode = solve(name, SHOWN_LEVEL, planner="one-shot", model=model)
        assert challenge.level is not None  # puzzles have tables
        pictures.append(solution_picture(challenge.level, episode))
        titles.append(f"{name}, level {SHOWN_LEVEL}: {len(episode.actions)} steps")
        write_figure(challenge, episode, out / f"{name}.gif")
    write_picture(out / "solutions.png", sheet(pictures, titles, columns=3))
    console.print(table)
    console.print(
        f"{time.perf_counter() - began:.0f} s in all. Look at {out}/solutions.png and {out}/*.gif", markup=False
    )


def _cells(result: Result) -> tuple[str, str, str]:
    """Solved, optimal among the solved, and milliseconds per plan."""
    solved = sum(episode.solved for episode in result.episodes)
    optimal = "" if result.optimal is None else f"{result.optimal:.2f}"
    speed = "" if result.seconds_per_plan is None else f"{1e3 * result.seconds_per_plan:.1f}"
    return f"{solved} of {len(result.episodes)}", optimal, speed

"""Boards of other sizes: 8 × 8 cells in training, 6 × 6 to 20 × 20 in the test (not in the paper)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from pixelplan.experiments.registry import Records
from pixelplan.experiments.selection import Selection, full_planner, one_shot_planner
from pixelplan.experiments.specs import Cell, Evaluation, Shipped, Variant
from pixelplan.experiments.tables import Report, comma_separated, level_range, markdown
from pixelplan.puzzles import PUZZLES

if TYPE_CHECKING:
    from matplotlib.figure import Figure

ENVS = ("ice-slider", "digit-jump")
TRAINING_SIZE, SIZES = 8, (6, 8, 12, 16, 20)
CELL = 8
"""Pixels along the side of a cell."""
PLANNERS = {"one-shot": one_shot_planner, "full": full_planner}
LEVELS = "10000:10050"
"""Fewer than in other experiments: larger boards take longer."""


def cells(selection: Selection) -> list[Cell]:
    """Both planners with the shipped models on every size; nothing is trained."""
    return [
        _cell(env, size, planner) for size in SIZES for env in ENVS if env in selection.puzzles for planner in PLANNERS
    ]


def _cell(env: str, size: int, planner: str) -> Cell:
    evaluation = PLANNERS[planner](LEVELS)
    variant = Variant((("size", size), ("pixels", CELL * size)))
    return Cell(Shipped(env), Evaluation(evaluation.planner, evaluation.config, LEVELS, variant=variant))


def find(records: Records, env: str, size: int, planner: str) -> dict[str, Any] | None:
    """What was measured on one board size; None if there is no record."""
    record = records.find(_cell(env, size, planner))
    return None if record is None else record["result"]


def report(selection: Selection, records: Records) -> Report:
    """The table and the curves."""
    results: dict[tuple[str, str, int], dict[str, Any]] = {}
    for env in ENVS:
        for planner in PLANNERS:
            for size in SIZES:
                if (result := find(records, env, size, planner)) is not None:
                    results[env, planner, size] = result
    table, values = [], []
    for (env, planner, size), result in results.items():
        low, high = result["interval"]
        solved = f"{result['success']:.2f} ({low:.2f}–{high:.2f})"
        optimal = "" if result["optimal"] is None else f"{result['optimal']:.2f}"
        trained = " (trained on)" if size == TRAINING_SIZE else ""
        table.append([PUZZLES[env].__name__, planner, f"{size} × {size}{trained}", solved, optimal])
        values.append([env, planner, size, result["success"], low, high, result["optimal"]])
    lines = [
        "# Boards of other sizes",
        "",
        f"The shipped models, trained on boards of {TRAINING_SIZE} × {TRAINING_SIZE} cells only, plan "
        f"on larger and smaller boards with as many pixels per cell. Share of levels {level_range(LEVELS)} solved, "
        "with Wilson's 95 % interval, and the share of those solved with the fewest moves. "
        "One training seed. Made by `pixelplan reproduce transfer` from the records in `results/`; "
        "[how it works](../transfer.md).",
        "",
        "![Solved unseen levels over the size of the board](transfer.png)",
        "",
        markdown(["puzzle", "planner", "board", "solved", "optimal"], table),
    ]
    columns = ["puzzle", "planner", "size", "success", "low", "high", "optimal"]
    return Report("\n".join(lines), comma_separated(columns, values), _figure(results))


def _figure(results: dict[tuple[str, str, int], dict[str, Any]]) -> Figure:
    """A panel for each puzzle, with a curve for each planner."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(8, 3.2), layout="constrained")
    panels = figure.subplots(1, len(ENVS), sharey=True)
    for axes, env in zip(panels, ENVS, strict=True):
        for planner, colour, shift in zip(PLANNERS, ("tab:blue", "tab:orange"), (-0.15, 0.15), strict=True):
            curve = [(size, results[env, planner, size]) for size in SIZES if (env, planner, size) in results]
            means = [result["success"] for _, result in curve]
            lows = [result["success"] - result["interval"][0] for _, result in curve]
            highs = [result["interval"][1] - result["success"] for _, result in curve]
            places = [size + shift for size, _ in curve]
            axes.errorbar(
                places, means, [lows, highs], marker="o", markersize=4, capsize=2, color=colour, label=planner
            )
        axes.axvline(TRAINING_SIZE, color="grey", linestyle=":", label="board in training")
        axes.set_xticks(SIZES)
        axes.set(title=PUZZLES[env].__name__, xlabel="cells along a side of the board", ylim=(-0.02, 1.05))
    panels[0].set_ylabel("solved")
    figure.legend(*panels[0].get_legend_handles_labels(), loc="outside right upper", fontsize="small")
    return figure

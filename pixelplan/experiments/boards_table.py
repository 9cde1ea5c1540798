"""Larger boards: IceSlider of 16 × 16 cells in 128 × 128 pixels, compared with the usual 8 × 8 (not in the paper)."""

from __future__ import annotations

import dataclasses
from typing import Any

from pixelplan.experiments.registry import Records
from pixelplan.experiments.selection import Selection, full_planner, one_shot_planner, training_on
from pixelplan.experiments.specs import Cell, Play, Training, Variant
from pixelplan.experiments.tables import INTERVALS, Report, comma_separated, level_range, markdown, summarise_records

ENV = "ice-slider"
SIZES = (8, 16)
PLANNERS = {"one-shot": one_shot_planner, "full": full_planner}


def cells(selection: Selection) -> list[Cell]:
    """Both planners on both sizes; the usual size is trained for other experiments, too."""
    if ENV not in selection.puzzles:
        return []
    return [_cell(selection, size, seed, planner) for seed in selection.seeds for size in SIZES for planner in PLANNERS]


def _cell(selection: Selection, size: int, seed: int, planner: str) -> Cell:
    count = (selection.levels or (1000,))[0]
    training, measure = training_on(ENV, count, seed, selection.preset), PLANNERS[planner](selection.test_levels)
    if size == 8:
        return Cell(training, measure)
    variant = Variant((("size", size), ("pixels", 8 * size)))
    return Cell(_on(training, variant), dataclasses.replace(measure, variant=variant))


def _on(training: Training, variant: Variant) -> Training:
    """The same training on other levels."""

    def other(play: Play | None) -> Play | None:
        return None if play is None else dataclasses.replace(play, variant=variant)

    play = dataclasses.replace(training.play, variant=variant)
    return dataclasses.replace(training, play=play, validation=other(training.validation))


def find(selection: Selection, records: Records, size: int, planner: str) -> list[dict[str, Any]]:
    """The records of one board size: one for each seed that has been run."""
    return records.find_all(_cell(selection, size, seed, planner) for seed in selection.seeds)


def report(selection: Selection, records: Records) -> Report:
    """The table."""
    table, rows = [], []
    for size in SIZES:
        for planner in PLANNERS:
            recorded = find(selection, records, size, planner)
            success = summarise_records(recorded)
            if success is None:
                continue
            optimal, seconds = _mean(recorded, "result", "optimal"), _mean(recorded, "model", "seconds")
            plan = _mean(recorded, "result", "seconds_per_plan")
            accuracies = [record["model"]["validation_metrics"]["one_step_accuracy"] for record in recorded]
            accuracy = sum(accuracies) / len(accuracies)
            table.append(
                [
                    f"{size} × {size}",
                    planner,
                    success.text(),
                    f"{optimal:.2f}",
                    f"{accuracy:.4f}",
                    f"{seconds / 60:.1f} min",
                    f"{1000 * plan:.1f} ms",
                ]
            )
            rows.append([size, planner, *dataclasses.astuple(success), optimal, accuracy, seconds, plan])
    count = (selection.levels or (1000,))[0]
    header = ["board", "planner", "solved", "optimal", "one-step accuracy", "training, one core", "a plan"]
    lines = [
        "# Larger boards",
        "",
        f"IceSlider of 8 × 8 cells in 64 × 64 pixels and of 16 × 16 cells in 128 × 128. Share of levels "
        f"{level_range(selection.test_levels)} solved after training on {count} levels: {INTERVALS} "
        "`benchmarks/board_size.py` measures side by side how times grow. Made by `pixelplan reproduce boards` from "
        "the records in `results/`.",
        "",
        markdown(header, table),
    ]
    names = [
        "size",
        "planner",
        "mean",
        "low",
        "high",
        "seeds",
        "optimal",
        "accuracy",
        "training_seconds",
        "plan_seconds",
    ]
    return Report("\n".join(lines), comma_separated(names, rows))


def _mean(records: list[dict[str, Any]], part: str, name: str) -> float:
    return sum(float(record[part][name]) for record in records) / len(records)

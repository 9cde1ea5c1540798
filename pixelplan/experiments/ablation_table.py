"""What each part of the world model and of the planner is worth (the paper's ablation table)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from pixelplan.experiments.paper_numbers import paper
from pixelplan.experiments.registry import Records
from pixelplan.experiments.selection import Selection, full_planner, one_shot_planner, training_on
from pixelplan.experiments.specs import Cell, Training
from pixelplan.experiments.tables import (
    INTERVALS,
    Report,
    Summary,
    comma_separated,
    error_bars,
    level_range,
    markdown,
    number,
    summarise_records,
    values,
)
from pixelplan.puzzles import PUZZLES

if TYPE_CHECKING:
    from matplotlib.figure import Figure

ENVS = ("digit-jump", "procgen-maze")
LEVEL_COUNTS = (1000, 20, 10, 5)
"""Numbers of training levels: the paper's, with which pixelplan solves everything even without some of its parts, and
smaller ones that leave room for a difference."""
METRICS = {"hits_at_1": "H@1", "hits_at_10": "H@10", "mrr_at_1": "MRR@1", "mrr_at_10": "MRR@10"}
WORLD_MODELS = ("whole method", "without inverse model", "with fully latent forward model")
"""The rows with metrics of prediction, in the paper and here."""


def cells(selection: Selection) -> list[Cell]:
    """Those of the rows, for the puzzles of the paper's table."""
    return [
        cell
        for seed in selection.seeds
        for env in ENVS
        if env in selection.puzzles
        for count in selection.levels or LEVEL_COUNTS
        for cell in _rows(selection, env, count, seed).values()
    ]


def _rows(selection: Selection, env: str, count: int, seed: int) -> dict[str, Cell]:
    """The table's rows by the paper's names for them."""
    ours = training_on(env, count, seed, selection.preset)
    levels = selection.test_levels
    return {
        "whole method": Cell(ours, full_planner(levels)),
        "without inverse model": Cell(
            training_on(env, count, seed, selection.preset, inverse=False), full_planner(levels)
        ),
        "with fully latent forward model": Cell(_latent(ours), full_planner(levels)),
        "without lookup table": Cell(ours, full_planner(levels, lookup=False)),
        "one-shot, with reidentification": Cell(ours, one_shot_planner(levels)),
        "one-shot, without reidentification": Cell(ours, one_shot_planner(levels, reidentification=False)),
    }


def _latent(training: Training) -> Training:
    """The same with a forward model that sees no context: with the default model, the preset `latent`."""
    model = replace(training.config.model, family="latent")
    return replace(training, config=replace(training.config, preset="latent", model=model))


def report(selection: Selection, records: Records) -> Report:
    """A table for each puzzle and number of levels, and the successes as bars."""
    counts = selection.levels or LEVEL_COUNTS
    by_row: dict[tuple[str, str, int], list[dict[str, Any]]] = {}
    for seed in selection.seeds:
        for env in ENVS:
            for count in counts:
                for name, cell in _rows(selection, env, count, seed).items():
                    record = records.find(cell)
                    if record is not None:
                        by_row.setdefault((name, env, count), []).append(record)
    lines = [
        "# Ablations",
        "",
        f"Share of levels {level_range(selection.test_levels)} solved by pixelplan and parts of it: "
        f"{INTERVALS} H@K and MRR@K (pixelplan / PPGS in the paper) rank the state predicted after K steps among those "
        "of a 20-step random episode, on levels 1000–1199, or on some of these if there were fewer than 1000 training "
        "levels. Made by `pixelplan reproduce ablation` from the records in `results/`.",
        "",
        "![Solved unseen levels, a bar for each ablation](ablation.png)",
        "",
    ]
    rows = []
    for env in ENVS:
        for count in counts:
            table, table_rows = _table(env, count, by_row)
            rows += table_rows
            header = ["", "solved, pixelplan", "solved, PPGS (paper)", *METRICS.values()]
            lines += [f"## {PUZZLES[env].__name__}, {count} training levels", "", markdown(header, table), ""]
    lines += [f"The paper's numbers: {paper()['ablation']['source']}.", ""]
    header = ["puzzle", "training_levels", "row", "mean", "low", "high", "seeds", "paper"]
    header += [name for key in METRICS for name in (key, f"{key}_paper")]
    summaries = {place: summary for place, recorded in by_row.items() if (summary := summarise_records(recorded))}
    return Report("\n".join(lines), comma_separated(header, rows), _figure(counts, summaries))


def _table(
    env: str, count: int, by_row: dict[tuple[str, str, int], list[dict[str, Any]]]
) -> tuple[list[list[str]], list[list[Any]]]:
    """The lines of one table, for people and for programs; the paper's numbers are for 1000 levels."""
    table, rows = [], []
    for name, row in paper()["ablation"]["rows"].items():
        recorded = by_row.get((name, env, count), [])
        theirs = row[env] if count == 1000 else {}
        success = summarise_records(recorded)
        metrics = _metrics(recorded) if name in WORLD_MODELS else {}
        pairs = [(metrics.get(key), theirs.get(key)) for key in METRICS]
        texts = ["" if success is None else success.text(), number(theirs.get("success"))]
        table.append([name, *texts, *(_pair(ours, reported) for ours, reported in pairs)])
        rows.append(
            [env, count, name, *values(success), theirs.get("success"), *(value for pair in pairs for value in pair)]
        )
    return table, rows


def _pair(ours: float | None, reported: float | None) -> str:
    """Ours and the paper's; a dash for the missing one, nothing if both are missing."""
    return "" if ours is reported is None else f"{number(ours) or '–'} / {number(reported) or '–'}"


def _metrics(records: list[dict[str, Any]]) -> dict[str, float]:
    """The mean over seeds of each metric."""
    values: dict[str, list[float]] = {}
    for record in records:
        for row in record["model"]["validation_metrics"]["rankings"]:
            values.setdefault(f"hits_at_{row['horizon']}", []).append(row["hits"])
            values.setdefault(f"mrr_at_{row['horizon']}", []).append(row["reciprocal_rank"])
    return {name: sum(of_seeds) / len(of_seeds) for name, of_seeds in values.items()}


def _figure(counts: Sequence[int], successes: dict[tuple[str, str, int], Summary]) -> Figure:
    """A panel for each puzzle and number of levels: a bar for each row, and a black mark where the paper's ends."""
    from matplotlib.figure import Figure

    rows = paper()["ablation"]["rows"]
    figure = Figure(figsize=(3.2 * len(counts) + 3, 6), layout="constrained")
    panels = figure.subplots(len(ENVS), len(counts), sharex=True, sharey=True, squeeze=False)
    for across, env in zip(panels, ENVS, strict=True):
        for axes, count in zip(across, counts, strict=True):
            for place, (name, row) in enumerate(rows.items()):
                ours = successes.get((name, env, count))
                if ours is not None:
                    axes.barh(place, ours.mean, xerr=error_bars([ours]), color="tab:blue", capsize=2)
                if count == 1000:
                    axes.plot([row[env]["success"]] * 2, [place - 0.4, place + 0.4], color="black", linewidth=2)
            axes.set(title=f"{PUZZLES[env].__name__}, {count} levels", xlim=(0, 1.05))
            axes.set_yticks(range(len(rows)), list(rows))
    panels[0, 0].invert_yaxis()
    for axes in panels[-1]:
        axes.set_xlabel("solved")
    panels[0, 0].barh(0, 0, color="tab:blue", label="pixelplan")
    panels[0, 0].plot([], [], color="black", linewidth=2, label="PPGS (the paper's)")
    figure.legend(loc="outside lower center", ncols=2, fontsize="small")
    return figure

"""Success on unseen levels by the number of training levels (the paper's figure and its last table)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from pixelplan.experiments.baseline_records import image_search_rates
from pixelplan.experiments.paper_numbers import paper
from pixelplan.experiments.registry import Records
from pixelplan.experiments.selection import Selection, full_planner, one_shot_planner, training_on
from pixelplan.experiments.specs import Cell, Training
from pixelplan.experiments.tables import (
    INTERVALS,
    Report,
    Summary,
    comma_separated,
    draw_curve,
    level_range,
    markdown,
    number,
    summarise,
    values,
)
from pixelplan.puzzles import PUZZLES

if TYPE_CHECKING:
    from matplotlib.figure import Figure

LEVEL_COUNTS: tuple[int, ...] = tuple(paper()["generalization"]["training_levels"])
"""Numbers of training levels."""
PLANNERS = {"full": full_planner, "one-shot": one_shot_planner}


def cells(selection: Selection) -> list[Cell]:
    """Small numbers first: one seed of everything, then the next."""
    return [
        Cell(training_on(env, count, seed, selection.preset), planner(selection.test_levels))
        for seed in selection.seeds
        for env in selection.puzzles
        for count in selection.levels or LEVEL_COUNTS
        for planner in PLANNERS.values()
    ]


def report(selection: Selection, records: Records) -> Report:
    """A table for each puzzle, and the curves."""
    successes = _measured(cells(replace(selection, levels=LEVEL_COUNTS)), records)
    searches = {env: image_search_rates(records.results, env, selection.test_levels) for env in PUZZLES}
    lines = [
        "# Generalisation",
        "",
        f"Share of levels {level_range(selection.test_levels)} solved after training on n other levels: "
        f"{INTERVALS} Training takes as many gradient steps with few levels as with many. With fewer than 1000 levels "
        "the threshold is calibrated on a tenth of them, and with fewer than ten on all of them. Made by "
        "`pixelplan reproduce generalisation` from the records in `results/`.",
        "",
    ]
    lines += ["![Solved unseen levels over the number of training levels](generalisation.png)", ""]
    for env, kind in PUZZLES.items():
        lines += [f"## {kind.__name__}", "", markdown(*_table(env, successes)), ""]
        search = searches[env]
        if search is not None:
            lines += [f"GS on Images, which learns nothing: {search.text()}.", ""]
    lines += [f"PPGS's and PPO's numbers are the paper's: {paper()['generalization']['source']}.", ""]
    rows = [
        [env, count, planner, *values(successes.get((env, count, planner))), _paper(env, "ppgs", count, planner)]
        for env in PUZZLES
        for count in LEVEL_COUNTS
        for planner in PLANNERS
    ]
    header = ["puzzle", "training_levels", "planner", "mean", "low", "high", "seeds", "paper"]
    return Report("\n".join(lines), comma_separated(header, rows), _figure(successes, searches))


def _measured(declared: Sequence[Cell], records: Records) -> dict[tuple[str, int, str], Summary]:
    """What was measured, by puzzle, number of levels and planner."""
    rates: dict[tuple[str, int, str], list[float]] = {}
    for cell in declared:
        record = records.find(cell)
        if record is not None:
            assert isinstance(cell.model, Training)
            place = (cell.env, cell.model.count, cell.measure.planner)  # type: ignore[attr-defined]
            rates.setdefault(place, []).append(record["result"]["success"])
    return {place: summary for place, of_seeds in rates.items() if (summary := summarise(of_seeds)) is not None}


def _table(env: str, successes: dict[tuple[str, int, str], Summary]) -> tuple[list[str], list[list[str]]]:
    header = ["n", "pixelplan, full", "PPGS, full (paper)", "pixelplan, one-shot", "PPO (paper)"]
    rows = []
    for count in LEVEL_COUNTS:
        full, one_shot = successes.get((env, count, "full")), successes.get((env, count, "one-shot"))
        rows.append(
            [
                str(count),
                "" if full is None else full.text(),
                number(_paper(env, "ppgs", count)),
                "" if one_shot is None else one_shot.text(),
                number(_paper(env, "ppo", count)),
            ]
        )
    return header, rows


def _paper(env: str, method: str, count: int, planner: str = "full") -> float | None:
    rates: list[float | None] = paper()["generalization"]["rates"][env][method]
    return rates[LEVEL_COUNTS.index(count)] if planner == "full" and count in LEVEL_COUNTS else None


def _figure(successes: dict[tuple[str, int, str], Summary], searches: dict[str, Summary | None]) -> Figure:
    """A panel for each puzzle: pixelplan, the paper's PPGS and PPO, and the search without learning, over n."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(12, 3.6), layout="constrained")
    panels = figure.subplots(1, len(PUZZLES), sharey=True)
    for axes, (env, kind) in zip(panels, PUZZLES.items(), strict=True):
        for planner, colour in (("full", "tab:blue"), ("one-shot", "tab:cyan")):
            curve = [successes.get((env, count, planner)) for count in LEVEL_COUNTS]
            draw_curve(axes, LEVEL_COUNTS, curve, color=colour, label=f"pixelplan, {planner}")
        for method, style, label in (("ppgs", "--", "PPGS, full (the paper's)"), ("ppo", ":", "PPO (the paper's)")):
            axes.plot(
                LEVEL_COUNTS,
                paper()["generalization"]["rates"][env][method],
                style,
                marker=".",
                color="black",
                label=label,
            )
        search = searches[env]
        if search is not None:
            axes.axhline(search.mean, color="tab:orange", label="GS on Images")
        axes.set(title=kind.__name__, xscale="log", xlabel="training levels", ylim=(-0.02, 1.05))
    panels[0].set_ylabel("solved")
    handles, labels = panels[0].get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside right upper", fontsize="small")
    return figure

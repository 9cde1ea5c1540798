"""PPGS itself, with the paper's networks, losses and planners, beside pixelplan: in miniature or at the paper's size.

The miniature keeps everything of the paper but the size: narrower ResNets, smaller boards, fewer levels and steps.
"""

from __future__ import annotations

import dataclasses
import statistics
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from pixelplan.experiments.registry import Records
from pixelplan.experiments.selection import (
    VALIDATION,
    Selection,
    full_planner,
    one_shot_planner,
    papers_full,
    papers_one_shot,
)
from pixelplan.experiments.specs import Calibrated, Cell, Evaluation, Oracle, Play, Training, Variant
from pixelplan.experiments.tables import (
    INTERVALS,
    Report,
    comma_separated,
    level_range,
    markdown,
    summarise,
    values,
)
from pixelplan.families.paper import PaperConfig
from pixelplan.families.presets import preset, without_inverse
from pixelplan.files import read_json
from pixelplan.model.train_config import TrainConfig
from pixelplan.planning import ImageSearchConfig
from pixelplan.puzzles import PUZZLES

if TYPE_CHECKING:
    from matplotlib.figure import Figure

SMALL = {
    "ice-slider": Variant((("size", 6), ("pixels", 24))),
    "digit-jump": Variant((("size", 4), ("pixels", 16))),
}
"""The miniature's boards, with cells of 4 × 4 pixels: after the stem's strides, each is one place of the ResNets'
features. On a smaller board of IceSlider, training and test levels would often be the same."""
LEVELS = 1000
STEM = 8
"""Channels of the first stage of the miniature's ResNets (the paper: 64)."""
UPDATES = {"ice-slider": 4000, "digit-jump": 2000}
"""The miniature's gradient steps (the paper: 125,000)."""
FRAMES = 4
"""States of a level in a gradient step: with 8 levels, the steps from them are about the paper's 128."""
PIXELPLAN_UPDATES = 640


TRAINED = ("PPGS", "pixelplan", "PPGS without inverse model", "PPGS with fully latent forward model")
"""Methods that are models of their own."""


@dataclass(frozen=True)
class Row:
    """A line of the table, and what is measured for it."""

    method: str
    planner: str
    config: TrainConfig | None
    """None if nothing is trained."""
    measure: Evaluation


def cells(selection: Selection) -> list[Cell]:
    """One seed of everything, then the next."""
    by_board = [[(env, row) for row in _rows(selection, env)] for env in _boards(selection)]
    return [
        _cell(selection, row, env, seed)
        for seed in selection.seeds
        for same_row in zip(*by_board, strict=True)
        for env, row in same_row
    ]


def _boards(selection: Selection) -> list[str]:
    return [env for env in selection.puzzles if selection.full_size or env in SMALL]


def _rows(selection: Selection, env: str) -> Iterator[Row]:
    """Both methods with both planners, and PPGS without its parts."""
    levels = selection.test_levels
    ppgs, ours = papers_config(selection.full_size, env), preset(selection.preset)
    if not selection.full_size:
        ours = dataclasses.replace(ours, updates=PIXELPLAN_UPDATES)
    yield Row("PPGS", "full", ppgs, papers_full(levels))
    yield Row("PPGS", "one-shot", ppgs, papers_one_shot(levels))
    planners = papers_full(levels), papers_one_shot(levels)
    calibrated = [Calibrated(measure.planner, measure.config, levels) for measure in planners]
    yield Row("PPGS with a calibrated threshold", "full", ppgs, calibrated[0])
    yield Row("PPGS with a calibrated threshold", "one-shot", ppgs, calibrated[1])
    yield Row("pixelplan", "full", ours, full_planner(levels))
    yield Row("pixelplan", "one-shot", ours, one_shot_planner(levels))
    bare = dataclasses.replace(ppgs, model=without_inverse(ppgs.model))
    yield Row("PPGS without inverse model", "full", bare, papers_full(levels))
    latent = dataclasses.replace(
        ppgs, preset=f"{ppgs.preset}-latent", model=dataclasses.replace(ppgs.model, latent=True)
    )
    yield Row("PPGS with fully latent forward model", "full", latent, papers_full(levels))
    yield Row("PPGS without lookup table", "full", ppgs, papers_full(levels, lookup=False))
    yield Row("PPGS without reidentification", "one-shot", ppgs, papers_one_shot(levels, False))
    search = Evaluation("image-search", ImageSearchConfig(), levels)
    yield Row("GS on Images", "which learns nothing", None, search)


def papers_config(full_size: bool, env: str) -> TrainConfig:
    """How PPGS is trained, at the paper's size or in miniature."""
    whole = preset("paper")
    if full_size:
        return whole
    small = PaperConfig(stem=STEM, updates=UPDATES[env])
    return dataclasses.replace(whole, preset="paper-miniature", model=small, frames=FRAMES, precision="auto")


def _cell(selection: Selection, row: Row, env: str, seed: int) -> Cell:
    variant = None if selection.full_size else SMALL[env]
    measure = dataclasses.replace(row.measure, variant=variant, seed=seed if row.config is None else row.measure.seed)
    if row.config is None:
        return Cell(Oracle(env), measure)
    count = (selection.levels or (1000 if selection.full_size else LEVELS,))[0]
    training = Training(
        Play(env, f"0:{count}", variant=variant),
        dataclasses.replace(row.config, seed=seed),
        Play(env, VALIDATION, variant=variant),
    )
    return Cell(training, measure)


def report(selection: Selection, records: Records) -> Report:
    """A table of both boards, and how predictions improve."""
    boards = _boards(selection)
    recorded: dict[tuple[str, str, str], list[dict[str, Any]]] = {}
    for env in boards:
        for row in _rows(selection, env):
            by_seed = [records.find(_cell(selection, row, env, seed)) for seed in selection.seeds]
            recorded[env, row.method, row.planner] = [record for record in by_seed if record is not None]
    successes = {place: summarise([record["result"]["success"] for record in runs]) for place, runs in recorded.items()}
    table, rows, learned = [], list[list[Any]](), []
    for _, method, planner in [place for place in recorded if place[0] == boards[0]]:
        summaries = [successes[env, method, planner] for env in boards]
        table.append([f"{method}, {planner}", *("" if summary is None else summary.text() for summary in summaries)])
        for env, summary in zip(boards, summaries, strict=True):
            trained = _learned([record["model"] for record in recorded[env, method, planner] if record.get("model")])
            rows.append([env, method, planner, *values(summary), *trained.values()])
            if planner == "full" and method in TRAINED and trained["updates"] is not None:
                learned.append([f"{method}, {PUZZLES[env].__name__}", *(f"{value:,.5g}" for value in trained.values())])
    lines = [
        "# PPGS at the paper's size" if selection.full_size else "# PPGS in miniature",
        "",
        _words(selection),
        "",
        f"Share of levels {level_range(selection.test_levels)} solved: {INTERVALS}",
        "",
        markdown(["", *(PUZZLES[env].__name__ for env in boards)], table),
        "",
        "![Steps of held-out levels predicted exactly, over gradient steps](paper-miniature.png)",
        "",
        "The curves: the share of steps in a few levels of 1000–1199 after which the predicted embedding is nearer to "
        "the right state than to any other seen there, by gradient steps (a line for each seed).",
        "",
        *_accuracy(learned),
        *_cost(records),
    ]
    header = ["puzzle", "method", "planner", "mean", "low", "high", "seeds", *_learned([])]
    return Report("\n".join(lines), comma_separated(header, rows), _figure(boards, recorded))


def _words(selection: Selection) -> str:
    """What was trained, in plain words."""
    made = "Made by `pixelplan reproduce paper-miniature"
    if selection.full_size:
        return f"The paper's own experiment, beside pixelplan on the same levels. {made} --full-size`."
    boards = " and ".join(f"{PUZZLES[env].__name__} ({SMALL[env].name}; {UPDATES[env]:,} steps)" for env in SMALL)
    return (
        f"Everything in the paper except the size: its residual networks without strides, of {STEM} instead of 64 "
        "channels in the first stage, its deconvolution, context and action planes, its inverse model, losses, margin, "
        "weights, threshold, optimizer and planners. There are fewer gradient steps of about 128 transitions than the "
        f"paper's 125,000, on {LEVELS} levels of {boards}. The full planner explores as well, and on small boards this "
        "alone solves some levels: how many, GS on Images shows. One-shot needs a model that is right. pixelplan "
        f"trains on the same play for {PIXELPLAN_UPDATES} steps. {made}` from the records in `results/`."
    )


def _learned(models: list[dict[str, Any]]) -> dict[str, float | None]:
    """Means over seeds of how right the models are on held-out levels, from what records say about them."""

    def over_seeds(of_model: Callable[[dict[str, Any]], float]) -> float | None:
        return round(statistics.mean(of_model(model) for model in models), 4) if models else None

    models = [model for model in models if model.get("learning") and "calibration" in model]
    return {
        "updates": over_seeds(lambda model: model["learning"][-1][0]),
        "exact": over_seeds(lambda model: model["validation_metrics"]["exact"]),
        "error": over_seeds(lambda model: model["calibration"]["forward_errors"]["0.9"]),
        "apart": over_seeds(lambda model: model["calibration"]["separations"]["0.01"]),
        "threshold": over_seeds(lambda model: model["threshold"]),
        "hits_at_10": over_seeds(
            lambda model: next(row["hits"] for row in model["validation_metrics"]["rankings"] if row["horizon"] == 10)
        ),
    }


def _accuracy(rows: list[list[str]]) -> list[str]:
    """How right the models are."""
    if not rows:
        return []
    header = ["", "gradient steps", "exact", "90 % of errors below", "99 % of distances above", "threshold", "H@10"]
    return [
        "## How right the models are",
        "",
        "On held-out levels: the steps predicted exactly; how far nine in ten predictions are from the right state at "
        "most, and how far states of a level are apart; the distance under which two embeddings count as the same "
        "state; the predictions after ten steps that are nearest to the right state.",
        "",
        markdown(header, rows),
        "",
    ]


def _cost(records: Records) -> list[str]:
    """What a gradient step takes at both sizes, if that was measured."""
    path = records.results / "benchmark-paper-update.json"
    if not path.exists():
        return []
    record = read_json(path)
    full, small = record["full size"], record["miniature"]
    return [
        "## Cost",
        "",
        f"At the paper's size, a gradient step of 128 transitions takes {full['seconds_an_update']} s on one core "
        f"({record['machine']['processor']}), and {full['updates']:,} steps would take {full['hours'] / 24:,.0f} days. "
        f"In miniature a step takes {small['seconds_an_update']} s. These are processor seconds, by `python "
        "benchmarks/paper_update.py`. On a GPU, `pixelplan reproduce paper-miniature --full-size --run` is the paper's "
        "own experiment.",
        "",
    ]


def _figure(boards: list[str], recorded: dict[tuple[str, str, str], list[dict[str, Any]]]) -> Figure:
    """A panel for each board: held-out steps predicted exactly, over gradient steps."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(4.5 * len(boards) + 2.5, 3.6), layout="constrained")
    panels = figure.subplots(1, len(boards), sharey=True, squeeze=False)[0]
    colours = {"PPGS": "black", "pixelplan": "tab:blue", "PPGS without inverse model": "tab:red"}
    for axes, env in zip(panels, boards, strict=True):
        for method, colour in colours.items():
            for number, record in enumerate(recorded[env, method, "full"]):
                points = record.get("model", {}).get("learning", [])
                label = method if number == 0 else None
                if points:
                    axes.plot(*zip(*points, strict=True), color=colour, label=label)
        axes.set(title=PUZZLES[env].__name__, xlabel="gradient steps", ylim=(-0.02, 1.05))
    panels[0].set_ylabel("held-out steps predicted exactly")
    labelled = {label: line for axes in panels for line, label in zip(*axes.get_legend_handles_labels(), strict=True)}
    if labelled:
        figure.legend(labelled.values(), labelled.keys(), loc="outside right upper", fontsize="small")
    return figure

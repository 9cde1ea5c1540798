"""PPGS itself, with the paper's networks, losses and planners, beside pixelplan: in miniature or at the paper's size.

The miniature keeps everything of the paper but the size: narrower ResNets, smaller boards, fewer levels and steps.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

from pixelplan.experiments.registry import Records
from pixelplan.experiments.selection import (
    VALIDATION,
    Selection,
    full_planner,
    one_shot_planner,
    papers_full,
    papers_one_shot,
)
from pixelplan.experiments.specs import Cell, Evaluation, Play, Training, Variant
from pixelplan.experiments.tables import (
    INTERVALS,
    Report,
    Summary,
    comma_separated,
    draw_curve,
    markdown,
    summarise,
    values,
)
from pixelplan.families.paper import PaperConfig
from pixelplan.families.presets import preset, without_inverse
from pixelplan.model.train_config import TrainConfig
from pixelplan.puzzles import PUZZLES
from pixelplan.training.on_policy import Stage

if TYPE_CHECKING:
    from matplotlib.figure import Figure

SMALL = {
    "ice-slider": Variant((("size", 6), ("pixels", 36))),
    "digit-jump": Variant((("size", 4), ("pixels", 32))),
}
"""The miniature's boards. On a smaller one of IceSlider, training and test levels would often be the same."""
LEVELS = 300
STEM, UPDATES = 8, 2000
"""Of the miniature's ResNets (the paper: 64), and its gradient steps (the paper: 125,000)."""
PIXELPLAN_UPDATES = 640
SHARES = (0.25, 0.5, 0.75, 1.0)
"""Of training, after which success is measured."""


@dataclass(frozen=True)
class Row:
    """A line of the table, and what is measured for it."""

    method: str
    planner: str
    config: TrainConfig
    measure: Evaluation
    shares: tuple[float, ...] = SHARES

    @property
    def curve(self) -> bool:
        """Whether it is also measured during training."""
        return len(self.shares) > 1


def cells(selection: Selection) -> list[Cell]:
    """One seed of everything, then the next."""
    return [
        _cell(selection, row, env, seed, share)
        for seed in selection.seeds
        for env in _boards(selection)
        for row in _rows(selection)
        for share in row.shares
    ]


def _boards(selection: Selection) -> list[str]:
    return [env for env in selection.puzzles if selection.full_size or env in SMALL]


def _rows(selection: Selection) -> Iterator[Row]:
    """Both methods with both planners, and PPGS without its parts."""
    levels = selection.test_levels
    ppgs = preset("paper")
    ours = dataclasses.replace(preset(selection.preset), updates=PIXELPLAN_UPDATES)
    if selection.full_size:
        ours = preset(selection.preset)
    else:
        ppgs = dataclasses.replace(ppgs, preset="paper-miniature", model=PaperConfig(stem=STEM, updates=UPDATES))
    yield Row("PPGS", "full", ppgs, papers_full(levels))
    yield Row("PPGS", "one-shot", ppgs, papers_one_shot(levels))
    yield Row("pixelplan", "full", ours, full_planner(levels))
    yield Row("pixelplan", "one-shot", ours, one_shot_planner(levels))
    bare = dataclasses.replace(ppgs, model=without_inverse(ppgs.model))
    yield Row("PPGS without inverse model", "full", bare, papers_full(levels), (1.0,))
    yield Row("PPGS without lookup table", "full", ppgs, papers_full(levels, lookup=False), (1.0,))
    yield Row("PPGS without reidentification", "one-shot", ppgs, papers_one_shot(levels, False), (1.0,))


def _cell(selection: Selection, row: Row, env: str, seed: int, share: float) -> Cell:
    variant = None if selection.full_size else SMALL[env]
    count = (selection.levels or (1000 if selection.full_size else LEVELS,))[0]
    training = Training(
        Play(env, f"0:{count}", variant=variant),
        dataclasses.replace(row.config, seed=seed),
        Play(env, VALIDATION, variant=variant),
        tuple(Stage(share) for share in SHARES[:-1]),
    )
    return Cell(training, dataclasses.replace(row.measure, variant=variant), share)


def report(selection: Selection, records: Records) -> Report:
    """A table for each board, and the learning curves."""
    successes: dict[tuple[str, str, str, float], Summary] = {}
    for env in _boards(selection):
        for row in _rows(selection):
            for share in row.shares:
                there = [records.find(_cell(selection, row, env, seed, share)) for seed in selection.seeds]
                summary = summarise([record["result"]["success"] for record in there if record is not None])
                if summary is not None:
                    successes[env, row.method, row.planner, share] = summary
    lines = [
        "# PPGS at the paper's size" if selection.full_size else "# PPGS in miniature",
        "",
        _words(selection),
        "",
        f"Share of levels {selection.test_levels} (the second number excluded) solved: {INTERVALS}",
        "",
        "![Solved unseen levels over gradient steps](paper-miniature.png)",
        "",
    ]
    rows = []
    for env in _boards(selection):
        table = []
        for row in _rows(selection):
            summaries = [successes.get((env, row.method, row.planner, share)) for share in SHARES]
            texts = ["" if success is None else success.text() for success in summaries]
            table.append([f"{row.method}, {row.planner}", *texts])
            for share in row.shares:
                success = successes.get((env, row.method, row.planner, share))
                rows.append([env, row.method, row.planner, share, _updates(row.config), *values(success)])
        header = ["", *(f"{share:.0%} of training" for share in SHARES)]
        lines += [f"## {PUZZLES[env].__name__}", "", markdown(header, table), ""]
    header = ["puzzle", "method", "planner", "share", "updates", "mean", "low", "high", "seeds"]
    return Report("\n".join(lines), comma_separated(header, rows), _figure(selection, successes))


def _words(selection: Selection) -> str:
    """What was trained, in plain words."""
    made = "Made by `pixelplan reproduce paper-miniature"
    if selection.full_size:
        return f"The paper's own experiment, beside pixelplan on the same levels. {made} --full-size`."
    boards = " and ".join(f"{PUZZLES[env].__name__} ({SMALL[env].name})" for env in SMALL)
    return (
        f"Everything in the paper except the size: its residual networks without strides, of {STEM} instead of 64 "
        "channels in the first stage, its deconvolution, context and action planes, its inverse model, losses, margin, "
        f"weights, threshold and planners; {UPDATES:,} gradient steps of about 128 transitions instead of 125,000, on "
        f"{LEVELS} levels of {boards}. pixelplan trains on the same play for {PIXELPLAN_UPDATES} steps. {made}` from "
        "the records in `results/`."
    )


def _updates(config: TrainConfig) -> int | None:
    """Gradient steps of a whole training; None if the family decides."""
    return config.updates or getattr(config.model, "updates", None)


def _figure(selection: Selection, successes: dict[tuple[str, str, str, float], Summary]) -> Figure:
    """A panel for each board: success over gradient steps."""
    from matplotlib.figure import Figure

    boards = _boards(selection)
    figure = Figure(figsize=(4.5 * len(boards) + 2.5, 3.6), layout="constrained")
    panels = figure.subplots(1, len(boards), sharey=True, squeeze=False)[0]
    colours = {"PPGS": "black", "pixelplan": "tab:blue"}
    for axes, env in zip(panels, boards, strict=True):
        for row in _rows(selection):
            total = _updates(row.config)
            if not row.curve or total is None:
                continue
            there = [share for share in SHARES if (env, row.method, row.planner, share) in successes]
            shown = [successes[env, row.method, row.planner, share] for share in there]
            line = "-" if row.planner == "full" else "--"
            style = {"linestyle": line, "color": colours[row.method], "label": f"{row.method}, {row.planner}"}
            draw_curve(axes, [share * total for share in there], shown, **style)
        axes.set(title=PUZZLES[env].__name__, xlabel="gradient steps", ylim=(-0.02, 1.05))
    panels[0].set_ylabel("solved")
    handles, labels = panels[0].get_legend_handles_labels()
    if handles:
        figure.legend(handles, labels, loc="outside right upper", fontsize="small")
    return figure

"""Leaves of the search by depth, with and without reidentification (the paper's figure in §2.2)."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from pixelplan.experiments.registry import Records
from pixelplan.experiments.selection import Selection
from pixelplan.experiments.specs import Cell, Shipped
from pixelplan.experiments.tables import Report, comma_separated, level_range, markdown
from pixelplan.files import level_numbers, parse_levels
from pixelplan.model.checkpoint import load_model
from pixelplan.planning import OneShotConfig
from pixelplan.planning.latent_goal import LatentGoal
from pixelplan.planning.latent_graph import as_array
from pixelplan.planning.one_shot import inference, search
from pixelplan.puzzles import get_level, make_puzzle

if TYPE_CHECKING:
    from matplotlib.figure import Figure

ENV = "procgen-maze"
DEPTH = 20
"""Layers that are counted."""
OUT_OF_REACH = 1e3
"""A goal so far from everything that no search ends there."""
NORMAL_90 = 1.645
"""90 % of a normal distribution lie within this many standard deviations."""


@dataclass(frozen=True)
class Leaves:
    """The leaves of every layer of a one-shot search that has no goal, and so sees everything."""

    levels: str
    config: OneShotConfig = field(default_factory=OneShotConfig)

    @property
    def name(self) -> str:
        """A name for people."""
        return f"leaves {'with' if self.config.reidentification else 'without'} reidentification on {self.levels}"

    def take(self, env: str, model: Path | None, out: Path) -> dict[str, Any]:
        """The number of leaves by depth in each level; 0 once nothing new is left to find."""
        assert model is not None  # the latent space of a trained model is searched
        puzzle = make_puzzle(env)
        opened = load_model(model)
        rows = []
        for number in level_numbers(parse_levels(self.levels)):
            level = get_level(puzzle, number)
            with inference():
                start = as_array(opened.encode(level.frame(level.start)[None]))[0]
                nowhere = LatentGoal(start[None] + OUT_OF_REACH)
                plan = search(opened, opened.context(level.frame(level.goal)), start, nowhere, self.config)
            rows.append([*plan.leaves, *[0] * (DEPTH - len(plan.leaves))])
        return {"leaves": rows}


def cells(selection: Selection) -> list[Cell]:
    """With and without reidentification."""
    return [_cell(selection, reidentification) for reidentification in (True, False)]


def _cell(selection: Selection, reidentification: bool) -> Cell:
    config = OneShotConfig(DEPTH, 2**20, reidentification=reidentification, second_look=False)
    return Cell(Shipped(ENV), Leaves(selection.test_levels, config))


def report(selection: Selection, records: Records) -> Report:
    """The numbers, and the curves."""
    curves = {}
    for reidentification, title in ((True, "with reidentification"), (False, "without reidentification")):
        record = records.find(_cell(selection, reidentification))
        if record is not None:
            curves[title] = _curve(record["result"]["leaves"])
    lines = [
        "# Leaves of the search",
        "",
        "ProcgenMaze, the shipped model (1 seed): how many leaves each layer of the one-shot search expands, the mean "
        f"over levels {level_range(selection.test_levels)} and its 90 % interval. The search does not stop at the "
        "goal; once a level has nothing new left, it counts as having no leaves. Without reidentification, each layer "
        "would have five times as many leaves as the one before; 256 of them are kept at random. The paper shows "
        "curves without numbers. Made by `pixelplan reproduce fringe` from the records in `results/`.",
        "",
        "![Leaves by depth, with and without reidentification](fringe.png)",
        "",
        markdown(
            ["depth", *curves],
            [
                [str(depth), *(f"{mean[depth]:.1f} ± {spread[depth]:.1f}" for mean, spread in curves.values())]
                for depth in range(DEPTH)
            ],
        ),
    ]
    rows = [
        [title, depth, round(float(mean[depth]), 4), round(float(spread[depth]), 4)]
        for title, (mean, spread) in curves.items()
        for depth in range(DEPTH)
    ]
    header = ["search", "depth", "leaves", "half_of_90_percent_interval"]
    return Report("\n".join(lines), comma_separated(header, rows), _figure(curves))


def _curve(leaves: list[list[int]]) -> tuple[np.ndarray, np.ndarray]:
    """The mean [depth] over levels and half of its 90 % interval [depth]."""
    counts = np.array(leaves, float)
    return counts.mean(0), NORMAL_90 * counts.std(0, ddof=1) / math.sqrt(len(counts))


def _figure(curves: dict[str, tuple[np.ndarray, np.ndarray]]) -> Figure:
    from matplotlib.figure import Figure

    figure = Figure(figsize=(5, 3.5), layout="constrained")
    axes = figure.subplots()
    for (title, (mean, spread)), colour in zip(curves.items(), ("tab:blue", "tab:red"), strict=False):
        axes.plot(range(DEPTH), mean, color=colour, label=title)
        axes.fill_between(range(DEPTH), mean - spread, mean + spread, color=colour, alpha=0.25, linewidth=0)
    axes.set(xlabel="depth", ylabel="leaves", yscale="symlog")
    if curves:
        axes.legend(loc="upper left")
    return figure

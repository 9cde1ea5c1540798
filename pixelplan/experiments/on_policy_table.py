"""Learning from the planner's own play (the paper's appendix on iterative model improvement)."""

from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING

from pixelplan.experiments.paper_numbers import paper
from pixelplan.experiments.registry import Records
from pixelplan.experiments.selection import Selection, one_shot_planner, training_on
from pixelplan.experiments.specs import Cell, Play, Training
from pixelplan.experiments.tables import (
    INTERVALS,
    Report,
    Summary,
    comma_separated,
    error_bars,
    level_range,
    markdown,
    summarise_records,
    values,
)
from pixelplan.model.train_config import TrainConfig
from pixelplan.training.on_policy import Stage, on_policy_stages

if TYPE_CHECKING:
    from matplotlib.figure import Figure

ENV = "ice-slider"
EPISODES = 20
"""Episodes per level of (A); (B) has a quarter of them, and (C) gets the rest from the planner in three parts."""
PASSES = 8
"""Over all levels: the paper's 40 epochs with a stop after every fifth."""
PLAYING_SHARE = 3 / PASSES
"""The planner plays after the first three passes, as in the paper."""
HALF = Stage(0.5)
SHARES = {0.5: "20", 1.0: "40"}
"""The share of training after which success is measured, and the paper's epochs there."""


def cells(selection: Selection) -> list[Cell]:
    """One-shot planning, at half and at full training, for each kind of data."""
    if ENV not in selection.puzzles:
        return []
    count = (selection.levels or (1000,))[0]
    return [
        Cell(training, one_shot_planner(selection.test_levels), share)
        for seed in selection.seeds
        for training in _trainings(selection, count, seed).values()
        for share in SHARES
    ]


def updates_a_pass(count: int) -> int:
    """Gradient steps in which training sees all levels, eight at a time; small sets are seen several times."""
    return max(100, -(-count // TrainConfig().batch))


def _trainings(selection: Selection, count: int, seed: int) -> dict[str, Training]:
    """The table's columns."""
    few = EPISODES // 4

    def on(episodes: int, *stages: Stage) -> Training:
        usual = training_on(ENV, count, seed, selection.preset)
        config = dataclasses.replace(usual.config, updates=PASSES * updates_a_pass(count))
        return dataclasses.replace(
            usual, play=Play(ENV, usual.play.levels, episodes), config=config, stages=(*stages, HALF)
        )

    return {"A": on(EPISODES), "B": on(few), "C": on(few, *on_policy_stages(3, few, PLAYING_SHARE))}


def report(selection: Selection, records: Records) -> Report:
    """The table, and its bars."""
    count = (selection.levels or (1000,))[0]
    columns, epochs = paper()["on_policy"]["columns"], paper()["on_policy"]["epochs"]
    successes: dict[tuple[str, float], Summary] = {}
    for name in columns:
        for share in SHARES:
            recorded = records.find_all(
                Cell(_trainings(selection, count, seed)[name], one_shot_planner(selection.test_levels), share)
                for seed in selection.seeds
            )
            summary = summarise_records(recorded)
            if summary is not None:
                successes[name, share] = summary
    table, rows = [], []
    for share, epoch in SHARES.items():
        line = ["half" if share == 0.5 else "all"]
        for name in columns:
            ours, (mean, deviation) = successes.get((name, share)), epochs[epoch][name]
            line += ["" if ours is None else ours.text(), f"{mean:.2f} ± {deviation:.2f}"]
            rows.append([name, share, *values(ours), mean, deviation])
        table.append(line)
    header = ["training done"]
    for name, title in columns.items():
        header += [f"({name}) {title}, pixelplan", f"({name}), PPGS (paper)"]
    steps = PASSES * updates_a_pass(count)
    lines = [
        "# On-policy data",
        "",
        f"IceSlider: share of levels {level_range(selection.test_levels)} solved by one-shot planning "
        f"after training on {count} levels: {INTERVALS}",
        "",
        "(A) 20 random episodes of 20 steps per level; (B) 5; (C) 5, and 5 more by the planner after each of the first "
        f"three passes over the levels. All training is {PASSES} passes ({steps} gradient steps); half is the same "
        "run, stopped halfway, with a learning rate that is still high. Made by `pixelplan reproduce on-policy` from "
        "the records in `results/`.",
        "",
        "![Solved unseen levels, for three kinds of data, at half and at full training](on-policy.png)",
        "",
        markdown(header, table),
        f"The paper's numbers: {paper()['on_policy']['source']}.",
        "",
    ]
    names = ["data", "share", "mean", "low", "high", "seeds", "paper", "paper_deviation"]
    return Report("\n".join(lines), comma_separated(names, rows), _figure(successes))


def _figure(successes: dict[tuple[str, float], Summary]) -> Figure:
    """Bars for half and all of training, and a black mark where the paper's ends."""
    from matplotlib.figure import Figure

    columns, epochs = paper()["on_policy"]["columns"], paper()["on_policy"]["epochs"]
    figure = Figure(figsize=(7, 3.5), layout="constrained")
    axes = figure.subplots()
    for place, name in enumerate(columns):
        for (share, epoch), colour, aside in zip(SHARES.items(), ("tab:cyan", "tab:blue"), (-0.2, 0.2), strict=True):
            ours = successes.get((name, share))
            if ours is not None:
                axes.bar(place + aside, ours.mean, 0.36, yerr=error_bars([ours]), color=colour, capsize=2)
            reported = epochs[epoch][name][0]
            axes.plot([place + aside - 0.18, place + aside + 0.18], [reported] * 2, color="black", linewidth=2)
    axes.bar(0, 0, color="tab:cyan", label="half of training")
    axes.bar(0, 0, color="tab:blue", label="all of it")
    axes.plot([], [], color="black", linewidth=2, label="in the paper")
    axes.set_xticks(range(len(columns)), [f"({name}) {title}" for name, title in columns.items()], fontsize="small")
    axes.set(ylabel="solved by one-shot", ylim=(0, 1.05))
    figure.legend(loc="outside right upper", fontsize="small")
    return figure

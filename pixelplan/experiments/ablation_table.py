"""What each part of the world model and of the planner is worth (the paper's ablation table)."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from pixelplan.envs import PUZZLES
from pixelplan.experiments.paper_numbers import paper
from pixelplan.experiments.registry import Records
from pixelplan.experiments.selection import Selection, full_planner, one_shot_planner, training_on
from pixelplan.experiments.specs import Cell, Training
from pixelplan.experiments.tables import INTERVALS, Report, Summary, comma_separated, markdown, number, summarise

if TYPE_CHECKING:
    from matplotlib.figure import Figure

ENVS = ("digit-jump", "procgen-maze")
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
        for cell in _rows(selection, env, (selection.levels or (1000,))[0], seed).values()
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
    model = replace(training.config.model, family="latent")  # type: ignore[arg-type]  # presets here are on a grid
    return replace(training, config=replace(training.config, preset="latent", model=model))


def report(selection: Selection, records: Records) -> Report:
    """The table, and its successes as bars."""
    count = (selection.levels or (1000,))[0]
    found: dict[tuple[str, str], list[dict[str, Any]]] = {}
    for seed in selection.seeds:
        for env in ENVS:
            for name, cell in _rows(selection, env, count, seed).items():
                record = records.find(cell)
                if record is not None:
                    found.setdefault((name, env), []).append(record)
    lines = [
        "# Ablations",
        "",
        f"Share of levels {selection.test_levels} (the second number excluded) solved after training on {count} "
        f"levels: {INTERVALS} H@K and MRR@K (pixelplan / PPGS in the paper) rank the state predicted after K steps "
        "among those of a 20-step random episode, on levels 1000–1199. Made by `pixelplan reproduce ablation` from the "
        "records in `results/`.",
        "",
    ]
    lines += ["![Solved unseen levels, a bar for each ablation](ablation.png)", ""]
    rows = []
    for env in ENVS:
        table = []
        for name, row in paper()["ablation"]["rows"].items():
            here, theirs = found.get((name, env), []), row[env]
            success = summarise([record["result"]["success"] for record in here])
            metrics = _metrics(here) if name in WORLD_MODELS else {}
            pairs = [(metrics.get(key), theirs[key]) for key in METRICS]
            table.append(
                [
                    name,
                    "" if success is None else success.text(),
                    number(theirs["success"]),
                    *(_pair(ours, reported) for ours, reported in pairs),
                ]
            )
            ours = [None] * 4 if success is None else [success.mean, success.low, success.high, success.seeds]
            rows.append([env, name, *ours, theirs["success"], *(value for pair in pairs for value in pair)])
        header = ["", "solved, pixelplan", "solved, PPGS (paper)", *(title for title in METRICS.values())]
        lines += [f"## {PUZZLES[env].__name__}", "", markdown(header, table), ""]
    lines += [f"The paper's numbers: {paper()['ablation']['source']}.", ""]
    header = ["puzzle", "row", "mean", "low", "high", "seeds", "paper"]
    header += [name for key in METRICS for name in (key, f"{key}_paper")]
    summaries = {
        place: one for place, of in found.items() if (one := summarise([each["result"]["success"] for each in of]))
    }
    return Report("\n".join(lines), comma_separated(header, rows), _figure(summaries))


def _pair(ours: float | None, reported: float | None) -> str:
    """Ours and the paper's; a dash for what is not there, nothing where neither is."""
    return "" if ours is reported is None else f"{number(ours) or '–'} / {number(reported) or '–'}"


def _metrics(records: list[dict[str, Any]]) -> dict[str, float]:
    """The mean over seeds of each metric."""
    values: dict[str, list[float]] = {}
    for record in records:
        for row in record["model"]["validation_metrics"]["rankings"]:
            values.setdefault(f"hits_at_{row['horizon']}", []).append(row["hits"])
            values.setdefault(f"mrr_at_{row['horizon']}", []).append(row["reciprocal_rank"])
    return {name: sum(found) / len(found) for name, found in values.items()}


def _figure(found: dict[tuple[str, str], Summary]) -> Figure:
    """A bar for each row and puzzle, and a black mark where the paper's ends."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(10, 4), layout="constrained")
    panels = figure.subplots(1, len(ENVS), sharey=True)
    rows = paper()["ablation"]["rows"]
    for axes, env in zip(panels, ENVS, strict=True):
        for place, (name, row) in enumerate(rows.items()):
            ours = found.get((name, env))
            if ours is not None:
                error = [[ours.mean - ours.low], [ours.high - ours.mean]]
                axes.barh(place, ours.mean, xerr=error, color="tab:blue", capsize=2)
            axes.plot([row[env]["success"]] * 2, [place - 0.4, place + 0.4], color="black", linewidth=2)
        axes.set(title=PUZZLES[env].__name__, xlabel="solved", xlim=(0, 1.05))
        axes.set_yticks(range(len(rows)), list(rows))
    panels[0].invert_yaxis()
    panels[0].barh(0, 0, color="tab:blue", label="pixelplan")
    panels[0].plot([], [], color="black", linewidth=2, label="PPGS (the paper's)")
    figure.legend(loc="outside lower center", ncols=2, fontsize="small")
    return figure

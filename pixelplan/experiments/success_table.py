"""The paper's comparison of success rates (its figure "Success rates", the n = 1000 column of its last table)."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from pixelplan.experiments.paper_numbers import paper, success_rates
from pixelplan.experiments.registry import Records
from pixelplan.experiments.selection import (
    Selection,
    full_planner,
    one_shot_planner,
    papers_full,
    papers_one_shot,
    training_on,
)
from pixelplan.experiments.specs import Cell, Oracle, Training
from pixelplan.experiments.tables import (
    INTERVALS,
    Report,
    Summary,
    comma_separated,
    error_bars,
    level_range,
    markdown,
    number,
    summarise,
    values,
)
from pixelplan.files import read_json
from pixelplan.puzzles import PUZZLES, make_puzzle

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

METHODS = {
    "full": "pixelplan, full",
    "one-shot": "pixelplan, one-shot",
    "ppgs-full": "PPGS, full",
    "ppgs-one-shot": "PPGS, one-shot",
    "image-search": "GS on Images",
    "ppo": "PPO",
    "glamor": "GLAMOR (near the goal counts)",
    "dreamer": "DreamerV2",
    "glamor-strict": "GLAMOR (on the goal only)",
    "random": "random actions",
    "oracle-full": "full planner, true rules",
    "oracle-one-shot": "one-shot, true rules",
}
"""The rows in order; the paper has no row of pixelplan, and none of those after DreamerV2."""

PLANNERS = {"full": full_planner, "one-shot": one_shot_planner}
MORE_LEVELS = "10000:11000"
"""Test levels of our own, for a narrower interval."""


@dataclass(frozen=True)
class Measured:
    """What was measured of one method on one puzzle."""

    success: Summary
    steps: int | None
    """Environment steps of training, of the seed with the fewest; None if the record does not say."""
    seconds: float | None
    rate: float | None
    """Training steps per second."""
    curve: tuple[tuple[int, float], ...] = ()
    """Steps of training so far, and the share of training episodes then won, if the record says."""


def cells(selection: Selection) -> list[Cell]:
    """pixelplan and PPGS after training on 1000 levels, and the true rules, on the test levels; then pixelplan on more
    levels. The other rows have their own commands."""
    return [
        *(cell for rows in _cells(selection).values() for cell in rows),
        *(
            main_cell(selection, env, planner, seed, MORE_LEVELS)
            for seed in selection.seeds
            for env in selection.puzzles
            for planner in PLANNERS
        ),
    ]


def _cells(selection: Selection) -> dict[str, list[Cell]]:
    """The cells of the rows that are declared here."""
    by_method: dict[str, list[Cell]] = {}
    for seed in selection.seeds:
        for env in selection.puzzles:
            for planner in PLANNERS:
                by_method.setdefault(planner, []).append(
                    main_cell(selection, env, planner, seed, selection.test_levels)
                )
    ppgs = {"full": papers_full(selection.test_levels), "one-shot": papers_one_shot(selection.test_levels)}
    for seed in selection.seeds:
        for env in selection.puzzles:
            training = training_on(env, _count(selection), seed, "ppgs")
            for planner, measure in ppgs.items():
                by_method.setdefault(f"ppgs-{planner}", []).append(Cell(training, measure))
    for env in selection.puzzles:
        for planner, measured_by in PLANNERS.items():
            rules = Cell(Oracle(env), measured_by(selection.test_levels))
            by_method.setdefault(f"oracle-{planner}", []).append(rules)
    return by_method


def main_cell(selection: Selection, env: str, planner: str, seed: int, levels: str) -> Cell:
    """A planner of pixelplan on some levels."""
    return Cell(training_on(env, _count(selection), seed, selection.preset), PLANNERS[planner](levels))


def _count(selection: Selection) -> int:
    return (selection.levels or (1000,))[0]


def report(selection: Selection, records: Records) -> Report:
    """The table, the training of the baselines, and the bars."""
    levels = [int(end) for end in selection.test_levels.split(":")]
    results = measured([*read_records(records, levels), *own_records(selection, records)])
    return Report(
        f"{table(results, selection.test_levels)}\n{budget_table(results)}", table_csv(results), chart(results)
    )


def own_records(selection: Selection, records: Records) -> Iterator[dict[str, Any]]:
    """The records of the cells that are declared here, in the form of a baseline's."""
    for method, declared in _cells(selection).items():
        for cell in declared:
            recorded = records.find(cell)
            if recorded is not None:
                seed = cell.model.config.seed if isinstance(cell.model, Training) else 0
                yield {"env": cell.env, "planner": method, "seed": seed, "success": recorded["result"]["success"]}


def read_records(records: Records, levels: list[int]) -> Iterator[dict[str, Any]]:
    """The baselines' records of the test levels with the puzzles' own options, in the order of their names."""
    for path in sorted(records.results.glob("baselines/*.json")):
        record = read_json(path)
        if not isinstance(record, dict) or record.get("levels") != levels or record.get("env") not in PUZZLES:
            continue
        usual = dataclasses.asdict(make_puzzle(record["env"]))
        if record.get("options", usual) == usual and record.get("step_limit") is not None:
            yield record


def measured(records: Iterable[dict[str, Any]]) -> dict[tuple[str, str], Measured]:
    """What was measured by (method, puzzle): over seeds, each with its largest budget; what was not run is missing."""
    runs: dict[tuple[str, str], dict[tuple[Any, ...], tuple[int, float, dict[str, Any]]]] = {}
    for record in records:
        budget = record.get("budget") or {}
        steps = budget.get("environment_steps") or 0
        for method, success in _methods(record):
            seeds = runs.setdefault((method, record["env"]), {})
            seed = (str(record.get("model")), record.get("seed"))
            if seed not in seeds or steps > seeds[seed][0]:
                seeds[seed] = (steps, success, budget)
    return {place: _measured(list(seeds.values())) for place, seeds in runs.items()}


def _methods(record: dict[str, Any]) -> list[tuple[str, float]]:
    """The rows that a record belongs to, with its success there."""
    planner = str(record["planner"])
    if planner == "glamor":
        by_rule = record["success_by_rule"]
        return [("glamor", by_rule["near"]), ("glamor-strict", by_rule["goal"])]
    return [(planner, record["success"])] if planner in METHODS else []


def _measured(seeds: list[tuple[int, float, dict[str, Any]]]) -> Measured:
    steps, _, budget = min(seeds, key=lambda seed: seed[0])
    success = summarise([success for _, success, _ in seeds])
    assert success is not None  # there is at least one seed
    curve = tuple((int(at), float(won)) for at, won in budget.get("curve") or ())
    return Measured(success, steps or None, budget.get("seconds") or None, budget.get("steps_per_second"), curve)


def table(results: dict[tuple[str, str], Measured], levels: str) -> str:
    """Ours beside the paper's as Markdown; an empty cell was not run, or not reported."""
    header = [""]
    for kind in PUZZLES.values():
        header += [f"{kind.__name__}, here", f"{kind.__name__}, paper"]
    rows = []
    for method, title in METHODS.items():
        row = [title]
        for puzzle in PUZZLES:
            cell = results.get((method, puzzle))
            row += ["" if cell is None else cell.success.text(3), number(_paper(method, puzzle), 3)]
        rows.append(row)
    return "\n".join(
        [
            "# Success rates",
            "",
            f"Share of levels {level_range(levels)}, none of which was trained on, solved within 256 steps: "
            f"{INTERVALS} Made by `pixelplan reproduce success` from the records in `results/`.",
            "",
            "![Solved unseen levels, a bar for each method and puzzle](success.png)",
            "",
            markdown(header, rows),
            f"The paper's numbers: {paper()['success']['source']}.",
            "",
        ]
    )


def budget_table(results: dict[tuple[str, str], Measured]) -> str:
    """The training of the baselines, as Markdown."""
    budgets = paper()["success"]["budgets"]
    rows = []
    for method in ("ppo", "glamor", "dreamer"):
        for puzzle, kind in PUZZLES.items():
            cell = results.get((method, puzzle))
            numbers = ["", "", "", ""]
            if cell is not None and cell.steps:
                won = f"{cell.curve[-1][1]:.2f}" if cell.curve else ""
                numbers = [f"{cell.steps:,}", f"{cell.seconds or 0:,.0f}", f"{cell.rate or 0:,.1f}", won]
            rows.append([METHODS[method].partition(" (")[0], kind.__name__, *numbers, budgets[method]])
    header = ["", "puzzle", "steps, here", "seconds", "steps/s", "training episodes won", "steps, paper"]
    words = (
        "pixelplan learns from 400,000 random steps, as PPGS does in the paper. The episodes are the latest 100 on "
        "training levels; they are shorter than those on test levels (64 steps, in mazes 256)."
    )
    return "\n".join(["## Training of the baselines", "", words, "", markdown(header, rows)])


def table_csv(results: dict[tuple[str, str], Measured]) -> str:
    """One line for each method and puzzle that was measured or reported."""
    rows = []
    for method in METHODS:
        for puzzle in PUZZLES:
            cell, reported = results.get((method, puzzle)), _paper(method, puzzle)
            if cell is not None:
                ours = [*values(cell.success), cell.steps, cell.seconds, cell.rate]
                rows.append([method, puzzle, reported, *ours])
            elif reported is not None:
                rows.append([method, puzzle, reported, *[None] * 7])
    header = ["method", "puzzle", "paper", "mean", "low", "high", "seeds", "steps", "seconds", "rate"]
    return comma_separated(header, rows)


def chart(results: dict[tuple[str, str], Measured]) -> Figure:
    """A bar for each method and puzzle, and a black mark where the paper's would end."""
    import matplotlib
    from matplotlib.figure import Figure

    shown = [method for method in METHODS if any((method, puzzle) in results for puzzle in PUZZLES)]
    colours = matplotlib.colormaps["tab10"].colors  # type: ignore[attr-defined]
    learning = any(method == "ppo" and cell.curve for (method, _), cell in results.items())
    figure = Figure(figsize=(13 if learning else 10, 4), layout="constrained")
    axes, *curves = figure.subplots(1, 1 + learning, sharey=True, squeeze=False, width_ratios=(3, 1)[: 1 + learning])[0]
    width = 0.85 / max(1, len(shown))
    for index, method in enumerate(shown):
        for place, puzzle in enumerate(PUZZLES):
            x = place + (index - (len(shown) - 1) / 2) * width
            cell, reported = results.get((method, puzzle)), _paper(method, puzzle)
            if cell is not None:
                error = error_bars([cell.success])
                axes.bar(x, cell.success.mean, 0.9 * width, yerr=error, color=colours[index % 10], capsize=2)
            if reported is not None:
                axes.plot([x - 0.45 * width, x + 0.45 * width], [reported] * 2, color="black", linewidth=2)
        axes.bar(0, 0, color=colours[index % 10], label=METHODS[method])
    axes.plot([], [], color="black", linewidth=2, label="in the paper")
    axes.set_xticks(range(len(PUZZLES)), [puzzle.__name__ for puzzle in PUZZLES.values()])
    axes.set(ylabel="solved", ylim=(0, 1.05))
    if learning:
        _draw_ppo(curves[0], results)
    figure.legend(*axes.get_legend_handles_labels(), loc="outside right upper", fontsize="small")
    return figure


def _draw_ppo(axes: Axes, results: dict[tuple[str, str], Measured]) -> None:
    """PPO's success on training levels over the steps of training, and on unseen levels at its end (dots)."""
    for index, (puzzle, kind) in enumerate(PUZZLES.items()):
        cell = results.get(("ppo", puzzle))
        if cell is not None and cell.curve:
            steps = [at / 1e6 for at, _ in cell.curve]
            axes.plot(steps, [won for _, won in cell.curve], color=f"C{index}", label=kind.__name__)
            axes.plot(steps[-1], cell.success.mean, "o", color=f"C{index}")
    axes.set(title="PPO: training episodes won (dots: unseen levels)", xlabel="million steps")
    axes.title.set_fontsize("small")
    axes.legend(fontsize="x-small")


def _paper(method: str, puzzle: str) -> float | None:
    return success_rates(method)[puzzle] if method in paper()["success"]["rates"] else None

"""The paper's comparison of success rates (its figure "Success rates", the n = 1000 column of its last table)."""

from __future__ import annotations

import csv
import dataclasses
import io
import json
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pixelplan.envs import PUZZLES, make_puzzle
from pixelplan.experiments.paper import paper, success_rates
from pixelplan.files import write_bytes
from pixelplan.types import InputError

LEVELS = [2000, 2100]
"""The paper's test levels, and those of every record shown here."""

METHODS = {
    "full": "PPGS (full planner)",
    "one-shot": "PPGS, one-shot",
    "image-search": "GS on Images",
    "ppo": "PPO",
    "glamor": "GLAMOR (near the goal counts)",
    "dreamer": "DreamerV2",
    "glamor-strict": "GLAMOR (on the goal only)",
    "random": "random actions",
    "oracle-full": "full planner, true rules",
    "oracle-one-shot": "one-shot, true rules",
}
"""The rows in order; those after DreamerV2 are ours alone."""


@dataclass(frozen=True)
class Cell:
    """What was measured of one method on one puzzle."""

    mean: float
    low: float
    high: float
    seeds: int
    steps: int | None
    """Environment steps of training of the seed with the fewest; None where the record does not say."""
    seconds: float | None
    rate: float | None
    """Training steps a second."""


def reproduce_success(results: Path, out: Path) -> str:
    """Read the records, write `success.md`, `.csv`, `.png` and `.svg`, and give the Markdown."""
    cells = measured(read_records(results))
    if not cells:
        raise InputError(f"there is no record of levels 2000:2100 in {results}; results/records.sh makes them")
    text = f"{table(cells)}\n{budget_table(cells)}"
    out.mkdir(parents=True, exist_ok=True)
    write_bytes(out / "success.md", text.encode())
    write_bytes(out / "success.csv", table_csv(cells).encode())
    for kind in ("png", "svg"):
        write_bytes(out / f"success.{kind}", chart(cells, kind))
    return text


def read_records(results: Path) -> Iterator[dict[str, Any]]:
    """All evaluation records of the test levels with the puzzles' own options, in the order of their names."""
    for path in sorted([*results.glob("main/*.json"), *results.glob("baselines/*.json")]):
        try:
            record = json.loads(path.read_text())
        except ValueError as problem:
            raise InputError(f"{path} is not JSON: {problem}") from None
        if not isinstance(record, dict) or record.get("levels") != LEVELS or record.get("env") not in PUZZLES:
            continue
        usual = dataclasses.asdict(make_puzzle(record["env"]))  # type: ignore[call-overload]
        if record.get("options", usual) == usual and record.get("step_limit") is not None:
            yield record


def measured(records: Iterable[dict[str, Any]]) -> dict[tuple[str, str], Cell]:
    """The cells by (method, puzzle): over seeds, each with its largest budget; what was not run is not there."""
    runs: dict[tuple[str, str], dict[tuple[Any, ...], tuple[int, float, dict[str, Any]]]] = {}
    for record in records:
        budget = record.get("budget") or {}
        steps = budget.get("environment_steps") or 0
        for method, success in _methods(record):
            seeds = runs.setdefault((method, record["env"]), {})
            seed = (str(record.get("model")), record.get("seed"))
            if seed not in seeds or steps > seeds[seed][0]:
                seeds[seed] = (steps, success, budget)
    return {place: _cell(list(seeds.values())) for place, seeds in runs.items()}


def _methods(record: dict[str, Any]) -> list[tuple[str, float]]:
    """The rows that a record belongs to, with its success there."""
    planner = str(record["planner"])
    if planner == "glamor":
        by_rule = record["success_by_rule"]
        return [("glamor", by_rule["near"]), ("glamor-strict", by_rule["goal"])]
    if record.get("model") == "oracle":
        return [(f"oracle-{planner}", record["success"])]
    return [(planner, record["success"])] if planner in METHODS else []


def _cell(seeds: list[tuple[int, float, dict[str, Any]]]) -> Cell:
    rates = [success for _, success, _ in seeds]
    steps, _, budget = min(seeds, key=lambda one: one[0])
    return Cell(
        mean=sum(rates) / len(rates),
        low=min(rates),
        high=max(rates),
        seeds=len(rates),
        steps=steps or None,
        seconds=budget.get("seconds") or None,
        rate=budget.get("steps_per_second"),
    )


def table(cells: dict[tuple[str, str], Cell]) -> str:
    """Ours beside the paper's as Markdown; an empty cell was not run, or not reported."""
    titles = {name: kind.__name__ for name, kind in PUZZLES.items()}
    lines = [
        "# Success rates",
        "",
        f"Share of levels {LEVELS[0]} to {LEVELS[1] - 1} solved within 256 steps, none of them trained on: the mean,",
        "and in brackets the range over seeds and their number. An empty cell was not run, or is not in the paper.",
        "Made by `pixelplan reproduce success` from the records in `results/`.",
        "",
        "| | " + " | ".join(f"{title}, ours | {title}, paper" for title in titles.values()) + " |",
        "|---|" + "---|" * (2 * len(titles)),
    ]
    for method, title in METHODS.items():
        row = []
        for puzzle in titles:
            row += [_ours(cells.get((method, puzzle))), _number(_paper(method, puzzle))]
        lines.append(f"| {title} | " + " | ".join(row) + " |")
    return "\n".join([*lines, "", f"The paper's numbers: {paper()['success']['source']}.", ""])


def budget_table(cells: dict[tuple[str, str], Cell]) -> str:
    """What the baselines were given, as Markdown."""
    budgets = paper()["success"]["budgets"]
    lines = [
        "## Training of the baselines",
        "",
        "PPGS learns from 400,000 random steps, here as in the paper.",
        "",
        "| | puzzle | steps, ours | seconds | steps/s | steps, paper |",
        "|---|---|---|---|---|---|",
    ]
    for method in ("ppo", "glamor", "dreamer"):
        for puzzle, kind in PUZZLES.items():
            cell = cells.get((method, puzzle))
            numbers = ["", "", ""]
            if cell is not None and cell.steps:
                numbers = [f"{cell.steps:,}", f"{cell.seconds or 0:,.0f}", f"{cell.rate or 0:,.1f}"]
            title = METHODS[method].partition(" (")[0]
            lines.append(f"| {title} | {kind.__name__} | {' | '.join(numbers)} | {budgets[method]} |")
    return "\n".join([*lines, ""])


def table_csv(cells: dict[tuple[str, str], Cell]) -> str:
    """One line for each method and puzzle that was measured or reported."""
    buffer = io.StringIO()
    writer = csv.writer(buffer, lineterminator="\n")
    fields = [field.name for field in dataclasses.fields(Cell)]
    writer.writerow(["method", "puzzle", "paper", *fields])
    for method in METHODS:
        for puzzle in PUZZLES:
            cell, reported = cells.get((method, puzzle)), _paper(method, puzzle)
            if cell is not None or reported is not None:
                ours = dataclasses.astuple(cell) if cell else [None] * len(fields)
                writer.writerow([method, puzzle, reported, *ours])
    return buffer.getvalue()


def chart(cells: dict[tuple[str, str], Cell], kind: str) -> bytes:
    """A bar for each method and puzzle, and a black mark where the paper's would end; as PNG or SVG."""
    import matplotlib
    from matplotlib.figure import Figure

    shown = [method for method in METHODS if any((method, puzzle) in cells for puzzle in PUZZLES)]
    colours = matplotlib.colormaps["tab10"].colors  # type: ignore[attr-defined]
    figure = Figure(figsize=(10, 4), layout="constrained")
    axes = figure.subplots()
    width = 0.85 / max(1, len(shown))
    for index, method in enumerate(shown):
        for place, puzzle in enumerate(PUZZLES):
            x = place + (index - (len(shown) - 1) / 2) * width
            cell, reported = cells.get((method, puzzle)), _paper(method, puzzle)
            if cell is not None:
                error = [[cell.mean - cell.low], [cell.high - cell.mean]] if cell.seeds > 1 else None
                axes.bar(x, cell.mean, 0.9 * width, yerr=error, color=colours[index % 10], capsize=2)
            if reported is not None:
                axes.plot([x - 0.45 * width, x + 0.45 * width], [reported] * 2, color="black", linewidth=2)
        axes.bar(0, 0, color=colours[index % 10], label=METHODS[method])
    axes.plot([], [], color="black", linewidth=2, label="in the paper")
    axes.set_xticks(range(len(PUZZLES)), [puzzle.__name__ for puzzle in PUZZLES.values()])
    axes.set(ylabel="solved", ylim=(0, 1.05))
    figure.legend(loc="outside right upper", fontsize="small")
    buffer = io.BytesIO()
    with matplotlib.rc_context({"svg.hashsalt": "pixelplan"}):  # the same picture is the same bytes
        figure.savefig(buffer, format=kind, dpi=150, metadata={"Date": None} if kind == "svg" else {})
    return buffer.getvalue()


def _paper(method: str, puzzle: str) -> float | None:
    return success_rates(method)[puzzle] if method in paper()["success"]["rates"] else None


def _number(value: float | None) -> str:
    return "" if value is None else f"{value:.3f}"


def _ours(cell: Cell | None) -> str:
    if cell is None:
        return ""
    if cell.seeds == 1:
        return f"{cell.mean:.3f} (1 seed)"
    return f"{cell.mean:.3f} ({cell.low:.2f}–{cell.high:.2f}, {cell.seeds} seeds)"

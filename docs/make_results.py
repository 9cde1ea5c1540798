"""README's numbers and docs/results, made from the records in results/: `make results`. A test fails when they differ.

Nothing is trained here: what has no record is an empty cell.
"""

from __future__ import annotations

import re
import statistics
from collections import Counter
from collections.abc import Iterator
from typing import Any

from recorded import ROOT, SEEDS, record
from search_tables import (
    SEARCH_RESULTS,
    search_latplan,
    search_learning,
    search_models,
    search_results,
    searched,
)
from speed_tables import recorded_page, speed
from world_tables import EXAMPLES, default_settings, other_sizes, own_worlds, small_worlds

from pixelplan.experiments import boards_table, noise_table, transfer_table
from pixelplan.experiments.paper_numbers import success_rates
from pixelplan.experiments.registry import EXPERIMENTS, Records, experiment
from pixelplan.experiments.selection import TEST_LEVELS, Selection
from pixelplan.experiments.success_table import MORE_LEVELS, main_cell
from pixelplan.experiments.tables import Report
from pixelplan.puzzles import PUZZLES

PAGES = ("web", "own-environment", "reliability", "performance", "search", "world-model", "transfer")
FILLED = (ROOT / "README.md", *(ROOT / "docs" / f"{name}.md" for name in PAGES))
"""Pages with blocks that are made from records."""


def seeds(env: str, planner: str, levels: str) -> list[dict[str, Any]]:
    """The records of the main table's models on some levels, one per training seed."""
    records = Records(ROOT / "results")
    recorded = [records.find(main_cell(Selection(), env, planner, seed, levels)) for seed in SEEDS]
    return [record for record in recorded if record is not None]


def shown(records: list[dict[str, Any]], name: str) -> str:
    """The mean of a result over the training seeds, and each seed's own."""
    values = [record["result"][name] for record in records]
    return f"**{statistics.mean(values):.3f}** ({', '.join(f'{value:.3f}' for value in values)})"


def summary() -> str:
    """Success on unseen levels in three rows."""
    lines = [
        "Success on 1000 unseen levels (10000–10999) after training on 1000 levels of random play, the mean of three",
        "training seeds. One-shot plans once, from the first frame; the full planner watches and replans. PPGS is the",
        "paper's system, with its own numbers: tested on levels 2000–2099, trained for 20 hours on a GPU.",
        "",
        "| puzzle | one-shot (PPGS) | full (PPGS) | training on one CPU core |",
        "|---|---|---|---|",
    ]
    for name, kind in PUZZLES.items():
        cells = []
        for planner in ("one-shot", "full"):
            runs = seeds(name, planner, MORE_LEVELS)
            success = statistics.mean(run["result"]["success"] for run in runs)
            cells.append(f"{success:.3f} ({success_rates(f'ppgs-{planner}')[name]:.2f})")
        minutes = statistics.mean(run["model"]["seconds"] for run in runs) / 60
        lines.append(f"| {kind.__name__} | {cells[0]} | {cells[1]} | {minutes:.1f} min |")
    lines += ["", "[All results, each seed, and speed](docs/performance.md)."]
    return "\n".join(lines)


def main_table() -> str:
    """Success on unseen levels, beside the paper's."""
    lines = [
        "Success on unseen levels after training on 1000 levels of random play (20 × 20 steps each): the mean of three",
        "training seeds of pixelplan and each of them, and what the paper reports for PPGS (levels 2000–2099).",
        "",
        "| puzzle | planner | levels 2000–2099 | levels 10000–10999 | optimal among solved | PPGS (paper) |",
        "|---|---|---|---|---|---|",
    ]
    for name, kind in PUZZLES.items():
        for planner in ("one-shot", "full"):
            papers, more = (seeds(name, planner, levels) for levels in (TEST_LEVELS, MORE_LEVELS))
            success, optimal = [shown(runs, "success") for runs in (papers, more)], shown(more, "optimal")
            paper = success_rates(f"ppgs-{planner}")[name]
            lines.append(f"| {kind.__name__} | {planner} | {success[0]} | {success[1]} | {optimal} | {paper:.2f} |")
    lines += [
        "",
        "Training (PPGS in the paper: 20 hours on a GPU) and planning, on the machine that the records name:",
        "",
    ]
    lines += [
        "| puzzle | training | one-step accuracy | H@10 | one plan (one-shot) | parameters |",
        "|---|---|---|---|---|---|",
    ]
    planning = record("benchmark-planning")
    for name, kind in PUZZLES.items():
        trained = [run["model"] for run in seeds(name, "full", TEST_LEVELS)]
        seconds = statistics.mean(model["seconds"] for model in trained)
        accuracy = statistics.mean(model["validation_metrics"]["one_step_accuracy"] for model in trained)
        hits = statistics.mean(
            next(row["hits"] for row in model["validation_metrics"]["rankings"] if row["horizon"] == 10)
            for model in trained
        )
        cores = trained[0]["threads"]
        lines.append(
            f"| {kind.__name__} | {seconds / 60:.1f} min on {cores} core | {accuracy:.4f} | {hits:.3f} | "
            f"{planning[name]['one_shot_milliseconds']:.0f} ms | {trained[0]['parameters']:,} |"
        )
    lines += [
        "",
        "`pixelplan reproduce success --run` makes these records, `benchmarks/planning.py` the time of a plan.",
        "One-step accuracy and H@10 are on levels 1000–1199, on which design and threshold were chosen, too. Two",
        "models trained at a time, one on each core, and other work at times slowed them: training times are upper",
        "bounds. With the oracle (the true rules) as the model, both planners solve all levels 2000–2099 optimally.",
    ]
    return "\n".join(lines)


UNKNOWN_WORLDS = 23
"""Worlds of benchmarks/worlds.py."""


def beyond() -> str:
    """Success beyond the paper's puzzles, in a few lines."""
    worlds = [f"{title} {record(f'race/{name}-full-seed0')['success']:.2f}" for name, title in EXAMPLES.items()]
    selection, records = Selection(), Records(ROOT / "results")

    def behind_noise(planner: str) -> str:
        outcomes = [
            (env, noise_table.outcome(selection, records, env, noise_table.TRAINING_NOISE, planner))
            for env in noise_table.ENVS
        ]
        return ", ".join(
            f"{PUZZLES[env].__name__} {outcome.success.mean:.2f}" for env, outcome in outcomes if outcome is not None
        )

    def on_larger_boards(env: str) -> str:
        runs = [transfer_table.find(records, env, size, "full") for size in (16, 20)]
        return f"{PUZZLES[env].__name__} " + " and ".join(f"{run['success']:.2f}" for run in runs if run is not None)

    unknown = record("benchmark-worlds")["worlds"]
    means = {
        planner: [statistics.mean(run[planner]["success"] for run in by_seed.values()) for by_seed in unknown.values()]
        for planner in ("one-shot", "full")
    }
    hard = [
        f"{title} {run['success']:.3f} of {len(run['episodes']):,}"
        for name, (title, _) in SEARCH_RESULTS.items()
        if (run := searched(name)) is not None
    ]
    large = [record["result"]["success"] for record in boards_table.find(selection, records, 16, "full")]
    return "\n".join(
        [
            "Unseen levels of other worlds, the full planner, again from random play and images alone:",
            "",
            f"- {', '.join(worlds)} ([your own environment](docs/own-environment.md#examples)).",
            f"- Behind noise of standard deviation {noise_table.TRAINING_NOISE:g} and a moving distractor: "
            f"{behind_noise('full')};",
            f"  GS on Images: {behind_noise('image-search')} ([other strengths](docs/results/noise.md)).",
            f"- IceSlider of 16 × 16 cells: {statistics.mean(large):.2f} ([larger boards](docs/results/boards.md)).",
            f"- Trained on boards of {transfer_table.TRAINING_SIZE} × {transfer_table.TRAINING_SIZE} cells only, "
            f"tested on 16 × 16 and 20 × 20: {', '.join(map(on_larger_boards, transfer_table.ENVS))}",
            "  ([transfer](docs/transfer.md)).",
            f"- {len(unknown)} of {UNKNOWN_WORLDS} worlds without a grid or with effects far away, default settings: "
            f"mean {statistics.mean(means['full']):.2f}, worst {min(means['full']):.2f}; in one shot",
            f"  {statistics.mean(means['one-shot']):.2f} and {min(means['one-shot']):.2f}. The other worlds are not "
            "recorded, and not all of them are learned",
            "  ([which](docs/own-environment.md#worlds-it-was-not-built-for)).",
            "- Hard search, one plan each:",
            *(f"  {line}{',' if line != hard[-1] else ''}" for line in hard),
            "  ([which search for which world](docs/search.md)).",
        ]
    )


def faults() -> str:
    """The campaign of faults: cases tried and failed, by kind."""
    faulted = record("benchmark-faults")
    kinds: dict[str, list[tuple[str, dict[str, Any]]]] = {}
    for name, group in faulted["groups"].items():
        kind, _, part = name.partition(": ")
        kinds.setdefault(kind, []).append((part, group))
    lines = ["| kind | cases | failed | of these |", "|---|---|---|---|"]
    for kind, groups in kinds.items():
        cases = sum(group["cases"] for _, group in groups)
        failed = sum(len(group["failures"]) for _, group in groups)
        outcomes = Counter[str]()
        for _, group in groups:
            outcomes.update(group["outcomes"])
        parts = [f"{part} {group['cases']:,}" for part, group in groups if part]
        words = parts or [f"{outcome} {count:,}" for outcome, count in outcomes.items()]
        lines.append(f"| {kind} | {cases:,} | {failed} | {', '.join(words)} |")
    seconds = sum(group["seconds"] for group in faulted["groups"].values())
    bad_input = [group for kind in ("damaged inputs", "bombs") for part, group in kinds[kind] if part != "checkpoints"]
    return "\n".join(
        [
            *lines,
            "",
            f"Seed {faulted['seed']}, one run on commit {faulted['commit']}, {seconds / 60:.0f} minutes on "
            f"{faulted['machine']['processor']}. Of damaged inputs and bombs (but for checkpoints, with which training "
            f"continues), the slowest took {max(group['slowest'] for group in bad_input):.1f} s in all. The largest "
            f"process of the campaign had {faulted['largest_process_mb']:,} MB.",
        ]
    )


BLOCKS = {
    "summary": summary,
    "results": main_table,
    "beyond": beyond,
    "speed": speed,
    "page": recorded_page,
    "own": own_worlds,
    "worlds": small_worlds,
    "race": default_settings,
    "sizes": other_sizes,
    "faults": faults,
    "search-models": search_models,
    "search-results": search_results,
    "search-learning": search_learning,
    "search-latplan": search_latplan,
}


def filled(text: str) -> str:
    """README, or a page of docs, with its blocks made again."""
    for name, make in BLOCKS.items():
        block = rf"(<!-- {name}: [^\n]*-->\n).*?(<!-- end of {name} -->)"
        content = make()
        text = re.sub(block, lambda marks: f"{marks[1]}{content}\n{marks[2]}", text, flags=re.DOTALL)  # noqa: B023
    return text


def reports() -> Iterator[tuple[str, Report]]:
    """Every experiment with what its records say."""
    for name in EXPERIMENTS:
        yield name, experiment(name).report(Selection(), Records(ROOT / "results"))


if __name__ == "__main__":
    for name, report in reports():
        report.write(ROOT / "docs" / "results", name)
    for path in FILLED:
        path.write_text(filled(path.read_text()))

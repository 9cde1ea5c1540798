"""README's numbers and docs/results, made from the records in results/: `make results`. A test fails when they differ.

Nothing is trained here: what has no record is an empty cell.
"""

from __future__ import annotations

import json
import re
import statistics
from collections import Counter
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

from pixelplan.envs import PUZZLES
from pixelplan.experiments import boards_table, noise_table, transfer_table
from pixelplan.experiments.paper_numbers import success_rates
from pixelplan.experiments.registry import EXPERIMENTS, Records, experiment
from pixelplan.experiments.selection import TEST_LEVELS, Selection
from pixelplan.experiments.success_table import MORE_LEVELS, main_cell
from pixelplan.experiments.tables import Report

ROOT = Path(__file__).parent.parent
SEEDS = (0, 1, 2)
PAGES = ("web", "own-environment", "reliability", "performance", "search", "world-model")
FILLED = (ROOT / "README.md", *(ROOT / "docs" / f"{name}.md" for name in PAGES))
"""Pages with blocks that are made from records."""
EXAMPLES = {"sokoban": "Sokoban", "minigrid_world": "MiniGrid's DoorKey", "tiles": "sliding tiles"}

SEARCH_MODELS = {
    "boxoban": "Boxoban, 10 × 10 cells, four boxes",
    "eight": "8-puzzle",
    "fifteen-numbers": "15-puzzle, numbers",
    "fifteen-picture": "15-puzzle, a picture",
    "cube": "cube, 2 × 2 × 2",
    "large-cube": "cube, 3 × 3 × 3",
    "lights": "LightsOut, 5 × 5",
    "hanoi": "Hanoi, seven discs",
}
SEARCH_RESULTS = {
    "boxoban-test": ("Boxoban, unfiltered test", "boxoban-breadth-first"),
    "boxoban-medium": ("Boxoban, medium", "boxoban-medium-breadth-first"),
    "boxoban-hard": ("Boxoban, hard", "boxoban-hard-breadth-first"),
    "fifteen-numbers": ("15-puzzle, numbers", "fifteen-breadth-first"),
    "fifteen-picture": ("15-puzzle, a picture", "fifteen-picture-breadth-first"),
    "cube": ("cube, 2 × 2 × 2", "cube-breadth-first"),
}
"""Records with a search that suits the world, and those of breadth-first search beside them."""
LATPLAN = {
    "eight": "8-puzzle",
    "fifteen": "15-puzzle, numbers",
    "lights": "LightsOut, 5 × 5",
    "hanoi": "Hanoi, seven discs",
    "sokoban": "Sokoban, Boxoban's test levels",
}


def record(name: str) -> dict[str, Any]:
    """A record in results/."""
    found: dict[str, Any] = json.loads((ROOT / "results" / f"{name}.json").read_text())
    return found


def seeds(env: str, planner: str, levels: str) -> list[dict[str, Any]]:
    """The records of the main table's models on some levels, one a training seed."""
    records = Records(ROOT / "results")
    found = [records.find(main_cell(Selection(), env, planner, seed, levels)) for seed in SEEDS]
    return [record for record in found if record is not None]


def shown(records: list[dict[str, Any]], name: str) -> str:
    """The mean of a result over the training seeds, and each seed's own."""
    values = [record["result"][name] for record in records]
    return f"**{statistics.mean(values):.3f}** ({', '.join(f'{one:.3f}' for one in values)})"


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
            found = seeds(name, planner, MORE_LEVELS)
            success = statistics.mean(one["result"]["success"] for one in found)
            cells.append(f"{success:.3f} ({success_rates(f'ppgs-{planner}')[name]:.2f})")
        minutes = statistics.mean(one["model"]["seconds"] for one in found) / 60
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
            success, optimal = [shown(found, "success") for found in (papers, more)], shown(more, "optimal")
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
        trained = [found["model"] for found in seeds(name, "full", TEST_LEVELS)]
        seconds = statistics.mean(one["seconds"] for one in trained)
        accuracy = statistics.mean(one["validation_metrics"]["one_step_accuracy"] for one in trained)
        hits = statistics.mean(
            next(row["hits"] for row in one["validation_metrics"]["rankings"] if row["horizon"] == 10)
            for one in trained
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


def speed() -> str:
    """What the benchmarks measured."""
    worlds, memory = record("benchmark-environments"), record("benchmark-collect-memory")
    lines = ["Measured side by side in one run (`make benchmarks`, records in `results/`):", ""]
    for name, kind in PUZZLES.items():
        found, stepping = worlds[name], worlds[name]["stepping"]
        lines.append(
            f"- {kind.__name__}: 1000 levels made in {found['making_1000_levels_seconds']:.1f} s; 400,000 steps "
            f"recorded in {found['collecting']['seconds']:.1f} s; vectorised, {stepping['frames_per_second']:,.0f} "
            f"frames/s, {stepping['share_of_copying_speed']:.2f} of the speed of copying them."
        )
    lines.append(
        f"- ProcgenMaze is recorded at {worlds['collecting_against_bare_procgen']:.1f} times the rate of bare Procgen; "
        f"{memory['levels']:,} levels take {memory['peak_own_memory_mib']:.0f} MiB of the process's own memory."
    )
    peaks = record("benchmark-train-memory")["peak_own_memory_mib"]
    training = " and ".join(f"{peak:,} MiB on {int(levels):,} levels" for levels, peak in peaks.items())
    lines.append(f"- Training on ProcgenMaze takes {training} (`benchmarks/train_memory.py`).")
    beside = record("benchmark-planning-before")
    ratios = ", ".join(f"{kind.__name__} {beside['puzzles'][name]['ratio']:.2f}" for name, kind in PUZZLES.items())
    lines.append(
        f"- The same plans as before best-first search (commit {beside['before']}), in so many times its time: {ratios}"
        " (`benchmarks/planning.py --beside`)."
    )
    scaling = record("benchmark-search-scaling")
    lines.append(
        f"- A search of {scaling['nodes'][1]:,} nodes takes {scaling['ratio']:.2f} times as long a node as one of "
        f"{scaling['nodes'][0]:,}."
    )
    nodes = record("benchmark-search-nodes")
    lines.append(
        f"- A million nodes of {nodes['a million']['bytes of a state as floats'] // 4} zeros and ones take "
        f"{nodes['a million']['megabytes']} MB; packed, they are searched at "
        f"{nodes['packed against plain, without the model']:.1f} times the rate of plain floats, the model's time not "
        "counted (`benchmarks/search_nodes.py`)."
    )
    trained = nodes["trained"]["states expanded a second"]
    rates = ", ".join(f"{rate:,} {name}" for name, rate in trained.items())
    lines.append(f"- States of Boxoban's learned rules expanded in a second of processor time: {rates}.")
    growth = record("benchmark-board-size")["growth"]
    lines.append(
        f"- IceSlider of 16 × 16 instead of 8 × 8 cells: a gradient step takes {growth['gradient_step']:.1f} times as "
        f"long and training {growth['training']:.0f} times; levels have {growth['reachable_states']:.1f} times as many "
        f"states, and a search of them all takes {growth['search_of_all_states']:.1f} times as long "
        "(`benchmarks/board_size.py`)."
    )
    return "\n".join(lines)


def page(load: dict[str, Any] | None, fuzz: dict[str, Any] | None, budget: dict[str, Any] | None = None) -> str:
    """What the page stood, from the records of its load, of generated requests and of a slow network, if they exist."""
    lines = []
    if load is not None:
        alone, memory = load["milliseconds_alone"], load["memory_mb"]
        plans = ", ".join(f"{kind.__name__} {alone[f'plan {name}']['median']:.0f} ms" for name, kind in PUZZLES.items())
        lines += [
            f"- One visitor: the first page after {alone['first_page']:.0f} ms; a plan, its graph included, in {plans}",
            f"  (medians; IceSlider at worst {alone['plan ice-slider']['worst']:.0f} ms, the very first "
            f"{alone['first plan ice-slider']:.0f} ms).",
            f"- {load['clients']} visitors who play, plan and race at once for {load['seconds']:.0f} s: "
            f"{sum(one['count'] for one in load['milliseconds'].values()):,} requests, {load['errors']} errors; memory "
            f"{memory[0]:.0f} MB at the beginning, {memory[-1]:.0f} MB at the end.",
        ]
    if fuzz is not None:
        broken = sum(count for status, count in fuzz["answers"].items() if status >= "500")
        lines.append(
            f"- {fuzz['requests']:,} generated requests, valid and not: {broken} answers 5xx, "
            f"{fuzz['not_as_documented']} not as documented, {fuzz['files_opened_elsewhere']} files opened outside the "
            "package and Python's own."
        )
    if budget is not None:
        first, plan = budget["first_view_ms"], budget["plan_ms"]["ice-slider"]
        rate, size = budget["bytes_a_second"] / 1e6, budget["folder_bytes"] / 1e6
        lines += [
            f"- At {rate:.0f} MB/s the first view is there after {first['server'] / 1e3:.1f} s; without a server "
            f"(`--static`, {size:.0f} MB) after {first['folder'] / 1e3:.1f} s,",
            f"  and there the browser itself plans IceSlider in {plan['median']:.0f} ms (median).",
        ]
    return "\n".join(lines or ["No records yet."])


def recorded_page() -> str:
    """The same, of the records that are there."""
    paths = (ROOT / "results" / f"benchmark-web-{name}.json" for name in ("load", "fuzz", "budget"))
    return page(*(json.loads(path.read_text()) if path.exists() else None for path in paths))


def own_worlds() -> str:
    """What the examples reached, as far as it is recorded."""
    lines = [
        "Success on levels 2000–2099, none of them in training (levels 0–999), one seed:",
        "",
        "| example | training | one-step accuracy | one-shot | full | optimal among solved (one-shot, full) | a plan |",
        "|---|---|---|---|---|---|---|",
    ]
    for name, title in EXAMPLES.items():
        paths = [ROOT / "results" / "own" / f"{name}-{part}.json" for part in ("training", "one-shot", "full")]
        if not all(path.exists() for path in paths):
            continue
        training, *planners = (json.loads(path.read_text()) for path in paths)
        success = " | ".join(f"{found['success']:.2f}" for found in planners)
        optimal = ", ".join(f"{found['optimal']:.2f}" for found in planners)
        cores = training["config"]["threads"]
        lines.append(
            f"| [{title}](examples/{name.removesuffix('_world')}.md) | {training['seconds'] / 60:.1f} min on {cores} "
            f"core | {training['validation_metrics']['one_step_accuracy']:.4f} | {success} | {optimal} | "
            f"{planners[0]['seconds_per_plan']:.2f} s |"
        )
    return "\n".join(lines)


def small_worlds() -> str:
    """What was reached in the worlds of benchmarks/worlds.py: means over training seeds, and the worst success."""
    lines = [
        "| world | seeds | winners of the race | training | exact | one-shot (worst seed) | full (worst seed) | "
        "optimal among solved (one-shot, full) |",
        "|---|---|---|---|---|---|---|---|",
    ]
    for name, by_seed in record("benchmark-worlds")["worlds"].items():
        runs = list(by_seed.values())
        minutes = statistics.mean(_race_seconds(run) for run in runs) / 60
        lines.append(
            f"| {name} | {len(runs)} | {_winners(run['family'] for run in runs)} | {minutes:.1f} min | "
            f"{statistics.mean(run['exact'] for run in runs):.4f} | {_successes(runs, 'one-shot')} | "
            f"{_successes(runs, 'full')} | {_optimal(runs, 'one-shot')}, {_optimal(runs, 'full')} |"
        )
    return "\n".join(lines)


def default_settings() -> str:
    """What `results/race.sh` reached: three puzzles and three examples, on 1000 levels, with default settings."""
    lines = [
        "| world | seeds | winners of the race | training | still right after 100, 1,000 and 10,000 random steps | "
        "one-shot (worst seed) | full (worst seed) |",
        "|---|---|---|---|---|---|---|",
    ]
    for name, title in {**{name: kind.__name__ for name, kind in PUZZLES.items()}, **EXAMPLES}.items():
        runs = list(_default_runs(name))
        if not runs:
            continue
        lasting = ", ".join(
            f"{statistics.mean(run['rollouts'][steps] for run in runs):.3f}" for steps in ("100", "1000", "10000")
        )
        minutes = statistics.mean(_race_seconds(run) for run in runs) / 60
        lines.append(
            f"| {title} | {len(runs)} | {_winners(run['family'] for run in runs)} | {minutes:.1f} min | {lasting} | "
            f"{_successes(runs, 'one-shot')} | {_successes(runs, 'full')} |"
        )
    return "\n".join(lines if len(lines) > 2 else ["Not recorded with the present code yet."])


def _default_runs(name: str) -> Iterator[dict[str, Any]]:
    """One world's runs of `results/race.sh` that are recorded in full, one a seed."""
    for seed in SEEDS:
        parts = [f"race/{name}-{part}-seed{seed}" for part in ("training", "one-shot", "full")]
        exactness = f"race/exactness-seed{seed}"
        if not all((ROOT / "results" / f"{part}.json").exists() for part in (*parts, exactness)):
            continue
        training, one_shot, full = map(record, parts)
        yield {
            "family": training["model"]["family"],
            "race": training["race"],
            "training_seconds": training["seconds"],
            "rollouts": record(exactness)["models"][name]["rollouts"],
            "one-shot": one_shot,
            "full": full,
        }


def _race_seconds(run: dict[str, Any]) -> float:
    """Seconds of training, those of the families that lost the race included."""
    winner = max(run["race"], key=lambda entry: (entry["score"], -entry["place"]))
    return float(run["training_seconds"] + sum(entry["seconds"] for entry in run["race"] if entry is not winner))


def _winners(families: Iterable[str]) -> str:
    """Families with how often each won, if they differ."""
    counts = Counter(families)
    return next(iter(counts)) if len(counts) == 1 else ", ".join(f"{name} {count}" for name, count in counts.items())


def _successes(runs: list[dict[str, Any]], planner: str) -> str:
    """The mean share of solved levels and, if seeds differ, the least."""
    shares = [run[planner]["success"] for run in runs]
    mean = f"{statistics.mean(shares):.2f}"
    return mean if min(shares) == max(shares) else f"{mean} ({min(shares):.2f})"


def _optimal(runs: list[dict[str, Any]], planner: str) -> str:
    """The mean share of solved levels with the fewest steps; a dash if that is not known."""
    shares = [run[planner]["optimal"] for run in runs]
    return "–" if None in shares else f"{statistics.mean(shares):.2f}"


UNKNOWN_WORLDS = 17
"""Worlds of benchmarks/worlds.py."""


def beyond() -> str:
    """Success beyond the paper's puzzles, in a few lines."""
    worlds = [f"{title} {record(f'own/{name}-full')['success']:.2f}" for name, title in EXAMPLES.items()]
    selection, records = Selection(), Records(ROOT / "results")

    def behind_noise(planner: str) -> str:
        found = [
            (env, noise_table.outcome(selection, records, env, noise_table.TRAINED, planner))
            for env in noise_table.ENVS
        ]
        return ", ".join(f"{PUZZLES[env].__name__} {one.success.mean:.2f}" for env, one in found if one is not None)

    def on_larger_boards(env: str) -> str:
        found = [transfer_table.find(records, env, size, "full") for size in (16, 20)]
        return f"{PUZZLES[env].__name__} " + " and ".join(f"{one['success']:.2f}" for one in found if one is not None)

    unknown = record("benchmark-worlds")["worlds"]
    means = {
        planner: [statistics.mean(run[planner]["success"] for run in by_seed.values()) for by_seed in unknown.values()]
        for planner in ("one-shot", "full")
    }
    hard = [
        f"{title} {found['success']:.3f} of {len(found['episodes']):,}"
        for name, (title, _) in SEARCH_RESULTS.items()
        if (found := searched(name)) is not None
    ]
    large = [record["result"]["success"] for record in boards_table.find(selection, records, 16, "full")]
    return "\n".join(
        [
            "Unseen levels of other worlds, the full planner, again from random play and images alone:",
            "",
            f"- {', '.join(worlds)} ([your own environment](docs/own-environment.md#examples)).",
            f"- Behind noise of standard deviation {noise_table.TRAINED:g} and a moving distractor: "
            f"{behind_noise('full')};",
            f"  GS on Images: {behind_noise('image-search')} ([other strengths](docs/results/noise.md)).",
            f"- IceSlider of 16 × 16 cells: {statistics.mean(large):.2f} ([larger boards](docs/results/boards.md)).",
            f"- Trained on boards of {transfer_table.TRAINED} × {transfer_table.TRAINED} cells only, tested on 16 × 16 "
            f"and 20 × 20: {', '.join(map(on_larger_boards, transfer_table.ENVS))}",
            "  ([transfer](docs/transfer.md)).",
            f"- {len(unknown)} of {UNKNOWN_WORLDS} worlds without a grid or with effects far away, default settings: "
            f"mean {statistics.mean(means['full']):.2f}, worst {min(means['full']):.2f}; in one shot",
            f"  {statistics.mean(means['one-shot']):.2f} and {min(means['one-shot']):.2f}. The other worlds are not "
            "recorded, and not all of them are learned",
            "  ([which](docs/own-environment.md#worlds-that-nobody-knew)).",
            "- Hard search, one plan each:",
            *(f"  {one}{',' if one != hard[-1] else ''}" for one in hard),
            "  ([which search for which world](docs/search.md)).",
        ]
    )


def searched(name: str) -> dict[str, Any] | None:
    """A record of results/search.sh, if it was made."""
    return record(f"search/{name}") if (ROOT / "results" / "search" / f"{name}.json").exists() else None


def search_models() -> str:
    """The world models of large searches."""
    lines = [
        "| world | training levels | seconds | held-out steps predicted exactly | rollouts right after 100 steps |",
        "|---|---|---|---|---|",
    ]
    for name, title in SEARCH_MODELS.items():
        found = searched(f"{name}-training")
        if found is not None:
            levels = sum(last - first for first, last in found["data"]["levels"])
            metrics = found["validation_metrics"]
            exact = f"{metrics['exact']:.5f} on {metrics['levels']} levels"
            lasting = metrics["rollouts"]["100"]
            lines.append(f"| {title} | {levels:,} | {found['seconds']:.0f} | {exact} | {lasting:.3f} |")
    return "\n".join(lines)


def search_results() -> str:
    """How many levels large searches solve."""
    lines = [
        "| world | levels | solved | optimal | median nodes | median steps | seconds a plan | breadth-first |",
        "|---|---|---|---|---|---|---|---|",
    ]
    for name, (title, other) in SEARCH_RESULTS.items():
        found, beside = searched(name), searched(other)
        if found is None:
            continue
        levels = found["episodes"]
        steps = [one["steps"] for one in levels if one["solved"]]
        optimal = "–" if found["optimal"] is None else f"{found['optimal']:.2f}"
        plain = "" if beside is None else f"{beside['success']:.2f} of {len(beside['episodes'])}"
        lines.append(
            f"| {title} | {len(levels):,} | {found['success']:.3f} | {optimal} | "
            f"{statistics.median(one['nodes'] for one in levels):,.0f} | {statistics.median(steps):.0f} | "
            f"{found['seconds_per_plan']:.2f} | {plain} |"
        )
    return "\n".join(lines)


def search_learning() -> str:
    """How Boxoban's distance and policy were learned, round by round."""
    lines = [
        "| round | nodes a search | training levels solved | held-out levels solved | median nodes | actions right |",
        "|---|---|---|---|---|---|",
    ]
    for one in record("search/boxoban-heuristic")["rounds"]:
        right = one.get("held_out_actions")
        searches = f"{one['nodes']:,} | {one['solved']:.2f}" if one["nodes"] else "random play | –"
        lines.append(
            f"| {one['number']} | {searches} | {one['held_out_solved']:.2f} | {one['held_out_nodes']:,.0f} | "
            f"{'–' if right is None else f'{right:.2f}'} |"
        )
    return "\n".join(lines)


def search_latplan() -> str:
    """Latplan's protocol: levels 7 and 14 steps from the goal."""
    lines = [
        "| world | 7 steps: solved, optimal, median nodes | 14 steps: solved, optimal, median nodes |",
        "|---|---|---|",
    ]
    for name, title in LATPLAN.items():
        cells = []
        for steps in (7, 14):
            found = searched(f"latplan-{name}-{steps}")
            nodes = 0 if found is None else statistics.median(one["nodes"] for one in found["episodes"])
            cells.append("" if found is None else f"{found['success']:.2f}, {found['optimal']:.2f}, {nodes:,.0f}")
        lines.append(f"| {title} | {' | '.join(cells)} |")
    return "\n".join(lines)


def faults() -> str:
    """The campaign of faults: cases tried and failed, by kind."""
    found = record("benchmark-faults")
    kinds: dict[str, list[tuple[str, dict[str, Any]]]] = {}
    for name, group in found["groups"].items():
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
    seconds = sum(group["seconds"] for group in found["groups"].values())
    bad_input = [group for kind in ("damaged inputs", "bombs") for part, group in kinds[kind] if part != "checkpoints"]
    return "\n".join(
        [
            *lines,
            "",
            f"Seed {found['seed']}, one run on commit {found['commit']}, {seconds / 60:.0f} minutes on "
            f"{found['machine']['processor']}. Of damaged inputs and bombs (but for checkpoints, with which training "
            f"continues), the slowest took {max(group['slowest'] for group in bad_input):.1f} s in all. The largest "
            f"process of the campaign had {found['largest_process_mb']:,} MB.",
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
    "faults": faults,
    "search-models": search_models,
    "search-results": search_results,
    "search-learning": search_learning,
    "search-latplan": search_latplan,
}


def filled(text: str) -> str:
    """README, or a page of docs, with its blocks made anew."""
    for name, make in BLOCKS.items():
        block = rf"(<!-- {name}: [^\n]*-->\n).*?(<!-- end of {name} -->)"
        content = make()
        text = re.sub(block, lambda found: f"{found[1]}{content}\n{found[2]}", text, flags=re.DOTALL)  # noqa: B023
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

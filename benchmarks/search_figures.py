"""The figures of docs/search.md, from the records of results/search.sh.

    python benchmarks/search_figures.py          # docs/search/solved.png and docs/search/reliability.png
    python benchmarks/search_figures.py --tree   # docs/search/tree.png, too: searches a level of Boxoban once more

`solved.png` shows how many levels are solved with how many nodes, `reliability.png` the chances that plans were given
and how many of them succeeded, and `tree.png` one search: every node is a point, at its number of steps from
the start and the number of steps that the learned distance thinks are ahead.
"""

from __future__ import annotations

import argparse
import json
from pathlib import Path
from typing import Any

import numpy as np
from matplotlib.figure import Figure

from pixelplan.by_name.resolve import open_family
from pixelplan.by_name.solve import solve
from pixelplan.evaluation.stats import wilson
from pixelplan.planning import OneShotConfig

RECORDS, OUT = Path("results/search"), Path("docs/search")
PANELS = {
    "Boxoban": {
        "boxoban-test": "unfiltered test",
        "boxoban-medium": "medium",
        "boxoban-hard": "hard",
        "boxoban-breadth-first": "unfiltered test, breadth-first",
        "boxoban-medium-breadth-first": "medium, breadth-first",
        "boxoban-hard-breadth-first": "hard, breadth-first",
    },
    "15-puzzle, random": {
        "fifteen-numbers": "numbers",
        "fifteen-picture": "picture",
        "fifteen-breadth-first": "numbers, breadth-first",
        "fifteen-picture-breadth-first": "picture, breadth-first",
    },
    "2 × 2 × 2 cube, random": {"cube": "A* with a perimeter", "cube-breadth-first": "breadth-first"},
    "LightsOut, 14 steps": {"latplan-lights-14": "A* with a perimeter", "lights-breadth-first": "breadth-first"},
    "Hanoi with seven discs, 14 steps": {"latplan-hanoi-14": "A*", "hanoi-breadth-first": "breadth-first"},
    "Sokoban, 14 steps": {"sokoban-best-first": "learned distance", "latplan-sokoban-14": "breadth-first"},
}
"""Records of each world, and what they are called."""
BINS = 10
"""Bins of chances, equally wide."""


def read(name: str) -> dict[str, Any] | None:
    """A record, if it is there."""
    path = RECORDS / f"{name}.json"
    return json.loads(path.read_text()) if path.exists() else None


def solved_over_nodes() -> Figure:
    """The share of solved levels over the most nodes allowed, a panel for each world, breadth-first dashed."""
    figure = Figure(figsize=(9, 9), layout="constrained")
    for axes, (title, records) in zip(figure.subplots(3, 2).flat, PANELS.items(), strict=True):
        for name, label in records.items():
            record = read(name)
            if record is None:
                continue
            levels, limit = record["episodes"], record["config"]["node_limit"]
            nodes = np.sort([level["nodes"] for level in levels if level["solved"]])
            shares = np.arange(1, len(nodes) + 1) / len(levels)
            end = max(limit, *nodes) if len(nodes) else limit
            style = "--" if record["config"]["frontier"] == "breadth-first" else "-"
            axes.step(
                [10, *nodes, end],
                [0, *shares, shares[-1] if len(shares) else 0],
                where="post",
                linestyle=style,
                label=f"{label}, {len(levels)} levels",
            )
        axes.set(title=title, xscale="log", xlabel="nodes", ylabel="share solved", ylim=(-0.02, 1.04))
        axes.grid(alpha=0.3)
        axes.legend(fontsize=6)
    return figure


def reliability(names: list[str]) -> Figure:
    """How many plans succeeded (with 95 % intervals, and their number), beside the chance that they had been given."""
    figure = Figure(figsize=(4.5, 4.5), layout="constrained")
    axes = figure.subplots()
    axes.plot([0, 1], [0, 1], color="grey", linewidth=1)
    for number, name in enumerate(names):
        record = read(name)
        rows = [] if record is None else [level for level in record["episodes"] if level.get("chance") is not None]
        places = [min(int(BINS * level["chance"]), BINS - 1) for level in rows]
        points = []
        for place in sorted(set(places)):
            part = [level for level, there in zip(rows, places, strict=True) if there == place]
            right = sum(level["solved"] for level in part)
            low, high = wilson(right, len(part))
            at, share = float(np.mean([level["chance"] for level in part])), right / len(part)
            points.append((at, share, share - low, high - share))
            away = (6, 4 + 8 * number) if share < 0.5 else (-18, -10 - 8 * number)
            colour = f"C{number}"
            axes.annotate(
                str(len(part)), (at, share), textcoords="offset points", xytext=away, fontsize=7, color=colour
            )
        if points:
            x, y, *around = np.array(points).T
            axes.errorbar(x, y, around, fmt="o", markersize=4, label=name, color=f"C{number}")
    axes.set(
        xlabel="predicted chance of success", ylabel="share that succeeded", xlim=(-0.03, 1.03), ylim=(-0.03, 1.03)
    )
    axes.legend(fontsize=8)
    return figure


def tree(level: int) -> Figure:
    """One best-first search on a level of Boxoban's training files."""
    record = read("boxoban-validation")
    assert record is not None, "results/search.sh boxoban makes what this needs"
    _, episode = solve(
        open_family(record["env"], {"levels": record["options"]["levels"]}),
        level,
        planner="one-shot",
        model=record["model"],
        heuristic=record["heuristic"],
        config=OneShotConfig(**record["config"]),
    )
    plan = episode.plans[0]
    graph = plan.graph
    assert graph.ahead is not None
    figure = Figure(figsize=(7, 4.5), layout="constrained")
    axes = figure.subplots()
    child = np.flatnonzero(graph.parents >= 0)
    parent = graph.parents[child]
    axes.plot(
        np.stack([graph.depths[parent], graph.depths[child]]), np.stack([graph.ahead[parent], graph.ahead[child]]),
        color="0.8", linewidth=0.4, zorder=1,
    )  # fmt: skip
    axes.scatter(graph.depths, graph.ahead, s=3, c=np.arange(len(graph.depths)), cmap="viridis", zorder=2)
    path = list(plan.path)
    axes.plot(graph.depths[path], graph.ahead[path], color="C3", linewidth=1.5, zorder=3)
    what = "solved" if episode.solved else "not solved"
    axes.set(
        xlabel="steps from the start", ylabel="steps ahead, by the learned distance",
        title=f"level {level}: {plan.nodes:,} nodes, {len(plan.actions)} steps, {what}",
    )  # fmt: skip
    return figure


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--tree", action="store_true")
    parser.add_argument("--level", type=int, default=4200)
    arguments = parser.parse_args()
    OUT.mkdir(parents=True, exist_ok=True)
    solved_over_nodes().savefig(OUT / "solved.png", dpi=120)
    reliability(["boxoban-test", "boxoban-medium", "boxoban-hard", "few-test"]).savefig(
        OUT / "reliability.png", dpi=120
    )
    if arguments.tree:
        tree(arguments.level).savefig(OUT / "tree.png", dpi=120)

"""The tables of docs/search.md: large searches, from the records of results/search.sh."""

from __future__ import annotations

import statistics
from typing import Any

from recorded import record, record_if_made, table

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


def searched(name: str) -> dict[str, Any] | None:
    """A record of results/search.sh; None if it was not made."""
    return record_if_made(f"search/{name}")


def search_models() -> str:
    """The world models of large searches."""
    rows = []
    for name, title in SEARCH_MODELS.items():
        training = searched(f"{name}-training")
        if training is not None:
            levels = sum(last - first for first, last in training["data"]["levels"])
            metrics = training["validation_metrics"]
            exact = f"{metrics['exact']:.5f} on {metrics['levels']} levels"
            lasting = metrics["rollouts"]["100"]
            rows.append((title, f"{levels:,}", f"{training['seconds']:.0f}", exact, f"{lasting:.3f}"))
    header = "world | training levels | seconds | held-out steps predicted exactly | rollouts right after 100 steps"
    return table(header, rows)


def search_results() -> str:
    """How many levels large searches solve."""
    rows = []
    for name, (title, other) in SEARCH_RESULTS.items():
        search, beside = searched(name), searched(other)
        if search is None:
            continue
        levels = search["episodes"]
        steps = [level["steps"] for level in levels if level["solved"]]
        optimal = "–" if search["optimal"] is None else f"{search['optimal']:.2f}"
        plain = "" if beside is None else f"{beside['success']:.2f} of {len(beside['episodes'])}"
        nodes = f"{statistics.median(level['nodes'] for level in levels):,.0f}"
        seconds = f"{search['seconds_per_plan']:.2f}"
        solved = f"{search['success']:.3f}"
        rows.append(
            (title, f"{len(levels):,}", solved, optimal, nodes, f"{statistics.median(steps):.0f}", seconds, plain)
        )
    header = "world | levels | solved | optimal | median nodes | median steps | seconds a plan | breadth-first"
    return table(header, rows)


def search_learning() -> str:
    """How Boxoban's distance and policy were learned, round by round."""
    rows = []
    for round_ in record("search/boxoban-heuristic")["rounds"]:
        right = round_.get("held_out_actions")
        searches = (f"{round_['nodes']:,}", f"{round_['solved']:.2f}") if round_["nodes"] else ("random play", "–")
        held_out = f"{round_['held_out_solved']:.2f}", f"{round_['held_out_nodes']:,.0f}"
        rows.append((str(round_["number"]), *searches, *held_out, "–" if right is None else f"{right:.2f}"))
    header = "round | nodes per search | training levels solved | held-out levels solved | median nodes | actions right"
    return table(header, rows)


def search_latplan() -> str:
    """Latplan's protocol: levels 7 and 14 steps from the goal."""
    rows = []
    for name, title in LATPLAN.items():
        cells = []
        for steps in (7, 14):
            search = searched(f"latplan-{name}-{steps}")
            nodes = 0 if search is None else statistics.median(level["nodes"] for level in search["episodes"])
            cells.append("" if search is None else f"{search['success']:.2f}, {search['optimal']:.2f}, {nodes:,.0f}")
        rows.append((title, *cells))
    return table("world | 7 steps: solved, optimal, median nodes | 14 steps: solved, optimal, median nodes", rows)

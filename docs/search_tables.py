"""The tables of docs/search.md: large searches, from the records of results/search.sh."""

from __future__ import annotations

import statistics
from typing import Any

from recorded import record, record_if_made

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
    lines = [
        "| world | training levels | seconds | held-out steps predicted exactly | rollouts right after 100 steps |",
        "|---|---|---|---|---|",
    ]
    for name, title in SEARCH_MODELS.items():
        training = searched(f"{name}-training")
        if training is not None:
            levels = sum(last - first for first, last in training["data"]["levels"])
            metrics = training["validation_metrics"]
            exact = f"{metrics['exact']:.5f} on {metrics['levels']} levels"
            lasting = metrics["rollouts"]["100"]
            lines.append(f"| {title} | {levels:,} | {training['seconds']:.0f} | {exact} | {lasting:.3f} |")
    return "\n".join(lines)


def search_results() -> str:
    """How many levels large searches solve."""
    lines = [
        "| world | levels | solved | optimal | median nodes | median steps | seconds a plan | breadth-first |",
        "|---|---|---|---|---|---|---|---|",
    ]
    for name, (title, other) in SEARCH_RESULTS.items():
        search, beside = searched(name), searched(other)
        if search is None:
            continue
        levels = search["episodes"]
        steps = [level["steps"] for level in levels if level["solved"]]
        optimal = "–" if search["optimal"] is None else f"{search['optimal']:.2f}"
        plain = "" if beside is None else f"{beside['success']:.2f} of {len(beside['episodes'])}"
        lines.append(
            f"| {title} | {len(levels):,} | {search['success']:.3f} | {optimal} | "
            f"{statistics.median(level['nodes'] for level in levels):,.0f} | {statistics.median(steps):.0f} | "
            f"{search['seconds_per_plan']:.2f} | {plain} |"
        )
    return "\n".join(lines)


def search_learning() -> str:
    """How Boxoban's distance and policy were learned, round by round."""
    lines = [
        "| round | nodes per search | training levels solved | held-out levels solved | median nodes | actions right |",
        "|---|---|---|---|---|---|",
    ]
    for round_ in record("search/boxoban-heuristic")["rounds"]:
        right = round_.get("held_out_actions")
        searches = f"{round_['nodes']:,} | {round_['solved']:.2f}" if round_["nodes"] else "random play | –"
        lines.append(
            f"| {round_['number']} | {searches} | {round_['held_out_solved']:.2f} | "
            f"{round_['held_out_nodes']:,.0f} | {'–' if right is None else f'{right:.2f}'} |"
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
            search = searched(f"latplan-{name}-{steps}")
            nodes = 0 if search is None else statistics.median(level["nodes"] for level in search["episodes"])
            cells.append("" if search is None else f"{search['success']:.2f}, {search['optimal']:.2f}, {nodes:,.0f}")
        lines.append(f"| {title} | {' | '.join(cells)} |")
    return "\n".join(lines)

"""What a searched graph teaches about distances: exact ones to what it reached, and better guesses for the rest."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from pixelplan.distance.network import FARTHEST
from pixelplan.planning.plan import LatentGraph


def backed_up(successors: np.ndarray, known: np.ndarray) -> np.ndarray:
    """Steps [M] from each node of a graph [M,A], given the known steps [M] of some nodes and infinity for the others.

    A node's steps are the smaller of what is known and one more than its best successor's.
    """
    steps = np.append(known.astype(np.float64), np.inf)  # successor -1, never looked at, reads the last entry
    while True:
        better = np.minimum(steps[:-1], steps[successors].min(1, initial=np.inf) + 1)
        if (better == steps[:-1]).all():
            return better
        steps[:-1] = better


def to_any(graph: LatentGraph, nodes: np.ndarray | list[int]) -> np.ndarray:
    """Steps [M] from each node to the nearest of `nodes`, along explored edges; infinite if there is no path."""
    known = np.full(len(graph.codes), np.inf)
    known[nodes] = 0
    return backed_up(graph.successors, known)


def along(graph: LatentGraph, steps: np.ndarray, nodes: np.ndarray) -> np.ndarray:
    """Which actions [n,A] in nodes [n] are on a shortest path to a goal, given each node's steps [M] to it."""
    after = np.append(steps, np.inf)[graph.successors[nodes]]  # successor -1, never looked at, reads the last entry
    return np.isfinite(after) & (after + 1 == steps[nodes, None])


def back_and_forth(graph: LatentGraph, node: int) -> np.ndarray:
    """The nodes [n] that can be reached from a node with a path back again, itself included."""
    joined = np.zeros(len(graph.codes) + 1, bool)  # successor -1, never looked at, reads the last entry
    joined[node], new = True, np.array([node])
    while len(new):
        new = np.unique(graph.successors[new])
        new = new[(new >= 0) & ~joined[new]]
        joined[new] = True
    return np.flatnonzero(joined[:-1] & np.isfinite(to_any(graph, [node])))


@dataclass(frozen=True, eq=False)
class Samples:
    """What one graph teaches about one goal: n states and the steps from each of them to the goal."""

    codes: np.ndarray
    """[n,w] uint64, the bits of the states."""
    goal: np.ndarray
    """[d] float32, the mean of the goal's codes."""
    steps: np.ndarray
    """[n] float32."""
    sure: np.ndarray
    """[n] float32, the weight of each state's error."""
    at_least: np.ndarray
    """[n] bool, whether the true number of steps may be larger."""
    best: np.ndarray
    """[n,A] bool, which actions lead along a shortest known path to the goal; none if no path is known."""


def towards(
    graph: LatentGraph, steps: np.ndarray, goal: np.ndarray, count: int, random: np.random.Generator
) -> Samples:
    """What a graph teaches about a goal with this mean code [d], given the steps [M] to it, in at most `count` states.

    From three quarters of the states there is a path to it. From the others, although expanded, there is none: they are
    farther away than most, or cut off.
    """
    near = random.permutation(np.flatnonzero(np.isfinite(steps)))[: 3 * count // 4]
    cut_off = np.flatnonzero(~np.isfinite(steps) & expanded(graph))
    cut_off = random.permutation(cut_off)[: min(count - len(near), len(near))]
    beyond = np.quantile(steps[near], 0.9) + 4
    chosen = np.concatenate([near, cut_off])
    without = np.arange(len(chosen)) >= len(near)
    return Samples(
        graph.codes[chosen],
        goal,
        np.where(without, beyond, np.minimum(steps[chosen], FARTHEST)).astype(np.float32),
        np.where(without, 0.5, 1.0).astype(np.float32),
        without,
        along(graph, steps, chosen),
    )


def in_hindsight(graph: LatentGraph, wide: bool, count: int, random: np.random.Generator) -> Samples:
    """What a graph teaches about a goal that is chosen in hindsight, one of its deeper nodes.

    If the level's own goal is any of several states (`wide`), so is this one: all nodes with a path there and back.
    """
    looked_at = np.flatnonzero(expanded(graph))
    deep = looked_at[graph.depths[looked_at] >= np.median(graph.depths[looked_at])]
    node = int(random.choice(deep))
    nodes = back_and_forth(graph, node) if wide else np.array([node])
    return towards(graph, to_any(graph, nodes), graph.at(nodes).mean(0), count, random)


def from_search(
    graph: LatentGraph, path: tuple[int, ...] | None, goal: np.ndarray, count: int, random: np.random.Generator
) -> Samples:
    """What a search teaches about its own goal, with this mean code [d], in at most `count` states.

    If a path was found, it and all paths that join it are certain. Other expanded nodes learn from the nodes at the
    edge of the graph: their distances, plus the steps to them. In a dead end these grow with every round, until
    searches avoid it.
    """
    assert graph.ahead is not None
    looked_at = expanded(graph)
    guessed = backed_up(graph.successors, np.where(looked_at, np.inf, graph.ahead))
    exact = np.full(len(looked_at), np.inf) if path is None else to_any(graph, [path[-1]])
    connected = np.isfinite(exact)
    nodes = np.flatnonzero(looked_at | connected)
    on_way = np.isin(nodes, path or ())
    nodes = nodes[np.lexsort([random.random(len(nodes)), ~on_way])[:count]]
    steps = np.minimum(np.where(connected, exact, guessed)[nodes], FARTHEST).astype(np.float32)
    sure = np.where(connected[nodes], 1.0, 0.2).astype(np.float32)
    return Samples(graph.codes[nodes], goal, steps, sure, np.zeros(len(nodes), bool), along(graph, exact, nodes))


def expanded(graph: LatentGraph) -> np.ndarray:
    """Which [M] of the nodes were expanded."""
    return (graph.successors >= 0).any(1)

"""LATENT GRAPH: breadth-first search, as in the paper, grows a graph layer by layer."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from pixelplan.planning.problem import Graph, Growth, Problem

if TYPE_CHECKING:
    from pixelplan.planning.one_shot import OneShotConfig


def breadth_first(problem: Problem, config: OneShotConfig, threshold: float) -> Growth:
    """Algorithm 2: grow layer by layer from the start until the goal is among the new nodes.

    Points nearer to each other than the threshold are one node. A prediction is the goal if it lies within the model's
    own threshold of it and no node is nearer.
    """
    model, start = problem.model, problem.start
    graph = problem.graph(threshold)
    search = Growth(graph, 0 if problem.far(start[None])[0] < model.threshold else None)
    leaves, recent = np.zeros(1, np.int64), 0
    while not search.reached and len(leaves):
        if len(search.leaves) >= config.depth_limit or graph.size >= config.node_limit:
            break
        search.leaves.append(len(leaves))
        points = problem.expand(graph.embeddings(leaves))
        actions = len(points) // len(leaves)
        nodes, apart = graph.reidentify(points, recent) if config.reidentification else _all_new(points)
        far = problem.far(points)
        near = far < model.threshold
        nodes[near & (far < apart)] = -1
        new = np.flatnonzero(nodes < 0)
        nearest, reached = int(far.argmin()), near[new].any()
        if reached:
            new = new[[far[new].argmin()]]  # only the goal matters in this layer
        elif search.doubtful is None or far[nearest] < search.doubtful[0]:
            parent, action = divmod(nearest, actions)
            search.doubtful = float(far[nearest]), int(leaves[parent]), action, points[nearest]
        chosen, same = _filter_and_cut(problem, graph, points[new], config)
        kept = new[chosen]
        added = graph.add(points[kept], leaves[kept // actions], kept % actions)
        nodes[new] = np.where(same < 0, -1, added[same])
        graph.connect(leaves, nodes.reshape(-1, actions))
        search.goal = graph.size - 1 if reached else None
        recent = int(leaves[0])
        leaves = added if len(added) <= config.cutoff else np.unique(problem.random.choice(added, config.cutoff))
    return search


def _all_new(points: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """What `reidentify` returns if no point [n,d] is near a node."""
    return np.full(len(points), -1), np.full(len(points), np.inf)


def _filter_and_cut(
    problem: Problem, graph: Graph, points: np.ndarray, config: OneShotConfig
) -> tuple[np.ndarray, np.ndarray]:
    """Which of the new points [n,d] become leaves, and the leaf of each point [n], -1 if it has none."""
    chosen = same = np.arange(len(points))
    if config.reidentification and len(points) > 1:
        chosen, same = graph.thin_out(points)
    if config.cut == "text" and len(chosen) > config.cutoff:
        stay = np.sort(problem.random.permutation(len(chosen))[: config.cutoff])
        place = np.full(len(chosen), -1)
        place[stay] = np.arange(config.cutoff)
        chosen, same = chosen[stay], place[same]
    return chosen, same

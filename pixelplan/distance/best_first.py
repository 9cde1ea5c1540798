"""LATENT GRAPH: best-first search is guided by a distance.

It grows a graph in the order of the steps taken so far plus the weighted steps that the distance still expects.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, cast

import numpy as np

from pixelplan.distance.nearness import Nearness
from pixelplan.distance.perimeter import WithPerimeter, around
from pixelplan.distance.queue import Queue
from pixelplan.distance.surprise import Surprise
from pixelplan.planning.latent_graph import as_tensor
from pixelplan.planning.problem import Growth, Problem
from pixelplan.types import Distance, Guide, InputError, is_discrete

if TYPE_CHECKING:
    from pixelplan.planning.one_shot import OneShotConfig

FIRST_NODES, SHARE = 8, 64
"""A best-first search expands FIRST_NODES nodes at a time at first, and later one in every SHARE of its nodes."""


def frontier(problem: Problem, config: OneShotConfig) -> Growth:
    """Best-first search by the model's distance, or by how much embeddings differ if it has none."""
    distance: Distance | None = getattr(problem.model, "distance", None)
    if distance is not None and not len(problem.goal.points):
        raise InputError("a learned distance needs a goal picture; give one, or leave out the heuristic")
    chosen = _with_perimeter(problem, config, distance) or Nearness(problem)
    if config.policy_weight and not hasattr(chosen, "look"):
        raise InputError(
            f"policy-weight is {config.policy_weight}, but no policy was learned; leave it at 0, or give a heuristic "
            "and no perimeter"
        )
    return best_first(problem, config, chosen)


def _with_perimeter(problem: Problem, config: OneShotConfig, distance: Distance | None) -> Distance | None:
    """A distance that is exact around the goal, if the settings ask for it; otherwise the given one."""
    if not config.perimeter:
        return distance
    if not is_discrete(problem.model) or not len(problem.goal.points) or problem.goal.matters is not None:
        raise InputError("a perimeter needs a model whose codes are zeros and ones, and whole pictures as the goal")
    return WithPerimeter(around(problem.model, problem.context, problem.goal.points, config.perimeter), distance)


def best_first(problem: Problem, config: OneShotConfig, distance: Distance) -> Growth:
    """Expand the nodes with the least steps + weight · distance first, a batch at a time, which suits networks.

    With a weight of at most 1, this is A*. It continues until no other path can be shorter, and expands a node again
    if it finds a shorter path to it, so the plan is shortest if the distance never overestimates. With a larger
    weight, it stops at the first goal. An infinite weight is greedy: only the distance counts.

    With a policy weight, every action on the way to a node also costs that many steps times -log of its probability
    under the distance's policy: among nodes that seem equally near, those that a good player would pass come first.
    Then, too, the search stops at the first goal.
    """
    search = _BestFirst(problem, config, distance)
    while search.unfinished():
        search.expand()
    search.growth.ahead = search.ahead[: search.growth.graph.size]
    return search.growth


class _BestFirst:
    """The state of one best-first search."""

    def __init__(self, problem: Problem, config: OneShotConfig, distance: Distance) -> None:
        self.problem, self.config, self.distance = problem, config, distance
        graph = problem.graph(problem.model.threshold)
        self.growth = Growth(graph)
        self.met = np.empty(0, np.int64)
        """Nodes that are goals."""
        self.goals = as_tensor(problem.goal.points)
        self.ahead = np.full(1024, np.nan, np.float32)
        self.expanded_at = np.full(1024, np.iinfo(np.int32).max, np.int32)
        """The depth at which each node was last expanded; the largest int32 if it never was."""
        self.surprise = Surprise() if config.policy_weight else None
        self.thorough = config.weight <= 1 and self.surprise is None
        self.queue = Queue()
        root = np.zeros(1, np.int64)
        self._judge(root, problem.start[None])
        self._push(root)
        self._meet(root, problem.start[None])

    def unfinished(self) -> bool:
        """Whether the search must continue."""
        graph, goal = self.growth.graph, self.growth.goal
        if graph.size >= self.config.node_limit:
            return False
        least = self.queue.least()
        if goal is None:
            return least < np.inf
        # A shorter path would be shorter by at least one step, and one of its nodes would be in the queue.
        return self.thorough and least < int(graph.depths(np.array([goal]))[0]) - 1 + 1e-3

    def expand(self) -> None:
        """Expand the most promising nodes."""
        graph = self.growth.graph
        leaves = self._next()
        if not len(leaves):
            return
        self.growth.leaves.append(len(leaves))
        self.expanded_at[leaves] = graph.depths(leaves)
        points = self.problem.expand(graph.embeddings(leaves))
        actions = len(points) // len(leaves)
        parents, actions_taken = np.repeat(leaves, actions), np.tile(np.arange(actions), len(leaves))
        if self.config.reidentification:
            nodes, new = graph.find_or_add(points, parents, actions_taken)
        else:
            nodes, new = graph.add(points, parents, actions_taken), np.arange(len(points))
        graph.connect(leaves, nodes.reshape(-1, actions))
        self._judge(nodes[new], points[new])
        shorter = graph.reroute(nodes, parents, actions_taken)
        if not self.thorough:  # once expanded, a node is not expanded again for a shorter path
            shorter = shorter[self.expanded_at[shorter] == np.iinfo(np.int32).max]
        self._push(np.union1d(nodes[new], shorter))
        self._meet(nodes[new], points[new])

    def _next(self) -> np.ndarray:
        """The next nodes [n] to expand, each once; outdated entries are dropped."""
        entries = self.queue.pop(min(self.config.batch, max(FIRST_NODES, self.growth.graph.size // SHARE)))
        nodes, depths = entries[:, 0].astype(np.int64), entries[:, 1]
        current = (depths == self.growth.graph.depths(nodes)) & (depths < self.expanded_at[nodes])
        return np.unique(nodes[current])

    def _judge(self, nodes: np.ndarray, points: np.ndarray) -> None:
        """Estimate the steps to the goal from new nodes [n] with embeddings points [n,d]."""
        if not len(nodes):
            return
        while len(self.ahead) <= nodes.max():
            self.ahead = np.concatenate([self.ahead, np.full(len(self.ahead), np.nan, np.float32)])
            never_expanded = np.full(len(self.expanded_at), np.iinfo(np.int32).max, np.int32)
            self.expanded_at = np.concatenate([self.expanded_at, never_expanded])
        z = as_tensor(points)
        if self.surprise is None:
            steps = self.distance(z, self.goals)
        else:
            steps, chances = cast("Guide", self.distance).look(z, self.goals)
            self.surprise.note(nodes, chances.float().cpu().numpy())
        self.ahead[nodes] = np.nan_to_num(steps.float().cpu().numpy(), nan=np.inf, posinf=np.inf, neginf=0.0)

    def _push(self, nodes: np.ndarray) -> None:
        depths = self.growth.graph.depths(nodes)
        nodes, depths = nodes[depths < self.config.depth_limit], depths[depths < self.config.depth_limit]
        ahead = self.ahead[nodes].astype(np.float64)
        weight = self.config.weight
        keys = ahead if np.isinf(weight) else depths + weight * ahead if weight else depths.astype(np.float64)
        if self.surprise is not None:
            keys = keys + self.config.policy_weight * self.surprise.of(self.growth.graph, nodes)
        keys = np.minimum(keys, 1e9)  # what seems infinitely far comes last, but it comes: the distance may be wrong
        self.queue.push(keys - 1e-7 * depths, np.stack([nodes, depths], axis=1).astype(np.int32))

    def _meet(self, nodes: np.ndarray, points: np.ndarray) -> None:
        """Look for goals among new nodes [n] with embeddings points [n,d]; the goal with the shortest path counts."""
        if len(nodes):
            self.met = np.append(self.met, nodes[self.problem.far(points) < self.problem.model.threshold])
        if len(self.met):
            self.growth.goal = int(self.met[self.growth.graph.depths(self.met).argmin()])

"""LATENT GRAPH: which nodes a search looks at next. Breadth-first is the paper's; best-first follows a distance.

Both grow a graph from the start until it holds a goal or is at its limits. They differ in the order: layer by layer, or
by the steps taken so far plus, weighted, the steps that the distance still expects.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any, cast

import numpy as np

from pixelplan.planning.latent_goal import LatentGoal
from pixelplan.planning.latent_graph import GrowingGraph, as_array, as_tensor, distances
from pixelplan.planning.packed_graph import PackedGraph
from pixelplan.planning.queue import Queue
from pixelplan.planning.surprise import Surprise
from pixelplan.types import Distance, Guide, LatentGraph, Model, is_discrete

if TYPE_CHECKING:
    import torch

    from pixelplan.planning.one_shot import OneShotConfig

Graph = GrowingGraph | PackedGraph
FEW, SHARE = 8, 64
"""A best-first search expands FEW nodes at a time at first, and later one in SHARE of its nodes."""


@dataclass(frozen=True, eq=False)
class Problem:
    """A search problem: the model, where to start and what to find."""

    model: Model
    context: Any
    start: np.ndarray
    """[d], the embedding of the start."""
    goal: LatentGoal
    not_goals: np.ndarray | None = None
    """[F,d], states that look like a goal but are not: a prediction nearer to one of these is not the goal."""
    chance: np.random.Generator | None = None
    """What decides which leaves are cut; None for the same choice every time."""

    @cached_property
    def random(self) -> np.random.Generator:
        """The source of chance; most searches need none, and making one takes as long as half a layer."""
        return self.chance or np.random.default_rng(0)

    def far(self, points: np.ndarray) -> np.ndarray:
        """How far [n] points [n,d] are from the goal; infinitely far if one of `not_goals` is nearer."""
        return self._without_wrong(points, self.goal.met(points, self.model))

    def _without_wrong(self, points: np.ndarray, far: np.ndarray) -> np.ndarray:
        if self.not_goals is None:
            return far
        wrong = distances(points[:, None], self.not_goals)  # [n,F]
        nearer = wrong <= far[:, None] if self.goal.test is None else wrong < self.model.threshold
        return np.where(nearer.any(1), np.inf, far)

    def distance(self, points: np.ndarray) -> np.ndarray:
        """How much [n] points [n,d] differ from the goal; infinitely if one of `not_goals` is nearer."""
        return self._without_wrong(points, self.goal.apart(points, self.model))

    def nearest(self, graph: LatentGraph) -> int:
        """The node whose embedding is nearest to a goal."""
        apart = [self.distance(points) for _, points in graph.pieces()]
        return int(np.concatenate(apart).argmin())

    def graph(self, threshold: float) -> Graph:
        """A graph of the start alone. Points nearer to each other than the threshold become one node."""
        return PackedGraph(self.start) if is_discrete(self.model) else GrowingGraph(self.start, threshold)

    def expand(self, points: np.ndarray) -> np.ndarray:
        """Predictions [n·A,d] for all actions from points [n,d]; the A predictions from point 0 come first."""
        predictions = as_array(self.model.step(as_tensor(points), self.context))
        return predictions.reshape(-1, predictions.shape[2])


class Nearness:
    """A distance that needs no learning: how much an embedding differs from the goal's, in units of one step's change.

    For zeros and ones, the difference is the number of bits that differ. It orders what is near and says little about
    what is far. If a test decides the goal, it says only whether the goal is met.
    """

    def __init__(self, problem: Problem) -> None:
        self._problem = problem
        self._order = 1.0 if is_discrete(problem.model) else 2.0
        changes = np.abs(problem.expand(problem.start[None]) - problem.start)  # [A,d]
        sizes = (changes**self._order).sum(1) ** (1 / self._order)
        sizes = sizes[sizes >= problem.model.threshold]
        self._step = float(sizes.mean()) if len(sizes) else 1.0

    def __call__(self, z: torch.Tensor, goals: torch.Tensor) -> torch.Tensor:
        """Steps [N] from z [N,d] to the problem's goal."""
        problem = self._problem
        if problem.goal.test is not None:
            return as_tensor((problem.far(as_array(z)) >= problem.model.threshold).astype(np.float32))
        return as_tensor(problem.goal.apart(as_array(z), problem.model, self._order) / self._step)


@dataclass
class Growth:
    """A graph that grows towards the goal."""

    graph: Graph
    goal: int | None = None
    """The goal's node, once there is one."""
    leaves: list[int] = field(default_factory=list)
    """Nodes expanded in each layer, or in each batch."""
    doubtful: tuple[float, int, int, np.ndarray] | None = None
    """The prediction nearest to the goal: its distance, its parent and action, and its embedding [d]."""
    ahead: np.ndarray | None = None
    """[M], the steps to the goal that the distance expects; None in breadth-first search."""

    @property
    def reached(self) -> bool:
        """Whether the goal is in the graph."""
        return self.goal is not None

    def take_doubtful_goal(self, threshold: float) -> None:
        """Accept the prediction nearest to the goal as the goal if it is within the threshold, even near a node."""
        if self.doubtful is not None and self.doubtful[0] < threshold:
            _, parent, action, point = self.doubtful
            self.graph.add(point[None], np.array([parent]), np.array([action]))
            self.goal = self.graph.size - 1


def breadth_first(problem: Problem, config: OneShotConfig, threshold: float) -> Growth:
    """Algorithm 2: layer by layer from the start until the goal is among the new nodes.

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
    """Which of the new points [n,d] become leaves, and for each point [n] its leaf, -1 if it has none."""
    chosen = same = np.arange(len(points))
    if config.reidentification and len(points) > 1:
        chosen, same = graph.thin_out(points)
    if config.cut == "text" and len(chosen) > config.cutoff:
        stay = np.sort(problem.random.permutation(len(chosen))[: config.cutoff])
        place = np.full(len(chosen), -1)
        place[stay] = np.arange(config.cutoff)
        chosen, same = chosen[stay], place[same]
    return chosen, same


def best_first(problem: Problem, config: OneShotConfig, distance: Distance) -> Growth:
    """Expand the nodes with the least steps + weight · distance first, a batch at a time, as networks like it.

    With a weight of at most 1 this is A*. It continues until no other path can be shorter, and expands a node again
    if it finds a shorter path to it, so the plan is shortest if the distance never overestimates. With a larger
    weight it stops at the first goal. An infinite weight is greedy: only the distance counts.

    With a policy weight, every action on the way to a node also costs that many steps times -log of how likely the
    distance's policy finds it: of nodes that seem equally near, those come first that a good player would pass. The
    search then stops at the first goal, too.
    """
    search = _BestFirst(problem, config, distance)
    while search.more():
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

    def more(self) -> bool:
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
        parents, taken = np.repeat(leaves, actions), np.tile(np.arange(actions), len(leaves))
        if self.config.reidentification:
            nodes, new = graph.find_or_add(points, parents, taken)
        else:
            nodes, new = graph.add(points, parents, taken), np.arange(len(points))
        graph.connect(leaves, nodes.reshape(-1, actions))
        self._judge(nodes[new], points[new])
        shorter = graph.reroute(nodes, parents, taken)
        if not self.thorough:  # once expanded, a node is not expanded again for a shorter path
            shorter = shorter[self.expanded_at[shorter] == np.iinfo(np.int32).max]
        self._push(np.union1d(nodes[new], shorter))
        self._meet(nodes[new], points[new])

    def _next(self) -> np.ndarray:
        """The next nodes [n] to expand, each once; entries that are out of date are dropped."""
        entries = self.queue.pop(min(self.config.batch, max(FEW, self.growth.graph.size // SHARE)))
        nodes, depths = entries[:, 0].astype(np.int64), entries[:, 1]
        current = (depths == self.growth.graph.depths(nodes)) & (depths < self.expanded_at[nodes])
        return np.unique(nodes[current])

    def _judge(self, nodes: np.ndarray, points: np.ndarray) -> None:
        """Estimate the steps to the goal from new nodes [n] with embeddings points [n,d]."""
        if not len(nodes):
            return
        while len(self.ahead) <= nodes.max():
            self.ahead = np.concatenate([self.ahead, np.full(len(self.ahead), np.nan, np.float32)])
            more = np.full(len(self.expanded_at), np.iinfo(np.int32).max, np.int32)
            self.expanded_at = np.concatenate([self.expanded_at, more])
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
        keys = np.minimum(keys, 1e9)  # what seems infinitely far comes last but still comes: the distance may be wrong
        self.queue.push(keys - 1e-7 * depths, np.stack([nodes, depths], axis=1).astype(np.int32))

    def _meet(self, nodes: np.ndarray, points: np.ndarray) -> None:
        """Look for goals among new nodes [n] with embeddings points [n,d]; the goal with the shortest path counts."""
        if len(nodes):
            self.met = np.append(self.met, nodes[self.problem.far(points) < self.problem.model.threshold])
        if len(self.met):
            self.growth.goal = int(self.met[self.growth.graph.depths(self.met).argmin()])

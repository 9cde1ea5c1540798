"""LATENT GRAPH: what a search is asked for, and the graph that it grows from the start until it holds a goal."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np

from pixelplan.planning.latent_goal import LatentGoal
from pixelplan.planning.latent_graph import GrowingGraph, as_array, as_tensor, distances
from pixelplan.planning.packed_graph import PackedGraph
from pixelplan.planning.plan import LatentGraph
from pixelplan.types import Model, is_discrete

Graph = GrowingGraph | PackedGraph


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
    """Decides which leaves are cut; None for the same choice every time."""

    @cached_property
    def random(self) -> np.random.Generator:
        """The source of randomness; most searches need none, and making one takes as long as half a layer."""
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
        """The node most like a goal, by what pictures show if the model can tell."""
        unlike = [
            np.where(np.isinf(self.distance(points)), np.inf, self.goal.unlike(points, self.model))
            for _, points in graph.pieces()
        ]
        return int(np.concatenate(unlike).argmin())

    def graph(self, threshold: float) -> Graph:
        """A graph of the start alone. Points nearer to each other than the threshold become one node."""
        return PackedGraph(self.start) if is_discrete(self.model) else GrowingGraph(self.start, threshold)

    def expand(self, points: np.ndarray) -> np.ndarray:
        """Predictions [n·A,d] for all actions from points [n,d]; the A predictions from point 0 come first."""
        predictions = as_array(self.model.step(as_tensor(points), self.context))
        return predictions.reshape(-1, predictions.shape[2])


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

"""What the page is sent of a plan: the fields, and how they are filled.

Without a server, `standalone/plan_view.js` fills the same fields.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np
from pydantic import BaseModel, Field

from pixelplan.planning.plan import Plan
from pixelplan.web.projection import Projection


class GraphView(BaseModel):
    """A latent graph of M nodes in the order in which they were found, the root first; one list per property."""

    x: list[float]
    y: list[float]
    depth: list[int]
    parent: list[int]
    action: list[int] = Field(description="The action that led there from the parent.")
    distance: list[float] = Field(description="Distance of the embedding to the goal's, or the goal test's doubts.")
    seen: list[int] = Field(description="A seen state with (nearly) this embedding, -1 if there is none.")
    successors: list[list[int]] = Field(description="The node that each action leads to, -1 if it was not expanded.")
    corrected: list[tuple[int, int]] = Field(description="(node, action) for which memory overruled the model.")
    states: list[int] = Field(
        description="The state in which the actions to each node really end; empty if the true rules are unknown."
    )
    right: list[bool] = Field(description="Whether the model sees that state as this node.")


class Parting(BaseModel):
    """The first step after which the world does not look as the plan expects."""

    step: int = Field(description="From 1 on.")
    action: int
    before: int = Field(description="The state in which the action is taken.")
    predicted: int = Field(description="The state that looks most like what is predicted.")
    seen: int = Field(description="The state that the action really leads to.")
    distance: float = Field(description="Between the predicted embedding and that of what is seen.")


class PlanView(BaseModel):
    """A plan, and the search that found it."""

    actions: list[int]
    reached: bool
    path: list[int] = Field(description="Nodes of the graph along the plan.")
    way: list[tuple[float, float]] = Field(
        description="Centres (y, x) in pixels of where the actions really lead; empty if the world has no cells."
    )
    leaves: list[int] = Field(description="Nodes expanded in each layer.")
    nodes: int
    seconds: float = Field(description="Thinking time, from seeing the frame to the plan.")
    chance: float | None = Field(description="How likely it is to succeed, judged by similar plans; None if unknown.")
    solves: bool | None = Field(description="Whether it leads to the goal, by the true rules; None if unknown.")
    parts: Parting | None = Field(description="None if they never part, or the true rules are unknown.")
    threshold: float
    goal: tuple[float, float] = Field(
        description="The goal's embedding in the projection; by a goal test, the one it has the least doubts about."
    )
    graph: GraphView | None = Field(description="None if a run has already sent very many nodes.")


def plan_view(
    plan: Plan,
    goal: np.ndarray,
    threshold: float,
    projection: Projection,
    way: list[tuple[float, float]],
    graph: GraphView | None,
    actions: Iterable[int],
    path: Iterable[int],
    seconds: float,
    solves: bool | None,
    parts: Parting | None,
) -> PlanView:
    """A plan whose actions (or those chosen in its graph) follow `way` on the board."""
    x, y = projection(goal[None])[0].tolist()
    return PlanView(
        actions=list(actions),
        reached=plan.reached,
        path=list(path),
        way=way,
        leaves=list(plan.leaves),
        nodes=plan.nodes,
        seconds=round(seconds, 6),
        chance=None if plan.chance is None else round(plan.chance, 4),
        solves=solves,
        parts=parts,
        threshold=threshold,
        goal=(x, y),
        graph=graph,
    )


def graph_view(
    plan: Plan,
    apart: np.ndarray,
    threshold: float,
    projection: Projection,
    seen: dict[int, np.ndarray],
    corrections: Sequence[tuple[np.ndarray, int]],
    states: list[int],
    right: list[bool],
) -> GraphView:
    """A plan's graph, with the distance [M] of each node to the goal.

    `seen` holds embeddings of seen states, corrections the (embedding, action) that memory knew; `states` and `right`
    are those of `truth.nodes`.
    """
    graph = plan.graph
    points = projection(graph.embeddings)
    looks, near = _nearest(graph.embeddings, list(seen.values()), threshold)
    names = list(seen)
    corrected = []
    for embedding, action in corrections:
        (node,), (is_near,) = _nearest(embedding[None], [*graph.embeddings], threshold)
        if is_near and node < len(graph.successors) and graph.successors[node, action] >= 0:
            corrected.append((int(node), action))
    return GraphView(
        x=points[:, 0].tolist(),
        y=points[:, 1].tolist(),
        depth=graph.depths.tolist(),
        parent=graph.parents.tolist(),
        action=graph.parent_actions.tolist(),
        distance=np.round(apart, 4).tolist(),
        seen=[names[state] if is_near else -1 for state, is_near in zip(looks, near, strict=True)],
        successors=graph.successors.tolist(),
        corrected=sorted(set(corrected)),
        states=states,
        right=right,
    )


def _nearest(points: np.ndarray, others: Sequence[np.ndarray], threshold: float) -> tuple[np.ndarray, np.ndarray]:
    """Which of the others [d] is nearest to each of the points [n,d], and whether it is within the threshold."""
    if not len(others):
        return np.zeros(len(points), int), np.zeros(len(points), bool)
    table = np.stack(others)
    squares = (points**2).sum(1)[:, None] + (table**2).sum(1) - 2 * points @ table.T
    return squares.argmin(1), squares.min(1) < threshold**2

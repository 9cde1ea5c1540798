"""PLAN: breadth-first search in the latent space from one frame to a goal frame (the paper's Algorithm 2)."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Literal

import numpy as np
import torch

from pixelplan.planning.latent_graph import GrowingGraph, thin_out
from pixelplan.types import InputError, Model, Plan


@dataclass(frozen=True)
class OneShotConfig:
    """How the latent space is searched."""

    depth_limit: int = 256
    """Layers after which the search gives up."""
    node_limit: int = 4096
    """Nodes after which the search gives up."""
    cutoff: int = 256
    """Leaves that a layer keeps at most, drawn at random: the paper's C."""
    reidentification: bool = True
    """Whether predictions near a visited node are that node; without it the graph is a tree (the paper's ablation)."""
    cut: Literal["text", "code"] = "text"
    """What happens to leaves beyond the cutoff: they are forgotten (the paper's text), or all of them count as visited
    and those to expand are drawn with replacement (the paper's code)."""
    goal_check: Literal["predictions", "leaves"] = "predictions"
    """What is compared with the goal: every new prediction, or the leaves that the filter has kept (the paper)."""

    def __post_init__(self) -> None:
        for name in ("depth_limit", "node_limit", "cutoff"):
            if getattr(self, name) < 1:
                raise InputError(f"{name} is {getattr(self, name)}; it must be at least 1")


def one_shot(
    model: Model,
    frame: np.ndarray,
    goal_frame: np.ndarray,
    config: OneShotConfig = OneShotConfig(),  # noqa: B008 (frozen)
    random: np.random.Generator | None = None,
) -> Plan:
    """A plan from a frame [H,W,3] to a goal frame [H,W,3] of the same level, by the model alone.

    Where the goal is not found, the plan leads to the node nearest to it and says so (`reached` is False).
    """
    check_frames(frame, goal_frame)
    began = time.perf_counter()
    with inference():
        start, goal = model.encode(np.stack([frame, goal_frame])).float()
        return search(model, model.context(frame), start, goal, config, random, began=began)


def search(
    model: Model,
    context: object,
    start: torch.Tensor,
    goal: torch.Tensor,
    config: OneShotConfig,
    random: np.random.Generator | None = None,
    not_goals: torch.Tensor | None = None,
    began: float | None = None,
) -> Plan:
    """The search itself, between embeddings start [d] and goal [d].

    A prediction nearer to one of `not_goals` [F,d] than to the goal is not the goal, however near it is.
    """
    began = time.perf_counter() if began is None else began
    random = random or np.random.default_rng(0)
    threshold = model.threshold
    graph: GrowingGraph | None = None
    leaves, recent, sizes = np.zeros(1, np.int64), 0, []
    reached = 0 if bool(is_goal(start[None], goal, threshold, not_goals)[0]) else -1
    while reached < 0 and len(leaves) and len(sizes) < config.depth_limit:
        predictions = model.step(start[None] if graph is None else graph.embeddings(leaves), context).float()
        actions = predictions.shape[1]
        if graph is None:
            graph = GrowingGraph(start, actions, threshold)
        sizes.append(len(leaves))
        points = predictions.reshape(-1, predictions.shape[2])  # [leaves·A,d]
        before = graph.size

        nodes = graph.reidentify(points, recent) if config.reidentification else np.full(len(points), -1)
        new = np.flatnonzero(nodes < 0)
        fresh = points[torch.from_numpy(new)]
        if config.goal_check == "predictions" and len(new):
            hit = nearest_goal(fresh, goal, threshold, not_goals)
            if hit >= 0:  # the search is over: of this layer only the goal is wanted
                new, fresh = new[hit : hit + 1], fresh[hit : hit + 1]
                reached = graph.size
        if len(new):
            kept, stands_for = np.arange(len(new)), np.arange(len(new))
            if config.reidentification:
                kept, stands_for = thin_out(fresh, threshold)
            if config.goal_check == "leaves":
                hit = nearest_goal(fresh[torch.from_numpy(kept)], goal, threshold, not_goals)
                if hit >= 0:
                    reached = graph.size
                    kept = np.concatenate([kept[hit:], kept[:hit]])  # first, so that no cut drops it
                    stands_for = (stands_for - hit) % len(kept)
            if config.cut == "text" and len(kept) > config.cutoff:
                keep = random.permutation(len(kept))[: config.cutoff] if reached < 0 else np.arange(config.cutoff)
                place = np.full(len(kept), -1)
                place[keep] = np.arange(len(keep))
                kept, stands_for = kept[keep], place[stands_for]
            chosen = new[kept]
            added = graph.add(points[torch.from_numpy(chosen)], leaves[chosen // actions], chosen % actions)
            nodes[new] = np.where(stands_for >= 0, added[stands_for], -1)
        graph.connect(leaves, nodes.reshape(-1, actions))
        recent, leaves = int(leaves[0]), np.arange(before, graph.size)
        if len(leaves) > config.cutoff:
            leaves = np.unique(random.choice(leaves, config.cutoff))
        if graph.size >= config.node_limit:
            break

    built = (graph or GrowingGraph(start, 0, threshold)).finished()
    end = reached if reached >= 0 else int(np.square(built.embeddings - goal.numpy()).sum(1).argmin())
    path = built.path(end)
    return Plan(
        actions=built.actions(path),
        reached=reached >= 0,
        embeddings=built.embeddings[path],
        path=tuple(path),
        leaves=tuple(sizes),
        graph=built,
        seconds=time.perf_counter() - began,
    )

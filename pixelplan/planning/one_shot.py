"""PLAN: breadth-first search in the latent space from one frame to a goal frame (the paper's Algorithm 2)."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import Any, Literal

import numpy as np

from pixelplan.planning.latent_graph import GrowingGraph, as_array, as_tensor, distances, thin_out
from pixelplan.types import Episode, InputError, Model, Plan, World


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
        start, goal = as_array(model.encode(np.stack([frame, goal_frame])))
        plan = search(model, model.context(frame), start, goal, config, random)
    return replace(plan, seconds=time.perf_counter() - began)


def play_one_shot(
    model: Model,
    world: World,
    goal_frame: np.ndarray,
    config: OneShotConfig = OneShotConfig(),  # noqa: B008 (frozen)
    random: np.random.Generator | None = None,
) -> Episode:
    """Plan once, from the first frame, and take the plan's actions blindly; where the last one leads is what counts."""
    frame, solved = world.reset()
    plan = one_shot(model, frame, goal_frame, config, random)
    frames = [frame]
    for action in plan.actions:
        frame, solved = world.step(action)
        frames.append(frame)
    solved = solved or np.array_equal(frame, goal_frame)
    ended = "solved" if solved else "plan over"
    return Episode(plan.actions, np.stack(frames), solved, ended, (plan,), (0,), plan.seconds)


def search(
    model: Model,
    context: Any,
    start: np.ndarray,
    goal: np.ndarray,
    config: OneShotConfig,
    random: np.random.Generator | None = None,
    not_goals: np.ndarray | None = None,
) -> Plan:
    """The search itself, from embedding start [d] to goal [d]; call it under `inference`.

    A prediction nearer to one of `not_goals` [F,d] than to the goal is not the goal, however near to it.
    """
    began = time.perf_counter()
    random = random or np.random.default_rng(0)
    graph = GrowingGraph(start, model.threshold)
    leaves, recent = np.zeros(1, np.int64), 0
    sizes: list[int] = []
    reached = nearest_to_goal(start[None], goal, model.threshold, not_goals) == 0
    while not reached and len(leaves) and len(sizes) < config.depth_limit and graph.size < config.node_limit:
        sizes.append(len(leaves))
        predictions = as_array(model.step(as_tensor(graph.embeddings(leaves)), context))  # [leaves,A,d]
        actions = predictions.shape[1]
        points = predictions.reshape(-1, predictions.shape[2])
        nodes = graph.reidentify(points, recent) if config.reidentification else np.full(len(points), -1)
        new = np.flatnonzero(nodes < 0)
        hit = nearest_to_goal(points[new], goal, model.threshold, not_goals)
        if hit >= 0:
            new, reached = new[hit : hit + 1], True  # the search is over: of this layer only the goal is wanted
        chosen, same = _filter_and_cut(points[new], model.threshold, config, random)
        found = new[chosen]
        added = graph.add(points[found], leaves[found // actions], found % actions)
        nodes[new] = np.append(added, -1)[same]
        graph.connect(leaves, nodes.reshape(-1, actions))
        recent = int(leaves[0])
        leaves = added if len(added) <= config.cutoff else np.unique(random.choice(added, config.cutoff))
    built = graph.finished()
    end = graph.size - 1 if reached else int(distances(built.embeddings, goal).argmin())
    path = built.path(end)
    seconds = time.perf_counter() - began
    return Plan(built.actions(path), reached, built.embeddings[path], tuple(path), tuple(sizes), built, seconds)


def _filter_and_cut(
    points: np.ndarray, threshold: float, config: OneShotConfig, random: np.random.Generator
) -> tuple[np.ndarray, np.ndarray]:
    """Which of the new points [n,d] become leaves, and for each point [n] which of those it is, -1 for none."""
    chosen = same = np.arange(len(points))
    if config.reidentification and len(points) > 1:
        chosen, same = thin_out(points, threshold)
    if config.cut == "text" and len(chosen) > config.cutoff:
        stay = np.sort(random.permutation(len(chosen))[: config.cutoff])
        place = np.full(len(chosen), -1)
        place[stay] = np.arange(config.cutoff)
        chosen, same = chosen[stay], place[same]
    return chosen, same


def nearest_to_goal(points: np.ndarray, goal: np.ndarray, threshold: float, not_goals: np.ndarray | None) -> int:
    """Which of the points [n,d] is reidentified with the goal [d]: the nearest; -1 when there is none."""
    to_goal = distances(points, goal)
    if not_goals is not None:
        to_goal[(distances(points[:, None], not_goals) <= to_goal[:, None]).any(1)] = np.inf
    nearest = int(to_goal.argmin()) if len(to_goal) else -1
    return nearest if nearest >= 0 and to_goal[nearest] < threshold else -1


@contextmanager
def inference() -> Iterator[None]:
    """Without gradients and on one thread, which beats several for tensors as small as a search's."""
    import torch

    threads = torch.get_num_threads()
    if threads > 1:
        torch.set_num_threads(1)
    try:
        with torch.inference_mode():
            yield
    finally:
        if threads > 1:
            torch.set_num_threads(threads)


def check_frames(frame: np.ndarray, goal_frame: np.ndarray) -> None:
    """An InputError unless both are frames [H,W,3] uint8 of the same size."""
    for name, one in (("frame", frame), ("goal frame", goal_frame)):
        if not isinstance(one, np.ndarray) or one.ndim != 3 or one.shape[2] != 3 or one.dtype != np.uint8:
            what = f"{one.dtype} {list(one.shape)}" if isinstance(one, np.ndarray) else type(one).__name__
            raise InputError(f"the {name} is {what}; a frame is an array of uint8 with shape [height, width, 3]")
    if frame.shape != goal_frame.shape:
        raise InputError(f"the goal frame has shape {goal_frame.shape} and the frame {frame.shape}; they must be equal")

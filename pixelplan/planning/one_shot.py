"""PLAN: search the latent space from one frame to a goal (the paper's Algorithm 2, or best-first)."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from typing import Any, Literal

import numpy as np

from pixelplan.additions import Registry
from pixelplan.machine import free_memory
from pixelplan.planning.breadth_first import breadth_first
from pixelplan.planning.latent_goal import LatentGoal, in_latent_space
from pixelplan.planning.plan import Episode, Plan
from pixelplan.planning.problem import Growth, Problem
from pixelplan.types import ADDED_LATER, Goal, InputError, Model, World, check_frame, is_discrete

NODE_BYTES = 100
"""Roughly what a node takes besides its embedding: its hash, parent, successors and place in the queue."""
SECOND_THRESHOLD, SECOND_NODES = 0.6, 4
"""A second search uses this share of the model's threshold, and at most this multiple of the first search's nodes."""


@dataclass(frozen=True)
class OneShotConfig:
    """How the latent space is searched."""

    depth_limit: int = 256
    """Layers after which the search gives up."""
    node_limit: int = 2048
    """Nodes after which the search gives up."""
    cutoff: int = 256
    """The most leaves a layer keeps, drawn at random: the paper's C."""
    reidentification: bool = True
    """Whether a prediction near a visited node is that node. Without it the graph is a tree (the paper's ablation)."""
    cut: Literal["text", "code"] = "text"
    """What happens to leaves beyond the cutoff: they are forgotten (the paper's text), or they all count as visited and
    those to expand are drawn with replacement (the paper's code)."""
    context: Literal["goal", "frame"] = "goal"
    """The frame from which the model reads the level's rules: the goal frame, which shows that the goal can be entered
    (random play rarely sees that), or the latest observation (the paper)."""
    second_look: bool = True
    """Whether to try harder when a search fails: first with a finer threshold between states, then by accepting a
    prediction near the goal that was taken for a visited state, then with the other frame as context. The paper does
    none of this."""

    frontier: Literal["breadth-first", "best-first"] = field(default="breadth-first", metadata=ADDED_LATER)
    """Which nodes come first: those with the fewest steps from the start (the paper), or those with the fewest steps
    from the start and, by the distance, on to the goal. The distance is the one learned for the model
    (train-heuristic), or else how much embeddings differ. Cutoff and second look are only for breadth-first search."""
    weight: float = field(default=1.0, metadata=ADDED_LATER)
    """Weight of the distance in best-first search. 1 is A*: plans are shortest if the distance never overestimates.
    More is faster, with longer plans. inf is greedy."""
    batch: int = field(default=64, metadata=ADDED_LATER)
    """The most nodes that best-first search expands at a time: larger batches take less time per node, but more nodes.
    It begins with small batches, so that near goals are found with few nodes."""
    policy_weight: float = field(default=0.0, metadata=ADDED_LATER)
    """How much best-first search trusts the learned policy: an action that the policy takes with probability p costs
    -log p times this many extra steps. 0 ignores the policy, which shortest plans require."""
    perimeter: int = field(default=0, metadata=ADDED_LATER)
    """How many states around the goal best-first search visits first, to know their exact distances; for worlds in
    which every move can be undone. Levels with the same goal share them, and they do not count as search nodes."""

    def __post_init__(self) -> None:
        for name in ("depth_limit", "node_limit", "cutoff", "batch"):
            if getattr(self, name) < 1:
                raise InputError(f"{name} is {getattr(self, name)}; it must be at least 1")
        if self.perimeter < 0:
            raise InputError(f"perimeter is {self.perimeter}; it must be 0 or more")
        if not 0 <= self.policy_weight < np.inf:
            raise InputError(f"policy_weight is {self.policy_weight}; it must be 0 or more")
        if not self.weight >= 0:
            raise InputError(f"weight is {self.weight}; it must be 0 or more, or inf for a greedy search")


def one_shot(
    model: Model,
    frame: np.ndarray,
    goal: Goal | np.ndarray,
    config: OneShotConfig = OneShotConfig(),  # noqa: B008 (frozen)
    random: np.random.Generator | None = None,
) -> Plan:
    """A plan from a frame [H,W,3] to a goal of the same level, by the model alone.

    The goal is a `Goal`, or a frame [H,W,3], or any of several [G,H,W,3].

    If the goal is not found, the plan leads to the node nearest to it and says so (`reached` is False).
    """
    goal = checked_goal(frame, goal)
    began = time.perf_counter()
    with inference():
        start, wanted = in_latent_space(model, frame, goal)
        for context in contexts(model, frame, goal, config):
            plan = search(model, context, start, wanted, config, random)
            if plan.reached:
                break
    return replace(plan, seconds=time.perf_counter() - began)


def contexts(model: Model, frame: np.ndarray, goal: Goal, config: OneShotConfig) -> Iterator[Any]:
    """What the model reads from the goal's frame and from this one [H,W,3]: contexts to try in turn, until the goal is
    found."""
    if goal.frames is None:
        yield model.context(frame)
        return
    goal_frame = goal.completed(frame)[0]
    first, second = (goal_frame, frame) if config.context == "goal" else (frame, goal_frame)
    read = model.context(first)
    yield read
    if config.second_look and config.frontier == "breadth-first" and not _says_nothing(read):
        yield model.context(second)


def _says_nothing(context: Any) -> bool:
    """Whether a model reads nothing from frames: it knows the rules, or assumes they are the same everywhere."""
    return context is None or (hasattr(context, "numel") and context.numel() == 0)


def play_one_shot(
    model: Model,
    world: World,
    goal: Goal | np.ndarray,
    config: OneShotConfig = OneShotConfig(),  # noqa: B008 (frozen)
    random: np.random.Generator | None = None,
) -> Episode:
    """Plan once, from the first frame, and take the plan's actions blindly; only the final state counts."""
    frame, solved = world.reset()
    goal = checked_goal(frame, goal)
    plan = one_shot(model, frame, goal, config, random)
    frames = [frame]
    for action in plan.actions:
        frame, solved = world.step(action)
        frames.append(frame)
    solved = solved or goal.shown_by(frame)
    ended = "solved" if solved else "plan over"
    return Episode(plan.actions, np.stack(frames), solved, ended, (plan,), (0,), plan.seconds)


def _look_twice(problem: Problem, config: OneShotConfig) -> Growth:
    """Breadth-first search and, if it fails and the settings allow it, a second look."""
    threshold = problem.model.threshold
    first = growth = breadth_first(problem, config, threshold)
    if config.second_look and not first.reached:
        if first.graph.size < config.node_limit and not first.graph.exact:  # else the threshold is already too fine
            limited = replace(config, node_limit=min(config.node_limit, SECOND_NODES * first.graph.size))
            growth = breadth_first(problem, limited, SECOND_THRESHOLD * threshold)
        if not growth.reached:
            growth = first
            growth.take_doubtful_goal(threshold)
    return growth


FRONTIERS: Registry[Callable[[Problem, OneShotConfig], Growth]] = Registry("frontiers", {"breadth-first": _look_twice})
"""How a graph grows, by the names of `OneShotConfig.frontier`. Best-first search adds itself (`distance/`)."""


def search(
    model: Model,
    context: Any,
    start: np.ndarray,
    goal: LatentGoal,
    config: OneShotConfig,
    random: np.random.Generator | None = None,
    not_goals: np.ndarray | None = None,
) -> Plan:
    """The search itself, from embedding start [d] to a goal; call it within `inference()`.

    A prediction nearer to one of `not_goals` [F,d] than to the goal is not the goal, however near it is.
    """
    began = time.perf_counter()
    problem = Problem(model, context, start, goal, not_goals, random)
    growth = FRONTIERS[config.frontier](problem, config)
    graph = growth.graph.finished(growth.ahead)
    if growth.goal is not None:
        node = growth.goal
    else:
        node = problem.nearest(graph) if growth.ahead is None else int(growth.ahead.argmin())
    path = graph.path(node)
    points = graph.at(path)
    far = problem.distance(points[-1:])[0] / model.threshold
    seconds = time.perf_counter() - began
    leaves = tuple(growth.leaves)
    return Plan(graph.actions(path), growth.reached, points, tuple(path), leaves, graph, seconds, float(far))


def check_memory(model: Model | None, config: Any, frame: np.ndarray) -> None:
    """An InputError if the nodes that the settings allow would not fit into memory."""
    settings: Any = getattr(config, "search", config)
    if model is None or not isinstance(settings, OneShotConfig):
        return
    with inference():
        dimensions = model.encode(frame[None]).shape[1]
    each = NODE_BYTES + (dimensions // 8 if is_discrete(model) else 4 * dimensions)
    nodes = settings.node_limit + settings.perimeter
    free = free_memory()
    if free is not None and nodes * each > free:
        around_goal = f" and perimeter {settings.perimeter:,}" if settings.perimeter else ""
        raise InputError(
            f"node-limit is {settings.node_limit:,}{around_goal}, which takes {nodes * each / 1e9:,.1f} GB of memory, "
            f"and {free / 1e9:,.1f} GB are free: {free // each:,} nodes would fit"
        )


@contextmanager
def inference() -> Iterator[None]:
    """Without gradients and on one thread, which is faster than several for a search's small tensors."""
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


def checked_goal(frame: np.ndarray, goal: Goal | np.ndarray) -> Goal:
    """The goal; an InputError unless the frame is [H,W,3] uint8 and the goal's frames have the same size."""
    check_frame(frame, "the frame")
    goal = Goal.of(goal)
    goal.check_size(frame.shape, "the frame")
    return goal

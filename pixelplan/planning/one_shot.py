"""PLAN: breadth-first search in the latent space from one frame to a goal frame (the paper's Algorithm 2)."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from typing import Any, Literal

import numpy as np

from pixelplan.planning.latent_graph import GrowingGraph, as_array, as_tensor, distances, thin_out
from pixelplan.types import Episode, InputError, Model, Plan, World

FINER, LARGER = 0.6, 4
"""The threshold of a second search, as a share of the model's, and its size, as a multiple of the first's at most."""


@dataclass(frozen=True)
class OneShotConfig:
    """How the latent space is searched."""

    depth_limit: int = 256
    """Layers after which the search gives up."""
    node_limit: int = 2048
    """Nodes after which the search gives up."""
    cutoff: int = 256
    """Leaves that a layer keeps at most, drawn at random: the paper's C."""
    reidentification: bool = True
    """Whether predictions near a visited node are that node; without it the graph is a tree (the paper's ablation)."""
    cut: Literal["text", "code"] = "text"
    """What happens to leaves beyond the cutoff: they are forgotten (the paper's text), or all of them count as visited
    and those to expand are drawn with replacement (the paper's code)."""
    context: Literal["goal", "frame"] = "goal"
    """The frame from which the model reads the level's rules: the goal frame, which shows that its place can be entered
    (random play hardly ever saw that), or the latest observation (the paper)."""
    second_look: bool = True
    """Whether a search that does not find the goal is followed by one that tells states apart more finely, then by a
    look at predictions near the goal that were taken for a visited state, and then by all of that with the other frame
    as context. The paper has none of it."""

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
        for context in contexts(model, frame, goal_frame, config):
            plan = search(model, context, start, goal, config, random)
            if plan.reached:
                break
    return replace(plan, seconds=time.perf_counter() - began)


def contexts(model: Model, frame: np.ndarray, goal_frame: np.ndarray, config: OneShotConfig) -> Iterator[Any]:
    """What the model reads of the level from these frames [H,W,3], in turn until the goal is found; nothing twice."""
    first, second = (goal_frame, frame) if config.context == "goal" else (frame, goal_frame)
    read = model.context(first)
    yield read
    if config.second_look and not _says_nothing(read):
        yield model.context(second)


def _says_nothing(context: Any) -> bool:
    """Whether a model reads nothing from frames: it knows the rules, or takes them to be the same everywhere."""
    return context is None or (hasattr(context, "numel") and context.numel() == 0)


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

    def grow(threshold: float, node_limit: int) -> _Search:
        limited = replace(config, node_limit=node_limit)
        return _breadth_first(model, context, start, goal, threshold, limited, random, not_goals)

    first = found = grow(model.threshold, config.node_limit)
    if config.second_look and not first.reached:
        if first.graph.size < config.node_limit and not first.graph.exact:  # else it is too fine already
            found = grow(FINER * model.threshold, min(config.node_limit, LARGER * first.graph.size))
        if not found.reached:
            found = first
            found.take_doubtful_goal(model.threshold)
    graph = found.graph.finished()
    path = graph.path(
        found.graph.size - 1 if found.reached else int(to_goal(graph.embeddings, goal, not_goals).argmin())
    )
    seconds = time.perf_counter() - began
    return Plan(
        graph.actions(path), found.reached, graph.embeddings[path], tuple(path), tuple(found.leaves), graph, seconds
    )


@dataclass
class _Search:
    """A graph that grows towards the goal."""

    graph: GrowingGraph
    reached: bool
    """Whether the graph's last node is the goal."""
    leaves: list[int] = field(default_factory=list)
    """Nodes expanded in each layer."""
    doubtful: tuple[float, int, int, np.ndarray] | None = None
    """The prediction nearest the goal: its distance, its parent and action, and the embedding [d]."""

    def take_doubtful_goal(self, threshold: float) -> None:
        """Take the prediction nearest the goal for the goal if it is within the threshold, whatever node it is near."""
        if self.doubtful is not None and self.doubtful[0] < threshold:
            _, parent, action, point = self.doubtful
            self.graph.add(point[None], np.array([parent]), np.array([action]))
            self.reached = True


def _breadth_first(
    model: Model,
    context: Any,
    start: np.ndarray,
    goal: np.ndarray,
    threshold: float,
    config: OneShotConfig,
    random: np.random.Generator,
    not_goals: np.ndarray | None,
) -> _Search:
    """Algorithm 2: layer by layer from the start until the goal is among the new nodes. Nodes nearer than the threshold
    are one; the goal is what is within the model's own threshold of it and not nearer to a node."""
    graph = GrowingGraph(start, threshold)
    search = _Search(graph, bool(to_goal(start[None], goal, not_goals)[0] < model.threshold))
    leaves, recent = np.zeros(1, np.int64), 0
    while not search.reached and len(leaves):
        if len(search.leaves) >= config.depth_limit or graph.size >= config.node_limit:
            break
        search.leaves.append(len(leaves))
        predictions = as_array(model.step(as_tensor(graph.embeddings(leaves)), context))  # [leaves,A,d]
        actions = predictions.shape[1]
        points = predictions.reshape(-1, predictions.shape[2])
        nodes, apart = graph.reidentify(points, recent) if config.reidentification else _all_new(points)
        far = to_goal(points, goal, not_goals)
        nodes[(far < model.threshold) & (far < apart)] = -1
        new = np.flatnonzero(nodes < 0)
        nearest = int(far.argmin())
        if far[new].min(initial=np.inf) < model.threshold:
            new, search.reached = new[[far[new].argmin()]], True  # of this layer only the goal is wanted
        elif search.doubtful is None or far[nearest] < search.doubtful[0]:
            parent, action = divmod(nearest, actions)
            search.doubtful = float(far[nearest]), int(leaves[parent]), action, points[nearest]
        chosen, same = _filter_and_cut(points[new], threshold, config, random)
        found = new[chosen]
        added = graph.add(points[found], leaves[found // actions], found % actions)
        nodes[new] = np.append(added, -1)[same]
        graph.connect(leaves, nodes.reshape(-1, actions))
        recent = int(leaves[0])
        leaves = added if len(added) <= config.cutoff else np.unique(random.choice(added, config.cutoff))
    return search


def _all_new(points: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """What `reidentify` gives where no point [n,d] is near a node."""
    return np.full(len(points), -1), np.full(len(points), np.inf)


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


def to_goal(points: np.ndarray, goal: np.ndarray, not_goals: np.ndarray | None) -> np.ndarray:
    """How far [n] the points [n,d] are from the goal [d]; infinitely far where one of `not_goals` [F,d] is nearer."""
    apart = distances(points, goal)
    if not_goals is not None:
        apart[(distances(points[:, None], not_goals) <= apart[:, None]).any(1)] = np.inf
    return apart


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

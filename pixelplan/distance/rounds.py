"""Learn a distance inside a world model: first from imagined random play, then from searches that use it.

Each round searches training levels with the distance learned so far, and learns from what the searches saw. The node
budget grows from round to round. Held-out levels show whether it is learning.
"""

from __future__ import annotations

import hashlib
import json
import time
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch.nn import functional

from pixelplan.distance.distance_config import DistanceConfig
from pixelplan.distance.labels import Samples, from_search, in_hindsight, to_any, towards
from pixelplan.distance.learned_distance import HEURISTIC_FILE, Guided, LearnedDistance, load_distance, save_distance
from pixelplan.distance.network import DistanceNetwork, layout_of
from pixelplan.distance.rounds_checkpoint import CHECKPOINT, load_progress, other_training, save_progress
from pixelplan.planning.latent_goal import LatentGoal, among
from pixelplan.planning.one_shot import OneShotConfig, inference, search
from pixelplan.planning.packed_graph import PackedGraph
from pixelplan.planning.plan import LatentGraph, Plan, pack, unpack
from pixelplan.types import Goal, InputError, Model, is_discrete

Open = Callable[[int], tuple[np.ndarray, Goal]]
"""The first frame [H,W,3] and the goal of a level, by its number."""

IMAGINED_STATES = 1536
"""Roughly how many states imagined play expands for each level."""
STEPS_FROM_GOAL = 64
"""Steps of walks from a goal after the first round; searches know more about what is farther away."""


@dataclass(frozen=True)
class Round:
    """How a round went."""

    number: int
    nodes: int
    """The most nodes in a search on a training level; 0 if levels were played at random."""
    solved: float
    """Share of its training levels that were solved."""
    loss: float
    held_out_solved: float
    held_out_nodes: float
    """The median over held-out levels; an unsolved one counts as the limit."""
    seconds: float
    """Seconds since training began."""
    held_out_actions: float | None
    """Share of states in solved held-out levels in which the policy's first choice is on a shortest known path; None if
    there are none."""


def train_distance(
    model: Model,
    open_level: Open,
    levels: Sequence[int],
    held_out: Sequence[int],
    out: Path,
    config: DistanceConfig = DistanceConfig(),  # noqa: B008 (frozen)
    about: dict[str, Any] | None = None,
    resume: bool = False,
    tell: Callable[[Round], None] = lambda finished: None,
) -> LearnedDistance:
    """Learn the distance of a model with a discrete code, and write it to the folder `out` after every round.

    `resume` continues after the last finished round and ends with the same weights as an uninterrupted run. `about` is
    written beside them.
    """
    if not is_discrete(model):
        raise InputError("a distance is learned for models whose codes are zeros and ones; this model's are not")
    if not levels or not held_out or set(levels) & set(held_out):
        raise InputError("give at least one training level and one held-out level, and none that is both")
    if not resume and out.exists() and any(out.iterdir()):
        raise InputError(f"{out} is not empty; choose another folder, or continue with --resume")
    about = about or {}
    request = _request(config, levels, held_out, about)
    if (out / HEURISTIC_FILE).exists() and not (out / CHECKPOINT).exists():  # it is finished
        learned, described = load_distance(out, about.get("model_identity"))
        if any(described.get(name) != value for name, value in request.items()):
            raise other_training(out)
        return learned
    torch.manual_seed(config.seed)
    network = DistanceNetwork(*_sizes(model, open_level(levels[0])[0]), config.network)
    samples, history = load_progress(out, network, request) or ([], [])

    def save() -> None:
        save_distance(network, out, {**about, **request, "rounds": history})

    if history:
        save()  # the last run may have ended between the checkpoint and this
    trainer = _Trainer(model, open_level, config, network, samples, history[-1]["seconds"] if history else 0.0)
    for number in range(len(history), config.rounds + 1):
        finished = trainer.round(number, levels, held_out)
        history.append(vars(finished))
        save_progress(out, network, trainer.samples[-2:], history, request)
        save()
        tell(finished)
    (out / CHECKPOINT).unlink()
    return LearnedDistance(network)


def _sizes(model: Model, frame: np.ndarray) -> tuple[int, tuple[int, int, int] | None, int]:
    """The dimensions d of a model's codes, their layout, and its number of actions A, found from a frame [H,W,3]."""
    with inference():
        _, actions, bits = model.step(model.encode(frame[None]), model.context(frame)).shape
    return bits, layout_of(model), actions


def _request(
    config: DistanceConfig, levels: Sequence[int], held_out: Sequence[int], about: dict[str, Any]
) -> dict[str, Any]:
    """Everything that decides the weights, as JSON will read it back."""
    chosen = hashlib.sha256(repr([list(map(int, levels)), list(map(int, held_out))]).encode()).hexdigest()[:16]
    world = {name: about.get(name) for name in ("env", "options", "model_identity")}
    return dict(json.loads(json.dumps({**world, "levels_identity": chosen, "config": asdict(config)})))


class _Trainer:
    """What training carries from round to round."""

    def __init__(
        self,
        model: Model,
        open_level: Open,
        config: DistanceConfig,
        network: DistanceNetwork,
        samples: list[list[Samples]],
        seconds: float,
    ) -> None:
        self.model, self.open_level, self.config, self.network = model, open_level, config, network
        self.samples = samples
        """What the latest rounds taught."""
        self.began = time.perf_counter() - seconds

    def round(self, number: int, levels: Sequence[int], held_out: Sequence[int]) -> Round:
        config = self.config
        random = np.random.default_rng([config.seed, number])
        drawn = random.permutation(np.asarray(levels))[: config.searches].tolist()
        nodes = min(config.nodes * 2 ** (number - 1), config.most_nodes) if number else 0
        with inference():
            opened = [self._codes(level) for level in drawn]
            taught, one_goal = self._from_goals(opened, STEPS_FROM_GOAL if number else config.walk, random)
            outcomes = [self._look(*codes, nodes, one_goal, random) for codes in opened]
            taught += [samples for of_level, _ in outcomes for samples in of_level]
        self.samples = [*self.samples[-2:], [samples for samples in taught if len(samples.codes)]]
        solved = float(np.mean([reached for _, reached in outcomes]))
        loss = self._learn(number, random)
        with inference():
            shown = [self._show(level, random) for level in held_out]
        share, median = np.mean([reached for reached, _, _ in shown]), np.median([count for _, count, _ in shown])
        right = np.concatenate([choices for _, _, choices in shown])
        seconds = round(time.perf_counter() - self.began, 1)
        actions = float(right.mean()) if len(right) else None
        return Round(number, nodes, solved, loss, float(share), float(median), seconds, actions)

    def _show(self, level: int, random: np.random.Generator) -> tuple[bool, int, np.ndarray]:
        """Whether a held-out level is solved, with how many nodes, and for some of its states [n] with a known path to
        the goal, whether the policy's first choice is on a shortest one."""
        context, start, goals = self._codes(level)
        plan = self._plan(context, start, goals, self.config.held_out_nodes)
        if not plan.reached:
            return False, self.config.held_out_nodes, np.zeros(0, bool)
        known = from_search(plan.graph, plan.path, goals.mean(0), self.config.states, random)
        codes = torch.from_numpy(unpack(known.codes, self.network.bits))
        chosen = LearnedDistance(self.network).look(codes, torch.from_numpy(goals))[1].argmax(1).numpy()
        rows = np.flatnonzero(known.best.any(1))
        return True, plan.nodes, known.best[rows, chosen[rows]]

    def _codes(self, level: int) -> tuple[Any, np.ndarray, np.ndarray]:
        """A level's context, the code [d] of its start, and those [G,d] of its goal."""
        frame, goal = self.open_level(level)
        if goal.frames is None or goal.masks is not None:
            raise InputError("learning a distance needs whole goal pictures; this world shows none")
        start, *goals = self.model.encode(np.stack([frame, *goal.frames])).float().cpu().numpy()
        return self.model.context(goal.frames[0]), start, np.stack(goals)

    def _from_goals(
        self, opened: Sequence[tuple[Any, np.ndarray, np.ndarray]], walk: int, random: np.random.Generator
    ) -> tuple[list[Samples], bool]:
        """What imagined walks from the goals of levels teach, and whether there are several levels, all with one goal.

        Levels with the same goal share its walks, which go further in one large graph than in many small ones.
        """
        alike: dict[bytes, list[tuple[Any, np.ndarray]]] = {}
        for context, _, goals in opened:
            alike.setdefault(pack(goals).tobytes(), []).append((context, goals))
        walk, taught = min(walk, self.config.walk), []
        for (context, goals), *others in alike.values():
            walks = IMAGINED_STATES * (1 + len(others)) // walk + 1
            graph = imagine(self.model, context, random.choice(goals), random, walks, walk)
            steps = to_any(graph, np.flatnonzero(among(graph.codes, pack(goals))))
            for _ in range(1 + len(others)):
                taught.append(towards(graph, steps, goals.mean(0), self.config.states, random))
        return taught, len(alike) == 1 < len(opened)

    def _look(
        self,
        context: Any,
        start: np.ndarray,
        goals: np.ndarray,
        nodes: int,
        one_goal: bool,
        random: np.random.Generator,
    ) -> tuple[list[Samples], bool]:
        """What a level teaches, and whether it was solved: by a search if nodes are allowed, otherwise by random play.

        Goals in hindsight are for worlds whose levels have different goals.
        """
        count, goal, wide = self.config.states, goals.mean(0), len(goals) > 1
        if not nodes:
            if one_goal:
                return [], False
            graph = imagine(
                self.model, context, start, random, IMAGINED_STATES // self.config.walk + 1, self.config.walk
            )
            return [in_hindsight(graph, wide, count, random) for _ in range(2)], False
        plan = self._plan(context, start, goals, nodes)
        way = plan.path if plan.reached else None
        if not plan.leaves:  # the level begins with its goal
            return [], plan.reached
        taught = [from_search(plan.graph, way, goal, count, random) for _ in range(2 if plan.reached else 1)]
        if not one_goal:
            taught.append(in_hindsight(plan.graph, wide, count, random))
        return taught, plan.reached

    def _plan(self, context: Any, start: np.ndarray, goals: np.ndarray, nodes: int) -> Plan:
        """A search with the distance learned so far."""
        config = OneShotConfig(
            node_limit=nodes, frontier="best-first", weight=self.config.weight, batch=self.config.batch
        )
        return search(Guided(self.model, LearnedDistance(self.network)), context, start, LatentGoal(goals), config)

    def _learn(self, number: int, random: np.random.Generator, together: int = 8, states: int = 64) -> float:
        """Gradient steps on the samples of the latest rounds; returns the mean loss of the last tenth."""
        network, config = self.network.train(), self.config
        pool = [samples for of_round in self.samples for samples in of_round]
        if not pool:
            raise InputError("nothing was learned: no action changes anything in the training levels")
        updates = config.updates * (2 if number == 0 else 1)
        optimizer = torch.optim.AdamW(network.parameters(), config.learning_rate, weight_decay=1e-4)
        schedule = torch.optim.lr_scheduler.OneCycleLR(optimizer, config.learning_rate, updates, pct_start=0.1)
        losses = []
        for _ in range(updates):
            chosen = [pool[index] for index in random.integers(len(pool), size=together)]
            rows = [random.integers(len(samples.codes), size=states) for samples in chosen]
            picked = list(zip(chosen, rows, strict=True))
            z = np.stack([unpack(samples.codes[row], network.bits) for samples, row in picked])
            steps, sure, at_least, best = (
                torch.from_numpy(np.stack([getattr(samples, part)[row] for samples, row in picked]))
                for part in ("steps", "sure", "at_least", "best")
            )
            goals = torch.from_numpy(np.stack([samples.goal for samples in chosen]))
            roots, logits = network(torch.from_numpy(z), network.read_goal(goals))
            error = torch.where(at_least, (roots - steps.sqrt()).clamp(max=0.0), roots - steps.sqrt())
            loss = (functional.smooth_l1_loss(error, torch.zeros_like(error), reduction="none") * sure).mean()
            missed = logits.logsumexp(2) - logits.masked_fill(~best, -1e9).logsumexp(2)  # -log p of any of the best
            loss = loss + config.policy * torch.where(best.any(2), missed, 0.0).mean()
            optimizer.zero_grad()
            loss.backward()
            torch.nn.utils.clip_grad_norm_(network.parameters(), 1.0)
            optimizer.step()
            schedule.step()
            losses.append(float(loss.detach()))
        network.eval()
        return float(np.mean(losses[-max(1, updates // 10) :]))


def imagine(
    model: Model, context: Any, start: np.ndarray, random: np.random.Generator, walks: int, steps: int
) -> LatentGraph:
    """The graph of the states that random walks from start [d] visit inside a model, and of all states a step away.

    A walk neither stands still nor turns straight back if it can do anything else.
    """
    graph = PackedGraph(start)
    here = before = np.zeros(walks, np.int64)
    for _ in range(steps):
        nodes = np.unique(here)
        after = model.step(torch.from_numpy(graph.embeddings(nodes)), context).float().cpu().numpy()  # [n,A,d]
        actions = after.shape[1]
        parents, taken = np.repeat(nodes, actions), np.tile(np.arange(actions), len(nodes))
        reached, _ = graph.find_or_add(after.reshape(-1, after.shape[2]), parents, taken)
        successors = reached.reshape(-1, actions)
        graph.connect(nodes, successors)
        there = successors[np.searchsorted(nodes, here)]  # [walks,A]
        stale = (there == here[:, None]) | (there == before[:, None])
        action = (random.random(there.shape) + stale).argmin(1)
        here, before = there[np.arange(walks), action], here
    return graph.finished()

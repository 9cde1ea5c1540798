"""Learn a goal test from recorded play on the latent states of a finished model.

It learns twice: first from random states, then also from those that it was most wrong about, such as the states just
before a level is solved. A search meets all of them. How an embedding's numbers are laid out is not known here, so
several readings are trained: as a lattice whose channels come first or last, and as a plain list. If all of them
make some mistakes, places are also compared with what is anywhere else: a goal may be the door that looks like the key.
Held-out levels decide between readings, and where the test draws its line.

Shapes: N states of d numbers, on a lattice of R × C places if there is one.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np
import torch
from torch import Tensor
from torch.nn import functional

from pixelplan.model.batches import LevelPlay
from pixelplan.model.goal_test import COMPARED, Certainty, GoalTestConfig, GoalTestReport, LearnedGoalTest, Reading
from pixelplan.types import Model


@dataclass(frozen=True, eq=False)
class Examples:
    """Seen and predicted latent states that are known to solve their level, or not to."""

    z: Tensor
    """[N,d]."""
    solved: np.ndarray
    """[N] bool."""
    levels: int
    """How many levels they come from."""
    with_goal: int
    """In how many of them play had solved the level."""
    pictures: int
    """How many goal pictures there are in addition."""


def learn_goal_test(
    model: Model,
    levels: Sequence[LevelPlay],
    held_out: Sequence[LevelPlay],
    rows: int,
    columns: int,
    config: GoalTestConfig = GoalTestConfig(),  # noqa: B008 (frozen)
    seed: int = 0,
) -> tuple[LearnedGoalTest, GoalTestReport] | None:
    """A goal test for a model, learned from levels of recorded play, and a report on held-out levels. None if play
    solved no level and no picture shows a goal. Rows and columns are those of the lattice, if the model has one."""
    random = np.random.default_rng([seed, 7])
    known = examples(model, levels, config, random)
    if known is None or not known.solved.any():
        return None
    others = examples(model, held_out, config, random)
    fresh = others is not None and bool(others.solved.any())
    judged = others if fresh and others is not None else known
    best: tuple[int, LearnedGoalTest] | None = None
    same_answer = min(judged.solved.sum(), (~judged.solved).sum())
    for reading in readings(known.z.shape[1], rows * columns):
        if best is not None and reading.endswith(COMPARED) and best[0] >= config.hopeless * same_answer:
            break  # a level's goal is then known from its picture alone
        torch.manual_seed(seed)
        updates = config.updates * (config.compared if reading.endswith(COMPARED) else 1)
        network = Certainty(known.z.shape[1], rows, columns, reading, config.width, config.neighbourhood)
        network = fit(network, known, config, updates, random)
        network = fit(network, with_hardest(known, model, levels, network, config), config, updates, random)
        hard = with_hardest(judged, model, held_out if fresh else levels, network, config)
        with torch.inference_mode():
            line, mistakes = draw_line(network(hard.z).numpy(), hard.solved)
        if best is None or mistakes < best[0]:
            best = mistakes, LearnedGoalTest(network, line)
        if not mistakes:
            break  # no other reading can be better
    assert best is not None
    test = best[1]
    alarms = alarm_share(test, model, held_out if fresh else levels, config)
    missed = float((test(judged.z[judged.solved]) >= 1).float().mean())
    trained_on = known.with_goal
    return test, GoalTestReport(judged.levels, judged.with_goal, missed, alarms, trained_on, fresh, known.pictures)


def readings(dimensions: int, cells: int) -> list[Reading]:
    """The ways to read embeddings with this many numbers; a lattice of one cell does not count as a lattice."""
    if cells == 1 or dimensions % cells:
        return ["list"]
    return ["channels first", "channels last", "list", "channels first, compared", "channels last, compared"]


def examples(
    model: Model, levels: Sequence[LevelPlay], config: GoalTestConfig, random: np.random.Generator
) -> Examples | None:
    """Seen and predicted states of levels, and their goals if a picture shows them; levels that were solved come
    first. None if it is unknown what solves any level."""
    states, solved, pictures = [], [], 0
    known = labelled(levels)
    for level in known[: config.levels]:
        assert level.solved is not None
        yes, no = np.flatnonzero(level.solved == 1), np.flatnonzero(level.solved == 0)
        chosen = np.concatenate([yes[: config.frames], random.permutation(no)[: config.frames]])
        seen = model.encode(np.asarray(level.frames)[chosen])
        states.append(seen)
        solved.append(level.solved[chosen] == 1)
        place = np.full(len(level.frames), -1)
        place[chosen] = np.arange(len(chosen))
        steps = level.steps
        steps = steps[(place[steps[:, 0]] >= 0) & (level.solved[steps[:, 2]] >= 0) & (steps[:, 0] != steps[:, 2])]
        steps = steps[np.argsort(level.solved[steps[:, 2]] != 1, kind="stable")][: config.frames]
        if len(steps):
            sources, where = np.unique(place[steps[:, 0]], return_inverse=True)
            after = model.step(seen[sources], model.context(np.asarray(level.frames[0])))
            states.append(after[where.reshape(-1), steps[:, 1]])
            solved.append(level.solved[steps[:, 2]] == 1)
        if level.goals is not None and len(level.goals):
            shown = np.asarray(level.goals[: config.frames])
            states.append(model.encode(shown))
            solved.append(np.ones(len(shown), bool))
            pictures += len(shown)
    if not states:
        return None
    with_goal = sum(map(_was_solved, known))
    return Examples(torch.cat(states).float().cpu().clone(), np.concatenate(solved), len(known), with_goal, pictures)


def labelled(levels: Sequence[LevelPlay]) -> list[LevelPlay]:
    """Levels for which it is known what solves them: first those that play solved, then those that show a goal."""
    known = [level for level in levels if level.is_labelled]
    return sorted(known, key=lambda level: (not _was_solved(level), level.goals is None or not len(level.goals)))


def with_hardest(
    known: Examples, model: Model, levels: Sequence[LevelPlay], network: Certainty, config: GoalTestConfig
) -> Examples:
    """The examples, plus the unsolved frames of each level that the network most believes to be solved."""
    hardest = []
    for z in _unsolved(model, levels, config):
        with torch.inference_mode():
            order = network(z).argsort(descending=True)
        hardest.append(z[order[: config.frames]])
    z = torch.cat([known.z, *hardest]).clone()
    return replace(known, z=z, solved=np.append(known.solved, np.zeros(len(z) - len(known.z), bool)))


def alarm_share(test: LearnedGoalTest, model: Model, levels: Sequence[LevelPlay], config: GoalTestConfig) -> float:
    """The share of all unsolved frames of levels that a goal test accepts as solved."""
    taken = [test(z) < 1 for z in _unsolved(model, levels, config)]
    return float(torch.cat(taken).float().mean()) if taken else 0.0


def _unsolved(model: Model, levels: Sequence[LevelPlay], config: GoalTestConfig) -> Iterator[Tensor]:
    """Embeddings [n,d] of the unsolved frames of each level that has any."""
    for level in labelled(levels)[: config.levels]:
        assert level.solved is not None
        if (level.solved == 0).any():
            yield model.encode(np.asarray(level.frames)[level.solved == 0]).float().cpu()


def _was_solved(level: LevelPlay) -> bool:
    return level.solved is not None and bool((level.solved == 1).any())


def fit(
    network: Certainty, known: Examples, config: GoalTestConfig, updates: int, random: np.random.Generator
) -> Certainty:
    """Train on as many solved states as others: solved ones are rare, but just as important."""
    yes, no = np.flatnonzero(known.solved), np.flatnonzero(~known.solved)
    if not len(no):
        return network
    optimizer = torch.optim.AdamW(network.parameters(), config.rate, weight_decay=config.weight_decay)
    schedule = torch.optim.lr_scheduler.OneCycleLR(optimizer, config.rate, updates, pct_start=config.warm_up)
    answers = torch.cat([torch.ones(config.batch), torch.zeros(config.batch)])
    for _ in range(updates):
        rows = np.concatenate([random.choice(yes, config.batch), random.choice(no, config.batch)])
        loss = functional.binary_cross_entropy_with_logits(network(known.z[rows]), answers)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        schedule.step()
    return network


def draw_line(certainty: np.ndarray, solved: np.ndarray) -> tuple[float, int]:
    """The line above which certainty [N] means solved, chosen for the fewest mistakes, and how many there are.

    Misses and false alarms count the same, each state once: a search meets many states that are not solved, and one
    false alarm ends it. If several lines are equally good, it is the middle one.
    """
    candidates = np.unique(certainty)
    lines = np.concatenate([[candidates[0] - 1], (candidates[1:] + candidates[:-1]) / 2, [candidates[-1] + 1]])
    missed = np.searchsorted(np.sort(certainty[solved]), lines)
    alarms = (~solved).sum() - np.searchsorted(np.sort(certainty[~solved]), lines)
    mistakes = missed + alarms
    fewest = np.flatnonzero(mistakes == mistakes.min())
    return float(lines[fewest[len(fewest) // 2]]), int(mistakes.min())

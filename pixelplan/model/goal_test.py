"""The goal test: which states solve their level, learned from recorded play on the latent states of a finished model.

It works with any family. A small network reads an embedding and says how sure it is that the state is solved. It
learns twice: first from random states, then also from those that it was most wrong about, such as the states just
before a level is solved. A search meets all of them. How an embedding's numbers are laid out is not known here, so
several readings are trained: as a lattice whose channels come first or last, and as a plain list. If all of them
make mistakes, places are also compared with what is anywhere else: a goal may be the door that looks like the key.
Held-out levels decide between readings, and where the test draws its line.

Shapes: N states of d numbers, on a lattice of R × C places if there is one.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Literal, get_args

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn import functional

from pixelplan.model.batches import LevelPlay
from pixelplan.types import ADDED_LATER, Model

Reading = Literal["channels first", "channels last", "list", "channels first, compared", "channels last, compared"]
READINGS = get_args(Reading)
COMPARED = ", compared"
"""How the names of those readings end that compare places."""
MOST_DIMENSIONS, MOST_WIDTH = 2**20, 2**10
"""The most numbers in an embedding, and the most channels, of a goal test that is read from a file."""


@dataclass(frozen=True)
class GoalTestConfig:
    """How a goal test is learned."""

    width: int = 32
    """Channels of its network."""
    updates: int = 400
    """Gradient steps for each reading."""
    compared: int = field(default=3, metadata=ADDED_LATER)
    """How many times as many gradient steps a reading takes that compares places."""
    batch: int = 64
    """Solved states in each step, along with as many others."""
    rate: float = 3e-3
    """The highest learning rate."""
    weight_decay: float = 1e-2
    """The weight decay of AdamW."""
    levels: int = 400
    """The most levels that are looked at."""
    frames: int = 30
    """The most frames of each level that are learned from: solved ones, others, and others that look solved."""
    many_misses: float = 0.05
    """Training warns if the test misses more than this share of solved held-out states."""
    many_alarms: float = 0.01
    """Training warns if the test accepts more than this share of the other held-out states as solved."""


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


class Certainty(nn.Module):
    """How sure it is that states are solved: logits [N] of embeddings [N,d]."""

    def __init__(self, dimensions: int, rows: int, columns: int, reading: Reading, width: int) -> None:
        super().__init__()
        self.reading, self.rows, self.columns = reading, rows, columns
        cells = rows * columns
        if reading == "list":
            self.layers = nn.Sequential(nn.Linear(dimensions, width), nn.ReLU(), nn.Linear(width, 1))
        else:
            self.layers = nn.Sequential(
                nn.Conv2d(dimensions // cells, width, 3, padding=1), nn.ReLU(), nn.Conv2d(width, width, 1), nn.ReLU()
            )
            self.answer = nn.Linear(2 * width, 1)
        if reading.endswith(COMPARED):
            self.compared = nn.Sequential(nn.Conv2d(2 * width, width, 1), nn.ReLU())

    def forward(self, z: Tensor) -> Tensor:
        """Logits [N] of z [N,d]."""
        if self.reading == "list":
            return self.layers(z).squeeze(1)
        if self.reading.startswith("channels first"):
            places = z.reshape(len(z), -1, self.rows, self.columns)
        else:
            places = z.reshape(len(z), self.rows, self.columns, -1).permute(0, 3, 1, 2)
        seen = self.layers(places)
        if self.reading.endswith(COMPARED):
            anywhere = seen.amax((2, 3), keepdim=True).expand_as(seen)
            seen = self.compared(torch.cat([seen, anywhere], dim=1))
        return self.answer(torch.cat([seen.amax((2, 3)), seen.mean((2, 3))], dim=1)).squeeze(1)


class LearnedGoalTest:
    """A `GoalTest` that uses a network, with the line that was drawn on held-out levels."""

    def __init__(self, network: Certainty, line: float) -> None:
        self.network, self.line = network.eval(), line

    @torch.inference_mode()
    def __call__(self, z: Tensor) -> Tensor:
        """Doubts [N] that z [N,d] are solved: below 1 a state counts as solved."""
        return (self.line - self.network(z.float())).clamp(max=30).exp()

    @property
    def description(self) -> dict[str, Any]:
        """What a model's config says about it, in addition to its weights."""
        network = self.network
        return {"reading": network.reading, "rows": network.rows, "columns": network.columns, "line": self.line}


@dataclass(frozen=True)
class GoalTestReport:
    """How well a goal test does on levels that it has not learned from."""

    levels: int
    """Held-out levels looked at."""
    with_goal: int
    """In how many of them play had solved the level."""
    missed: float | None
    """Share of solved states that it does not accept as solved; None if there was none to miss."""
    false_alarms: float
    """Share of other states that it accepts as solved."""
    trained_on: int
    """Training levels in which play had solved the level."""
    held_out: bool = True
    """Whether it was judged on held-out levels; if none of them was solved, training levels had to do."""
    pictures: int = 0
    """Goal pictures of training levels that were never reached in play, from which it also learned."""


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
    for reading in readings(known.z.shape[1], rows * columns):
        torch.manual_seed(seed)
        updates = config.updates * (config.compared if reading.endswith(COMPARED) else 1)
        network = Certainty(known.z.shape[1], rows, columns, reading, config.width)
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
    said = labelled(levels)
    for level in said[: config.levels]:
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
    with_goal = sum(map(_was_solved, said))
    return Examples(torch.cat(states).float().cpu().clone(), np.concatenate(solved), len(said), with_goal, pictures)


def labelled(levels: Sequence[LevelPlay]) -> list[LevelPlay]:
    """Levels for which it is known what solves them: first those that play solved, then those that show a goal."""
    said = [level for level in levels if level.solved is not None and (level.solved >= 0).any()]
    return sorted(said, key=lambda level: (not _was_solved(level), level.goals is None or not len(level.goals)))


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
    schedule = torch.optim.lr_scheduler.OneCycleLR(optimizer, config.rate, updates, pct_start=0.1)
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


def told(report: dict[str, Any] | None) -> str:
    """What a model's description says about its goal test, in a line for people."""
    if report is None:
        return "goal test: none, because nothing in the recorded play solved a level and no picture shows a goal"
    missed = "none to miss" if report["missed"] is None else f"{report['missed']:.1%} of solved states missed"
    where = "held-out" if report["held_out"] else "training"
    return (
        f"goal test: {missed}, {report['false_alarms']:.2%} false alarms, on {report['levels']} {where} levels; "
        f"learned from {report['trained_on']} levels that play had solved"
        + (f" and {report['pictures']} goal pictures that it had not reached" if report.get("pictures") else "")
    )


def warnings(report: GoalTestReport | None, config: GoalTestConfig) -> list[str]:
    """What speaks against planning with a goal test."""
    if report is None:
        return []
    if (report.missed or 0) > config.many_misses or report.false_alarms > config.many_alarms:
        return [
            f"the goal test cannot be trusted: it misses {report.missed or 0:.0%} of solved states and accepts "
            f"{report.false_alarms:.1%} of others as solved; plan to a goal picture, or record more levels that are "
            "solved (collect --explore); if frames do not show what is wanted (a mission in words), draw it into them"
        ]
    return []

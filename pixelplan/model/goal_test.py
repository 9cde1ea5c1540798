"""The goal test: which states solve their level, learned from recorded play on the latent states of a finished model.

Any family will do. A small network reads an embedding and says how sure it is. How the numbers of an embedding are
laid out is not known here, so several readings of it are trained: as a lattice whose channels come first or last, and
as a plain list. Held-out levels decide between them, and where the test draws its line.

Shapes: N states of d numbers, on a lattice of R × C places if there is one.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal, get_args

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn import functional

from pixelplan.model.batches import LevelPlay
from pixelplan.types import Model

Reading = Literal["channels first", "channels last", "list"]
READINGS = get_args(Reading)
MOST_DIMENSIONS = 2**20
"""Numbers of an embedding."""
WIDTH = 32
UPDATES, BATCH = 400, 64
"""Gradient steps of each reading, and solved states in each of them, beside as many others."""
MOST_LEVELS, MOST_FRAMES = 400, 30
"""Levels that are looked at, and frames of each, beside those that are solved."""
MANY_MISSES, MANY_ALARMS = 0.05, 0.01
"""Shares of held-out states above which training warns of the test."""


@dataclass(frozen=True, eq=False)
class Examples:
    """Latent states, seen and predicted ones, of which is known whether they solve their level."""

    z: Tensor
    """[N,d]."""
    solved: np.ndarray
    """[N] bool."""
    levels: int
    """Of how many levels."""
    with_goal: int
    """In how many of them a solved state was seen."""


class Certainty(nn.Module):
    """How sure it is that states are solved: logits [N] of embeddings [N,d]."""

    def __init__(self, dimensions: int, rows: int, columns: int, reading: Reading) -> None:
        super().__init__()
        self.reading, self.rows, self.columns = reading, rows, columns
        cells = rows * columns
        if reading == "list":
            self.layers = nn.Sequential(nn.Linear(dimensions, WIDTH), nn.ReLU(), nn.Linear(WIDTH, 1))
        else:
            self.layers = nn.Sequential(
                nn.Conv2d(dimensions // cells, WIDTH, 3, padding=1), nn.ReLU(), nn.Conv2d(WIDTH, WIDTH, 1), nn.ReLU()
            )
            self.answer = nn.Linear(2 * WIDTH, 1)

    def forward(self, z: Tensor) -> Tensor:
        """Logits [N] of z [N,d]."""
        if self.reading == "list":
            return self.layers(z).squeeze(1)
        if self.reading == "channels first":
            places = z.reshape(len(z), -1, self.rows, self.columns)
        else:
            places = z.reshape(len(z), self.rows, self.columns, -1).permute(0, 3, 1, 2)
        seen = self.layers(places)
        return self.answer(torch.cat([seen.amax((2, 3)), seen.mean((2, 3))], dim=1)).squeeze(1)


class LearnedGoalTest:
    """A `GoalTest` by a network, with the line that held-out levels drew."""

    def __init__(self, network: Certainty, line: float) -> None:
        self.network, self.line = network.eval(), line

    @torch.inference_mode()
    def __call__(self, z: Tensor) -> Tensor:
        """Doubts [N] that z [N,d] are solved: below 1 they are taken for solved."""
        return (self.line - self.network(z.float())).clamp(max=30).exp()

    @property
    def description(self) -> dict[str, Any]:
        """What a model's config says of it, beside its weights."""
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
    """Share of solved states that it does not take for solved; None if there was none to miss."""
    false_alarms: float
    """Share of other states that it takes for solved."""
    trained_on: int
    """Training levels in which play had solved the level."""
    held_out: bool = True
    """Whether it was judged on held-out levels; if none of them was solved, training levels had to do."""


def learn_goal_test(
    model: Model, levels: Sequence[LevelPlay], held_out: Sequence[LevelPlay], rows: int, columns: int, seed: int = 0
) -> tuple[LearnedGoalTest, GoalTestReport] | None:
    """A goal test for a model, from levels of recorded play, and what held-out levels say of it; None if no level was
    solved in them. Rows and columns are those of the lattice, if the model has one."""
    random = np.random.default_rng([seed, 7])
    known = examples(model, levels, random)
    if known is None or not known.solved.any():
        return None
    others = examples(model, held_out, random)
    fresh = others is not None and bool(others.solved.any())
    judged = others if fresh and others is not None else known
    best: tuple[int, LearnedGoalTest] | None = None
    for reading in readings(known.z.shape[1], rows * columns):
        torch.manual_seed(seed)
        network = fit(Certainty(known.z.shape[1], rows, columns, reading), known, random)
        with torch.inference_mode():
            line, mistakes = draw_line(network(judged.z).numpy(), judged.solved)
        if best is None or mistakes < best[0]:
            best = mistakes, LearnedGoalTest(network, line)
        if not mistakes:
            break  # no other reading can be better
    assert best is not None
    test = best[1]
    taken = (test(judged.z) < 1).numpy()
    alarms = float(taken[~judged.solved].mean()) if (~judged.solved).any() else 0.0
    missed = float((~taken[judged.solved]).mean())
    return test, GoalTestReport(judged.levels, judged.with_goal, missed, alarms, known.with_goal, fresh)


def readings(dimensions: int, cells: int) -> list[Reading]:
    """The ways in which embeddings of so many numbers can be read; a lattice of one cell is none."""
    return ["list"] if cells == 1 or dimensions % cells else ["channels first", "channels last", "list"]


def examples(model: Model, levels: Sequence[LevelPlay], random: np.random.Generator) -> Examples | None:
    """Seen and predicted states of levels, those in which something was solved first; None if nobody said what is."""
    said = [level for level in levels if level.solved is not None and (level.solved >= 0).any()]
    said.sort(key=lambda level: not _was_solved(level))
    states, solved = [], []
    for level in said[:MOST_LEVELS]:
        assert level.solved is not None
        yes, no = np.flatnonzero(level.solved == 1), np.flatnonzero(level.solved == 0)
        chosen = np.concatenate([yes[:MOST_FRAMES], random.permutation(no)[:MOST_FRAMES]])
        seen = model.encode(np.asarray(level.frames)[chosen])
        states.append(seen)
        solved.append(level.solved[chosen] == 1)
        place = np.full(len(level.frames), -1)
        place[chosen] = np.arange(len(chosen))
        steps = level.steps
        steps = steps[(place[steps[:, 0]] >= 0) & (level.solved[steps[:, 2]] >= 0) & (steps[:, 0] != steps[:, 2])]
        steps = steps[np.argsort(level.solved[steps[:, 2]] != 1, kind="stable")][:MOST_FRAMES]
        if len(steps):
            sources, where = np.unique(place[steps[:, 0]], return_inverse=True)
            after = model.step(seen[sources], model.context(np.asarray(level.frames[0])))
            states.append(after[where.reshape(-1), steps[:, 1]])
            solved.append(level.solved[steps[:, 2]] == 1)
    if not states:
        return None
    with_goal = sum(map(_was_solved, said))
    return Examples(torch.cat(states).float().cpu().clone(), np.concatenate(solved), len(said), with_goal)


def _was_solved(level: LevelPlay) -> bool:
    return level.solved is not None and bool((level.solved == 1).any())


def fit(network: Certainty, known: Examples, random: np.random.Generator) -> Certainty:
    """Train on as many solved states as others: solved ones are rare, and as important."""
    yes, no = np.flatnonzero(known.solved), np.flatnonzero(~known.solved)
    if not len(no):
        return network
    optimizer = torch.optim.AdamW(network.parameters(), 3e-3, weight_decay=1e-2)
    schedule = torch.optim.lr_scheduler.OneCycleLR(optimizer, 3e-3, UPDATES, pct_start=0.1)
    answers = torch.cat([torch.ones(BATCH), torch.zeros(BATCH)])
    for _ in range(UPDATES):
        rows = np.concatenate([random.choice(yes, BATCH), random.choice(no, BATCH)])
        loss = functional.binary_cross_entropy_with_logits(network(known.z[rows]), answers)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        schedule.step()
    return network


def draw_line(certainty: np.ndarray, solved: np.ndarray) -> tuple[float, int]:
    """The line above which certainty [N] means solved, with the fewest mistakes, and how many these are.

    Misses and false alarms count the same, each state once: a search meets many states that are not solved, and one
    false alarm ends it. If several lines are as good, it is the middle one.
    """
    candidates = np.unique(certainty)
    lines = np.concatenate([[candidates[0] - 1], (candidates[1:] + candidates[:-1]) / 2, [candidates[-1] + 1]])
    missed = np.searchsorted(np.sort(certainty[solved]), lines)
    alarms = (~solved).sum() - np.searchsorted(np.sort(certainty[~solved]), lines)
    mistakes = missed + alarms
    fewest = np.flatnonzero(mistakes == mistakes.min())
    return float(lines[fewest[len(fewest) // 2]]), int(mistakes.min())


def told(report: dict[str, Any] | None) -> str:
    """What a model's description says of its goal test, in a line for people."""
    if report is None:
        return "goal test: none, because nothing in the recorded play solved a level"
    missed = "none to miss" if report["missed"] is None else f"{report['missed']:.1%} of solved states missed"
    where = "held-out" if report["held_out"] else "training"
    return (
        f"goal test: {missed}, {report['false_alarms']:.2%} false alarms, on {report['levels']} {where} levels; "
        f"learned from {report['trained_on']} levels that play had solved"
    )


def warnings(report: GoalTestReport | None) -> list[str]:
    """What stands against planning by a goal test."""
    if report is None:
        return []
    if (report.missed or 0) > MANY_MISSES or report.false_alarms > MANY_ALARMS:
        return [
            f"the goal test cannot be trusted: it misses {report.missed or 0:.0%} of solved states and takes "
            f"{report.false_alarms:.1%} of others for solved; plan to a goal picture, or record more levels that are "
            "solved (collect --explore); if frames do not show what is wanted (a mission in words), draw it into them"
        ]
    return []

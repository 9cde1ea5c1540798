"""How the trees of `trees.py` are learned: from counts, without gradients, so that a rule is either exact or wrong.

Shapes: n states as codes [n,V], m steps, A actions, G cells, each with F places that can be asked about.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from pixelplan.families.trees import LEAF, Trees

ROWS_AT_ONCE = 2_000_000
"""How many rows are processed together: this affects memory, not results."""


@dataclass(frozen=True)
class TreeConfig:
    """How trees are grown."""

    first_rows: int = 20_000
    """The most rows that a tree is first grown from."""
    more_rows: int = 10_000
    """The most wrongly predicted rows to add each time it is grown again."""
    rounds: int = 12
    """The most times that a tree is grown."""
    deepest: int = 64
    """The most questions before an answer."""


@dataclass(frozen=True, eq=False)
class Steps:
    """What was seen: codes of states, and which of them followed which."""

    codes: np.ndarray
    """[n,V] uint8; the first G are the kinds in cells."""
    steps: np.ndarray
    """[m,3] int64: state, action, state after it."""


def learn(
    seen: Steps,
    look: np.ndarray,
    copied: int,
    actions: int,
    alike: bool,
    most: int,
    config: TreeConfig = TreeConfig(),  # noqa: B008 (frozen)
) -> Trees:
    """Trees for all actions: one for all cells if they are alike, otherwise one for each; at most `most` rows in all.

    The first `copied` places can be answers. A tree is grown from part of what was seen, then again with what it got
    wrong, until nothing is wrong or it has been grown `config.rounds` times.
    """
    count = len(look)
    groups = [np.arange(count)] if alike else [np.array([cell]) for cell in range(count)]
    wanted = [(action, cells) for action in range(actions) for cells in groups]
    roots = np.zeros((actions, count), np.int64)
    random = np.random.default_rng(0)
    tables: list[np.ndarray] = []
    size = 0
    for place, (action, cells) in enumerate(wanted):
        steps = seen.steps[seen.steps[:, 1] == action]
        room = most - size - (len(wanted) - place - 1)  # leave at least one row for each tree that follows
        table = _tree(seen.codes, steps, look, cells, copied, random, max(1, room), config)
        table[:, 2:][table[:, 2:] != LEAF] += size
        roots[action, cells] = size
        tables.append(table)
        size += len(table)
    return Trees(np.concatenate(tables), roots, look, config.deepest)


def wrong(trees: Trees, seen: Steps) -> np.ndarray:
    """Which of the steps [m] are predicted wrongly in any cell."""
    missed = np.zeros(len(seen.steps), bool)
    cells = np.arange(len(trees.look))
    for action in range(len(trees.roots)):
        chosen = np.flatnonzero(seen.steps[:, 1] == action)
        for part in _pieces(len(chosen), len(cells)):
            before, _, after = seen.steps[chosen[part]].T
            predicted = trees.after(seen.codes[before], action, cells)
            missed[chosen[part]] = (predicted != seen.codes[after][:, cells]).any(1)
    return missed


def _tree(
    codes: np.ndarray,
    steps: np.ndarray,
    look: np.ndarray,
    cells: np.ndarray,
    copied: int,
    random: np.random.Generator,
    most: int,
    config: TreeConfig,
) -> np.ndarray:
    """The table of one tree, for some cells after the steps [m,3] of one action."""
    if not len(steps):
        return np.array([[0, 0, LEAF, LEAF]], np.int64)  # unknown: assume that it stays as it is
    rows = _first_rows(codes, steps, cells, random, config.first_rows // 2)
    table = np.empty((0, 4), np.int64)
    for turn in range(config.rounds):
        state, cell, after = steps[rows[:, 0], 0], cells[rows[:, 1]], steps[rows[:, 0], 2]
        table = grow(codes[state[:, None], look[cell]], codes[after, cell], copied, most, config.deepest)
        if turn == config.rounds - 1:
            break
        tree = Trees(table, np.zeros((1, len(look)), np.int64), look, config.deepest)
        mistakes = []
        for part in _pieces(len(steps), len(cells)):
            mistaken = tree.after(codes[steps[part, 0]], 0, cells) != codes[steps[part, 2]][:, cells]
            mistakes.append(np.argwhere(mistaken) + np.array([part.start, 0]))
        missed = np.concatenate(mistakes)
        if not len(missed):
            break
        rows = np.unique(np.concatenate([rows, random.permutation(missed)[: config.more_rows]]), axis=0)
    return table


def _first_rows(
    codes: np.ndarray, steps: np.ndarray, cells: np.ndarray, random: np.random.Generator, count: int
) -> np.ndarray:
    """[r,2] indices into `steps` and `cells`: at most `count` for cells that change, and as many for any cells."""
    changed = [
        np.argwhere(codes[steps[part, 0]][:, cells] != codes[steps[part, 2]][:, cells]) + np.array([part.start, 0])
        for part in _pieces(len(steps), len(cells))
    ]
    changing = random.permutation(np.concatenate(changed))[:count]
    any_ = np.stack([random.integers(len(steps), size=count), random.integers(len(cells), size=count)], axis=1)
    return np.unique(np.concatenate([changing, any_]), axis=0)


def _pieces(steps: int, cells: int) -> Iterator[slice]:
    size = max(1, ROWS_AT_ONCE // cells)
    return (slice(first, first + size) for first in range(0, steps, size))


def grow(x: np.ndarray, y: np.ndarray, copied: int, most: int, deepest: int = TreeConfig.deepest) -> np.ndarray:
    """The table [t,4] of a tree that gives answers y [r] when places show x [r,F]; at most `most` rows.

    It is greedy: each question leaves the least doubt (entropy) about whether the cell changes, and to what. Among
    equally good questions it takes the one about the nearest place.
    """
    table: list[list[int]] = [[0, 0, LEAF, LEAF]]
    open_: list[tuple[int, np.ndarray, int]] = [(0, np.arange(len(y)), 0)]
    kinds = int(max(x.max(initial=0), y.max(initial=0))) + 1
    while open_:
        row, chosen, depth = open_.pop()
        seen, answers = x[chosen], y[chosen]
        place, value, sure = _answer(seen, answers, copied)
        question = None if sure or depth >= deepest or len(table) + 2 > most else _question(seen, answers, kinds)
        if question is None:
            table[row] = [place, value, LEAF, LEAF]
            continue
        asked_about, value = question
        yes = seen[:, asked_about] == value
        table[row] = [asked_about, value, len(table), len(table) + 1]
        open_ += [(len(table), chosen[yes], depth + 1), (len(table) + 1, chosen[~yes], depth + 1)]
        table += [[0, 0, LEAF, LEAF], [0, 0, LEAF, LEAF]]
    return np.array(table, np.int64)


def _answer(seen: np.ndarray, answers: np.ndarray, copied: int) -> tuple[int, int, bool]:
    """The best single answer (place, value), and whether it is always right: no change, one kind, or a copy."""
    if (seen[:, 0] == answers).all():
        return 0, 0, True
    counts = np.bincount(answers)
    common = int(counts.argmax())
    if counts[common] == len(answers):
        return -1, common, True
    right = (seen[:, :copied] == answers[:, None]).sum(0)
    place = int(right.argmax())
    if right[place] >= counts[common]:
        return place, 0, bool(right[place] == len(answers))
    return -1, common, False


def _question(seen: np.ndarray, answers: np.ndarray, kinds: int) -> tuple[int, int] | None:
    """The place and value to ask about; None if all rows are the same."""
    labels = np.where(answers == seen[:, 0], kinds, answers).astype(np.int64)
    places = seen.shape[1]
    keys = (np.arange(places) * kinds + seen) * (kinds + 1) + labels[:, None]
    yes = np.bincount(keys.ravel(), minlength=places * kinds * (kinds + 1)).reshape(places, kinds, kinds + 1)
    total = np.bincount(labels, minlength=kinds + 1)
    doubt = _doubt(yes) + _doubt(total - yes)
    size = yes.sum(2)
    doubt = np.where((size > 0) & (size < len(answers)), doubt.round(6), np.inf)
    best = int(doubt.argmin())
    return None if np.isinf(doubt.flat[best]) else divmod(best, kinds)


def _doubt(counts: np.ndarray) -> np.ndarray:
    """Entropy along the last axis, times the number of rows."""
    total = counts.sum(-1, keepdims=True)
    share = np.log(np.maximum(counts, 1)) - np.log(np.maximum(total, 1))
    return -(counts * share).sum(-1)

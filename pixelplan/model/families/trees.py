"""Decision trees that say what a cell shows after an action, from what some cells show before it.

A tree asks whether cells around its own show this or that, until it knows the answer: a kind, or what one of those
cells shows now ("stays as it is" is what the cell itself shows). Such a rule is learned from counts, without
gradients, and it is exact or it is not: nothing drifts.

Shapes: n states as codes [n,V] (what each cell shows, then what else can be asked), m steps, A actions, G cells, each
with F places that can be asked about.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor

FIRST, MORE = 20_000, 10_000
"""Rows that a tree is first grown from, and those that it got wrong and is grown again with, at most."""
ROWS = 2_000_000
"""Rows that are looked at together."""
DEEPEST = 64
"""Questions before an answer, at most."""
MOST_ANSWERS = 2**22
"""Answers that are written down at most."""
_LEAF = -1


@dataclass(frozen=True, eq=False)
class Steps:
    """What was seen: codes of states, and which of them followed which."""

    codes: np.ndarray
    """[n,V] uint8; the first G are the kinds in cells."""
    steps: np.ndarray
    """[m,3] int64: state, action, state after it."""


@dataclass(frozen=True, eq=False)
class Trees:
    """Trees in one table; a tree is named by its first row."""

    table: np.ndarray
    """[t,4] int64: the place that is asked about, a value, the row if it has that value, the row if not. An answer has
    no further rows (−1): it is what the place shows, or the value if the place is −1."""
    roots: np.ndarray
    """[A,G] int64, the tree of each action and cell."""
    look: np.ndarray
    """[G,F] int64, which number of a code each place is, seen from each cell; the cell itself comes first."""

    def after(self, codes: np.ndarray, action: int, cells: np.ndarray) -> np.ndarray:
        """The kinds [n,c] in some cells [c] after an action in states with codes [n,V]."""
        count = len(codes)
        state, cell = np.repeat(np.arange(count), len(cells)), np.tile(cells, count)
        given = (self.table, self.look, codes, self.roots[action, cell], state, cell)
        return follow(*map(torch.from_numpy, given)).view(count, len(cells)).numpy()


def follow(table: Tensor, look: Tensor, codes: Tensor, rows: Tensor, state: Tensor, cell: Tensor) -> Tensor:
    """The answers [r] of trees that begin in rows [r] of a table [t,4], for a cell [r] of a state [r] each.

    Cells have surroundings look [G,F], states have codes [n,V].
    """
    places, width = look.shape[1], codes.shape[1]
    state, cell, rows = state * width, cell * places, rows.clone()
    shown, seen = codes.reshape(-1), look.reshape(-1)
    asked, value, yes, no = table.unbind(1)
    left = torch.arange(len(rows))
    for _ in range(DEEPEST):
        here = rows[left]
        inner = yes[here] != _LEAF
        left, here = left[inner], here[inner]
        if not torch.jit.is_tracing() and not len(left):
            break
        there = shown[state[left] + seen[cell[left] + asked[here]]]
        rows[left] = torch.where(there == value[here], yes[here], no[here])
    place, answer = asked[rows], value[rows]
    copied = shown[state + seen[cell + place.clamp(min=0)]]
    return torch.where(place < 0, answer.to(copied.dtype), copied)


@dataclass(frozen=True, eq=False)
class Lookup:
    """The answers of trees to everything that the few places they ask about can show, in a table."""

    asked: Tensor
    """[n,A·G] int64, the entries of a code that the tree of each action and cell looks at."""
    first: Tensor
    """[A·G,1] int32, where the answers of each tree begin."""
    answers: Tensor
    """[t] uint8."""
    values: int
    """How many values an entry of a code can have."""

    def after(self, codes: Tensor) -> Tensor:
        """The kinds [N,A·G] after each action in states with codes [N,V]."""
        shown = codes.T.to(torch.int32)  # [V,N]: to take a place is to copy a row
        key = torch.zeros(len(self.first), len(codes), dtype=torch.int32)
        for places in self.asked:
            key = key.mul_(self.values).add_(shown[places])
        return self.answers[key.add_(self.first)].T


def look_up(table: np.ndarray, roots: np.ndarray, look: np.ndarray, values: int) -> Lookup | None:
    """All answers of the trees with roots [A,G] in a table [t,4]; None if these are too many to tabulate.

    Trees that ask about fewer places than others first look at the outside, which always shows the last value.
    """
    trees = {int(root): sorted(_places(table, int(root))) for root in np.unique(roots)}
    if sum(values ** len(places) for places in trees.values()) > MOST_ANSWERS:
        return None
    width = max(map(len, trees.values()))
    first, answers, size = {}, [], 0
    for root, places in trees.items():
        first[root], size = size, size + values ** len(places)
        answers.append(_all_answers(table, root, places, values))
    outside = len(look)
    asked = np.empty((width, *roots.shape), np.int64)
    start = np.empty(roots.shape, np.int64)
    for action, cell in np.ndindex(*roots.shape):
        places = trees[int(roots[action, cell])]
        asked[:, action, cell] = [outside] * (width - len(places)) + look[cell, places].tolist()
        start[action, cell] = first[int(roots[action, cell])] - (values**width - values ** len(places))
    return Lookup(
        torch.from_numpy(asked.reshape(width, -1)),
        torch.from_numpy(start.reshape(-1, 1).astype(np.int32)),
        torch.from_numpy(np.concatenate(answers)),
        values,
    )


def _places(table: np.ndarray, root: int) -> set[int]:
    """The places that a tree asks about, or copies."""
    place, _, yes, no = table[root].tolist()
    below = set() if yes == _LEAF else _places(table, yes) | _places(table, no)
    return below | ({place} if place >= 0 else set())


def _all_answers(table: np.ndarray, root: int, places: list[int], values: int) -> np.ndarray:
    """What a tree answers [values^n] uint8 to everything that n places can show, the last of them changing first."""
    shown = np.indices((values,) * len(places), np.uint8).reshape(len(places), values ** len(places))
    answers = np.empty(shown.shape[1], np.uint8)
    open_ = [(root, np.arange(len(answers)))]
    while open_:
        row, chosen = open_.pop()
        place, value, yes, no = table[row].tolist()
        if yes == _LEAF:
            answers[chosen] = value if place < 0 else shown[places.index(place), chosen]
        else:
            right = shown[places.index(place), chosen] == value
            open_ += [(yes, chosen[right]), (no, chosen[~right])]
    return answers


def causes(table: np.ndarray, root: int, copied: int) -> set[tuple[int, int]] | None:
    """Places and values, at least one of which must be there for a tree to answer anything but "stays as it is".

    The path to every such answer has a question that was answered yes. Of several, the one about the largest value is
    taken: kinds are numbered by how common they are, the most common first. None if some answer needs no yes.
    """
    needed: set[tuple[int, int]] = set()
    open_: list[tuple[int, tuple[int, int] | None]] = [(root, None)]
    while open_:
        row, best = open_.pop()
        place, value, yes, no = table[row].tolist()
        if yes != _LEAF:
            better = place < copied and (best is None or best[0] >= copied or value > best[1])
            open_ += [(yes, (place, value) if better or best is None else best), (no, best)]
        elif place != 0:
            if best is None:
                return None
            needed.add(best)
    return needed


def surroundings(rows: int, columns: int, reach: int, others: int) -> np.ndarray:
    """[G,F] the entries of a code, seen from each cell: the cell itself, those within reach (all for 0), others.

    A code is what each of the G cells shows, then what a cell outside shows, then `others`. The nearest come first.
    """
    count = rows * columns
    row, column = np.divmod(np.arange(count), columns)
    extra = np.tile(np.arange(count + 1, count + 1 + others), (count, 1))
    if not reach:
        everywhere = np.tile(np.arange(count), (count, 1))
        return np.concatenate([np.arange(count)[:, None], everywhere, extra], axis=1)
    window = range(-reach, reach + 1)
    offsets = sorted(((r, c) for r in window for c in window), key=lambda place: (place[0] ** 2 + place[1] ** 2, place))
    away = np.array(offsets)
    there = row[:, None] + away[:, 0], column[:, None] + away[:, 1]  # [G,F] each
    inside = (there[0] >= 0) & (there[0] < rows) & (there[1] >= 0) & (there[1] < columns)
    return np.concatenate([np.where(inside, there[0] * columns + there[1], count), extra], axis=1)


def learn(seen: Steps, look: np.ndarray, copied: int, actions: int, alike: bool, most: int, rounds: int = 12) -> Trees:
    """Trees for all actions: one for all cells if these are alike, else one for each; at most `most` rows in all.

    The first `copied` places can be answers. A tree is grown from a part of what was seen, then again with what it got
    wrong, until nothing is wrong or it was grown `rounds` times.
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
        table = _tree(seen.codes, steps, look, cells, copied, random, max(1, room), rounds)
        table[:, 2:][table[:, 2:] != _LEAF] += size
        roots[action, cells] = size
        tables.append(table)
        size += len(table)
    return Trees(np.concatenate(tables), roots, look)


def wrong(trees: Trees, seen: Steps) -> np.ndarray:
    """Which [m] of the steps are predicted wrongly in any cell."""
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
    rounds: int,
) -> np.ndarray:
    """The table of one tree, for some cells after the steps [m,3] of one action."""
    if not len(steps):
        return np.array([[0, 0, _LEAF, _LEAF]], np.int64)  # unknown: it stays as it is
    rows = _first_rows(codes, steps, cells, random)
    table = np.empty((0, 4), np.int64)
    for turn in range(rounds):
        state, cell, after = steps[rows[:, 0], 0], cells[rows[:, 1]], steps[rows[:, 0], 2]
        table = grow(codes[state[:, None], look[cell]], codes[after, cell], copied, most)
        if turn == rounds - 1:
            break
        tree = Trees(table, np.zeros((1, len(look)), np.int64), look)
        mistakes = []
        for part in _pieces(len(steps), len(cells)):
            mistaken = tree.after(codes[steps[part, 0]], 0, cells) != codes[steps[part, 2]][:, cells]
            mistakes.append(np.argwhere(mistaken) + np.array([part.start, 0]))
        missed = np.concatenate(mistakes)
        if not len(missed):
            break
        rows = np.unique(np.concatenate([rows, random.permutation(missed)[:MORE]]), axis=0)
    return table


def _first_rows(codes: np.ndarray, steps: np.ndarray, cells: np.ndarray, random: np.random.Generator) -> np.ndarray:
    """[r,2] indices into `steps` and `cells`; half of them are of cells that change, if any do."""
    changed = [
        np.argwhere(codes[steps[part, 0]][:, cells] != codes[steps[part, 2]][:, cells]) + np.array([part.start, 0])
        for part in _pieces(len(steps), len(cells))
    ]
    changing = random.permutation(np.concatenate(changed))[: FIRST // 2]
    any_ = np.stack(
        [random.integers(len(steps), size=FIRST // 2), random.integers(len(cells), size=FIRST // 2)], axis=1
    )
    return np.unique(np.concatenate([changing, any_]), axis=0)


def _pieces(steps: int, cells: int) -> Iterator[slice]:
    size = max(1, ROWS // cells)
    return (slice(first, first + size) for first in range(0, steps, size))


def grow(x: np.ndarray, y: np.ndarray, copied: int, most: int) -> np.ndarray:
    """The table [t,4] of a tree for answers y [r] to what the places show x [r,F]; at most `most` rows.

    Greedy: each question leaves the least doubt (entropy) about whether, and to what, the cell changes. Of equally good
    questions it takes the nearest place.
    """
    table: list[list[int]] = [[0, 0, _LEAF, _LEAF]]
    open_: list[tuple[int, np.ndarray, int]] = [(0, np.arange(len(y)), 0)]
    kinds = int(max(x.max(initial=0), y.max(initial=0))) + 1
    while open_:
        row, chosen, depth = open_.pop()
        seen, answers = x[chosen], y[chosen]
        place, value, sure = _answer(seen, answers, copied)
        question = None if sure or depth >= DEEPEST or len(table) + 2 > most else _question(seen, answers, kinds)
        if question is None:
            table[row] = [place, value, _LEAF, _LEAF]
            continue
        asked, value = question
        yes = seen[:, asked] == value
        table[row] = [asked, value, len(table), len(table) + 1]
        open_ += [(len(table), chosen[yes], depth + 1), (len(table) + 1, chosen[~yes], depth + 1)]
        table += [[0, 0, _LEAF, _LEAF], [0, 0, _LEAF, _LEAF]]
    return np.array(table, np.int64)


def _answer(seen: np.ndarray, answers: np.ndarray, copied: int) -> tuple[int, int, bool]:
    """The best single answer (place, value), and whether it is always right: what stays, one kind, or a copy."""
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

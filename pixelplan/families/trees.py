"""Decision trees that say what a cell shows after an action, from what some cells show before it.

A tree asks whether cells around its own show this or that, until it knows the answer: a kind, or what one of those
cells shows now ("stays as it is" is what the cell itself shows). `grow_trees.py` learns the trees.

Shapes: n states as codes [n,V] (what each cell shows, then what else can be asked), A actions, G cells, each with F
places that can be asked about.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor

MOST_ANSWERS = 2**22
"""The most answers in a table; trees with more are followed question by question, with the same answers."""
LEAF = -1
"""Stands for the row after an answer, as there is none."""


@dataclass(frozen=True, eq=False)
class Trees:
    """Trees in one table; a tree is named by its first row."""

    table: np.ndarray
    """[t,4] int64: the place that is asked about, a value, the row if it has that value, the row if not. An answer has
    no further rows (−1): it is what the place shows, or the value if the place is −1."""
    roots: np.ndarray
    """[A,G] int64, the tree of each action and cell."""
    look: np.ndarray
    """[G,F] int64, the entry of a code for each place, as seen from each cell; the cell itself comes first."""
    deepest: int
    """The most questions before an answer."""

    def after(self, codes: np.ndarray, action: int, cells: np.ndarray) -> np.ndarray:
        """The kinds [n,c] in some cells [c] after an action in states with codes [n,V]."""
        count = len(codes)
        state, cell = np.repeat(np.arange(count), len(cells)), np.tile(cells, count)
        arrays = (self.table, self.look, codes, self.roots[action, cell], state, cell)
        return follow(*map(torch.from_numpy, arrays), deepest=self.deepest).view(count, len(cells)).numpy()


def follow(
    table: Tensor, look: Tensor, codes: Tensor, rows: Tensor, state: Tensor, cell: Tensor, *, deepest: int
) -> Tensor:
    """The answers [r] of trees that begin at rows [r] of a table [t,4], each for a cell [r] of a state [r].

    Cells have surroundings look [G,F], states have codes [n,V]. No tree asks more than `deepest` questions.
    """
    places, width = look.shape[1], codes.shape[1]
    state, cell, rows = state * width, cell * places, rows.clone()
    shown, seen = codes.reshape(-1), look.reshape(-1)
    asked_about, value, yes, no = table.unbind(1)
    left = torch.arange(len(rows))
    for _ in range(deepest):
        here = rows[left]
        inner = yes[here] != LEAF
        left, here = left[inner], here[inner]
        if not torch.jit.is_tracing() and not len(left):
            break
        there = shown[state[left] + seen[cell[left] + asked_about[here]]]
        rows[left] = torch.where(there == value[here], yes[here], no[here])
    place, answer = asked_about[rows], value[rows]
    copied = shown[state + seen[cell + place.clamp(min=0)]]
    return torch.where(place < 0, answer.to(copied.dtype), copied)


@dataclass(frozen=True, eq=False)
class Lookup:
    """A table of the trees' answers to everything that the few places they ask about can show."""

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
        shown = codes.T.to(torch.int32)  # [V,N]: reading a place means copying a row
        key = torch.zeros(len(self.first), len(codes), dtype=torch.int32)
        for places in self.asked:
            key = key.mul_(self.values).add_(shown[places])
        return self.answers[key.add_(self.first)].T


def look_up(table: np.ndarray, roots: np.ndarray, look: np.ndarray, values: int) -> Lookup | None:
    """All answers of the trees with roots [A,G] in a table [t,4]; None if there are too many to tabulate.

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
    below = set() if yes == LEAF else _places(table, yes) | _places(table, no)
    return below | ({place} if place >= 0 else set())


def _all_answers(table: np.ndarray, root: int, places: list[int], values: int) -> np.ndarray:
    """What a tree answers [values^n] uint8 to everything that n places can show, the last of them changing first."""
    shown = np.indices((values,) * len(places), np.uint8).reshape(len(places), values ** len(places))
    answers = np.empty(shown.shape[1], np.uint8)
    open_ = [(root, np.arange(len(answers)))]
    while open_:
        row, chosen = open_.pop()
        place, value, yes, no = table[row].tolist()
        if yes == LEAF:
            answers[chosen] = value if place < 0 else shown[places.index(place), chosen]
        else:
            right = shown[places.index(place), chosen] == value
            open_ += [(yes, chosen[right]), (no, chosen[~right])]
    return answers


def causes(table: np.ndarray, root: int, copied: int) -> set[tuple[int, int]] | None:
    """Places and values, at least one of which must occur for a tree to answer anything but "stays as it is".

    The path to every such answer has a question that was answered yes. If there are several, the one about the largest
    value is taken: kinds are numbered by how common they are, the most common first. None if some answer needs no yes.
    """
    needed: set[tuple[int, int]] = set()
    open_: list[tuple[int, tuple[int, int] | None]] = [(root, None)]
    while open_:
        row, best = open_.pop()
        place, value, yes, no = table[row].tolist()
        if yes != LEAF:
            better = place < copied and (best is None or best[0] >= copied or value > best[1])
            open_ += [(yes, (place, value) if better or best is None else best), (no, best)]
        elif place != 0:
            if best is None:
                return None
            needed.add(best)
    return needed


def surroundings(rows: int, columns: int, reach: int, others: int) -> np.ndarray:
    """[G,F] the entries of a code as seen from each cell: the cell itself, those within reach (0 for all), and others.

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

"""Rules for what cells show: learned from counts in seconds, exact, and fast enough for large searches.

Frames are grids of cells, and a cell shows one of a few things. What it shows after an action is decided by a tree of
questions about the cells around it, the same tree everywhere; or, if that is not enough, by a tree for every cell with
questions about all cells. Held-out levels decide which. There are no gradients, and a code is zeros and ones.

Shapes: N images, L levels of S states, A actions, K kinds, a grid of R × C cells with G = R·C; d = G·K.
"""

from __future__ import annotations

import dataclasses
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Literal

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn import functional

from pixelplan.data.spread import evenly_spread
from pixelplan.families.contents import compact_grids
from pixelplan.families.grid import sizes_of
from pixelplan.families.grow_trees import Steps, TreeConfig, learn, wrong
from pixelplan.families.reading_config import ReadingConfig
from pixelplan.families.trees import Lookup, Trees, causes, follow, look_up, surroundings
from pixelplan.model.batches import LevelPlay, level_plays, to_images
from pixelplan.model.networks import Networks
from pixelplan.model.sizes import Sizes
from pixelplan.types import ADDED_LATER, InputError, Trajectories


@dataclass(frozen=True)
class RulesConfig:
    """The rules family."""

    family: Literal["rules"] = "rules"
    """Its name."""
    kinds: int = 16
    """The most different things that cells show; training uses as many as it finds."""
    sight: int | None = None
    """How far rules look, in cells; 0 means everywhere. By default, whatever predicts held-out levels best."""
    questions: int = 2**15
    """The most questions and answers in all rules together."""
    sights: tuple[int, ...] = field(default=(1, 2, 0, 3), metadata=ADDED_LATER)
    """How far rules may look if `sight` is None, in the order to try; with 0, every cell has its own rules."""
    good_sight: float = field(default=0.99, metadata=ADDED_LATER)
    """If this share of held-out steps is predicted exactly, no other sight is tried."""
    held_out_every: int = field(default=5, metadata=ADDED_LATER)
    """Every n-th level is held out when a sight is tried."""
    trial_questions: int = field(default=4096, metadata=ADDED_LATER)
    """The most questions and answers while a sight is tried."""
    trial_rounds: int = field(default=4, metadata=ADDED_LATER)
    """The most times that a tree is grown while a sight is tried."""
    most_looks: int = field(default=4096, metadata=ADDED_LATER)
    """The most different looks of cells; frames with more are not made of cells and are refused."""
    trees: TreeConfig = field(default=TreeConfig(), metadata=ADDED_LATER)
    """How trees are grown."""
    reading: ReadingConfig = field(default=ReadingConfig(), metadata=ADDED_LATER)
    """How the grid is read from recorded play, and how many levels a sight is tried on."""


class Rules(Networks):
    """What cells show, and trees of questions that predict what they show next."""

    at_once = True
    discrete = True
    changes_colours = False
    table: Tensor
    roots: Tensor
    look: Tensor
    causes: Tensor

    def __init__(self, config: RulesConfig, sizes: Sizes) -> None:
        super().__init__(sizes)
        self.config = config
        self.layout = (sizes.rows, sizes.columns, config.kinds)
        self.cells = Cells(sizes, config.most_looks)
        self.patterns = nn.Parameter(torch.full((config.kinds, 3, sizes.patch, sizes.patch), 2.0))
        rows = max(config.questions, sizes.actions * sizes.rows * sizes.columns)
        self.register_buffer("table", torch.tensor([[0, 0, -1, -1]]).repeat(rows, 1))
        self.register_buffer("roots", torch.zeros(sizes.actions, sizes.rows * sizes.columns, dtype=torch.long))
        look = surroundings(sizes.rows, sizes.columns, config.sight or 0, config.kinds)
        self.register_buffer("look", torch.from_numpy(look), persistent=False)
        causes = torch.zeros(sizes.actions, look.shape[1], config.kinds + 1, dtype=torch.bool)
        self.register_buffer("causes", causes, persistent=False)
        self.lookup: Lookup | None = None
        self.register_load_state_dict_post_hook(lambda networks, _: networks._make_quick())

    def prepare(self, levels: Sequence[LevelPlay]) -> None:
        """Learn everything: what cells show, and the rules."""
        trees = self._trees(self._seen(levels), len(self.table), self.config.trees)
        self.table[: len(trees.table)] = torch.from_numpy(trees.table)
        self.roots.copy_(torch.from_numpy(trees.roots))
        self._make_quick()

    def _make_quick(self) -> None:
        """Tabulate all answers if there are not too many, and note what can cause a change."""
        self.lookup = look_up(self.table.numpy(), self.roots.numpy(), self.look.numpy(), self.config.kinds + 1)
        self._find_causes()

    def _find_causes(self) -> None:
        """Note, for each action, what must be near a cell for it to change; nothing if some tree has no such cause."""
        self.causes.zero_()
        table = self.table.numpy()
        for action, root in enumerate(self.roots[:, 0].tolist()):
            of_tree = causes(table, root, self._copied) if self.config.sight else None
            if of_tree is None:
                self.causes.zero_()
                return
            for place, value in of_tree:
                self.causes[action, place, value] = True

    def judge(self, levels: Sequence[LevelPlay]) -> float:
        """The share of steps in held-out levels that are predicted exactly by short rules learned from the others."""
        seen = self._seen(levels)
        level_of = np.repeat(np.arange(len(levels)), [len(level.frames) for level in levels])[seen.steps[:, 0]]
        held_out = level_of % self.config.held_out_every == 0
        rest = Steps(seen.codes, seen.steps[~held_out] if (~held_out).any() else seen.steps)
        short = dataclasses.replace(self.config.trees, rounds=self.config.trial_rounds)
        trees = self._trees(rest, self.config.trial_questions, short)
        missed = wrong(trees, Steps(seen.codes, seen.steps[held_out]))
        return 1 - float(missed.mean()) if len(missed) else 0.0

    def _trees(self, seen: Steps, most: int, config: TreeConfig) -> Trees:
        return learn(seen, self.look.numpy(), self._copied, self.sizes.actions, bool(self.config.sight), most, config)

    @property
    def _copied(self) -> int:
        """The number of cells among the places that can be asked about."""
        return self.look.shape[1] - self.config.kinds

    @torch.no_grad()
    def _seen(self, levels: Sequence[LevelPlay]) -> Steps:
        """Make the most common looks the kinds, and return what was seen in terms of kinds."""
        looks, shown = self.cells.scan(level.frames for level in levels)
        patterns = self.cells.as_patterns(looks)
        taken = patterns[: self.config.kinds]
        self.patterns[: len(taken)] = taken
        kinds = self._nearest(patterns)  # [u] of each look
        codes = [self._codes(kinds[torch.from_numpy(of_level)]).numpy() for of_level in shown]
        first = np.cumsum([0, *(len(level.frames) for level in levels)])
        steps = [level.steps + np.array([at, 0, at]) for level, at in zip(levels, first, strict=False)]
        return Steps(np.concatenate(codes), np.concatenate(steps))

    @torch.no_grad()
    def _nearest(self, images: Tensor) -> Tensor:
        """[N,...] for each cell of images [N,3,...], the pattern nearest to its pixels."""
        return nearness(images, self.patterns).argmax(1).flatten(1).squeeze(1)

    def _codes(self, kinds: Tensor) -> Tensor:
        """What rules can ask about [N,G+1+K] uint8: cells [N,G], the outside, and whether each kind is anywhere."""
        count = self.config.kinds
        present = torch.zeros(len(kinds), count, dtype=torch.uint8).scatter_(1, kinds, 1)
        outside = torch.full((len(kinds), 1), count, dtype=torch.uint8)
        return torch.cat([kinds.to(torch.uint8), outside, present], dim=1)

    def encode(self, images: Tensor) -> Tensor:
        """Codes [N,G·K] of images [N,3,H,W]: a one for the kind in each cell."""
        return self._ones(self._nearest(self.cells.fit(images))).flatten(1)

    def context(self, images: Tensor) -> Tensor:
        """Nothing [L,0]: everything that rules ask about is in the state."""
        return images.new_zeros(len(images), 0)

    def step(self, z: Tensor, context: Tensor) -> Tensor:
        """Codes [L,S,A,G·K] after each action in z [L,S,G·K]."""
        levels, states = z.shape[:2]
        kinds = z.reshape(levels * states, self.roots.shape[1], self.config.kinds).argmax(2)
        codes = self._codes(kinds)
        if self.lookup is not None and not torch.jit.is_tracing():
            return self._ones(self.lookup.after(codes).long()).view(levels, states, self.sizes.actions, z.shape[2])
        state, action, cell = self._may_change(codes).nonzero().unbind(1)
        after = kinds.unsqueeze(1).repeat(1, self.sizes.actions, 1)  # [L·S,A,G]
        roots, deepest = self.roots[action, cell], self.config.trees.deepest
        answers = follow(self.table, self.look, codes, roots, state, cell, deepest=deepest)
        after[state, action, cell] = answers.long()
        return self._ones(after).view(levels, states, self.sizes.actions, z.shape[2])

    def _may_change(self, codes: Tensor) -> Tensor:
        """Which cells [N,A,G] an action may change in states with codes [N,V]: those near a cause; all if causes are
        unknown."""
        if not self.causes.any():
            return torch.ones(len(codes), *self.roots.shape, dtype=torch.bool)
        place, value = self.causes.any(0).nonzero().unbind(1)  # [P]
        there = codes[:, self.look[:, place]] == value  # [N,G,P]
        return (there.float() @ self.causes[:, place, value].float().T > 0).transpose(1, 2)

    def _ones(self, kinds: Tensor) -> Tensor:
        """[...,K] a one for each of kinds [...] among zeros."""
        return torch.zeros(*kinds.shape, self.config.kinds).scatter_(-1, kinds.unsqueeze(-1), 1.0)

    def shown(self, z: Tensor, image: Tensor) -> Tensor:
        """Pictures [N,3,H,W] of codes z [N,d]: cells as they look."""
        looks = self.patterns.detach()[
            z.view(-1, self.sizes.rows, self.sizes.columns, self.config.kinds).argmax(3)
        ]  # [N,R,C,3,p,p]
        painted = looks.permute(0, 3, 1, 4, 2, 5).flatten(4).flatten(2, 3)
        size = (self.sizes.height, self.sizes.width)
        return painted if painted.shape[-2:] == size else functional.interpolate(painted, size, mode="nearest")


class Cells:
    """The cells of frames, in whole pixels; frames are enlarged if necessary."""

    def __init__(self, sizes: Sizes, most_looks: int) -> None:
        self.sizes, self.most_looks = sizes, most_looks
        self.size = (sizes.rows * sizes.patch, sizes.columns * sizes.patch)

    def fit(self, images: Tensor) -> Tensor:
        """Images [N,3,H,W] at a size at which cells are whole pixels."""
        return images if images.shape[-2:] == self.size else functional.interpolate(images, self.size, mode="nearest")

    def scan(self, levels: Iterable[np.ndarray]) -> tuple[np.ndarray, list[np.ndarray]]:
        """The looks of cells [u,w] in frames [n,H,W,3] of levels, the most common first, and each cell's look [n,G].

        A frame is compared with the first one of its level, and only cells that differ are examined.
        """
        numbers: dict[bytes, int] = {}
        counts: Counter[int] = Counter()
        shown = []
        for frames in levels:
            cells = self._cut(np.asarray(frames))  # [n,G,w]
            changed = (cells != cells[0]).any(2)
            changed[0] = True
            pixels = cells[changed]
            looks_here, look_of, times = np.unique(
                pixels.view(np.dtype((np.void, pixels.shape[1]))).reshape(-1), return_inverse=True, return_counts=True
            )
            seen_here = np.array([numbers.setdefault(look.tobytes(), len(numbers)) for look in looks_here])
            counts.update(dict(zip(seen_here.tolist(), times.tolist(), strict=True)))
            there = np.zeros(changed.shape, np.int64)
            there[changed] = seen_here[look_of.reshape(-1)]
            shown.append(np.where(changed, there, there[0]))
            if len(numbers) > self.most_looks:
                raise InputError(
                    f"the cells of these frames show more than {self.most_looks} different things, too many to learn "
                    "rules for each"
                )
        order = np.array(sorted(counts, key=lambda look: (-counts[look], look)))
        looks = np.stack([np.frombuffer(look, np.uint8) for look in numbers])[order]
        return looks, [order.argsort()[of_level] for of_level in shown]

    def _cut(self, frames: np.ndarray) -> np.ndarray:
        """The cells [n,G,w] uint8 of frames [n,H,W,3]."""
        if frames.shape[1:3] != self.size:
            images = torch.from_numpy(np.ascontiguousarray(frames.transpose(0, 3, 1, 2)))
            frames = self.fit(images).permute(0, 2, 3, 1).numpy()
        patch, (rows, columns) = self.sizes.patch, (self.sizes.rows, self.sizes.columns)
        cut = frames.reshape(len(frames), rows, patch, columns, patch, 3).swapaxes(2, 3)
        return cut.reshape(len(frames), rows * columns, -1)

    def as_patterns(self, looks: np.ndarray) -> Tensor:
        """Images [u,3,p,p] of looks [u,w]."""
        return to_images(looks.reshape(-1, self.sizes.patch, self.sizes.patch, 3))


def nearness(images: Tensor, patterns: Tensor) -> Tensor:
    """How near [N,K,R,C] each cell of images [N,3,H,W] is to patterns [K,3,p,p]: −|x − c|² without the term |x|², which
    is the same for all patterns."""
    products = functional.conv2d(images, patterns, stride=patterns.shape[2])
    return 2 * products - patterns.pow(2).sum((1, 2, 3))[:, None, None]


def fit_rules(config: RulesConfig, grid: tuple[int, int] | None, data: Trajectories) -> tuple[RulesConfig, Sizes]:
    """The settings and sizes for recorded play: the grid, the number of things, and how far rules have to look.

    The grid is the given one, or the simplest that shows all changes.
    """
    levels, reading = level_plays(data), config.reading
    chosen = [levels[place] for place in evenly_spread(len(levels), reading.compared_levels)]
    if grid is None:
        most = reading.compared_frames // len(chosen)
        sample = [np.asarray(level.frames[evenly_spread(len(level.frames), most)]) for level in chosen]
        grids = compact_grids(sample, config.kinds, reading)
        grid = grids[0] if grids else None
    sizes = sizes_of(data, grid, reading=reading)
    looks, _ = Cells(sizes, config.most_looks).scan(level.frames for level in levels)
    config = dataclasses.replace(config, kinds=min(len(looks), config.kinds))
    if config.sight is not None:
        return config, sizes
    scores: dict[int, float] = {}
    for sight in config.sights:
        scores[sight] = Rules(dataclasses.replace(config, sight=sight), sizes).judge(chosen)
        if scores[sight] >= config.good_sight:
            break
    return dataclasses.replace(config, sight=max(scores, key=lambda sight: scores[sight])), sizes

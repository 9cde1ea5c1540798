"""Whole-level batches: each frame is encoded once, each level's rules are read once, each recorded step is learned."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property, partial
from typing import NamedTuple

import numpy as np
import torch
from torch import Tensor

from pixelplan.data.by_level import rows_of_levels
from pixelplan.data.sameness import undecided_pairs
from pixelplan.types import Trajectories


@dataclass(frozen=True)
class BatchConfig:
    """What a gradient step takes from its levels."""

    leading: float = 0.5
    """Of the frames from which scattered steps begin, the share that lies all over the level. The others follow these
    in play, so that two steps can be taken in a row."""
    offset: float = 0.5
    """If the colours of a level are changed, each channel's offset as a multiple of its gain."""


class LevelBatch(NamedTuple):
    """Frames of a few levels, ready for the networks: N frames, L levels of at most S frames each, M steps."""

    images: Tensor
    """[N,3,H,W] float in −0.5 … 0.5."""
    places: Tensor
    """[N,2] int64: each image's level in the batch, and its slot in that level."""
    contexts: Tensor
    """[L] int64: the image that serves as each level's context."""
    states: Tensor
    """[L,S] int64: the state in each slot, −1 if the slot is empty."""
    steps: Tensor
    """[M,4] int64: level, slot, action, slot after it."""
    partners: Tensor
    """[N] int64: for each image another one of its level, to compare it with."""

    def images_of_steps(self) -> tuple[Tensor, Tensor]:
        """[M] the images before and after each step."""
        numbers = torch.zeros_like(self.states)
        numbers[self.places.unbind(1)] = torch.arange(len(self.places), device=numbers.device)
        level, before, _, after = self.steps.unbind(1)
        return numbers[level, before], numbers[level, after]


@dataclass(frozen=True, eq=False)
class LevelPlay:
    """What was recorded in one level: n frames, e episodes of T steps."""

    frames: np.ndarray
    """[n,H,W,3] uint8, a view into the memory-mapped file."""
    states: np.ndarray
    """[n] int64: equal numbers are the same state."""
    episodes: np.ndarray
    """[e,T+1] int64, indices into frames."""
    actions: np.ndarray
    """[e,T] int64."""
    frames_are_states: bool = False
    """Whether every frame is a state of its own, except for pairs that no recorded future tells apart."""
    solved: np.ndarray | None = None
    """[n] int8: whether each frame solves the level, 1 yes, 0 no, -1 unknown; None if unknown for all."""
    goals: np.ndarray | None = None
    """[G,H,W,3] uint8: pictures of goals that were never reached in play; None if the data set has none."""

    @property
    def is_labelled(self) -> bool:
        """Whether it is known of any frame if it solves the level."""
        return self.solved is not None and bool((self.solved >= 0).any())

    @cached_property
    def steps(self) -> np.ndarray:
        """[m,3] int64: the distinct steps (frame, action, frame after it)."""
        steps = np.stack([self.episodes[:, :-1].ravel(), self.actions.ravel(), self.episodes[:, 1:].ravel()], axis=1)
        return np.unique(steps, axis=0)

    @cached_property
    def undecided(self) -> np.ndarray:
        """[n,n] bool: pairs of frames that may or may not be the same state."""
        count = len(self.frames)
        if not self.frames_are_states:
            return np.zeros((count, count), bool)
        return undecided_pairs(self.steps, count, int(self.actions.max(initial=0)) + 1)

    def by_frames(self) -> LevelPlay:
        """The same play with every frame as a state of its own."""
        if self.frames_are_states:
            return self
        return replace(self, states=np.arange(len(self.frames)), frames_are_states=True)


def level_plays(data: Trajectories, states: np.ndarray | None = None) -> list[LevelPlay]:
    """The levels of a data set, with the states [F] of all frames.

    Without them every frame is a state of its own, except for pairs that no recorded future tells apart.
    """
    return [
        LevelPlay(
            data.frames[first:end],
            np.arange(end - first) if states is None else states[first:end] - states[first:end].min(),
            data.episodes[rows].astype(np.int64) - first,
            data.actions[rows].astype(np.int64),
            frames_are_states=states is None,
            solved=None if data.solved is None else np.asarray(data.solved[first:end]),
            goals=None if data.goals is None else data.goals[data.goal_level == data.frame_level[first]],
        )
        for first, end, rows in rows_of_levels(data)
    ]


def of_size(levels: Sequence[LevelPlay], height: int, width: int) -> list[LevelPlay]:
    """The levels with frames of this size."""
    return [level for level in levels if level.frames.shape[1:3] == (height, width)]


def action_count(data: Trajectories) -> int:
    """How many actions a world has, judging by what was recorded."""
    return int(data.manifest.get("actions", int(data.actions.max(initial=0)) + 1))


def sample_frames(levels: Sequence[LevelPlay], count: int) -> list[np.ndarray]:
    """About `count` frames from levels, evenly spread: an array [n,H,W,3] for each size of frames."""
    every = max(1, sum(len(level.frames) for level in levels) // count)
    chosen = [level.frames[index % every :: every] for index, level in enumerate(levels)]
    return [np.concatenate([chosen[place] for place in places]) for places in by_frame_size(levels).values()]


def by_frame_size(levels: Sequence[LevelPlay]) -> dict[tuple[int, int], np.ndarray]:
    """The places of the levels whose frames have the same height and width, by that size."""
    places: dict[tuple[int, int], list[int]] = {}
    for place, level in enumerate(levels):
        height, width = level.frames.shape[1:3]
        places.setdefault((height, width), []).append(place)
    return {size: np.array(numbers) for size, numbers in places.items()}


def sample_play(level: LevelPlay, limit: int, random: np.random.Generator) -> LevelPlay:
    """As many whole episodes of a level as fit in `limit` distinct frames together (at least one episode)."""
    if len(level.frames) <= limit:
        return level
    order = random.permutation(len(level.episodes))
    seen: set[int] = set()
    chosen = 0
    for row in order:
        seen_then = seen.union(level.episodes[row].tolist())
        if len(seen_then) > limit and chosen:
            break
        seen, chosen = seen_then, chosen + 1
    kept = np.array(sorted(seen))
    rows = order[:chosen]
    return LevelPlay(
        level.frames[kept],
        level.states[kept],
        np.searchsorted(kept, level.episodes[rows]),
        level.actions[rows],
    )


def sample_steps(
    level: LevelPlay,
    limit: int,
    random: np.random.Generator,
    solving: bool = False,
    config: BatchConfig = BatchConfig(),  # noqa: B008 (frozen)
) -> LevelPlay:
    """All steps recorded from at most `limit` frames of a level, each as an episode of its own.

    The frames from which steps begin come first. A share of them (`config.leading`) lies all over the level, unlike
    those of one episode; the others follow these in play. Each comes with every action tried in it.
    With `solving`, one of them immediately precedes a solved frame, if play has solved the level: such a step is rare,
    and every plan ends with one.
    """
    steps = level.steps
    everywhere = random.permutation(np.unique(steps[:, 0]))
    if solving and level.solved is not None:
        solves = (level.solved[steps[:, 2]] == 1) & (level.solved[steps[:, 0]] != 1)
        if solves.any():
            everywhere = np.concatenate([[random.choice(steps[solves, 0])], everywhere])
    leading = everywhere[: math.ceil(limit * config.leading)]
    following = random.permutation(np.intersect1d(steps[np.isin(steps[:, 0], leading), 2], everywhere))
    starts = np.concatenate([leading, following, everywhere])
    starts = starts[np.sort(np.unique(starts, return_index=True)[1])][:limit]  # each once, in this order
    steps = steps[np.isin(steps[:, 0], starts)]
    kept = np.concatenate([starts, np.setdiff1d(steps[:, 2], starts)])
    place = np.zeros(len(level.frames), np.int64)
    place[kept] = np.arange(len(kept))
    return LevelPlay(
        level.frames[kept],
        level.states[kept],
        place[steps[:, [0, 2]]],
        steps[:, 1:2],
    )


def make_batch(
    levels: Sequence[LevelPlay],
    randoms: Sequence[np.random.Generator],
    limit: int,
    colour: float,
    scattered: bool = False,
    solving: bool = False,
    config: BatchConfig = BatchConfig(),  # noqa: B008 (frozen)
) -> LevelBatch:
    """A batch of levels, with one generator per level: whole episodes with about `limit` frames from each or, if
    `scattered`, all steps from that many frames, one of which solves the level if possible (`solving`).

    Colours of a level are changed together: each channel by a random gain, of strength `colour`, and a random offset.
    """
    sample = partial(sample_steps, solving=solving, config=config) if scattered else sample_play
    plays = [sample(level, limit, random) for level, random in zip(levels, randoms, strict=True)]
    counts = [len(play.frames) for play in plays]
    first = np.cumsum([0, *counts])
    images, contexts, steps, partners = [], [], [], []
    states = np.full((len(plays), max(counts)), -1)
    for index, (play, random) in enumerate(zip(plays, randoms, strict=True)):
        count = len(play.frames)
        gain = 1 + colour * random.uniform(-1, 1, (3, 1, 1))
        offset = config.offset * colour * random.uniform(-1, 1, (3, 1, 1))
        images.append(to_images(play.frames) * torch.from_numpy(gain).float() + torch.from_numpy(offset).float())
        contexts.append(first[index] + random.integers(count))
        partners.append(first[index] + (np.arange(count) + random.integers(1, max(2, count), count)) % count)
        states[index, :count] = play.states
        steps.append(np.insert(play.steps, 0, index, axis=1))
    places = np.stack(
        [np.repeat(np.arange(len(plays)), counts), np.concatenate([np.arange(n) for n in counts])], axis=1
    )
    return LevelBatch(
        torch.cat(images),
        torch.from_numpy(places),
        torch.tensor(contexts),
        torch.from_numpy(states),
        torch.from_numpy(np.concatenate(steps)),
        torch.from_numpy(np.concatenate(partners)),
    )


def to_images(frames: np.ndarray) -> Tensor:
    """[N,3,H,W] float in −0.5 … 0.5, of frames [N,H,W,3] uint8."""
    return torch.from_numpy(np.ascontiguousarray(frames.transpose(0, 3, 1, 2))).float() / 255 - 0.5

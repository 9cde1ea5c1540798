"""Whole-level batches: every frame is encoded once, every rule read once a level, every step seen supervised."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
import torch

from pixelplan.data.identity import rows_of_levels
from pixelplan.model.world_model import LevelBatch, WorldModel, to_images
from pixelplan.types import Trajectories


@dataclass(frozen=True, eq=False)
class LevelPlay:
    """What was recorded of one level: n frames, e episodes of T steps."""

    frames: np.ndarray
    """[n,H,W,3] uint8, a view into the memory-mapped file."""
    states: np.ndarray
    """[n] int64: equal numbers are the same state."""
    episodes: np.ndarray
    """[e,T+1] int64, indices into frames."""
    actions: np.ndarray
    """[e,T] int64."""

    def steps(self) -> np.ndarray:
        """[m,3] int64: the distinct steps (frame, action, frame after it)."""
        steps = np.stack([self.episodes[:, :-1].ravel(), self.actions.ravel(), self.episodes[:, 1:].ravel()], axis=1)
        return np.unique(steps, axis=0)


def level_plays(data: Trajectories, states: np.ndarray) -> list[LevelPlay]:
    """The levels of a data set, with the states [F] of its frames."""
    return [
        LevelPlay(
            data.frames[first:end],
            states[first:end] - states[first:end].min(),
            data.episodes[rows].astype(np.int64) - first,
            data.actions[rows].astype(np.int64),
        )
        for first, end, rows in rows_of_levels(data)
    ]


def look_again(levels: Sequence[LevelPlay], model: WorldModel) -> list[LevelPlay]:
    """Levels with the states that the model itself sees in their frames: where frames are noisy, nobody else knows."""
    return [replace(level, states=model.places(np.asarray(level.frames))) for level in levels]


def sample_frames(levels: Sequence[LevelPlay], count: int = 1000) -> np.ndarray:
    """About so many frames [n,H,W,3] of levels, evenly spread."""
    every = max(1, sum(len(level.frames) for level in levels) // count)
    return np.concatenate([level.frames[index % every :: every] for index, level in enumerate(levels)])


def sample_play(level: LevelPlay, limit: int, random: np.random.Generator) -> LevelPlay:
    """As many whole episodes of a level as have at most `limit` distinct frames together (at least one episode)."""
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
        level.frames[kept], level.states[kept], np.searchsorted(kept, level.episodes[rows]), level.actions[rows]
    )


def make_batch(
    levels: Sequence[LevelPlay], randoms: Sequence[np.random.Generator], limit: int, colour: float
) -> LevelBatch:
    """A batch of levels, at most about `limit` frames of each, one generator a level.

    Colours of a level are changed together by a random gain and offset for each channel, of strength `colour`.
    """
    plays = [sample_play(level, limit, random) for level, random in zip(levels, randoms, strict=True)]
    counts = [len(play.frames) for play in plays]
    first = np.cumsum([0, *counts])
    images, contexts, steps, partners = [], [], [], []
    states = np.full((len(plays), max(counts)), -1)
    for index, (play, random) in enumerate(zip(plays, randoms, strict=True)):
        count = len(play.frames)
        gain = 1 + colour * random.uniform(-1, 1, (3, 1, 1))
        offset = colour / 2 * random.uniform(-1, 1, (3, 1, 1))
        images.append(to_images(play.frames) * torch.from_numpy(gain).float() + torch.from_numpy(offset).float())
        contexts.append(first[index] + random.integers(count))
        partners.append(first[index] + (np.arange(count) + random.integers(1, max(2, count), count)) % count)
        states[index, :count] = play.states
        steps.append(np.insert(play.steps(), 0, index, axis=1))
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

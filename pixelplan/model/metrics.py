"""How good a world model is: exact predictions, rollouts that stay right, and the paper's H@K and MRR@K."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
import torch

from pixelplan.data.spread import evenly_spread
from pixelplan.model.batches import LevelPlay, by_frame_size, to_images
from pixelplan.model.networks import Networks
from pixelplan.types import ADDED_LATER, Model, for_frames

NO_ACTION = -1
"""What follows the last action of a walk that cannot go on."""


@dataclass(frozen=True)
class MetricsConfig:
    """What predictions are measured on."""

    walks_per_level: int = 5
    """About how many rollouts share a level. More of them are cheaper, but show fewer levels."""
    ranked_episodes: int = 1000
    """About how many episodes are ranked."""
    ranked_frames: int = 20
    """The first frames of an episode, among which a predicted state is ranked (more if it lies later)."""
    rollout_steps: tuple[int, ...] = field(default=(1, 10, 100), metadata=ADDED_LATER)
    """After how many steps it is reported how many rollouts are still right."""
    ranked_steps: tuple[int, ...] = field(default=(1, 5, 10), metadata=ADDED_LATER)
    """After how many steps predictions are ranked: the K of H@K and MRR@K."""


@dataclass(frozen=True)
class Ranking:
    """How close predictions after K steps come to what was really seen."""

    horizon: int
    """K."""
    hits: float
    """H@K: share of predictions whose nearest state is the right one."""
    reciprocal_rank: float
    """MRR@K: mean of 1 / rank of the right state."""
    episodes: int
    """How many predictions were ranked."""


@dataclass(frozen=True, eq=False)
class StepErrors:
    """Distances of one-step predictions, over m steps, and of states, over all levels measured."""

    right: np.ndarray
    """[m] from the prediction to the nearest frame of the right state."""
    other: np.ndarray
    """[m] from the prediction to the nearest frame of any other state of the level."""
    separation: np.ndarray
    """[f] from each frame's embedding to the nearest one of another state of the level."""

    @property
    def exact(self) -> float:
        """Share of predictions nearer to the right state than to any other."""
        return float((self.right < self.other).mean()) if len(self.right) else 0.0

    def accuracy(self, threshold: float) -> float:
        """Share of predictions within the threshold of the right state and nearer to it than to any other."""
        return float(((self.right < threshold) & (self.right < self.other)).mean()) if len(self.right) else 0.0


def predict_steps(model: Model, level: LevelPlay) -> tuple[torch.Tensor, torch.Tensor]:
    """The embeddings [n,d] of a level's frames, and those [m,d] predicted after each of its distinct steps."""
    frames, steps = np.asarray(level.frames), level.steps
    model = for_frames(model, frames.shape[1:])
    z = model.encode(frames)
    return z, model.step(z, model.context(frames[0]))[steps[:, 0], steps[:, 1]]


def step_errors(model: Model, levels: Sequence[LevelPlay]) -> StepErrors:
    """One-step predictions for every distinct step of levels, compared with every frame seen in the level.

    Frames that may be the same as the right one (`data/sameness.py`) count neither as right nor as other.
    """
    right, other, separation = [], [], []
    for level in levels:
        steps = level.steps
        z, predicted = predict_steps(model, level)
        same = torch.from_numpy(level.states[steps[:, 2], None] == level.states)  # [m,n]
        distances = torch.cdist(predicted, z).cpu()
        undecided = torch.from_numpy(level.undecided)
        right.append(distances.masked_fill(~same, torch.inf).amin(1))
        other.append(distances.masked_fill(same | undecided[steps[:, 2]], torch.inf).amin(1))
        not_another = torch.from_numpy(level.states[:, None] == level.states) | undecided
        separation.append(torch.cdist(z, z).cpu().masked_fill(not_another, torch.inf).amin(1))
    return StepErrors(*(torch.cat(part).numpy() for part in (right, other, separation)))


def rollout(model: Model, level: LevelPlay, steps: int) -> torch.Tensor:
    """Predictions [e,steps,d] for the first steps of each episode of a level, only from its first frame and actions."""
    model = for_frames(model, level.frames.shape[1:])
    z = model.encode(np.asarray(level.frames[level.episodes[:, 0]]))
    context = model.context(np.asarray(level.frames[level.episodes[0, 0]]))
    predictions = []
    for step in range(steps):
        z = model.step(z, context)[torch.arange(len(z)), torch.from_numpy(level.actions[:, step])]
        predictions.append(z)
    return torch.stack(predictions, dim=1)


@torch.inference_mode()
def rollout_exactness(
    networks: Networks,
    levels: Sequence[LevelPlay],
    horizons: Sequence[int],
    walks: int = 50,
    seed: int = 0,
    config: MetricsConfig = MetricsConfig(),  # noqa: B008 (frozen)
) -> dict[int, float]:
    """Share of rollouts that are still in the right state after a number of random steps, by that number.

    A walk takes random steps among those recorded in its level, so frames tell the truth however long it is; the
    networks see only the first frame and the actions. A rollout that was wrong once stays wrong. Where every recorded
    path ends before the number of steps, it counts whether the rollout is right up to there. Several walks share a
    level, and all walks are taken at the same time.
    """
    random = np.random.default_rng(seed)
    places = evenly_spread(len(levels), -(-walks // config.walks_per_level))
    chosen = [levels[place] for place in places]
    each = -(-walks // len(chosen))
    walked = [_random_walks(level, each, max(horizons), random) for level in chosen]
    paths, actions = (np.stack(parts) for parts in zip(*walked, strict=True))  # [L,S,T+1], [L,S,T]
    right = dict.fromkeys(horizons, 0.0)
    for size, places in by_frame_size(chosen).items():
        same_size = [chosen[place] for place in places]
        shares = _right_along(networks.for_frames(*size), same_size, paths[places], actions[places], horizons)
        right = {horizon: right[horizon] + shares[horizon] * len(places) / len(chosen) for horizon in horizons}
    return right


def _right_along(
    networks: Networks, levels: Sequence[LevelPlay], paths: np.ndarray, actions: np.ndarray, horizons: Sequence[int]
) -> dict[int, float]:
    """Share of walks through the frames `paths` [L,S,T+1] of levels, by `actions` [L,S,T], that are predicted rightly
    up to a number of steps, by that number."""
    device = next(networks.parameters()).device
    seen = [networks.encode(to_images(np.asarray(level.frames)).to(device)) for level in levels]
    first = np.stack([level.frames[path[0, 0]] for level, path in zip(levels, paths, strict=True)])
    context = networks.context(to_images(first).to(device))
    z = torch.stack([frames[path[:, 0]] for frames, path in zip(seen, paths, strict=True)])  # [L,S,d]
    rows, columns = np.indices(paths.shape[:2])
    fine = np.ones(paths.shape[:2], bool)
    right = dict.fromkeys(horizons, 0.0)
    for step in range(max(horizons)):
        z = networks.step(z, context)[rows, columns, actions[:, :, step]]
        for place, level in enumerate(levels):
            nearest = torch.cdist(z[place], seen[place]).argmin(1).cpu().numpy()
            target = paths[place, :, step + 1]
            right_now = (level.states[nearest] == level.states[target]) | level.undecided[nearest, target]
            fine[place] &= right_now | (actions[place, :, step] == NO_ACTION)
        if step + 1 in right:
            right[step + 1] = float(fine.mean())
        if not fine.any():
            break
    return right


def _random_walks(
    level: LevelPlay, walks: int, length: int, random: np.random.Generator
) -> tuple[np.ndarray, np.ndarray]:
    """Frames [w,T+1] and actions [w,T] of random walks along recorded steps, without dead ends.

    A frame from which nothing was recorded (the last of an episode) is left out, and so is what leads only to it. If
    states hardly ever recur, nothing is left: walks are then recorded episodes, followed by `NO_ACTION`.
    """
    steps = level.steps
    while True:
        leads_on = np.isin(steps[:, 2], steps[:, 0])
        if leads_on.all():
            break
        steps = steps[leads_on]
    if not len(steps):  # every recorded path ends, so these walks do, too
        rows = random.integers(len(level.episodes), size=walks)
        known = min(length, level.actions.shape[1])
        path = np.pad(level.episodes[rows, : known + 1], ((0, 0), (0, length - known)), "edge")
        return path, np.pad(level.actions[rows, :known], ((0, 0), (0, length - known)), constant_values=NO_ACTION)
    order = np.argsort(steps[:, 0], kind="stable")
    steps = steps[order]
    first, counts = np.unique(steps[:, 0], return_index=True, return_counts=True)[1:]
    row_of = np.full(len(level.frames), -1)
    row_of[np.unique(steps[:, 0])] = np.arange(len(first))
    path, actions = np.empty((walks, length + 1), np.int64), np.empty((walks, length), np.int64)
    path[:, 0] = random.choice(np.unique(steps[:, 0]), walks)
    for step in range(length):
        rows = row_of[path[:, step]]
        taken = steps[first[rows] + random.integers(counts[rows])]
        actions[:, step], path[:, step + 1] = taken[:, 1], taken[:, 2]
    return path, actions


def rankings(
    model: Model,
    levels: Sequence[LevelPlay],
    config: MetricsConfig = MetricsConfig(),  # noqa: B008 (frozen)
) -> list[Ranking]:
    """H@K and MRR@K on recorded episodes, as in the paper's appendix.

    The state after K actions is predicted from the first frame and the actions. Its rank is one more than the number of
    the episode's other states that are nearer to the prediction than the right one. All frames of the right state count
    as right. Episodes are taken from the levels in turn.
    """
    each, horizons = -(-config.ranked_episodes // max(1, len(levels))), config.ranked_steps
    ranks: dict[int, list[int]] = {horizon: [] for horizon in horizons}
    for level in levels:
        play = LevelPlay(level.frames, level.states, level.episodes[:each], level.actions[:each])
        length = min(config.ranked_frames, play.episodes.shape[1])
        z = for_frames(model, play.frames.shape[1:]).encode(np.asarray(play.frames))
        predictions = rollout(model, play, min(max(horizons), play.actions.shape[1]))
        for horizon in horizons:
            if horizon > predictions.shape[1]:
                continue
            for row, seen in enumerate(play.episodes):
                frames = np.unique(seen[: max(length, horizon + 1)])
                distances = (z[frames] - predictions[row, horizon - 1]).norm(dim=-1).cpu().numpy()
                right = play.states[frames] == play.states[seen[horizon]]
                nearer = play.states[frames][~right & (distances < distances[right].min())]
                ranks[horizon].append(1 + len(np.unique(nearer)))
    return [
        Ranking(horizon, float(np.mean(np.array(ranked) == 1)), float(np.mean(1 / np.array(ranked))), len(ranked))
        for horizon, ranked in ranks.items()
        if ranked
    ]

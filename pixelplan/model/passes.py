"""One pass of training: its batches, its gradient steps, and a quick look at held-out levels."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator
from typing import Any

import numpy as np
import torch
from lightning_fabric import Fabric
from torch.optim.swa_utils import get_ema_multi_avg_fn

from pixelplan.model.batches import LevelBatch, LevelPlay, by_frame_size, make_batch
from pixelplan.model.calibrate import JudgingConfig
from pixelplan.model.metrics import rollout_exactness, step_errors
from pixelplan.model.networks import Networks
from pixelplan.model.progress import Display
from pixelplan.model.schedule import Schedule
from pixelplan.model.train_config import TrainConfig
from pixelplan.model.train_data import HeldOut
from pixelplan.model.world_model import WorldModel
from pixelplan.types import InputError


def train_pass(
    fabric: Fabric,
    wrapped: Any,
    networks: Networks,
    optimizer: Any,
    batches: Iterable[LevelBatch],
    rows: list[dict[str, Any]],
    schedule: Schedule,
    config: TrainConfig,
    display: Display,
) -> dict[str, float]:
    """Train on the batches of the pass that follows those in rows; returns the mean of each loss.

    `wrapped` are the networks that learn. If `networks` are others, they become the running mean of these.
    """
    wrapped.train()
    sums: dict[str, float] = {}
    for place, batch in enumerate(batches):
        share_of_pass = place / schedule.updates
        for group in optimizer.param_groups:
            group["lr"] = config.learning_rate * schedule.rate(rows, share_of_pass)
        with torch.autocast(fabric.device.type, torch.bfloat16, enabled=config.precision == "bf16-mixed"):
            losses = wrapped(batch, config.objective, (len(rows) + share_of_pass) / schedule.passes)
        for name, value in losses.items():
            sums[name] = sums.get(name, 0.0) + float(value.detach())
        if not math.isfinite(sums["total"]):
            raise InputError(
                f"the loss is not a number in pass {len(rows) + 1}; the checkpoint of pass {len(rows)} is kept, "
                "and a smaller learning rate may help"
            )
        optimizer.zero_grad()
        fabric.backward(losses["total"])
        fabric.clip_gradients(wrapped, optimizer, max_norm=config.gradient_limit)
        optimizer.step()
        if networks.averages_weights:
            keep = schedule.averaging(len(rows) * schedule.updates + place)
            get_ema_multi_avg_fn(keep)(list(networks.parameters()), list(wrapped.parameters()), None)
        display.update()
    return {name: value / schedule.updates for name, value in sums.items()}


def pass_batches(
    fabric: Fabric, levels: list[LevelPlay], number: int, updates: int, config: TrainConfig, networks: Networks
) -> Iterator[LevelBatch]:
    """This process's part of each batch of a pass: every level about once, or several times if there are few.

    All randomness comes from (seed, pass, place in the pass), so neither resuming nor sharing the work changes it.
    """
    random = np.random.default_rng([config.seed, number])
    order = batch_order(levels, updates, config.batch, random)
    colour = config.colour if networks.changes_colours else 0.0
    for update in range(updates):
        chosen = range(update * config.batch + fabric.global_rank, (update + 1) * config.batch, fabric.world_size)
        randoms = [np.random.default_rng([config.seed, number, place]) for place in chosen]
        part, until_learned = [levels[order[place]] for place in chosen], networks.until_learned
        batch = make_batch(part, randoms, config.frames, colour, networks.scattered, until_learned, config.batches)
        yield LevelBatch(*(part.to(fabric.device) for part in batch))


def batch_order(levels: list[LevelPlay], updates: int, batch: int, random: np.random.Generator) -> np.ndarray:
    """[updates·batch] the places of levels in the batches of a pass, one batch after the other.

    Levels come in random turns. The frames of a batch have one size; each size is as likely as it has levels.
    """
    sizes = list(by_frame_size(levels).values())
    chances = np.array([len(places) for places in sizes]) / len(levels)
    size_of = random.choice(len(sizes), updates, p=chances) if len(sizes) > 1 else np.zeros(updates, np.int64)
    order = np.empty((updates, batch), np.int64)
    for size, places in enumerate(sizes):
        needed = int((size_of == size).sum()) * batch
        turns = [random.permutation(places) for _ in range(-(-needed // len(places)))]
        order[size_of == size] = np.concatenate([*turns, np.empty(0, np.int64)])[:needed].reshape(-1, batch)
    return order.ravel()


def quick_look(model: WorldModel, held_out: HeldOut, judging: JudgingConfig) -> dict[str, float]:
    """How well a few held-out levels are predicted: by the family's own states with the threshold ε/2, and truly."""
    model.networks.eval()
    frames = held_out.frames[: judging.quick_levels]
    model.networks.settle(frames)
    by_family = model.networks.judged(held_out.by_family[: judging.quick_levels])
    family_errors = step_errors(model, by_family)
    true_levels = by_family if model.noisy else frames
    same = all(level is true for level, true in zip(by_family, true_levels, strict=True))
    true_errors = family_errors if same else step_errors(model, true_levels)
    steps = judging.quick_rollout
    lasting = rollout_exactness(model.networks, true_levels, (steps,), judging.walks, config=judging.metrics)[steps]
    return {"accuracy": family_errors.accuracy(model.threshold), "exact": true_errors.exact, "lasting": lasting}

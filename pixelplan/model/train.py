"""Training: from recorded play to a model folder, resumable after every pass, to the very same weights."""

from __future__ import annotations

import dataclasses
import json
import math
import time
from collections.abc import Iterable, Iterator
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import torch
from lightning_fabric import Fabric

from pixelplan.data.identity import states_of_frames
from pixelplan.model.attempts import begin_anew, next_pass
from pixelplan.model.batches import LevelPlay, level_plays, look_again, make_batch, sample_frames
from pixelplan.model.cells import CellEncoder
from pixelplan.model.checkpoint import (
    CHECKPOINT,
    CONFIG,
    load_checkpoint,
    load_model,
    read_checkpoint_note,
    read_description,
    save_checkpoint,
)
from pixelplan.model.choose import choose
from pixelplan.model.config import PRESETS, TrainConfig
from pixelplan.model.description import describe_data
from pixelplan.model.finish import finish
from pixelplan.model.metrics import step_errors
from pixelplan.model.objective import losses
from pixelplan.model.processes import PortableTrajectories
from pixelplan.model.progress import Display, collapse_warning, noise_warning, write_metrics
from pixelplan.model.sizes import Sizes
from pixelplan.model.world_model import LevelBatch, ModelConfig, WorldModel, to_images
from pixelplan.types import InputError, Trajectories

__all__ = ["PRESETS", "TrainConfig", "train"]

QUICK_LEVELS = 25
"""Validation levels looked at after each pass."""
UPDATES, UPDATES_A_CELL = 640, 5
"""Gradient steps, at least, and for each cell of the latent grid: a finer grid takes longer to tell its cells apart."""
NOISY_UPDATES = 2
"""Times as many where pixels are noisy: the forward model learns only in the second half of training."""


def train(
    data: Trajectories,
    out: str | Path,
    config: TrainConfig,
    validation: Trajectories | None = None,
    resume: bool = False,
    until: float = 1.0,
    after: Path | None = None,
) -> WorldModel:
    """Train a model on recorded play into folder `out`, and give it.

    Without validation data a tenth of the levels is held out; with fewer than ten levels nothing is, and the threshold
    is calibrated on the levels trained on. A finished folder that is resumed is left as it is. Training can stop when a
    share (`until`) of it is done, and go on in another folder, with other data of the same world, `after` this one.
    """
    config.check()
    out = Path(out)
    request: dict[str, Any] = {"config": _settings(config), "data": describe_data(data)}
    if validation is not None:
        request["validation"] = describe_data(validation)
    if until < 1:
        request["until"] = until
    if not _finished(out, request, resume):
        out.mkdir(parents=True, exist_ok=True)
        fabric = Fabric(
            accelerator=config.device,
            devices=config.devices,
            strategy="ddp_spawn" if config.devices > 1 else "auto",
            precision=config.precision,
        )
        sent = (PortableTrajectories.of(data), None if validation is None else PortableTrajectories.of(validation))
        # A partial, because Fabric looks into arguments and does not take frozen dataclasses.
        fabric.launch(partial(_fit, sent=sent, out=out, config=config, request=request, after=after))
    return load_model(out)


def _fit(
    fabric: Fabric,
    sent: tuple[PortableTrajectories, PortableTrajectories | None],
    out: Path,
    config: TrainConfig,
    request: dict[str, Any],
    after: Path | None,
) -> None:
    """One process's part of training."""
    clock = time.perf_counter()
    torch.set_num_threads(max(1, config.threads // config.devices))
    data, validation = sent[0].open(), None if sent[1] is None else sent[1].open()
    levels, held_out = _split(data, validation, config.model.noisy)
    torch.manual_seed(config.seed)
    if after is None:
        networks, sizes = choose(config, data, levels)
    else:
        begun_with = read_description(after)
        networks, sizes = ModelConfig(**begun_with["model"]), Sizes(**begun_with["sizes"])
    own = WorldModel(networks, sizes, threshold=config.objective.margin / 2)
    if isinstance(own.encoder, CellEncoder):
        own.encoder.take_patterns(to_images(sample_frames(levels)))
        config = dataclasses.replace(config, colour=0.0)  # kinds are told by their colours
    optimizer = torch.optim.AdamW(own.parameters(), config.learning_rate, weight_decay=config.weight_decay)
    begun = out if after is None or (out / CHECKPOINT).exists() else after
    note = read_checkpoint_note(begun) or {"rows": []}
    if note["rows"]:
        load_checkpoint(begun, own, optimizer)
    model, optimizer = fabric.setup(own, optimizer)
    rows = note["rows"]
    passes, updates_a_pass = schedule(len(levels), own.sizes.rows * own.sizes.columns, config)
    shown = not config.quiet and fabric.is_global_zero
    done = next_pass(rows, passes, own.noisy)[1] - 1
    with Display(passes * updates_a_pass, done * updates_a_pass, passes, shown) as display:
        if not own.noisy and (warning := noise_warning(len(data.frames), data.episodes.size)):
            display.warn(warning)
        last = max(1, round(passes * request.get("until", 1.0)))
        while (upcoming := next_pass(rows, passes, own.noisy))[1] <= last:
            attempt, number = upcoming
            if number == 1 and attempt > 1:
                begin_anew(own, optimizer.optimizer, config.seed + attempt)
                display.begin_anew(attempt)
            batches = _batches(fabric, levels, number, updates_a_pass, config)
            shares = np.linspace((number - 1) / passes, number / passes, updates_a_pass, endpoint=False)
            means = _train_pass(fabric, model, optimizer, zip(shares, batches, strict=True), number, config, display)
            row: dict[str, Any] = {"pass": number, **means, "accuracy": quick_accuracy(own, held_out)}
            row["seconds"] = round((rows[-1]["seconds"] if rows else 0) + time.perf_counter() - clock, 2)
            clock = time.perf_counter()
            row["warning"] = collapse_warning(row, own.sizes.actions)
            if attempt > 1:
                row["attempt"] = attempt
            rows.append(row)
            if fabric.is_global_zero:
                save_checkpoint(out, own, optimizer.optimizer, {"request": request, "rows": rows})
                write_metrics(out, rows)
            display.row(row)
            fabric.barrier()
    if fabric.is_global_zero:
        finish(own.cpu().eval(), held_out, out, config, request, rows)


def _train_pass(
    fabric: Fabric,
    model: Any,
    optimizer: Any,
    batches: Iterable[tuple[float, LevelBatch]],
    number: int,
    config: TrainConfig,
    display: Display,
) -> dict[str, float]:
    """Train on batches, each with the share of training done before it; gives the mean of each loss."""
    model.train()
    sums: dict[str, float] = {}
    updates = 0
    for share_done, batch in batches:
        updates += 1
        for group in optimizer.param_groups:
            group["lr"] = config.learning_rate * one_cycle(share_done)
        outputs, world = model(batch), model.module
        found = losses(outputs, batch, world.sizes, config.objective, world.noisy, settled(share_done))
        for name, value in found.items():
            sums[name] = sums.get(name, 0.0) + float(value.detach())
        if not math.isfinite(sums["total"]):
            raise InputError(
                f"the loss is not a number in pass {number}; the checkpoint of pass {number - 1} is kept, "
                "a smaller learning rate may help"
            )
        optimizer.zero_grad()
        fabric.backward(found["total"])
        fabric.clip_gradients(model, optimizer, max_norm=1.0)
        optimizer.step()
        display.update()
    return {name: value / updates for name, value in sums.items()}


def _batches(
    fabric: Fabric, levels: list[LevelPlay], number: int, updates: int, config: TrainConfig
) -> Iterator[LevelBatch]:
    """This process's part of each batch of a pass: every level once, small sets several times over.

    All randomness comes from (seed, pass, place in the pass), so neither resuming nor sharing the work changes it.
    """
    random = np.random.default_rng([config.seed, number])
    needed = updates * config.batch
    order = np.concatenate([random.permutation(len(levels)) for _ in range(-(-needed // len(levels)))])[:needed]
    for update in range(updates):
        chosen = range(update * config.batch + fabric.global_rank, (update + 1) * config.batch, fabric.world_size)
        randoms = [np.random.default_rng([config.seed, number, place]) for place in chosen]
        batch = make_batch([levels[order[place]] for place in chosen], randoms, config.frames, config.colour)
        yield LevelBatch(*(part.to(fabric.device) for part in batch))


def schedule(levels: int, cells: int, config: TrainConfig) -> tuple[int, int]:
    """Passes, and gradient steps in each: all levels once, and at least 100 steps so that small sets repeat in it."""
    usual = max(UPDATES, UPDATES_A_CELL * cells) * (NOISY_UPDATES if config.model.noisy else 1)
    updates = config.updates or usual
    updates_a_pass = max(-(-levels // config.batch), min(100, updates))
    return -(-updates // updates_a_pass), updates_a_pass


def one_cycle(share_done: float, warm_up: float = 0.05) -> float:
    """The share of the learning rate at a point 0 … 1 of training: a linear rise, then a half cosine down to zero."""
    if share_done < warm_up:
        return 0.04 + 0.96 * share_done / warm_up
    return 0.5 * (1 + math.cos(math.pi * (share_done - warm_up) / (1 - warm_up)))


def settled(share_done: float, first: float = 0.25, full: float = 0.45) -> float:
    """How far, from 0 to 1, the inverse model will have found out what to look at when a share of training is done."""
    return min(1.0, max(0.0, (share_done - first) / (full - first)))


def quick_accuracy(model: WorldModel, levels: list[LevelPlay]) -> float:
    """One-step accuracy on a few levels, with ε/2 as the threshold."""
    model.eval()
    levels = look_again(levels[:QUICK_LEVELS], model) if model.noisy else levels[:QUICK_LEVELS]
    return step_errors(model, levels).accuracy(model.threshold)


def _split(data: Trajectories, validation: Trajectories | None, noisy: bool) -> tuple[list[LevelPlay], list[LevelPlay]]:
    """Levels to train on and to validate on."""

    def plays(data: Trajectories) -> list[LevelPlay]:
        return level_plays(data, np.arange(len(data.frames)) if noisy else states_of_frames(data))

    levels = plays(data)
    if not levels:
        raise InputError("the data holds no episodes; there is nothing to learn from")
    if validation is not None:
        return levels, plays(validation)
    if len(levels) < 10:
        return levels, levels
    held_out = levels[::10]
    return [level for index, level in enumerate(levels) if index % 10], held_out


def _finished(out: Path, request: dict[str, Any], resume: bool) -> bool:
    """Whether `out` already holds what is asked for; an InputError where it holds something that is not."""
    note = read_checkpoint_note(out)
    finished = (out / CONFIG).exists()
    if not resume and (finished or note is not None):
        raise InputError(
            f"{out} already holds "
            + ("a trained model" if finished else "unfinished training; --resume goes on with it")
        )
    found = read_description(out) if finished else note["request"] if note is not None else request
    for key, value in request.items():
        if found.get(key) != value:
            raise InputError(f"training in {out} was begun with other {key}; it can only be resumed with the same")
    if finished and "until" not in request:
        (out / CHECKPOINT).unlink(missing_ok=True)  # training was killed just before it would have done this
    return finished


def _settings(config: TrainConfig) -> dict[str, Any]:
    """The settings that decide the weights."""
    settings = {name: value for name, value in dataclasses.asdict(config).items() if name != "quiet"}
    return dict(json.loads(json.dumps(settings)))  # as it will be read back

"""Training: from recorded play to a model folder, resumable after every pass, to the very same weights."""

from __future__ import annotations

import dataclasses
import math
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

import numpy as np
import torch
from lightning_fabric import Fabric

from pixelplan.data.identity import states_of_frames
from pixelplan.model.batches import LevelPlay, level_plays, make_batch
from pixelplan.model.calibrate import calibrate, rates
from pixelplan.model.checkpoint import (
    CHECKPOINT,
    CONFIG,
    load_checkpoint,
    load_model,
    read_checkpoint_note,
    save_checkpoint,
    save_model,
)
from pixelplan.model.description import describe_data, versions
from pixelplan.model.metrics import rankings, step_errors
from pixelplan.model.objective import ObjectiveConfig, losses
from pixelplan.model.processes import PortableTrajectories
from pixelplan.model.progress import Display, collapse_warning, draw_curves, write_metrics
from pixelplan.model.sizes import sizes_of
from pixelplan.model.world_model import LevelBatch, ModelConfig, WorldModel
from pixelplan.types import InputError, Trajectories

QUICK_LEVELS, FINAL_LEVELS = 25, 200
"""Validation levels looked at after each pass, and for the threshold at the end."""


@dataclass(frozen=True)
class TrainConfig:
    """How to train."""

    model: ModelConfig = field(default_factory=ModelConfig)
    objective: ObjectiveConfig = field(default_factory=ObjectiveConfig)
    updates: int = 1500
    """Gradient steps, rounded up to whole passes."""
    batch: int = 8
    """Levels in a gradient step, over all processes."""
    frames: int = 24
    """About how many frames of a level a gradient step uses at most (whole episodes)."""
    learning_rate: float = 2e-3
    """The highest of a one-cycle schedule."""
    weight_decay: float = 1e-4
    """Of AdamW."""
    colour: float = 0.3
    """Strength of the random change of a level's colours; 0 for none."""
    threshold: Literal["calibrated", "half-margin"] = "calibrated"
    """Where the reidentification threshold comes from: validation levels, or the paper's ε/2."""
    seed: int = 0
    """Same seed, same weights (on the same machine, with the same number of threads)."""
    threads: int = 2
    """Processor cores to use."""
    device: Literal["cpu", "cuda", "mps"] = "cpu"
    """Where to compute."""
    devices: int = 1
    """Processes that share each batch."""
    precision: Literal["32-true", "bf16-mixed", "16-mixed"] = "32-true"
    """Of computation; weights are always stored in 32 bits."""
    quiet: bool = False
    """No progress display."""


PRESETS: dict[str, TrainConfig] = {
    "spatial": TrainConfig(),
    "latent": TrainConfig(model=ModelConfig(family="latent")),
    "paper": TrainConfig(
        model=ModelConfig(family="paper", dimensions=16, encoder_width=64),
        objective=ObjectiveConfig(margin=0.1, pull_weight=0.0, look_weight=0.0),
        updates=5000,
        learning_rate=1e-3,
        weight_decay=0.0,
        colour=0.0,
    ),
    "tiny": TrainConfig(model=ModelConfig(dimensions=16, encoder_width=8, context_width=16), updates=60, frames=12),
}
"""Configurations by name. `tiny` is for tests."""


def train(
    data: Trajectories, out: str | Path, config: TrainConfig, validation: Trajectories | None = None, resume: bool = False
) -> WorldModel:
    """Train a model on recorded play into folder `out`, and give it.

    Without validation data a tenth of the levels is held out; with fewer than ten levels nothing is, and the threshold
    is calibrated on the levels trained on. A finished folder that is resumed is left as it is.
    """
    out = Path(out)
    request = {"config": _settings(config), "data": describe_data(data)}
    if validation is not None:
        request["validation"] = describe_data(validation)
    if not _finished(out, request, resume):
        out.mkdir(parents=True, exist_ok=True)
        torch.set_num_threads(config.threads)
        fabric = Fabric(
            accelerator=config.device,
            devices=config.devices,
            strategy="ddp_spawn" if config.devices > 1 else "auto",
            precision=config.precision,
        )
        portable = [None if one is None else PortableTrajectories.of(one) for one in (data, validation)]
        fabric.launch(_fit, *portable, out, config, request)
    return load_model(out)


def _fit(
    fabric: Fabric,
    portable: PortableTrajectories,
    portable_validation: PortableTrajectories | None,
    out: Path,
    config: TrainConfig,
    request: dict[str, Any],
) -> None:
    """One process's part of training."""
    torch.set_num_threads(max(1, config.threads // config.devices))
    data = portable.open()
    levels, held_out = _split(data, None if portable_validation is None else portable_validation.open())
    torch.manual_seed(config.seed)
    own = WorldModel(config.model, sizes_of(data), threshold=config.objective.margin / 2)
    optimizer = torch.optim.AdamW(own.parameters(), config.learning_rate, weight_decay=config.weight_decay)
    note = read_checkpoint_note(out) or {"rows": []}
    if note["rows"]:
        load_checkpoint(out, own, optimizer)
    model, optimizer = fabric.setup(own, optimizer)
    rows = note["rows"]
    passes, updates_a_pass = schedule(len(levels), config)
    shown = config.quiet is False and fabric.is_global_zero
    with Display(passes * updates_a_pass, len(rows) * updates_a_pass, passes, shown) as display:
        for number in range(len(rows) + 1, passes + 1):
            began = time.perf_counter()
            means = _train_pass(fabric, model, optimizer, levels, number, passes, config, display)
            row = {"pass": number, **means, "accuracy": quick_accuracy(own, held_out)}
            row["seconds"] = round((rows[-1]["seconds"] if rows else 0) + time.perf_counter() - began, 2)
            row["warning"] = collapse_warning(row, own.sizes.actions)
            rows.append(row)
            if fabric.is_global_zero:
                save_checkpoint(out, own, optimizer.optimizer, {"request": request, "rows": rows})
                write_metrics(out, rows)
            display.row(row)
            fabric.barrier()
    if fabric.is_global_zero:
        _finish(own.cpu().eval(), held_out, out, config, request, rows)


def _train_pass(
    fabric: Fabric,
    model: Any,
    optimizer: Any,
    levels: list[LevelPlay],
    number: int,
    passes: int,
    config: TrainConfig,
    display: Display,
) -> dict[str, float]:
    """One pass; gives the mean of each loss. All its randomness comes from (seed, pass, level)."""
    model.train()
    _, updates = schedule(len(levels), config)
    sums: dict[str, float] = {}
    for index, batch in enumerate(_batches(fabric, levels, number, updates, config)):
        progress = ((number - 1) * updates + index) / (passes * updates)
        for group in optimizer.param_groups:
            group["lr"] = config.learning_rate * one_cycle(progress)
        found = losses(model(batch), batch, model.module.sizes.patch, config.objective)
        optimizer.zero_grad()
        fabric.backward(found["total"])
        fabric.clip_gradients(model, optimizer, max_norm=1.0)
        optimizer.step()
        for name, value in found.items():
            sums[name] = sums.get(name, 0.0) + float(value.detach())
        if not math.isfinite(sums["total"]):
            raise InputError(
                f"the loss is not a number in pass {number}; the checkpoint of pass {number - 1} is kept, "
                "a smaller learning rate may help"
            )
        display.update()
    return {name: value / updates for name, value in sums.items()}


def _batches(
    fabric: Fabric, levels: list[LevelPlay], number: int, updates: int, config: TrainConfig
) -> Iterator[LevelBatch]:
    """This process's part of each batch of a pass: every level once, small sets several times over."""
    random = np.random.default_rng([config.seed, number])
    needed = updates * config.batch
    order = np.concatenate([random.permutation(len(levels)) for _ in range(-(-needed // len(levels)))])[:needed]
    for update in range(updates):
        chosen = range(update * config.batch + fabric.global_rank, (update + 1) * config.batch, fabric.world_size)
        randoms = [np.random.default_rng([config.seed, number, place]) for place in chosen]
        batch = make_batch([levels[order[place]] for place in chosen], randoms, config.frames, config.colour)
        yield LevelBatch(*(part.to(fabric.device) for part in batch))


def schedule(levels: int, config: TrainConfig) -> tuple[int, int]:
    """Passes, and gradient steps in each: all levels once, and at least 100 steps so that small sets repeat in it."""
    updates_a_pass = max(-(-levels // config.batch), min(100, config.updates))
    return -(-config.updates // updates_a_pass), updates_a_pass


def one_cycle(progress: float, warm_up: float = 0.15) -> float:
    """The share of the learning rate at a point 0 … 1 of training: a linear rise, then a half cosine down to zero."""
    if progress < warm_up:
        return 0.04 + 0.96 * progress / warm_up
    return 0.5 * (1 + math.cos(math.pi * (progress - warm_up) / (1 - warm_up)))


def quick_accuracy(model: WorldModel, levels: list[LevelPlay]) -> float:
    """One-step accuracy on a few levels, with ε/2 as the threshold."""
    model.eval()
    return step_errors(model, levels[:QUICK_LEVELS]).accuracy(model.threshold)


def _finish(
    model: WorldModel,
    held_out: list[LevelPlay],
    out: Path,
    config: TrainConfig,
    request: dict[str, Any],
    rows: list[dict[str, Any]],
) -> None:
    """Calibrate, measure, and write the model folder; the checkpoint goes last."""
    errors = step_errors(model, held_out[:FINAL_LEVELS])
    calibration = (
        calibrate(errors, config.objective.margin)
        if config.threshold == "calibrated"
        else rates(errors, config.objective.margin / 2)
    )
    model.threshold = calibration.threshold
    measured = {
        "one_step_accuracy": errors.accuracy(model.threshold),
        "rankings": [dataclasses.asdict(one) for one in rankings(model, held_out[:FINAL_LEVELS])],
        "levels": min(len(held_out), FINAL_LEVELS),
    }
    draw_curves(out, rows)
    description = {
        "calibration": calibration.summary(),
        "validation": measured,
        "seconds": rows[-1]["seconds"],
        "threads": config.threads,
        "parameters": sum(parameter.numel() for parameter in model.parameters()),
        "versions": versions(),
        "request": request,
    }
    save_model(out, model, description)
    (out / CHECKPOINT).unlink(missing_ok=True)


def _split(data: Trajectories, validation: Trajectories | None) -> tuple[list[LevelPlay], list[LevelPlay]]:
    """Levels to train on and to validate on."""
    levels = level_plays(data, states_of_frames(data))
    if validation is not None:
        return levels, level_plays(validation, states_of_frames(validation))
    if len(levels) < 10:
        return levels, levels
    held_out = levels[::10]
    return [level for index, level in enumerate(levels) if index % 10], held_out


def _finished(out: Path, request: dict[str, Any], resume: bool) -> bool:
    """Whether `out` already holds what is asked for; an InputError where it holds something that is not."""
    description = out / CONFIG
    note = read_checkpoint_note(out)
    if not resume and (description.exists() or note is not None):
        state = "a trained model" if description.exists() else "unfinished training; --resume goes on with it"
        raise InputError(f"{out} already holds {state}")
    if description.exists():
        load_model(out)
        return True
    if note is not None and note["request"] != request:
        changed = next(key for key in request if note["request"].get(key) != request[key])
        raise InputError(f"training in {out} was begun with other {changed}; it can only be resumed with the same")
    return False


def _settings(config: TrainConfig) -> dict[str, Any]:
    """The settings that decide the weights."""
    settings = dataclasses.asdict(config)
    return {name: value for name, value in settings.items() if name not in ("quiet",)}

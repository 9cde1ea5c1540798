"""Training: from recorded play to a model folder. It can be resumed after every pass and ends in the same weights."""

from __future__ import annotations

import copy
import dataclasses
import json
import time
from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import Any

import torch
from lightning_fabric import Fabric

from pixelplan.data.portable import PortableTrajectories
from pixelplan.files import checksum, write_rows
from pixelplan.model.checkpoint import (
    CHECKPOINT,
    CONFIG,
    WEIGHTS_FILE,
    load_checkpoint,
    load_model,
    read_checkpoint_note,
    read_description,
    save_checkpoint,
)
from pixelplan.model.find_family import config_from, family_of, versions_of
from pixelplan.model.findings import finish
from pixelplan.model.init_weights import of_the_family, take_weights
from pixelplan.model.passes import pass_batches, quick_look, train_pass
from pixelplan.model.progress import Display, collapse_warning, noise_warning
from pixelplan.model.restarts import next_pass, start_over
from pixelplan.model.schedule import Schedule, plan_passes, score
from pixelplan.model.sizes import Sizes
from pixelplan.model.train_config import TrainConfig
from pixelplan.model.train_data import RecordedPlay, describe_play, fit, level_count, split, worlds_of
from pixelplan.model.world_model import WorldModel
from pixelplan.types import InputError, Trajectories, values_before

VERSION = 1
"""Raised when a change to training alters the weights of all families: records say which version made them."""


def train(
    data: RecordedPlay,
    out: str | Path,
    config: TrainConfig,
    validation: RecordedPlay | None = None,
    resume: bool = False,
    until: float = 1.0,
    after: Path | None = None,
    race: list[dict[str, Any]] | None = None,
    init: Path | None = None,
) -> WorldModel:
    """Train a model of the config's family on recorded play into folder `out`, and return it.

    Play of several worlds makes one model for all of them. Without validation data, a tenth of the levels is held out
    (`config.judging`); with fewer than ten levels none is, and the threshold is calibrated on the training levels.
    Resuming a finished folder changes nothing. Training can stop when a share of it (`until`) is done, and continue
    `after` that folder in another one, with other data from the same world. `race` is what the model's description says
    about the race that its family won. With `init`, the folder of a model of the same family, training starts from its
    weights.
    """
    config.check()
    out = Path(out)
    config = with_precision(config if init is None else of_the_family(config, init))
    request = _request(data, config, validation)
    if init is not None:
        request["init"] = checksum(init / WEIGHTS_FILE)
    if until < 1:
        request["until"] = until
    if race is not None:
        request["race"] = race
    if not _finished(out, request, config, resume):
        _launch(data, out, config, validation, request, after, init)
    return load_model(out)


class OtherTraining(InputError):
    """The folder to resume holds a different training run, or is damaged."""


def short_run(
    data: RecordedPlay, out: Path, config: TrainConfig, validation: RecordedPlay | None
) -> list[dict[str, Any]]:
    """Train for as long as a race allows, and leave a checkpoint in folder `out`, but no model.

    The run ends early after a pass whose score is good enough to win the race. Returns what the passes showed. If a run
    was interrupted, the next one continues it.
    """
    config = with_precision(config)
    request = {**_request(data, config, validation), "short": config.race.updates}
    try:
        note = read_checkpoint_note(out)
    except InputError as problem:
        raise OtherTraining(str(problem)) from None
    if note is not None and _completed(note["request"], config) != json.loads(json.dumps(request)):
        raise OtherTraining(f"{out} was begun with other settings or data; it can only be resumed with the same")
    _launch(data, out, config, validation, request, None)
    note = read_checkpoint_note(out)
    assert note is not None
    rows: list[dict[str, Any]] = note["rows"]
    return rows


def with_precision(config: TrainConfig) -> TrainConfig:
    """The config with `auto` replaced by the precision to use on this machine."""
    if config.precision != "auto":
        return config
    able = torch.cpu.get_capabilities()
    fast = config.device == "cpu" and (able.get("avx512_bf16") or able.get("amx_bf16"))
    halved = bool(fast) and family_of(config.model).networks.halves_precision
    return dataclasses.replace(config, precision="bf16-mixed" if halved else "32-true")


def _request(data: RecordedPlay, config: TrainConfig, validation: RecordedPlay | None) -> dict[str, Any]:
    """Everything that decides the weights."""
    request: dict[str, Any] = {"config": _settings(config), "data": describe_play(data)}
    if validation is not None:
        request["validation"] = describe_play(validation)
    return request


def _launch(
    data: RecordedPlay,
    out: Path,
    config: TrainConfig,
    validation: RecordedPlay | None,
    request: dict[str, Any],
    after: Path | None,
    init: Path | None = None,
) -> None:
    """Run `_fit` in as many processes as the config asks for."""
    out.mkdir(parents=True, exist_ok=True)
    fabric = Fabric(
        accelerator=config.device,
        devices=config.devices,
        strategy="ddp_spawn" if config.devices > 1 else "auto",
    )
    sent = tuple(
        [PortableTrajectories.of(world) for world in (() if play is None else worlds_of(play))]
        for play in (data, validation)
    )
    # A partial, because Fabric inspects arguments and does not accept frozen dataclasses.
    fabric.launch(partial(_fit, sent=sent, out=out, config=config, request=request, after=after, init=init))


def _fit(
    fabric: Fabric,
    sent: tuple[list[PortableTrajectories], ...],
    out: Path,
    config: TrainConfig,
    request: dict[str, Any],
    after: Path | None,
    init: Path | None,
) -> None:
    """One process's part of training: prepare, loop, finish."""
    clock = time.perf_counter()
    torch.set_num_threads(max(1, config.threads // config.devices))
    worlds, validation = ([world.open() for world in play] for play in sent)
    torch.manual_seed(config.seed)
    model = _make_model(config, worlds, after)
    if init is not None:
        take_weights(model, init)
    networks = model.networks
    levels, held_out = split(networks, worlds, validation, config.judging.held_out_every)
    networks.prepare(levels)
    learner = copy.deepcopy(networks) if networks.averages_weights else networks
    stored = {"model": networks} | ({"learner": learner} if networks.averages_weights else {})
    optimizer = learner.optimizer(config.learning_rate, config.weight_decay, config.muon)
    source = out if after is None or (out / CHECKPOINT).exists() else after
    note = read_checkpoint_note(source) or {"rows": []}
    if note["rows"]:
        load_checkpoint(source, stored, optimizer)
    wrapped, optimizer = fabric.setup(learner, optimizer)
    rows = note["rows"]
    if networks.at_once:
        schedule = Schedule(passes=1, updates=0, until_learned=False)
    else:
        updates = config.updates or networks.usual_updates()
        schedule = plan_passes(len(levels), config.batch, updates, networks.until_learned, config.schedule)
    passes, updates_a_pass = schedule.passes, schedule.updates
    stop = max(1, round(passes * request.get("until", 1.0)))
    if "short" in request:
        stop = min(passes, -(-request["short"] // max(1, updates_a_pass)))
    shown = not config.quiet and fabric.is_global_zero
    upcoming = partial(next_pass, passes=passes, noisy=model.noisy, config=config.restarts)
    done = upcoming(rows)[1] - 1
    with Display(passes * updates_a_pass, done * updates_a_pass, passes, shown) as display:
        for world in () if model.noisy else worlds:
            if warning := noise_warning(len(world.frames), world.episodes.size):
                display.warn(warning)
        while upcoming(rows)[1] <= min(stop, schedule.last_pass(rows)) and not _has_won(rows, request, config):
            attempt, number = upcoming(rows)
            if number == 1 and attempt > 1:
                start_over(model, optimizer.optimizer, config.seed + attempt)
                display.start_over(attempt)
            torch.manual_seed(config.seed * 1_000_003 + number)  # random draws in a pass do not depend on resuming
            batches = pass_batches(fabric, levels, number, updates_a_pass, config, networks)
            so_far = rows[len(rows) - number + 1 :]  # of this attempt
            means = train_pass(fabric, wrapped, networks, optimizer, batches, so_far, schedule, config, display)
            row: dict[str, Any] = {"pass": number, "updates": number * updates_a_pass, **means}
            row |= quick_look(model, held_out, config.judging)
            row["seconds"] = round((rows[-1]["seconds"] if rows else 0) + time.perf_counter() - clock, 2)
            clock = time.perf_counter()
            row["warning"] = collapse_warning(row, model.sizes.actions, config.judging)
            if attempt > 1:
                row["attempt"] = attempt
            rows.append(row)
            if fabric.is_global_zero:
                begun_with = {"model": dataclasses.asdict(model.config), "sizes": dataclasses.asdict(model.sizes)}
                note = {"request": request, "rows": rows, **begun_with}
                save_checkpoint(out, stored, optimizer.optimizer, note)
            display.row(row)
            fabric.barrier()
        if "short" not in request:
            display.finishing()
    if fabric.is_global_zero and "short" not in request:
        write_rows(out / "metrics.jsonl", rows)
        networks.cpu().eval()
        counted = level_count(worlds)
        finish(model, levels, held_out.by_family, held_out.frames, counted, out, config, request, rows)


def _has_won(rows: Sequence[dict[str, Any]], request: dict[str, Any], config: TrainConfig) -> bool:
    """Whether a short run can end, because its last pass is good enough to win the race."""
    return "short" in request and bool(rows) and score(rows[-1]) >= config.race.good


def _make_model(config: TrainConfig, worlds: Sequence[Trajectories], after: Path | None) -> WorldModel:
    """A new model, with the sizes that its family asks for, or with those of the training it continues (`after`)."""
    if after is None:
        settings, sizes = fit(config.model, config.grid, worlds)
    else:
        begun_with = read_checkpoint_note(after)
        assert begun_with is not None  # only training that has begun can be continued
        settings, sizes = config_from(begun_with["model"]), Sizes(**begun_with["sizes"])
    model = WorldModel(settings, sizes, threshold=config.objective.margin / 2)
    if config.threshold == "half-margin" and not model.networks.keeps_margin:
        raise InputError(f"the family {settings.family} has no margin; its threshold can only be calibrated")
    return model


def _finished(out: Path, request: dict[str, Any], config: TrainConfig, resume: bool) -> bool:
    """Whether `out` already holds the model asked for; an InputError if it holds anything else."""
    note = read_checkpoint_note(out)
    finished = (out / CONFIG).exists()
    if not resume and (finished or note is not None):
        raise InputError(
            f"{out} already holds " + ("a trained model" if finished else "unfinished training; --resume continues it")
        )
    before = _completed(read_description(out) if finished else note["request"] if note is not None else request, config)
    for key, value in request.items():
        if before.get(key) != value:
            raise InputError(f"training in {out} was begun with other {key}; it can only be resumed with the same")
    if finished and "until" not in request:
        (out / CHECKPOINT).unlink(missing_ok=True)  # training was killed just before doing this
    return finished


def _settings(config: TrainConfig) -> dict[str, Any]:
    """The settings that decide the weights."""
    settings = {name: value for name, value in dataclasses.asdict(config).items() if name != "quiet"}
    return dict(json.loads(json.dumps(settings)))  # as it will be read back


def _completed(request: dict[str, Any], config: TrainConfig) -> dict[str, Any]:
    """What was asked for, perhaps in an earlier version, with the settings of this config that were added since."""
    return {**request, "config": _with_added(request.get("config"), config)}


def _with_added(recorded: Any, settings: Any) -> Any:
    """Recorded settings, completed by those that earlier versions did not have, at the values they stood for then."""
    if isinstance(recorded, list) and isinstance(settings, tuple) and len(recorded) == len(settings):
        return [_with_added(*pair) for pair in zip(recorded, settings, strict=True)]
    if not isinstance(recorded, dict) or not dataclasses.is_dataclass(settings):
        return recorded
    added = {name: value for name, value in values_before(settings).items() if name not in recorded}
    known = {name: _with_added(value, getattr(settings, name, None)) for name, value in recorded.items()}
    return {**known, **json.loads(json.dumps(added, default=dataclasses.asdict))}


def training_versions(config: TrainConfig) -> dict[str, int]:
    """The version, by name, of everything that decides the result of training with these settings."""
    versions = {"training": VERSION}
    for settings in config.candidates or (config.model,):
        versions |= versions_of(settings)
    return versions

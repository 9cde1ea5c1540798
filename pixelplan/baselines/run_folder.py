"""Checkpoints of the baselines: safetensors with a JSON note. Unlike the libraries' own formats, they hold no code."""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import torch
from torch import Tensor, nn

from pixelplan.files import left_by_writer
from pixelplan.model.checkpoint import (
    CHECKPOINT,
    load_optimizer,
    optimizer_tensors,
    read_checkpoint_note,
    read_tensors,
    write_tensors,
)
from pixelplan.types import InputError


def training_request(
    algorithm: str, name: str, puzzle: Any, levels: tuple[int, int], seed: int, config: Any
) -> dict[str, Any]:
    """All that decides how training goes, except its length; `puzzle` and `config` are dataclasses."""
    return {
        "algorithm": algorithm,
        "env": name,
        "options": dataclasses.asdict(puzzle),
        "levels": list(levels),
        "seed": seed,
        "config": dataclasses.asdict(config),
    }


def save_run(
    folder: Path,
    network: nn.Module,
    optimizer: torch.optim.Optimizer | None,
    note: Mapping[str, Any],
    more: Mapping[str, Tensor] | None = None,
) -> None:
    """Write all that training needs to continue and playing needs to start, whole or not at all."""
    tensors = {f"network/{name}": tensor for name, tensor in network.state_dict().items()}
    tensors |= {f"more/{name}": tensor for name, tensor in (more or {}).items()}
    if optimizer is not None:
        tensors |= optimizer_tensors(optimizer)
    write_tensors(folder / CHECKPOINT, tensors, note)


def load_run(folder: Path, network: nn.Module, optimizer: torch.optim.Optimizer | None = None) -> dict[str, Tensor]:
    """Put a checkpoint's weights and optimizer state into place; returns the tensors that were saved as `more`."""
    path = folder / CHECKPOINT
    tensors, _ = read_tensors(path)
    weights, more = (
        {name.removeprefix(part): tensor for name, tensor in tensors.items() if name.startswith(part)}
        for part in ("network/", "more/")
    )
    try:
        network.load_state_dict(weights)
    except RuntimeError:
        raise InputError(f"{path} holds another network than the one asked for; ask for that one") from None
    if optimizer is not None:
        load_optimizer(optimizer, tensors)
    return more


def begin_run(folder: Path, request: Mapping[str, Any], resume: bool) -> dict[str, Any] | None:
    """The note to continue from, or None for a fresh start; an InputError if a folder holds another run.

    `request` is what `training_request` makes: a run may be resumed for more steps, but not with other settings.
    """
    note = read_checkpoint_note(folder)
    if resume and folder.is_dir():
        for path in filter(left_by_writer, folder.iterdir()):  # of files that may not be written again
            path.unlink()
    if note is None:
        if folder.is_dir() and any(folder.iterdir()) and not resume:
            raise InputError(f"{folder} is not empty; name a new folder, or add --resume to continue in this one")
        folder.mkdir(parents=True, exist_ok=True)
        return None
    if not resume:
        raise InputError(
            f"{folder} holds a run of {note['steps']} steps; add --resume to continue it, or name a new folder"
        )
    check_request(folder, note, request)
    return note


def check_request(folder: Path, note: Mapping[str, Any], request: Mapping[str, Any]) -> None:
    """An InputError if the run that a folder's note describes is not the requested one."""
    for key, value in json.loads(json.dumps(request)).items():
        if note["request"].get(key) != value:
            raise InputError(f"{folder} holds a run with {key} {note['request'].get(key)}, not {value}")

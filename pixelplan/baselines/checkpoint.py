"""Checkpoints of the baselines: safetensors with a JSON note. Unlike the libraries' own formats, it holds no code."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import safetensors
import torch
from safetensors.torch import load_file, save
from torch import Tensor, nn

from pixelplan.files import write_bytes
from pixelplan.types import InputError

CHECKPOINT = "checkpoint.safetensors"


def save_run(
    folder: Path,
    network: nn.Module,
    optimizer: torch.optim.Optimizer | None,
    note: Mapping[str, Any],
    more: Mapping[str, Tensor] | None = None,
) -> None:
    """Write all that training needs to go on, and playing to begin, whole or not at all."""
    tensors = {f"network/{name}": tensor for name, tensor in network.state_dict().items()}
    tensors |= {f"more/{name}": tensor for name, tensor in (more or {}).items()}
    if optimizer is not None:
        for index, values in optimizer.state_dict()["state"].items():
            tensors |= {f"optimizer/{index}/{name}": torch.as_tensor(value) for name, value in values.items()}
    copies = {name: tensor.detach().cpu().contiguous().clone() for name, tensor in tensors.items()}
    write_bytes(folder / CHECKPOINT, save(copies, {"note": json.dumps(note)}))


def load_run(folder: Path, network: nn.Module, optimizer: torch.optim.Optimizer | None = None) -> dict[str, Tensor]:
    """Put a checkpoint's weights and optimizer state into place; returns the tensors that were saved as `more`."""
    path = folder / CHECKPOINT
    try:
        tensors = load_file(path)
    except (safetensors.SafetensorError, OSError, ValueError) as problem:
        raise InputError(f"{path} cannot be read ({problem}); delete it to train from the start") from None
    parts: dict[str, dict[str, Tensor]] = {"network": {}, "optimizer": {}, "more": {}}
    for name, tensor in tensors.items():
        part, _, rest = name.partition("/")
        parts[part][rest] = tensor
    try:
        network.load_state_dict(parts["network"])
    except RuntimeError:
        raise InputError(f"{path} holds another network than the one asked for; ask for that one") from None
    if optimizer is not None:
        state: dict[int, dict[str, Tensor]] = {}
        for name, tensor in parts["optimizer"].items():
            index, _, key = name.partition("/")
            state.setdefault(int(index), {})[key] = tensor
        optimizer.load_state_dict({"state": state, "param_groups": optimizer.state_dict()["param_groups"]})
    return parts["more"]


def read_note(folder: Path) -> dict[str, Any] | None:
    """What was noted with the checkpoint in a folder; None where there is none."""
    path = folder / CHECKPOINT
    if not path.exists():
        return None
    try:
        with safetensors.safe_open(path, "pt") as file:
            return dict(json.loads(file.metadata()["note"]))
    except (safetensors.SafetensorError, OSError, KeyError, TypeError, ValueError) as problem:
        raise InputError(f"{path} is damaged ({problem}); delete it to train from the start") from None


def begin_run(folder: Path, request: Mapping[str, Any], resume: bool) -> dict[str, Any] | None:
    """The note to go on from, or None for a fresh start; an InputError where a folder holds another run.

    `request` is all that decides how training goes, except for how long: a run may be resumed for more steps.
    """
    note = read_note(folder)
    if note is None:
        if folder.is_dir() and any(folder.iterdir()) and not resume:
            raise InputError(f"{folder} is not empty; name a new folder, or add --resume to go on in this one")
        folder.mkdir(parents=True, exist_ok=True)
        return None
    if not resume:
        raise InputError(f"{folder} holds a run of {note['steps']} steps; add --resume to go on, or name a new folder")
    wanted = json.loads(json.dumps(request))
    for key, value in wanted.items():
        if note["request"].get(key) != value:
            raise InputError(f"{folder} holds a run with {key} {note['request'].get(key)}, not {value}")
    return note

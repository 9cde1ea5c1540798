"""Model folders and checkpoints: safetensors and JSON, each written whole or not at all. Nothing here can run code."""

from __future__ import annotations

import dataclasses
import hashlib
import json
import math
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import safetensors
import torch
from safetensors.torch import load_file, save
from torch import Tensor, nn

from pixelplan.files import check_format, checksum, left_by_writer, read_json, write_bytes, write_json, write_rows
from pixelplan.model.config_limits import check_description
from pixelplan.model.find_family import FAMILIES, config_from
from pixelplan.model.goal_test import LARGEST, READINGS, Certainty, LearnedGoalTest
from pixelplan.model.sizes import Sizes
from pixelplan.model.world_model import WorldModel
from pixelplan.types import InputError

FORMAT = 1
CONFIG, WEIGHTS_FILE, CHECKPOINT = "config.json", "weights.safetensors", "checkpoint.safetensors"
GOAL_TEST = "goal-test.safetensors"


def save_model(folder: Path, model: WorldModel, description: dict[str, Any]) -> None:
    """Write weights and then the config, which makes the folder a model."""
    for path in filter(left_by_writer, folder.iterdir()):  # leftovers of files that resumed training did not rewrite
        path.unlink()
    write_tensors(folder / WEIGHTS_FILE, model.networks.state_dict())
    config: dict[str, Any] = {
        "format": FORMAT,
        "threshold": model.threshold,
        "weights_sha256": checksum(folder / WEIGHTS_FILE),
        "model": dataclasses.asdict(model.config),
        "sizes": dataclasses.asdict(model.sizes),
    }
    if model.goal_test is not None:
        write_tensors(folder / GOAL_TEST, model.goal_test.network.state_dict())
        config["goal_test"] = {**model.goal_test.description, "sha256": checksum(folder / GOAL_TEST)}
    write_json(folder / CONFIG, {**config, **description})


def load_model(folder: str | Path, device: str = "cpu") -> WorldModel:
    """The model in a folder; an InputError says what is wrong if the folder does not hold one."""
    folder = Path(folder)
    description = read_description(folder)
    family = description["model"].get("family")
    if family not in tuple(FAMILIES):
        raise InputError(f"{folder} is a model of the family {family}, unknown to this version; train it again")
    try:
        model = WorldModel(
            config_from(description["model"]), Sizes(**description["sizes"]), float(description["threshold"])
        )
    except (KeyError, TypeError, ValueError) as problem:
        raise InputError(f"{folder / CONFIG} does not describe a model of this version ({problem})") from None
    tensors = _read_weights(folder / WEIGHTS_FILE, description.get("weights_sha256"))  # older configs have no checksum
    _check_tensors(folder / WEIGHTS_FILE, model.networks, tensors)
    model.networks.load_state_dict(tensors)
    if "goal_test" in description:
        model.goal_test = _load_goal_test(folder, description["goal_test"], model)
    # Convolutions of a single picture are faster if a pixel's channels are adjacent in memory.
    model.networks.to(device).to(memory_format=torch.channels_last).eval()  # type: ignore[call-overload]
    return model


def _load_goal_test(folder: Path, described: Any, model: WorldModel) -> LearnedGoalTest:
    """The goal test of a model; an InputError if it is not as described, or not for the model's embeddings."""
    path = folder / GOAL_TEST
    try:
        tensors = _read_weights(path, described["sha256"])
        reading, rows, columns = described["reading"], int(described["rows"]), int(described["columns"])
        first = tensors["layers.0.weight"]
        dimensions = first.shape[1] * (1 if reading == "list" else rows * columns)
        shape = dimensions, len(first), first.shape[2] if first.ndim == 4 else 1
        if reading not in READINGS or dimensions < 1 or any(map(int.__gt__, shape, LARGEST)):
            raise ValueError(f"{reading!r} of {dimensions} numbers, with {len(first)} channels")
        network = Certainty(dimensions, rows, columns, reading, *shape[1:])
        line = float(described["line"])
        if not math.isfinite(line):
            raise ValueError(f"its line is {line}")
    except (KeyError, TypeError, ValueError, IndexError, OverflowError) as problem:
        raise InputError(f"{folder / CONFIG} does not describe a goal test of this version ({problem})") from None
    _check_tensors(path, network, tensors)
    network.load_state_dict(tensors)
    test = LearnedGoalTest(network, line)
    try:
        test(model.encode(np.zeros((1, model.sizes.height, model.sizes.width, 3), np.uint8)))
    except RuntimeError:
        raise InputError(f"{folder / CONFIG} describes a goal test for embeddings of another shape") from None
    return test


def _read_weights(path: Path, wanted: str | None) -> dict[str, Tensor]:
    """The tensors in a file; an InputError if it is missing or damaged, or its checksum is not the wanted one."""
    if not path.exists():
        raise InputError(f"{path} is missing; train the model again or copy the whole folder")
    if wanted is not None and checksum(path) != wanted:
        raise InputError(f"{path} is damaged: its checksum is not the one in {CONFIG}")
    try:
        return load_file(path)
    except (safetensors.SafetensorError, OSError, ValueError) as problem:
        raise InputError(f"{path} is damaged ({problem})") from None


def read_description(folder: Path) -> dict[str, Any]:
    """The config of a model folder."""
    if not (folder / CONFIG).exists():
        if (folder / CHECKPOINT).exists():
            raise InputError(f"training in {folder} is unfinished; run the same train command with --resume")
        raise InputError(f"{folder} is not a model folder: it has no {CONFIG}")
    description = read_json(folder / CONFIG)
    check_format(description, FORMAT, f"{folder} has model", "train it again")
    check_description(description, folder / CONFIG)
    return dict(description)


def save_checkpoint(
    folder: Path, networks: Mapping[str, nn.Module], optimizer: torch.optim.Optimizer, note: dict[str, Any]
) -> None:
    """Write everything that training needs to continue from here, in one file.

    The rows of its note are written to `metrics.jsonl` first: after a kill, that file has every pass of a checkpoint.
    """
    write_rows(folder / "metrics.jsonl", note.get("rows", []))
    tensors = {
        f"{prefix}/{name}": tensor for prefix, part in networks.items() for name, tensor in part.state_dict().items()
    }
    write_tensors(folder / CHECKPOINT, tensors | optimizer_tensors(optimizer), note)


def load_checkpoint(folder: Path, networks: Mapping[str, nn.Module], optimizer: torch.optim.Optimizer) -> None:
    """Put the weights and the optimizer's state of a checkpoint into place."""
    tensors, _ = read_tensors(folder / CHECKPOINT)
    for prefix, part in networks.items():
        prefixed = {name: tensor for name, tensor in tensors.items() if name.startswith(f"{prefix}/")}
        weights = {name.removeprefix(f"{prefix}/"): tensor for name, tensor in prefixed.items()}
        _check_tensors(folder / CHECKPOINT, part, weights)
        part.load_state_dict(weights)
    load_optimizer(optimizer, tensors)


def optimizer_tensors(optimizer: torch.optim.Optimizer) -> dict[str, Tensor]:
    """The state of an optimizer, under names that begin with optimizer/."""
    state = optimizer.state_dict()["state"]
    return {
        f"optimizer/{index}/{name}": torch.as_tensor(value)
        for index, values in state.items()
        for name, value in values.items()
    }


def load_optimizer(optimizer: torch.optim.Optimizer, tensors: Mapping[str, Tensor]) -> None:
    """Put an optimizer's state into place, from the tensors named optimizer/…."""
    state: dict[int, dict[str, Tensor]] = {}
    for name, value in tensors.items():
        if name.startswith("optimizer/"):
            _, index, key = name.split("/")
            state.setdefault(int(index), {})[key] = value
    optimizer.load_state_dict({"state": state, "param_groups": optimizer.state_dict()["param_groups"]})


def write_tensors(path: Path, tensors: Mapping[str, Tensor], note: Mapping[str, Any] | None = None) -> None:
    """Write tensors, with a note if there is one, whole or not at all.

    It writes copies on the CPU: safetensors takes no views, and shared weights are stored under each of their names.
    """
    copies = {name: tensor.detach().cpu().contiguous().clone() for name, tensor in tensors.items()}
    if note is None:
        write_bytes(path, save(copies))
        return
    note = {**note, "sha256": _digest(copies, note)}
    write_bytes(path, save(copies, {"note": json.dumps(note)}))


def read_tensors(path: Path) -> tuple[dict[str, Tensor], dict[str, Any]]:
    """The tensors and the note that `write_tensors` wrote; an InputError if they are damaged."""
    try:
        tensors = load_file(path)
        with safetensors.safe_open(path, "pt") as file:
            note = dict(json.loads(file.metadata()["note"]))
        damaged = note.pop("sha256", None) not in (None, _digest(tensors, note))  # older files have none
    except (safetensors.SafetensorError, OSError, KeyError, TypeError, ValueError, RecursionError) as problem:
        raise InputError(f"{path} is damaged ({problem}); delete it to train from the start") from None
    if damaged:
        raise InputError(f"{path} is damaged (its checksum differs); delete it to train from the start")
    return tensors, note


def _digest(tensors: Mapping[str, Tensor], note: Mapping[str, Any]) -> str:
    """A SHA-256 of tensors with their names, types and shapes, and of a note."""
    digest = hashlib.sha256(json.dumps(note).encode())
    for name, tensor in sorted(tensors.items()):
        digest.update(f"{name} {tensor.dtype} {list(tensor.shape)}".encode())
        digest.update(tensor.reshape(-1).view(torch.uint8).numpy().data)
    return digest.hexdigest()


def read_checkpoint_note(folder: Path) -> dict[str, Any] | None:
    """The note of the checkpoint in a folder; None if there is none."""
    path = folder / CHECKPOINT
    return read_tensors(path)[1] if path.exists() else None


def _check_tensors(path: Path, networks: nn.Module, tensors: dict[str, Tensor]) -> None:
    expected = networks.state_dict()
    for name, tensor in expected.items():
        if name not in tensors:
            raise InputError(f"{path} lacks the tensor {name}; it was made by another version or is incomplete")
        if tensors[name].shape != tensor.shape:
            stored, right = list(tensors[name].shape), list(tensor.shape)
            raise InputError(f"{path}: tensor {name} has shape {stored}, not {right} as its config says")
    unknown = sorted(set(tensors) - set(expected))
    if unknown:
        raise InputError(f"{path} has a tensor {unknown[0]} that this version does not know")

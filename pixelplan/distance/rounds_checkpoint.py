"""Unfinished training in one file: the network, what the latest rounds taught, and how all rounds went."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import Tensor

from pixelplan.distance.labels import Samples
from pixelplan.distance.network import DistanceNetwork
from pixelplan.model.checkpoint import CHECKPOINT, read_tensors, write_tensors
from pixelplan.types import InputError

_PARTS = ("steps", "sure", "at_least", "best")


def save_progress(
    folder: Path, network: DistanceNetwork, samples: list[list[Samples]], history: list[dict[str, Any]], request: Any
) -> None:
    """Write all that the next round needs, so that a resumed run ends with the same weights as an uninterrupted one.

    `request` is everything that decides these weights; only the same request can resume.
    """
    folder.mkdir(parents=True, exist_ok=True)
    taught = [of_goal for of_round in samples for of_goal in of_round]
    tensors = {f"network/{name}": values for name, values in network.state_dict().items()}
    tensors["codes"] = torch.from_numpy(np.concatenate([of_goal.codes for of_goal in taught]).view(np.int64))
    tensors["goals"] = torch.from_numpy(np.stack([of_goal.goal for of_goal in taught]))
    for part in _PARTS:
        tensors[part] = torch.from_numpy(np.concatenate([getattr(of_goal, part) for of_goal in taught]))
    lengths = [[len(of_goal.codes) for of_goal in of_round] for of_round in samples]
    write_tensors(folder / CHECKPOINT, tensors, {"request": request, "rounds": history, "lengths": lengths})


def load_progress(
    folder: Path, network: DistanceNetwork, request: Any
) -> tuple[list[list[Samples]], list[dict[str, Any]]] | None:
    """Load the weights of the checkpoint in a folder; returns what its latest rounds taught and how all rounds went.

    None if there is no checkpoint. An InputError if it is damaged or belongs to another training run.
    """
    path = folder / CHECKPOINT
    if not path.exists():
        return None
    tensors, note = read_tensors(path)
    if note.get("request") != request:
        raise other_training(folder)
    weights = {name.removeprefix("network/"): part for name, part in tensors.items() if name.startswith("network/")}
    try:
        network.load_state_dict(weights)
        return _samples(tensors, note["lengths"]), list(note["rounds"])
    except (KeyError, RuntimeError, TypeError, ValueError) as problem:
        words = " ".join(str(problem).split())[:200]
        raise InputError(f"{path} does not fit this version ({words}); delete it to train from the start") from None


def other_training(folder: Path) -> InputError:
    """The error for a folder that holds another training run."""
    return InputError(f"training in {folder} was started with other settings; resume it with the same")


def _samples(tensors: dict[str, Tensor], lengths: list[list[int]]) -> list[list[Samples]]:
    """What each round taught, unpacked."""
    ends = np.cumsum([length for of_round in lengths for length in of_round])[:-1]
    codes = np.split(tensors["codes"].numpy().view(np.uint64), ends)
    goals = list(tensors["goals"].numpy())
    parts = [np.split(tensors[part].numpy(), ends) for part in _PARTS]
    taught = iter([Samples(*arrays) for arrays in zip(codes, goals, *parts, strict=True)])
    return [[next(taught) for _ in of_round] for of_round in lengths]

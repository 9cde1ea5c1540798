"""Learned distances as searches use them, and their folders: safetensors and JSON, nothing that could run code."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import torch
from safetensors.torch import load as load_tensors
from safetensors.torch import save as save_tensors
from torch import Tensor, nn

from pixelplan.distance.config import NetworkConfig
from pixelplan.distance.network import DistanceNetwork
from pixelplan.files import read_json, write_bytes, write_json
from pixelplan.types import InputError, Model, goal_test_of, is_discrete

WEIGHTS, ABOUT = "weights.safetensors", "heuristic.json"


class LearnedDistance:
    """A `Distance` by a network; what it reads of a goal it remembers until the goal changes."""

    def __init__(self, network: DistanceNetwork) -> None:
        self.network = network.eval()
        self._goal: tuple[Tensor, tuple[Tensor, Tensor, Tensor | None]] | None = None

    @torch.inference_mode()
    def __call__(self, z: Tensor, goals: Tensor) -> Tensor:
        """Steps [N], about, from z [N,d] to any of goals [G,d]."""
        mean = goals.float().mean(0, keepdim=True)
        if self._goal is None or not torch.equal(self._goal[0], mean):
            self._goal = mean, self.network.read_goal(mean)
        return self.network(z.float().unsqueeze(0), self._goal[1]).squeeze(0).square()

    def __getstate__(self) -> dict[str, Any]:
        """For another process: without what was read of a goal."""
        return {"network": self.network, "_goal": None}


class Guided:
    """A model with a distance that was learned for it."""

    def __init__(self, model: Model, distance: LearnedDistance) -> None:
        self.threshold, self.noisy, self.discrete = model.threshold, model.noisy, is_discrete(model)
        self.distance, self.goal_test = distance, goal_test_of(model)
        self._model = model

    def encode(self, frames: np.ndarray) -> Tensor:
        """As the model does."""
        return self._model.encode(frames)

    def context(self, frame: np.ndarray) -> Any:
        """As the model does."""
        return self._model.context(frame)

    def step(self, z: Tensor, context: Any) -> Tensor:
        """As the model does."""
        return self._model.step(z, context)

    @property
    def networks(self) -> nn.Module:
        """The networks of both, for whoever wants to know whether they are the same."""
        own = getattr(self._model, "networks", None)
        return nn.ModuleList([self.distance.network] if own is None else [own, self.distance.network])


def save_distance(network: DistanceNetwork, folder: Path, about: Mapping[str, Any]) -> None:
    """Write a network with all that tells what it is for; the description comes last, so a folder with one is whole."""
    folder.mkdir(parents=True, exist_ok=True)
    tensors = {name: values.contiguous() for name, values in network.state_dict().items()}
    write_bytes(folder / WEIGHTS, save_tensors(tensors))
    shape = {"bits": network.bits, "layout": network.layout, "network": dataclasses.asdict(network.config)}
    write_json(folder / ABOUT, {"format": 1, **shape, **about})


def load_distance(folder: str | Path, model_identity: str | None = None) -> tuple[LearnedDistance, dict[str, Any]]:
    """The distance in a folder, and what its description says; an InputError where it is for another model."""
    folder = Path(folder)
    if not (folder / ABOUT).is_file():
        raise InputError(f"{folder} holds no heuristic; give a folder that train-heuristic wrote")
    about = read_json(folder / ABOUT)
    if model_identity is not None and about.get("model_identity") != model_identity:
        raise InputError(
            f"the heuristic {folder} was trained for another model ({about.get('model')}, "
            f"{about.get('model_identity')}); this one is {model_identity}, and needs a heuristic of its own"
        )
    try:
        layout = None if about["layout"] is None else tuple(about["layout"])
        network = DistanceNetwork(int(about["bits"]), layout, NetworkConfig(**about["network"]))
        network.load_state_dict(load_tensors((folder / WEIGHTS).read_bytes()))
    except (KeyError, TypeError, ValueError, RuntimeError, OSError) as problem:
        words = " ".join(str(problem).split())[:200]
        raise InputError(f"the heuristic {folder} is damaged: {words}") from None
    except Exception as problem:  # safetensors raises a class of its own
        raise InputError(f"the heuristic {folder} is damaged: {problem}") from None
    return LearnedDistance(network), about

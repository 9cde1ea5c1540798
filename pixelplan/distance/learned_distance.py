"""Learned distances as searches use them, and their folders: safetensors and JSON, which cannot run code."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import torch
from safetensors import SafetensorError
from safetensors.torch import load_file
from safetensors.torch import save as save_tensors
from torch import Tensor, nn

from pixelplan.distance.distance_config import NetworkConfig
from pixelplan.distance.network import DistanceNetwork
from pixelplan.files import checksum, read_json, write_bytes, write_json
from pixelplan.model.checkpoint import WEIGHTS_FILE
from pixelplan.model.config_limits import MOST_PARAMETERS
from pixelplan.types import InputError, Model, goal_test_of, is_discrete

FORMAT = 2
HEURISTIC_FILE = "heuristic.json"
MOST_BITS = 2**20
"""The most zeros and ones in a code."""


class LearnedDistance:
    """A `Guide` that uses a network; it reads each goal once and remembers it until the goal changes."""

    def __init__(self, network: DistanceNetwork) -> None:
        self.network = network.eval()
        self._goal: tuple[Tensor, tuple[Tensor, Tensor, Tensor | None]] | None = None

    def __call__(self, z: Tensor, goals: Tensor) -> Tensor:
        """Estimated steps [N] from z [N,d] to any of goals [G,d]."""
        return self.look(z, goals)[0]

    @torch.inference_mode()
    def look(self, z: Tensor, goals: Tensor) -> tuple[Tensor, Tensor]:
        """These steps [N], and the log-probabilities [N,A] that each action is the best one."""
        mean = goals.float().mean(0, keepdim=True)
        if self._goal is None or not torch.equal(self._goal[0], mean):
            self._goal = mean, self.network.read_goal(mean)
        roots, logits = self.network(z.float().unsqueeze(0), self._goal[1])
        return roots.squeeze(0).square(), logits.squeeze(0).log_softmax(1)

    def __getstate__(self) -> dict[str, Any]:
        """For another process: without the remembered goal."""
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
        """The networks of both, which identify this model."""
        networks = getattr(self._model, "networks", None)
        return nn.ModuleList([self.distance.network] if networks is None else [networks, self.distance.network])


def save_distance(network: DistanceNetwork, folder: Path, about: Mapping[str, Any]) -> None:
    """Write a network and its description. The description comes last, so a folder that has one is complete."""
    folder.mkdir(parents=True, exist_ok=True)
    tensors = {name: values.contiguous() for name, values in network.state_dict().items()}
    write_bytes(folder / WEIGHTS_FILE, save_tensors(tensors))
    sizes = {"bits": network.bits, "layout": network.layout, "actions": network.actions}
    shape = {**sizes, "network": dataclasses.asdict(network.config)}
    digest = {"weights_sha256": checksum(folder / WEIGHTS_FILE)}
    write_json(folder / HEURISTIC_FILE, {"format": FORMAT, **shape, **about, **digest})


def load_distance(folder: str | Path, model_identity: str | None = None) -> tuple[LearnedDistance, dict[str, Any]]:
    """The distance in a folder, and its description; an InputError if it is for another model."""
    folder = Path(folder)
    if not (folder / HEURISTIC_FILE).is_file():
        raise InputError(f"{folder} holds no heuristic; give a folder that train-heuristic wrote")
    about = read_json(folder / HEURISTIC_FILE)
    if not isinstance(about, dict) or about.get("format") != FORMAT:
        raise InputError(f"{folder / HEURISTIC_FILE} does not describe a heuristic of this version; train it again")
    if model_identity is not None and about.get("model_identity") != model_identity:
        raise InputError(
            f"the heuristic {folder} was trained for another model ({about.get('model')}, "
            f"{about.get('model_identity')}); this one is {model_identity}, and needs a heuristic of its own"
        )
    network = _described(about, folder / HEURISTIC_FILE)
    path = folder / WEIGHTS_FILE
    try:
        if checksum(path) != about.get("weights_sha256", checksum(path)):  # older descriptions have none
            mismatch = f"the checksum of {WEIGHTS_FILE} is not the one in {HEURISTIC_FILE}"
            raise InputError(f"the heuristic {folder} is damaged: {mismatch}")
        network.load_state_dict(load_file(path))
    except (SafetensorError, OSError, ValueError, RuntimeError) as problem:
        words = " ".join(str(problem).split())[:200]
        raise InputError(f"the heuristic {folder} is damaged: {words}") from None
    return LearnedDistance(network), about


def _described(about: dict[str, Any], path: Path) -> DistanceNetwork:
    """The network that a description asks for; its sizes are checked before any memory is taken."""
    bits: Any = about.get("bits")
    actions: Any = about.get("actions")
    layout, network = about.get("layout"), about.get("network")
    cells: Any = [] if layout is None else layout
    if not isinstance(cells, list) or not all(
        type(number) is int and 1 <= number <= MOST_BITS for number in (bits, actions, *cells)
    ):
        raise InputError(
            f"{path}: bits is {bits}, layout {layout} and actions {actions}; they must be whole numbers, 1 to "
            f"{MOST_BITS:,}"
        )
    if layout is not None and (len(cells) != 3 or math.prod(cells) != bits):
        raise InputError(f"{path}: a layout of {' × '.join(map(str, cells))} does not hold {bits} bits")
    if not isinstance(network, dict):
        raise InputError(f"{path}: network is {network}; it must give the sizes of the network")
    try:
        config = NetworkConfig(**network)
    except (TypeError, InputError) as problem:
        raise InputError(f"{path} describes an impossible network: {problem}") from None
    if 2 * int(bits) * config.hidden + 20 * config.goal_blocks * config.goal_width**2 > MOST_PARAMETERS:
        raise InputError(f"{path} describes a network of more than {MOST_PARAMETERS:,} parameters, which is the limit")
    return DistanceNetwork(bits, None if layout is None else tuple(cells), actions, config)

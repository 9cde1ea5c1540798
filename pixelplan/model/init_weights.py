"""Training that starts from the weights of another model, for a new world with little recorded play."""

from __future__ import annotations

import dataclasses
from pathlib import Path

import torch

from pixelplan.model.checkpoint import load_model
from pixelplan.model.train_config import TrainConfig
from pixelplan.model.world_model import WorldModel
from pixelplan.types import InputError


def of_the_family(config: TrainConfig, model: Path) -> TrainConfig:
    """The config for training that starts from a model's weights: no race, and the same networks; an InputError if the
    config asks for another family."""
    settings = load_model(model).config
    if config.candidates is None and config.model.family != settings.family:
        raise InputError(
            f"{model} belongs to the family {settings.family}, so training that starts from it must use that family; "
            f"{config.model.family} was asked for"
        )
    return dataclasses.replace(config, model=settings, candidates=None)


@torch.no_grad()
def take_weights(model: WorldModel, source: Path) -> None:
    """Put the weights of the model in folder `source` into a new model.

    Weights whose shape differs start from scratch: codes for another number of cells, or answers for another number
    of actions.
    """
    weights = dict(load_model(source).networks.named_parameters())
    for name, parameter in model.networks.named_parameters():
        if name in weights and weights[name].shape == parameter.shape:
            parameter.copy_(weights[name])

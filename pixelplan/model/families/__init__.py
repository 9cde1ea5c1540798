"""The families of world models by name. To add one, write its file here and name it in this table."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from pixelplan.model.batches import action_count
from pixelplan.model.families.cells import Cells
from pixelplan.model.families.grid import ModelConfig, suggest_grid
from pixelplan.model.families.latent import Latent
from pixelplan.model.families.lattice import fit_lattice
from pixelplan.model.families.noisy import NoisyPosition
from pixelplan.model.families.paper import Paper, PaperConfig
from pixelplan.model.families.picture import Picture, PictureConfig
from pixelplan.model.families.position import Position
from pixelplan.model.families.rules import Rules, RulesConfig, fit_rules
from pixelplan.model.families.vector import Vector, VectorConfig
from pixelplan.model.networks import Networks
from pixelplan.model.sizes import Sizes
from pixelplan.types import Trajectories

Config = ModelConfig | PaperConfig | PictureConfig | RulesConfig | VectorConfig
"""The settings of a family."""


@dataclass(frozen=True)
class Family:
    """A kind of latent."""

    networks: type[Networks]
    """Made from a config and sizes."""
    config: type[Any]
    """The type of its settings."""
    fit: Callable[[Any, tuple[int, int] | None, Trajectories], tuple[Any, Sizes]]
    """The settings and sizes for recorded play, from settings with open choices and, if given, a grid."""


def fit_to_frames(
    config: PaperConfig | VectorConfig, grid: tuple[int, int] | None, data: Trajectories
) -> tuple[PaperConfig | VectorConfig, Sizes]:
    """For families that need nothing but the size of a frame and the number of actions."""
    height, width = data.frames.shape[1:3]
    return config, config.sizes(height, width, action_count(data))


FAMILIES = {
    "picture": Family(Picture, PictureConfig, fit_lattice),
    "vector": Family(Vector, VectorConfig, fit_to_frames),
    "position": Family(Position, ModelConfig, suggest_grid),
    "noisy": Family(NoisyPosition, ModelConfig, suggest_grid),
    "rules": Family(Rules, RulesConfig, fit_rules),
    "cells": Family(Cells, ModelConfig, suggest_grid),
    "auto": Family(Position, ModelConfig, suggest_grid),
    "latent": Family(Latent, ModelConfig, suggest_grid),
    "paper": Family(Paper, PaperConfig, fit_to_frames),
}
"""`auto` is position or cells, as the data suggests."""


def family_of(config: Config) -> Family:
    """The family that settings belong to."""
    return FAMILIES["noisy" if getattr(config, "noisy", False) else config.family]


def versions_of(config: Config) -> dict[str, int]:
    """The versions of the families that training with these settings may come to, by name."""
    if getattr(config, "noisy", False):
        names: tuple[str, ...] = ("noisy",)
    else:
        names = ("position", "cells") if config.family == "auto" else (config.family,)
    return {name: FAMILIES[name].networks.version for name in names}


def config_from(settings: dict[str, Any]) -> Config:
    """Settings as they were written to JSON; a KeyError or TypeError if they are no family's."""
    kind = FAMILIES[settings["family"]].config
    values = dict(settings)
    for field in dataclasses.fields(kind):
        default: Any = field.default
        if field.name in values and hasattr(default, "__dataclass_fields__"):
            values[field.name] = type(default)(**values[field.name])
        elif field.name in values and isinstance(default, tuple):
            values[field.name] = tuple(values[field.name])
    config: Config = kind(**values)
    return config

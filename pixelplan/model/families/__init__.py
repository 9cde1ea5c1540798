"""The families of world models by name. To add one, write its file here and name it in this table."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from pixelplan.model.batches import action_count
from pixelplan.model.families.grid import ModelConfig, suggest_grid
from pixelplan.model.families.latent import Latent
from pixelplan.model.families.lattice import fit_lattice
from pixelplan.model.families.noisy import NoisyPosition
from pixelplan.model.families.paper import Paper, PaperConfig
from pixelplan.model.families.picture import Picture
from pixelplan.model.families.picture_config import PictureConfig
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
    "latent": Family(Latent, ModelConfig, suggest_grid),
    "paper": Family(Paper, PaperConfig, fit_to_frames),
}
FORMER_SETTINGS = ("kinds", "pattern_frames")
"""Of a family on a grid that is gone: configs of `position` and `latent` from then still name them."""


def family_of(config: Config) -> Family:
    """The family that settings belong to."""
    return FAMILIES[_name_of(config)]


def versions_of(config: Config) -> dict[str, int]:
    """The version of the family that settings belong to, by its name."""
    name = _name_of(config)
    return {name: FAMILIES[name].networks.version}


def _name_of(config: Config) -> str:
    return "noisy" if getattr(config, "noisy", False) else config.family


def config_from(settings: dict[str, Any]) -> Config:
    """Settings as they were written to JSON; a KeyError or TypeError if they are no family's."""
    kind = FAMILIES[settings["family"]].config
    former = FORMER_SETTINGS if kind is ModelConfig else ()
    values = {name: value for name, value in settings.items() if name not in former}
    for field in dataclasses.fields(kind):
        default: Any = field.default
        if field.name in values and hasattr(default, "__dataclass_fields__"):
            values[field.name] = type(default)(**values[field.name])
        elif field.name in values and isinstance(default, tuple):
            values[field.name] = tuple(values[field.name])
    config: Config = kind(**values)
    return config

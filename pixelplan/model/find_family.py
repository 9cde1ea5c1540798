"""The families of world models by name. `picture` is the core's own; the others are in `pixelplan/families`."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from dataclasses import Field, dataclass
from typing import Any, ClassVar, Protocol

from pixelplan.additions import Registry
from pixelplan.model.lattice import fit_lattice
from pixelplan.model.networks import Networks
from pixelplan.model.picture import Picture
from pixelplan.model.picture_config import PictureConfig
from pixelplan.model.sizes import Sizes
from pixelplan.types import Trajectories


class Config(Protocol):
    """The settings of a family: a frozen dataclass."""

    __dataclass_fields__: ClassVar[dict[str, Field[Any]]]

    @property
    def family(self) -> str:
        """The family's name."""


@dataclass(frozen=True)
class Family:
    """A kind of latent."""

    networks: type[Networks]
    """Made from a config and sizes."""
    config: type[Any]
    """The type of its settings. It may have `former_settings`, names that configs of earlier versions still have."""
    fit: Callable[[Any, tuple[int, int] | None, Trajectories], tuple[Any, Sizes]]
    """The settings and sizes for recorded play, from settings with open choices and, if given, a grid."""


FAMILIES = Registry("families", {"picture": Family(Picture, PictureConfig, fit_lattice)})


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
    """Settings as they were written to JSON; a KeyError or TypeError if they belong to no family."""
    kind = FAMILIES[settings["family"]].config
    former = getattr(kind, "former_settings", ())
    values = {name: value for name, value in settings.items() if name not in former}
    for field in dataclasses.fields(kind):
        default: Any = field.default
        if field.name in values and hasattr(default, "__dataclass_fields__"):
            values[field.name] = type(default)(**values[field.name])
        elif field.name in values and isinstance(default, tuple):
            values[field.name] = tuple(values[field.name])
    config: Config = kind(**values)
    return config

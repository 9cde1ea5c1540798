"""What the commands, the judge and the page know about a planner."""

from __future__ import annotations

import dataclasses
import typing
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from pixelplan.planning.plan import Episode
from pixelplan.types import InputError


@dataclass(frozen=True)
class Planner:
    """A planner by name: it plays one episode of a `World` towards a goal."""

    play: Callable[..., Episode]
    """A function of (model, world, goal, config, random generator)."""
    config: type[Any]
    """Its settings, a frozen dataclass; the fields of dataclasses inside it are settings, too."""
    title: str
    """What the page calls it."""
    about: str
    """What it does, in a few words that begin with a verb."""
    needs_model: bool = True
    watched: bool = False
    """Whether `play` takes an `observer`, to be watched at work."""
    version: int = 1
    """Raise it when the same settings make other plans than before: records name the version."""

    def settings(self, **wanted: Any) -> Any:
        """Its config, with whichever of the given settings it has."""
        return _configured(self.config, wanted)


def settings_of(planners: Iterable[Planner]) -> type[Any]:
    """One dataclass with the settings of all these planners, for a command line; settings of the same name are one."""
    kinds = list(dict.fromkeys(planner.config for planner in planners))
    inner = {kind for outer in kinds for kind in typing.get_type_hints(outer).values()}
    bases = tuple(kind for kind in kinds if kind not in inner)
    return dataclasses.make_dataclass("Settings", [], bases=bases, frozen=True)


def chosen_config(name: str, planner: Planner, settings: Any) -> Any:
    """A planner's own config, taken from what `settings_of` made; an InputError for a setting that it does not have."""
    values, usual = _flat(settings), _flat(type(settings)())
    known = _flat(planner.config())
    for setting, value in values.items():
        if setting not in known and value != usual[setting]:
            others = ", ".join(other.replace("_", "-") for other in known)
            raise InputError(f"{name} has no setting {setting.replace('_', '-')}; it has {others}")
    return _configured(planner.config, values)


def _flat(config: Any) -> dict[str, Any]:
    """All settings by name, including those of dataclasses inside."""
    values: dict[str, Any] = {}
    for field in dataclasses.fields(config):
        value = getattr(config, field.name)
        values.update(_flat(value) if dataclasses.is_dataclass(value) else {field.name: value})
    return values


def _configured(kind: type[Any], values: Mapping[str, Any]) -> Any:
    hints = typing.get_type_hints(kind)
    inner = {name: _configured(hint, values) for name, hint in hints.items() if hasattr(hint, "__dataclass_fields__")}
    outer = {field.name: values[field.name] for field in dataclasses.fields(kind) if field.name in values}
    return kind(**outer, **inner)

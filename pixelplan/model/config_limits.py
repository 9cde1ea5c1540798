"""Limits on the numbers in a model's config, checked before they decide how large the networks are."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from pixelplan.types import InputError

LIMITS: dict[str, tuple[float, float]] = {
    "height": (1, 1024),
    "width": (1, 1024),
    "actions": (1, 256),
    "rows": (1, 128),
    "columns": (1, 128),
    "reach": (1, 128),
    "dimensions": (1, 1024),
    "kinds": (1, 256),
    "maps": (1, 16),
    "encoder_width": (1, 512),
    "encoder_blocks": (0, 32),
    "context_width": (1, 512),
    "inverse_width": (1, 1024),
    "latent_width": (1, 1024),
    "spread_width": (1, 1024),
    "stem": (1, 512),
    "patches": (1, 128),
    "features": (1, 64),
    "wide": (1, 512),
    "words": (1, 2**16),
    "largest_patch": (1, 64),
    "pattern_levels": (1, 10**6),
    "pattern_level_frames": (1, 10**6),
    "word_frames": (1, 10**6),
    "word_fineness": (1, 10**6),
    "word_rollouts": (1, 1024),
    "still_levels": (1, 10**6),
    "least_still": (1e-12, 10**6),
    "largest_still": (1e-12, 10**6),
    "still_bounds": (1, 10**6),
    "blocks": (0, 32),
    "heads": (1, 64),
    "questions": (1, 2**20),
    "sight": (0, 16),
    "planes": (1, 128),
    "side": (4, 64),
    "updates": (1, 10**6),
    "least_updates": (1, 10**6),
    "sampled_steps": (1, 10**6),
    "sights": (0, 16),
    "held_out_every": (2, 1024),
    "trial_questions": (1, 2**20),
    "trial_rounds": (1, 1024),
    "most_looks": (1, 2**16),
    "first_rows": (2, 10**6),
    "more_rows": (1, 10**6),
    "rounds": (1, 1024),
    "deepest": (1, 1024),
    "times_as_long": (1, 1024),
}
"""The smallest and the largest value of each number; any other number may be −1024 to 1024."""
OTHER_LIMITS = (-1024, 1024)
DATA_TYPES: dict[str, type] = {"env": str, "options": dict, "action_names": list, "worlds": list}
"""The types of the parts of the data's description that are read later; each may be missing."""
LARGEST_TABLE = 2**24
"""The largest product of the cells of the latent grid and the cells that a step can lead to."""
MOST_PARAMETERS = 2**27
"""Roughly the most parameters that the networks may have."""


def check_description(description: Mapping[str, Any], path: Path) -> None:
    """An InputError for a config that describes no model, or one that is larger than any that can be trained here."""
    for part in ("model", "sizes"):
        if not isinstance(description.get(part), dict):
            raise InputError(f"{path} does not describe a model of this version ({part!r} is missing)")
        for name, value in _values(description[part]):
            low, high = LIMITS.get(name, OTHER_LIMITS)
            right = _is_number(value) and low <= value <= high  # NaN is not within
            if not right and (name in LIMITS or _is_number(value)):
                raise InputError(f"{path}: {name} is {value}; it must be {low:g} to {high:g}")
    threshold: Any = description.get("threshold")
    if not _is_number(threshold) or not 0 < threshold < math.inf:
        raise InputError(f"{path}: threshold is {threshold}; it must be a positive number")
    for name, value in description["sizes"].items():
        if not (type(value) is int or (name == "glide" and value is None)):
            raise InputError(f"{path}: {name} is {value}; it must be a whole number")
    findings = description.get("findings", {})
    if not isinstance(findings, dict) or not isinstance(findings.get("warnings", []), list):
        raise InputError(f"{path} is damaged: what training found cannot be read; train the model again")
    _check_data(description.get("data", {}), path)
    _check_together(description, path)


def _check_data(data: Any, path: Path) -> None:
    """An InputError if this does not describe the data that a model was trained on, or the data of its worlds."""
    if not isinstance(data, dict):
        raise InputError(f"{path}: data is {data}; it must say what the model was trained on")
    for name, kind in DATA_TYPES.items():
        if not isinstance(data.get(name), kind | None):
            raise InputError(f"{path}: {name} of the data is {data[name]}; that does not say what was trained on")
    names = data.get("action_names") or []
    if not all(isinstance(name, str) for name in names):
        raise InputError(f"{path}: action_names of the data are {names}; they must be words")
    for world in data.get("worlds") or []:
        _check_data(world, path)
        if type(world.get("actions")) is not int:
            raise InputError(f"{path}: actions of a world of the data is {world.get('actions')}; it must be a number")


def _values(part: Any, name: str = "") -> Iterator[tuple[str, Any]]:
    """All values in a part of a config that are not lists or objects, each with its name."""
    if isinstance(part, dict):
        for key, value in part.items():
            yield from _values(value, str(key))
    elif isinstance(part, list):
        for value in part:
            yield from _values(value, name)
    else:
        yield name, part


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _check_together(description: Mapping[str, Any], path: Path) -> None:
    """An InputError if the numbers are possible one by one, but not together."""
    sizes = {
        name: value for part in ("model", "sizes") for name, value in _values(description[part]) if _is_number(value)
    }
    rows, columns, reach = (sizes.get(name, 1) for name in ("rows", "columns", "reach"))
    cells, moves = rows * columns, (2 * reach + 1) ** 2
    if cells * moves > LARGEST_TABLE:
        raise InputError(
            f"{path}: a grid of {rows} × {columns} cells with a reach of {reach} is too large; cells × moves are at "
            f"most {LARGEST_TABLE:,}"
        )
    widest = max(sizes.get(name, 1) for name in ("encoder_width", "context_width", "stem"))
    outputs = sizes.get("actions", 1) * moves
    pixels = sizes.get("height", 1) * sizes.get("width", 1)
    parameters = (
        18 * widest**2 * (sizes.get("encoder_blocks", 1) + reach)
        + widest * outputs
        + cells * sizes.get("dimensions", 1) * sizes.get("maps", 1)
    )
    if description["model"].get("family") == "paper":
        parameters += 2 * (300 * widest**2 + widest * pixels * sizes.get("dimensions", 1) / 2)
    if parameters > MOST_PARAMETERS:
        raise InputError(
            f"{path} describes networks of about {parameters:,.0f} parameters; at most {MOST_PARAMETERS:,} are allowed"
        )

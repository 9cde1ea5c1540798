"""What a manifest must say: later stages rely on it without checking again."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from pixelplan.envs.frames import LARGEST_PICTURE
from pixelplan.envs.noise_config import NOISE, Noise
from pixelplan.types import MOST_ACTIONS, InputError


def check_manifest(manifest: Mapping[str, Any], path: Path) -> None:
    """An InputError for a manifest that no version of this program would write."""
    rules = {
        "env": isinstance(manifest.get("env"), str),
        "options": _is_options(manifest.get("options")),
        "levels": _are_ranges(manifest.get("levels")),
        "actions": _is_whole(manifest.get("actions"), 1, MOST_ACTIONS),
        "random_start": isinstance(manifest.get("random_start"), bool),
        "sha256": isinstance(manifest.get("sha256"), dict),
        "steps": _is_whole(manifest.get("steps"), 1, 2**31),
        "episodes": _is_whole(manifest.get("episodes", 1), 1, 2**31),
        "action_names": _are_names(manifest.get("action_names"), manifest.get("actions")),
    }
    for name, right in rules.items():
        if not right:
            raise InputError(f"{path} is damaged: {name} cannot be {str(manifest.get(name))[:60]}; collect it again")


def _is_whole(value: Any, low: int, high: int) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and low <= value <= high


def _is_options(value: Any) -> bool:
    if not isinstance(value, dict):
        return False
    pixels = value.get("pixels", 1)
    sizes = pixels if isinstance(pixels, list) and len(pixels) == 2 else [pixels]
    try:
        Noise(**value.get(NOISE, {}))
    except (TypeError, InputError):
        return False
    return all(_is_whole(size, 1, LARGEST_PICTURE) for size in sizes)


def _are_ranges(value: Any) -> bool:
    return isinstance(value, list) and all(
        isinstance(pair, list)
        and len(pair) == 2
        and all(_is_whole(end, -(2**63), 2**63) for end in pair)
        and pair[0] < pair[1]
        for pair in value
    )


def _are_names(value: Any, count: Any) -> bool:
    return value is None or (
        isinstance(value, list) and len(value) == count and all(isinstance(name, str) for name in value)
    )

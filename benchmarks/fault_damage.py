"""Damage: bytes that flip, files that end early, impossible JSON values."""

from __future__ import annotations

import json
from typing import Any

import numpy as np

ODD: list[Any] = [
    *(None, True, False, "", "x", "x" * 1000, "\0", "NaN", -1, 0, 1, 7, 255, 10**6, 10**9, 10**18, 10**30, -(10**30)),
    *(0.5, -0.5, 1e308, float("nan"), float("inf"), float("-inf"), [], {}, [[]], [None] * 5, {"a": {}}, "../../etc"),
]
"""Values that a number, a name or a list may become."""


def damaged_bytes(random: np.random.Generator, data: bytes) -> tuple[str, bytes]:
    """A file as a disk, a network or a careless hand may damage it, and the name of that damage."""
    kind = str(random.choice(["flip", "byte", "zeros", "cut", "empty", "more", "twice", "lost"]))
    place = int(random.integers(max(1, len(data))))
    length = int(random.integers(1, 64))
    if kind == "flip" and data:
        changed = bytearray(data)
        changed[place] ^= 1 << int(random.integers(8))
        return kind, bytes(changed)
    if kind == "byte" and data:
        return kind, data[:place] + random.bytes(1) + data[place + 1 :]
    if kind == "zeros":
        return kind, data[:place] + b"\0" * min(length, len(data) - place) + data[place + length :]
    if kind == "cut":
        return kind, data[:place]
    if kind == "more":
        return kind, data + random.bytes(length)
    if kind == "twice":
        return kind, data[:place] + data[max(0, place - length) :]
    if kind == "lost":
        return kind, data[:place] + data[place + length :]
    return "empty", b""


def damaged_value(random: np.random.Generator, value: Any) -> Any:
    """A JSON value in which one part, at any depth, is replaced or missing."""
    changed = json.loads(json.dumps(value))
    where, key = _place(random, changed)
    if isinstance(where, dict) and random.random() < 0.2:
        del where[key]
    else:
        where[key] = ODD[int(random.integers(len(ODD)))]
    return changed


def _place(random: np.random.Generator, value: Any) -> tuple[Any, Any]:
    """A container somewhere in a value, and a key of it."""
    keys = list(value) if isinstance(value, dict) else list(range(len(value)))
    key = keys[int(random.integers(len(keys)))]
    inside = value[key]
    if isinstance(inside, dict | list) and inside and random.random() < 0.8:
        return _place(random, inside)
    return value, key

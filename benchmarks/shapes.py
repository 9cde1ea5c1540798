"""Antialiased shapes for frames of 64x64 pixels.

A shape is a signed distance in pixels [64,64], negative inside, so that a pixel's coverage follows from it. Points are
(row, column) in pixels.
"""

from __future__ import annotations

from typing import Any

import numpy as np

ROWS, COLUMNS = np.mgrid[:64, :64].astype(np.float32) + np.float32(0.5)
Point = tuple[float, float]


def disc(centre: Point, radius: float) -> np.ndarray:
    """[64,64] the distance to a disc."""
    return np.hypot(ROWS - centre[0], COLUMNS - centre[1]) - radius


def stick(start: Point, end: Point, radius: float) -> np.ndarray:
    """[64,64] the distance to a line with round ends."""
    down, right = end[0] - start[0], end[1] - start[1]
    along = ((ROWS - start[0]) * down + (COLUMNS - start[1]) * right) / (down * down + right * right)
    along = np.clip(along, 0, 1)
    return np.hypot(ROWS - start[0] - along * down, COLUMNS - start[1] - along * right) - radius


def polygon(centre: Point, corners: int, inner: float, turned: float = 0.0) -> np.ndarray:
    """[64,64] the distance to a regular polygon around a circle of radius `inner`; unturned, one side looks right."""
    angles = turned + 2 * np.pi * np.arange(corners) / corners
    sides = [(ROWS - centre[0]) * np.sin(angle) + (COLUMNS - centre[1]) * np.cos(angle) for angle in angles]
    return np.max(sides, axis=0) - inner


def coverage(distance: np.ndarray) -> np.ndarray:
    """[64,64] how much of each pixel a shape covers."""
    return np.clip(0.5 - distance, 0, 1)


def paint(picture: np.ndarray, distance: np.ndarray, colour: Any) -> None:
    """Paint a shape over a picture [64,64,3], in place."""
    picture += coverage(distance)[..., None] * (np.asarray(colour, np.float32) - picture)


def frame(picture: np.ndarray) -> np.ndarray:
    """The frame [64,64,3] of a picture of floats."""
    return np.rint(picture).astype(np.uint8)

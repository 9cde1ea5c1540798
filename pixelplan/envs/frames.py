"""Pictures of any kind become frames here, and nowhere else: uint8 [H,W,3], of the size that a model takes."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
from PIL import Image, UnidentifiedImageError

from pixelplan.types import InputError

LARGEST, SMALLEST, USUAL = 128, 24, 64
"""Frames with a side above the first are made smaller, those with a side below the second larger."""
LARGEST_SHRUNK = 112
"""No side of a frame that is made smaller is longer."""


def to_frame(picture: Any) -> np.ndarray:
    """A picture as a frame uint8 [H,W,3], its own size; an InputError for what is no picture.

    Grey ones [H,W] or [H,W,1], those with alpha [H,W,4] and those with channels first [3,H,W] are understood.
    """
    if not isinstance(picture, np.ndarray) or picture.dtype != np.uint8 or picture.ndim not in (2, 3):
        raise InputError(f"{describe(picture)} is no frame; it must be uint8 [height, width, 3]")
    if picture.ndim == 2:
        picture = picture[..., None]
    if picture.shape[2] not in (1, 3, 4) and picture.shape[0] in (1, 3):
        picture = picture.transpose(1, 2, 0)
    if picture.shape[2] not in (1, 3, 4) or 0 in picture.shape:
        raise InputError(f"{describe(picture)} is no frame; it must be uint8 [height, width, 3]")
    picture = picture[..., :3]
    return np.repeat(picture, 3, axis=2) if picture.shape[2] == 1 else np.ascontiguousarray(picture)


def describe(picture: Any) -> str:
    """What somebody gave for a frame, in a few words."""
    return (
        f"{picture.dtype} {list(picture.shape)}" if isinstance(picture, np.ndarray) else f"a {type(picture).__name__}"
    )


def usual_size(height: int, width: int) -> tuple[int, int]:
    """The height and width in which frames of this size are kept where nobody asks for another.

    Mid-sized ones stay as they are. Others change by a whole factor, so that their cells stay cells; where none divides
    the sides of a large one, it becomes 64 × 64.
    """
    if max(height, width) > LARGEST:
        least = -(-max(height, width) // LARGEST_SHRUNK)
        factors = range(least, min(height, width) // SMALLEST + 1)
        factor = next((factor for factor in factors if height % factor == 0 and width % factor == 0), None)
        return (USUAL, USUAL) if factor is None else (height // factor, width // factor)
    if min(height, width) < SMALLEST:
        factor = min(-(-USUAL // max(height, width)), LARGEST // max(height, width))
        return height * factor, width * factor
    return height, width


def resize(frame: np.ndarray, size: tuple[int, int]) -> np.ndarray:
    """A frame [H,W,3] in another height and width: mean colours where it shrinks, whole pixels where it grows."""
    if frame.shape[:2] == size:
        return frame
    method = Image.Resampling.NEAREST if size[0] >= frame.shape[0] else Image.Resampling.BOX
    return np.array(Image.fromarray(frame).resize((size[1], size[0]), method))


def read_frame(path: Path) -> np.ndarray:
    """The picture in a file, [H,W,3] uint8; an InputError where there is none."""
    try:
        with Image.open(path) as picture:
            return np.array(picture.convert("RGB"))
    except FileNotFoundError:
        raise InputError(f"{path} does not exist") from None
    except (UnidentifiedImageError, OSError, SyntaxError) as problem:
        raise InputError(f"{path} is no picture that can be read: {problem}") from None

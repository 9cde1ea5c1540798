"""Arrays of any kind become frames here, and only here: uint8 [H,W,3], in the size that a model takes."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from itertools import islice
from typing import Any, Generic, TypeVar

import numpy as np
from PIL import Image

from pixelplan.types import Goal, InputError, describe_value

Value = TypeVar("Value")
LARGEST_SIDE, SMALLEST_SIDE, USUAL_SIDE = 128, 24, 64
"""Frames with a side above the first are shrunk; frames with a side below the second are enlarged."""
LARGEST_SHRUNK = 112
"""The longest side of a frame that was shrunk."""
LARGEST_PICTURE = 4096
"""The most pixels on a picture's longer side, before it becomes a frame."""


def to_frame(picture: Any) -> np.ndarray:
    """A picture as a frame uint8 [H,W,3] of the same size; an InputError if it is not a picture.

    Grey pictures [H,W] or [H,W,1], those with alpha [H,W,4] and those with channels first [3,H,W] are understood.
    """
    if not isinstance(picture, np.ndarray) or picture.dtype != np.uint8 or picture.ndim not in (2, 3):
        raise InputError(f"{describe_value(picture)} is not a frame; it must be uint8 [height, width, 3]")
    if picture.ndim == 2:
        picture = picture[..., None]
    if picture.shape[2] not in (1, 3, 4) and picture.shape[0] in (1, 3):
        picture = picture.transpose(1, 2, 0)
    if picture.shape[2] not in (1, 3, 4) or 0 in picture.shape:
        raise InputError(f"{describe_value(picture)} is not a frame; it must be uint8 [height, width, 3]")
    if max(picture.shape[:2]) > LARGEST_PICTURE:
        raise InputError(
            f"{describe_value(picture)} is too large for a frame; a side has at most {LARGEST_PICTURE} pixels"
        )
    picture = picture[..., :3]
    return np.repeat(picture, 3, axis=2) if picture.shape[2] == 1 else np.ascontiguousarray(picture)


def usual_size(height: int, width: int, tile: int | None = None) -> tuple[int, int]:
    """The height and width at which frames of this size are kept unless the user asks for another.

    Mid-sized frames stay as they are. Others change by a whole factor, so that their cells stay cells; if tiles are
    known to have `tile` pixels on a side, by one that divides these, too, if possible. If no factor divides the sides
    of a large frame, it becomes 64 × 64.
    """
    if max(height, width) > LARGEST_SIDE:
        least = -(-max(height, width) // LARGEST_SHRUNK)
        factors = range(least, min(height, width) // SMALLEST_SIDE + 1)
        whole = [factor for factor in factors if height % factor == 0 and width % factor == 0]
        best = [factor for factor in whole if tile and tile % factor == 0] or whole
        return (height // best[0], width // best[0]) if best else (USUAL_SIDE, USUAL_SIDE)
    if min(height, width) < SMALLEST_SIDE:
        factor = min(-(-USUAL_SIDE // max(height, width)), LARGEST_SIDE // max(height, width))
        return height * factor, width * factor
    return height, width


def resize(frame: np.ndarray, size: tuple[int, int]) -> np.ndarray:
    """A frame [H,W,3] in another height and width: shrinking averages colours, and enlarging repeats pixels."""
    if frame.shape[:2] == size:
        return frame
    method = Image.Resampling.NEAREST if size[0] >= frame.shape[0] else Image.Resampling.BOX
    return np.array(Image.fromarray(frame).resize((size[1], size[0]), method))


def resize_mask(mask: np.ndarray, size: tuple[int, int]) -> np.ndarray:
    """A mask [H,W] bool in another height and width; a pixel is set if all the pixels that it came from were."""
    return resize(np.repeat(np.uint8(255) * mask[..., None], 3, axis=2), size)[..., 0] == 255


def resized_goal(goal: Goal, size: tuple[int, int]) -> Goal:
    """A goal with pictures of another height and width."""
    if goal.frames is None:
        return goal
    masks = None if goal.masks is None else np.stack([resize_mask(mask, size) for mask in goal.masks])
    return Goal(np.stack([resize(frame, size) for frame in goal.frames]), masks)


class DistinctFrames:
    """Frames of one shape, each kept once and numbered in the order in which it was first added.

    Equal means equal in every byte. Two states that look the same are one frame, even if the game tells them apart
    (in two places of ProcgenMaze the mouse looks the same whichever way it faces).
    """

    def __init__(self, frames: Iterable[np.ndarray] = ()) -> None:
        self._shape: tuple[int, ...] = ()
        self._numbers: dict[bytes, int] = {}
        for frame in frames:
            self.add(frame)

    def __len__(self) -> int:
        return len(self._numbers)

    def add(self, frame: np.ndarray) -> int:
        """The number of a frame [H,W,3], which is kept if it is new."""
        self._shape = frame.shape
        return self._numbers.setdefault(frame.tobytes(), len(self._numbers))

    def number(self, frame: np.ndarray) -> int | None:
        """The number of a frame [H,W,3]; None if it was never added."""
        return self._numbers.get(frame.tobytes())

    def __getitem__(self, number: int) -> np.ndarray:
        """The frame [H,W,3] with a number; read-only."""
        return np.frombuffer(next(islice(self._numbers, number, None)), np.uint8).reshape(self._shape)

    def stacked(self) -> np.ndarray:
        """All frames [n,H,W,3] in the order of their numbers; read-only."""
        return np.frombuffer(b"".join(self._numbers), np.uint8).reshape(-1, *self._shape)


class OncePerFrame(Generic[Value]):
    """A function of a frame that is computed once for each distinct frame: play shows the same few again and again."""

    def __init__(self, compute: Callable[[np.ndarray], Value]) -> None:
        self._compute, self._frames = compute, DistinctFrames()
        self._values: list[Value] = []

    def __call__(self, frame: np.ndarray) -> Value:
        number = self._frames.add(frame)
        if number == len(self._values):
            self._values.append(self._compute(frame))
        return self._values[number]


def distinct_frames(frames: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Which of the frames [n,H,W,3] to keep [m], and each frame's number among the kept ones [n]."""
    distinct = DistinctFrames()
    number_of = np.array([distinct.add(frame) for frame in frames])
    return np.unique(number_of, return_index=True)[1], number_of

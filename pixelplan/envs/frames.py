"""Pictures of any kind become frames here, and only here: uint8 [H,W,3], in the size that a model takes."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from pathlib import Path
from typing import IO, Any

import numpy as np
from PIL import Image

from pixelplan.types import Goal, InputError, describe_value

LARGEST, SMALLEST, USUAL_SIDE = 128, 24, 64
"""Frames with a side above the first are shrunk; frames with a side below the second are enlarged."""
LARGEST_SHRUNK = 112
"""The longest side of a frame that was shrunk."""
LARGEST_PICTURE = 4096
"""The most pixels on a picture's longer side, before it becomes a frame."""

warnings.filterwarnings("error", category=Image.DecompressionBombWarning)  # an exception, as for even larger ones


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
    if max(height, width) > LARGEST:
        least = -(-max(height, width) // LARGEST_SHRUNK)
        factors = range(least, min(height, width) // SMALLEST + 1)
        whole = [factor for factor in factors if height % factor == 0 and width % factor == 0]
        best = [factor for factor in whole if tile and tile % factor == 0] or whole
        return (height // best[0], width // best[0]) if best else (USUAL_SIDE, USUAL_SIDE)
    if min(height, width) < SMALLEST:
        factor = min(-(-USUAL_SIDE // max(height, width)), LARGEST // max(height, width))
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


def read_goal(paths: Sequence[Path]) -> Goal:
    """The goal that pictures show: any of them will do, and transparent pixels do not matter."""
    frames, masks = [], []
    for path in paths:
        if not path.exists():
            raise InputError(f"{path} does not exist")
        picture = decode_picture(path, str(path), alpha=True)
        frames.append(picture[..., :3])
        masks.append(picture[..., 3] > 127)
        if frames[0].shape != frames[-1].shape:
            raise InputError(
                f"{path} is {frames[-1].shape[1]} × {frames[-1].shape[0]} pixels and {paths[0]} "
                f"{frames[0].shape[1]} × {frames[0].shape[0]}; goal pictures must have one size"
            )
    return Goal(np.stack(frames), None if np.all(masks) else np.stack(masks))


def read_frame(path: Path) -> np.ndarray:
    """The picture in a file, [H,W,3] uint8; an InputError if there is none."""
    if not path.exists():
        raise InputError(f"{path} does not exist")
    return decode_picture(path, str(path))


def decode_picture(
    source: Path | IO[bytes],
    what: str,
    largest: int = LARGEST_PICTURE,
    formats: tuple[str, ...] | None = None,
    alpha: bool = False,
) -> np.ndarray:
    """The picture [H,W,3] uint8 in a file; an InputError if there is none, or one with a side above `largest`.

    With `alpha` it is [H,W,4]. The size is checked before the pixels take any memory.
    """
    try:
        with Image.open(source, formats=formats) as picture:
            if max(picture.size) > largest:
                raise InputError(f"{what} is {picture.width} × {picture.height} pixels; a side has at most {largest}")
            picture.verify()  # the checksums of a PNG, which loading it skips
        if not isinstance(source, Path):
            source.seek(0)
        with Image.open(source, formats=formats) as picture:
            return np.array(picture.convert("RGBA" if alpha else "RGB"))
    except InputError:
        raise
    except (Image.DecompressionBombError, Image.DecompressionBombWarning):
        raise InputError(f"{what} claims far too many pixels; a side has at most {largest}") from None
    except Exception as problem:  # a damaged picture can raise anything
        kind = "no picture" if formats is None else f"not a {' or '.join(formats)} picture"
        raise InputError(f"{what} is {kind} that can be read: {problem}") from None


class DistinctFrames:
    """Frames of one shape, each kept once and numbered in the order in which it was first added.

    Equal means equal in every byte. Two states that look the same are one frame, even if the game tells them apart
    (in two places of ProcgenMaze the mouse looks the same whichever way it faces).
    """

    def __init__(self, shape: tuple[int, ...]) -> None:
        self.shape = shape
        self._numbers: dict[bytes, int] = {}

    def __len__(self) -> int:
        return len(self._numbers)

    def add(self, frame: np.ndarray) -> int:
        """The number of a frame [H,W,3]."""
        return self._numbers.setdefault(frame.tobytes(), len(self._numbers))

    def stacked(self) -> np.ndarray:
        """All frames [n,H,W,3] in the order of their numbers; read-only."""
        return np.frombuffer(b"".join(self._numbers), np.uint8).reshape(-1, *self.shape)


def distinct_frames(frames: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Which of the frames [n,H,W,3] to keep [m], and each frame's number among the kept ones [n]."""
    distinct = DistinctFrames(frames.shape[1:])
    number_of = np.array([distinct.add(frame) for frame in frames])
    return np.unique(number_of, return_index=True)[1], number_of

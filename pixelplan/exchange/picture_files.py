"""Frames and goals from picture files, whose claims are checked before they take any memory."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from pathlib import Path
from typing import IO

import numpy as np
from PIL import Image

from pixelplan.envs.frames import LARGEST_PICTURE
from pixelplan.types import Goal, InputError

warnings.filterwarnings("error", category=Image.DecompressionBombWarning)  # an exception, as for even larger ones


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
        kind = "picture" if formats is None else f"{' or '.join(formats)} picture"
        raise InputError(f"{what} cannot be read as a {kind}: {problem}") from None

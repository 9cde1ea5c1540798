"""Pictures that visitors bring: screenshots, photographs, what the page itself has saved."""

from __future__ import annotations

import base64
import binascii
import io

from PIL import Image, UnidentifiedImageError

from pixelplan.types import InputError
from pixelplan.web.boards import Board

LARGEST = 2048
"""Pixels a side; a small file may hold a giant picture."""


def decode(text: str) -> Image.Image:
    """The picture in a PNG or JPEG in base64; an InputError where it is none, or a giant one."""
    try:
        image = Image.open(io.BytesIO(base64.b64decode(text, validate=True)), formats=("PNG", "JPEG"))
        if max(image.size) > LARGEST:
            raise InputError(f"the picture is {image.width} × {image.height} pixels; a side has at most {LARGEST}")
        return image.convert("RGB")
    except (binascii.Error, UnidentifiedImageError, OSError, SyntaxError, ValueError) as problem:
        if isinstance(problem, InputError):
            raise
        raise InputError("the frame is not a PNG or JPEG picture in base64") from None


def fit(image: Image.Image, width: int, height: int) -> tuple[Image.Image, str]:
    """A picture at the size of a frame, and a sentence on what was done: blocks of pixels become their means.

    An InputError where it has other proportions.
    """
    if image.size == (width, height):
        return image, ""
    if abs(image.width * height - image.height * width) > 0.02 * image.height * width:
        raise InputError(f"the picture is {image.width} × {image.height} pixels; a frame of this level has {width} × "
                         f"{height}, and a picture of it the same proportions: crop it")  # fmt: skip
    if image.width < width or image.height < height:
        return image.resize((width, height), Image.Resampling.NEAREST), _said(image, width, height, "enlarged")
    return image.resize((width, height), Image.Resampling.BOX), _said(image, width, height, "scaled down")


def _said(image: Image.Image, width: int, height: int, how: str) -> str:
    return f"The picture was {how} from {image.width} × {image.height} to {width} × {height} pixels."


def state_of_picture(board: Board, image: Image.Image) -> tuple[int, str]:
    """The state that a picture shows, and what was done to see it; an InputError where it shows none."""
    height, width, _ = board.shape
    frame, note = fit(image, width, height)
    state, doubt = board.state_of(frame)
    return state, " ".join(part for part in (note, doubt) if part)

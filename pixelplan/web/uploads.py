"""Pictures that visitors upload: screenshots, photographs, or what the page itself has saved."""

from __future__ import annotations

import base64
import binascii
import io
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from PIL import Image

from pixelplan.envs.frames import resize_mask
from pixelplan.exchange.picture_files import decode_picture
from pixelplan.puzzles import Level
from pixelplan.puzzles.base import Puzzle
from pixelplan.puzzles.digit_jump import DigitJump
from pixelplan.puzzles.drawn_levels import Drawing
from pixelplan.puzzles.ice_slider import IceSlider
from pixelplan.types import Goal, InputError
from pixelplan.web.board import Board

LARGEST_UPLOAD = 2048
"""Pixels per side; a small file may hold a giant picture."""


def decode(text: str, alpha: bool = False) -> Image.Image:
    """The picture in a PNG or JPEG in base64, with alpha if asked for; an InputError if it is none, or too large."""
    try:
        data = base64.b64decode(text, validate=True)
    except (binascii.Error, ValueError):
        raise InputError("the frame is not a PNG or JPEG picture in base64") from None
    return Image.fromarray(decode_picture(io.BytesIO(data), "the picture", LARGEST_UPLOAD, ("PNG", "JPEG"), alpha))


def fit(image: Image.Image, width: int, height: int) -> tuple[Image.Image, str]:
    """A picture at the size of a frame, and a sentence on what was done to it: blocks of pixels become their means.

    An InputError if it has other proportions.
    """
    if image.size == (width, height):
        return image, ""
    if abs(image.width * height - image.height * width) > 0.02 * image.height * width:
        raise InputError(f"the picture is {image.width} × {image.height} pixels; a frame of this level has {width} × "
                         f"{height}, and a picture of it must have the same proportions: crop it")  # fmt: skip
    if image.width < width or image.height < height:
        return image.resize((width, height), Image.Resampling.NEAREST), _resizing(image, width, height, "enlarged")
    return image.resize((width, height), Image.Resampling.BOX), _resizing(image, width, height, "scaled down")


def _resizing(image: Image.Image, width: int, height: int, how: str) -> str:
    return f"The picture was {how} from {image.width} × {image.height} to {width} × {height} pixels."


def aimed_at_pictures(board: Board, texts: Sequence[str]) -> tuple[Board, str]:
    """The board with the goal that pictures in base64 show, any of which will do, and a note on how they were read.

    Transparent pixels do not matter. An InputError if a picture shows nothing of the level.
    """
    height, width, _ = board.shape
    pictures = [decode(text, alpha=True) for text in texts]
    frames, notes = zip(*(fit(picture.convert("RGB"), width, height) for picture in pictures), strict=True)
    masks = [resize_mask(np.array(picture)[..., 3] > 127, (height, width)) for picture in pictures]
    goal = Goal(np.stack([np.array(frame) for frame in frames]), None if np.all(masks) else np.stack(masks))
    aimed, doubt = board.aimed(goal)
    return aimed, " ".join(part for part in (*dict.fromkeys(notes), doubt) if part)


@dataclass(frozen=True, eq=False)
class ReadLevel:
    """A level read from a picture, that looks like the picture."""

    picture: np.ndarray
    """[H,W,3] uint8, at the size of a frame."""
    level: Level
    """Its background is the picture without the agent, so all its frames look like the picture."""
    drawing: Drawing
    note: str
    doubtful: list[tuple[int, int]]
    """Cells (row, column) that look like nothing known."""


_MOST_DIFFERENCE = 40.0
"""Grey values per pixel by which a cell may differ from what it is taken for."""


def read_level(puzzle: Puzzle, image: Image.Image) -> ReadLevel:
    """The level that a picture shows, each cell read as what it looks most like; an InputError if it shows none.

    The level is for judging plans by the true rules, and for moving the agent in the picture. The planner gets pixels.
    """
    if not isinstance(puzzle, IceSlider | DigitJump):
        raise InputError(f"the cells of {type(puzzle).__name__} look different in every level: draw one instead")
    frame, note = fit(image, puzzle.pixels, puzzle.pixels)
    pixels, size, cell = np.array(frame), puzzle.size, puzzle.pixels // puzzle.size
    looks = pixels.reshape(size, cell, size, cell, 3).swapaxes(1, 2).reshape(-1, 1, cell, cell, 3).astype(np.int16)
    tiles = puzzle.tiles()
    apart = np.abs(looks - tiles.astype(np.int16)).mean(axis=(2, 3, 4))  # [cells,tiles]
    if isinstance(puzzle, IceSlider):
        start = int(apart[:, 3].argmin())
        apart[start, 2] = np.inf
        goal = int(apart[:, 2].argmin())
        kinds = apart[:, :2].argmin(1)
        kinds[[start, goal]] = 0
        chosen = kinds.copy()
        chosen[start], chosen[goal] = 3, 2
        cells, ground = "".join("01"[kind] for kind in kinds), tiles[0]
    else:
        start, goal = int((apart[:, 6:].min(1) - apart[:, :6].min(1)).argmin()), size**2 - 1
        chosen = apart[:, :6].argmin(1)
        chosen[start] = 6 + int(apart[start, 6:].argmin())
        cells, ground = "".join(str(kind % 6 + 1) for kind in chosen), tiles[chosen[start] - 6]
    doubtful = np.flatnonzero(apart[np.arange(size**2), chosen] > _MOST_DIFFERENCE)
    if len(doubtful) > size**2 // 4:
        raise InputError(f"the picture shows no level of {type(puzzle).__name__}: {len(doubtful)} of its {size**2} "
                         "cells look like nothing known; crop it to the board")  # fmt: skip
    drawing = Drawing(start, goal, cells)
    background = pixels.copy()
    row, column = divmod(start, size)
    background[row * cell : (row + 1) * cell, column * cell : (column + 1) * cell] = ground
    return ReadLevel(
        pixels,
        replace(puzzle.draw(drawing), background=background),
        drawing,
        note,
        [(int(cell_number) // size, int(cell_number) % size) for cell_number in doubtful],
    )

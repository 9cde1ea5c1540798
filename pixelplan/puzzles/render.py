"""Cells and boards as pixels: our own 8 × 8 sprites, scaled to any cell, and put together."""

from __future__ import annotations

from pathlib import Path

import numpy as np
from PIL import Image

from pixelplan.types import InputError

_COLOURS = {
    ".": (214, 236, 248),  # ice
    ",": (190, 219, 238),
    "*": (240, 249, 254),
    "#": (94, 84, 82),  # rock
    "+": (126, 114, 108),
    "-": (64, 56, 56),
    "r": (214, 60, 52),  # the player's coat
    "d": (150, 34, 40),
    "s": (250, 208, 164),  # skin
    "k": (40, 32, 48),
    "g": (46, 158, 88),  # the flag on the goal
    "G": (30, 112, 62),
    "y": (246, 206, 70),
}

_SPRITES = {
    "ice": ("........", ".*......", "......,.", "........", "..,.....", "......*.", ".,......", "........"),
    "rock": ("........", "..++#...", ".++###-.", ".+####-.", "++####--", "+####---", "#####---", ".-----,."),
    "player": ("..dddd..", ".drrrrd.", ".ssssss.", ".sksksk.", ".ssssss.", "drrrrrrd", ".rrrrrr.", "..kk.kk."),
    "goal": ("..k.....", "..kgg...", "..kgggg.", "..kggGG.", "..kG....", "..k.....", ".yyy....", "yyyyy..."),
}


def sprite(name: str, cell: int) -> np.ndarray:
    """A sprite [cell,cell,3] uint8."""
    drawn = np.array([[_COLOURS[pixel] for pixel in row] for row in _SPRITES[name]], np.uint8)
    return scale_all(drawn[None], cell)[0]


def digit_glyphs() -> np.ndarray:
    """Handwritten digits 1 … 6, [6,8,8] float, 0 paper to 1 ink."""
    return np.load(Path(__file__).with_name("digits.npy"), allow_pickle=False) / 16.0


def scale_all(tiles: np.ndarray, cell: int) -> np.ndarray:
    """Square tiles [n,h,h,3] uint8 resized to [n,cell,cell,3] by areas, so that whole multiples stay crisp."""
    return np.stack([np.array(Image.fromarray(tile).resize((cell, cell), Image.Resampling.BOX)) for tile in tiles])


def tiles_to_image(tiles: np.ndarray, cells: np.ndarray) -> np.ndarray:
    """The board [rows·cell,columns·cell,3] whose cells [rows,columns] name tiles of [n,cell,cell,3]."""
    rows, columns = cells.shape
    cell = tiles.shape[1]
    image = tiles[cells].transpose(0, 2, 1, 3, 4)
    return np.ascontiguousarray(image.reshape(rows * cell, columns * cell, 3))


def check_board(size: int, pixels: int) -> int:
    """The pixels of a cell; an InputError if a board of that size cannot be drawn in that many pixels."""
    if not 4 <= size <= 32:
        raise InputError(f"size is {size}; boards have 4 to 32 cells per side")
    if pixels % size or not 4 <= pixels // size <= 64:
        fitting = max(4, round(pixels / size)) * size
        raise InputError(
            f"pixels is {pixels}; it must be a multiple of size {size} with 4 to 64 pixels per cell, such as {fitting}"
        )
    return pixels // size

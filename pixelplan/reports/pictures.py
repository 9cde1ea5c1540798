"""Frames for people: enlarged, with the path drawn in, many on a sheet."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

import numpy as np
from PIL import Image, ImageDraw, ImageFont

from pixelplan.puzzles.level import Level

SCALE = 4
_PAPER, _INK, _ARROW, _EDGE = (250, 250, 248), (40, 40, 44), (255, 255, 255), (24, 24, 28)


def centres(level: Level, states: Sequence[int]) -> np.ndarray:
    """Where the agent stands in these states, [n,2] pixels (row, column)."""
    return level.corners[np.asarray(states, int)] + level.patches.shape[1] / 2


def draw_way(
    frame: np.ndarray, way: np.ndarray, cell: float, circles: Sequence[int] = (), scale: int = SCALE
) -> Image.Image:
    """A frame [H,W,3] enlarged, with arrows along the path [n,2] and a circle at each of its named places.

    `cell` is the side of a cell in pixels, for the size of the arrows.
    """
    image = Image.fromarray(frame).resize((frame.shape[1] * scale, frame.shape[0] * scale), Image.Resampling.NEAREST)
    draw = ImageDraw.Draw(image)
    points = way[:, ::-1] * scale
    for start, end in pairwise(points):
        if not np.array_equal(start, end):
            _arrow(draw, start, end, cell * scale)
    for place in circles:
        x, y = points[place]
        radius = 0.4 * cell * scale
        for width, colour in ((scale, _EDGE), (max(1, scale // 2), _ARROW)):
            draw.ellipse((x - radius, y - radius, x + radius, y + radius), outline=colour, width=width)
    return image


def _arrow(draw: ImageDraw.ImageDraw, start: np.ndarray, end: np.ndarray, cell: float) -> None:
    """An arrow with a dark edge, readable on ice and on ink; sizes follow the cell's."""
    along = (end - start) / np.linalg.norm(end - start)
    across = np.array([-along[1], along[0]])
    head, thickness, edge = 0.42 * cell, max(2.0, 0.1 * cell), max(1.5, 0.05 * cell)
    tip, neck = end - along * 0.06 * cell, end - along * (head + 0.06 * cell)
    for extra, colour in ((edge, _EDGE), (0.0, _ARROW)):
        draw.line([tuple(start), tuple(neck)], fill=colour, width=round(thickness + 2 * extra))
        side = across * (0.5 * head + extra)
        back = neck - along * extra
        draw.polygon([tuple(tip + along * extra), tuple(back + side), tuple(back - side)], fill=colour)


def sheet(pictures: Sequence[Image.Image], titles: Sequence[str], columns: int = 5) -> Image.Image:
    """Pictures of one size in rows, each under its title."""
    width, height = pictures[0].size
    margin, line = 10, 20
    columns = min(columns, len(pictures))
    rows = -(-len(pictures) // columns)
    size = (columns * (width + margin) + margin, rows * (height + line + margin) + margin)
    page = Image.new("RGB", size, _PAPER)
    draw = ImageDraw.Draw(page)
    font = ImageFont.load_default(14)
    for index, (picture, title) in enumerate(zip(pictures, titles, strict=True)):
        row, column = divmod(index, columns)
        x, y = margin + column * (width + margin), margin + row * (height + line + margin)
        draw.text((x, y), title, fill=_INK, font=font)
        page.paste(picture, (x, y + line))
    return page


def level_sheet(levels: Sequence[Level], columns: int = 5) -> Image.Image:
    """Levels with their shortest solutions drawn as arrows."""
    pictures, titles = [], []
    for level in levels:
        solution = level.shortest_path(level.start) or ()
        way = centres(level, level.follow(solution))
        pictures.append(draw_way(level.frame(level.start), way, level.patches.shape[1]))
        titles.append(f"level {level.number}: {len(solution)} moves")
    return sheet(pictures, titles, columns)

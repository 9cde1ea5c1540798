"""Levels drawn by hand, as a short text, `START-GOAL-CELLS`, that fits into an address.

Cells are counted row by row from the top left, and CELLS has a digit for each: 0 is free and 1 a rock or a wall; on
DigitJump's boards it is the digit itself. A maze has one more number: that of the level whose floor it has.
"""

from __future__ import annotations

import re
import zlib
from dataclasses import dataclass
from functools import lru_cache
from typing import Protocol

from pixelplan.puzzles.base import Puzzle
from pixelplan.puzzles.level import Level
from pixelplan.types import InputError

PATTERN = r"\d{1,4}-\d{1,4}-[0-9]{16,1024}(-\d{1,10})?"


@dataclass(frozen=True)
class Drawing:
    """A level as it was drawn."""

    start: int
    goal: int
    cells: str
    floor: int = 0

    def __str__(self) -> str:
        return f"{self.start}-{self.goal}-{self.cells}" + (f"-{self.floor}" if self.floor else "")

    @classmethod
    def parse(cls, text: str) -> Drawing:
        """The drawing that a text describes; an InputError if it describes none."""
        if not re.fullmatch(PATTERN, text):
            raise InputError(f"there is no level {text[:40]!r}; a drawn level is START-GOAL-CELLS, all in digits")
        start, goal, cells, *floor = text.split("-")
        return cls(int(start), int(goal), cells, int(floor[0]) if floor else 0)

    @property
    def number(self) -> int:
        """Stands in for a level's number if one is needed, for example as a seed."""
        return zlib.crc32(str(self).encode()) >> 1

    def check(self, count: int, kinds: str, free: str) -> None:
        """An InputError unless there are `count` cells of these kinds, and start and goal are different free ones."""
        if len(self.cells) != count:
            raise InputError(f"the drawn level has {len(self.cells)} cells; here it has {count}")
        if not set(self.cells) <= set(kinds):
            raise InputError(f"the drawn level has cells {''.join(sorted(set(self.cells)))}; here they are of {kinds}")
        for what, cell in (("start", self.start), ("goal", self.goal)):
            if cell >= count or self.cells[cell] not in free:
                raise InputError(f"the {what} of the drawn level is in cell {cell}, which is not free")
        if self.start == self.goal:
            raise InputError("start and goal of the drawn level are the same cell")


class Drawable(Protocol):
    """A puzzle whose levels can be drawn."""

    def draw(self, drawing: Drawing) -> Level:
        """The level of a drawing; an InputError if it does not suit this puzzle."""

    def drawing(self, level: Level) -> Drawing:
        """A level of this puzzle as a drawing."""


@lru_cache(maxsize=256)
def drawn_level(puzzle: Puzzle, text: str) -> Level:
    """The level that a text draws; an InputError if it draws none."""
    return as_drawable(puzzle).draw(Drawing.parse(text))


def as_drawable(puzzle: Puzzle) -> Drawable:
    """A puzzle whose levels can be drawn; an InputError for others."""
    if not hasattr(puzzle, "draw"):
        raise InputError(f"levels of {type(puzzle).__name__} cannot be drawn")
    return puzzle  # type: ignore[return-value]

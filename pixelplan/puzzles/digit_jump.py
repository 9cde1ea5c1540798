"""DigitJump: the digit you stand on is how far you jump."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cache
from typing import Any, ClassVar, Literal

import numpy as np

from pixelplan.puzzles.candidate_boards import first_suitable
from pixelplan.puzzles.drawn_levels import Drawing
from pixelplan.puzzles.level import Level
from pixelplan.puzzles.random_words import Words, below
from pixelplan.puzzles.render import check_board, digit_glyphs, scale_all, tiles_to_image
from pixelplan.types import InputError

_PAPER = np.array([142, 178, 60])
_AGENT = np.array([240, 104, 56])
_PLAIN = np.array([(70, 40, 120), (40, 90, 170), (30, 150, 150), (90, 180, 70), (220, 190, 60), (235, 120, 150)])


@dataclass(frozen=True)
class DigitJump:
    """A board of handwritten digits. A move jumps exactly as far as the digit under the agent says.

    **Rules.** The agent starts in the top left corner and must reach the bottom right one. A jump that would leave the
    board changes nothing, so many cells are traps.

    **Actions.** `Discrete(5)`: 0 up, 1 right, 2 left, 3 down, 4 no-op.

    **Observation.** The board from above, uint8 [pixels, pixels, 3]; the agent's cell has another colour.

    **Reward.** 10 on first reaching the goal in an episode, else 0.

    **Termination.** On the goal; with `terminate_on_goal=False`, play goes on. Truncation after
    `max_episode_steps`, if given.

    **Levels.** Level k with the default options is level k of the environments published with the paper. Digits are
    1 to 6, or 1 to size − 1 on boards smaller than 7 × 7.
    """

    size: int = 8
    """Cells per side, 4 to 32."""
    pixels: int = 64
    """Side of the frame, a multiple of size; a cell needs at least 4 pixels."""
    minimum_length: int = 1
    """The fewest moves that the shortest solution may have."""
    dead_ends: bool = False
    """Whether a level must have a reachable place from which the goal can no longer be reached."""
    look: Literal["glyphs", "colours"] = "glyphs"
    """Handwritten digits, or one plain colour per digit with the agent as a dark square."""

    random_start_in_play: ClassVar[bool] = False

    def __post_init__(self) -> None:
        check_board(self.size, self.pixels)
        if self.minimum_length < 1:
            raise InputError(f"minimum_length is {self.minimum_length}; a solution has at least 1 move")
        if self.look not in ("glyphs", "colours"):
            raise InputError(f"look is {self.look!r}; it is 'glyphs' or 'colours'")

    @property
    def looks(self) -> dict[str, Any]:
        """The size of a cell, and what is in it."""
        return {"pixels/size": self.pixels // self.size, "look": self.look}

    def make(self, number: int) -> Level:
        """Level `number`; an InputError if the generator gives up, never an unsuitable level."""
        cells, attempts = self.size**2, 0
        words = Words(number)
        most = min(1_000_000, 64_000_000 // cells)
        boards = 4  # most levels are among the first few boards; a demanding one grows the batch
        while attempts < most:
            stream = words.take(3 * boards * cells)
            drawn_at, values = below(stream, min(6, self.size - 1))
            whole = len(values) // cells
            digits = values[: whole * cells].astype(np.int64).reshape(whole, self.size, self.size) + 1
            words.give_back(stream[drawn_at[whole * cells - 1] + 1 :])
            successors = jumps(digits)
            start, goal = np.zeros(whole, np.int64), np.full(whole, cells - 1)
            chosen = first_suitable(successors, start, goal, self.minimum_length, self.dead_ends)
            if chosen is not None:
                return self._level(number, digits[chosen], successors[:, :, chosen].T)
            attempts += whole
            boards = min(256, 2 * boards)
        raise InputError(
            f"no DigitJump level {number} of size {self.size} with a solution of at least {self.minimum_length} moves "
            f"among {attempts:,} boards; lower minimum_length or allow dead_ends=False"
        )

    def draw(self, drawing: Drawing) -> Level:
        """The level of a drawing."""
        kinds = "123456"[: self.size - 1]
        drawing.check(self.size**2, kinds, kinds)
        digits = np.array([int(cell) for cell in drawing.cells]).reshape(self.size, self.size)
        level = self._level(drawing.number, digits, jumps(digits[None])[:, :, 0].T)
        states = np.arange(self.size**2, dtype=np.int32)
        return replace(
            level, start=drawing.start, goal=drawing.goal, goals=states == drawing.goal,
            starts=states[states != drawing.goal],
        )  # fmt: skip

    def drawing(self, level: Level) -> Drawing:
        """A level as a drawing."""
        _, marked = _tiles(self.look, self.pixels // self.size)
        digits = (level.patches[:, None] == marked).all(axis=(2, 3, 4)).argmax(1) + 1
        return Drawing(level.start, level.goal, "".join(map(str, digits)))

    def tiles(self) -> np.ndarray:
        """What a cell can look like: the six digits, then the same with the agent, [12,cell,cell,3] uint8."""
        return np.concatenate(_tiles(self.look, self.pixels // self.size))

    def _level(self, number: int, digits: np.ndarray, successors: np.ndarray) -> Level:
        cell = self.pixels // self.size
        plain, marked = _tiles(self.look, cell)
        states = np.arange(self.size**2, dtype=np.int32)
        positions = np.stack(np.divmod(states, self.size), axis=1)
        return Level(
            number=number,
            background=tiles_to_image(plain, digits - 1),
            patches=marked[digits.ravel() - 1],
            corners=positions * cell,
            successors=np.concatenate([successors, states[:, None]], axis=1).astype(np.int32),
            positions=positions,
            start=0,
            goals=states == len(states) - 1,
            goal=len(states) - 1,
            starts=states[:-1],
        )


def jumps(digits: np.ndarray) -> np.ndarray:
    """Where a jump up, right, left and down lands from every cell of boards [B,size,size]: cells [4,size²,B]."""
    boards, size, _ = digits.shape
    digits = digits.transpose(1, 2, 0)
    row, column = np.indices((size, size))[..., None]
    landings = []
    for row_step, column_step in ((-1, 0), (0, 1), (0, -1), (1, 0)):
        to_row, to_column = row + row_step * digits, column + column_step * digits
        inside = (to_row >= 0) & (to_row < size) & (to_column >= 0) & (to_column < size)
        landings.append(np.where(inside, to_row * size + to_column, row * size + column))
    return np.stack(landings).reshape(4, size**2, boards)


@cache
def _tiles(look: str, cell: int) -> tuple[np.ndarray, np.ndarray]:
    """The six cells without and with the agent, each [6,cell,cell,3] uint8."""
    if look == "glyphs":
        paper = 1.0 - digit_glyphs()[..., None]
        plain, marked = paper * _PAPER, paper * _AGENT
    else:
        plain = np.broadcast_to(_PLAIN[:, None, None], (6, 8, 8, 3))
        marked = plain.copy()
        marked[:, 2:6, 2:6] = 20
    return scale_all(plain.astype(np.uint8), cell), scale_all(marked.astype(np.uint8), cell)

"""IceSlider: slide until something stops you."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from functools import cache
from typing import Any, ClassVar

import numpy as np
from numpy.lib.stride_tricks import sliding_window_view

from pixelplan.puzzles.candidate_boards import first_suitable
from pixelplan.puzzles.drawn_levels import Drawing
from pixelplan.puzzles.level import Level
from pixelplan.puzzles.random_words import Words, before, below, drawn
from pixelplan.puzzles.render import check_board, sprite, tiles_to_image
from pixelplan.types import InputError

_SHORTEST_BY_SIZE = {4: 4, 5: 5, 6: 6, 7: 8}
"""The fewest moves of a solution on small boards, on which the nine of larger boards are rare or impossible."""

_BLOCK = 20_000
"""Words drawn at a time: about 190 boards of the default size; a level takes 333 on average."""


@dataclass(frozen=True)
class IceSlider:
    """A board of ice and rocks seen from above. Every move slides until a rock or the border stops it.

    **Rules.** The agent starts in the top row and must come to a full stop on the flag in the bottom row; sliding
    over the flag does not count. Many slides cannot be undone, and every level has a place from which the flag can no
    longer be reached (unless `dead_ends=False`).

    **Actions.** `Discrete(5)`: 0 up, 1 right, 2 left, 3 down, 4 no-op. A move against a rock or the border
    changes nothing.

    **Observation.** The board from above, uint8 [pixels, pixels, 3]. The agent hides the flag when it stands on it.

    **Reward.** 10 on first reaching the goal in an episode, else 0.

    **Termination.** On the goal; with `terminate_on_goal=False`, play goes on. Truncation after
    `max_episode_steps`, if given.

    **Levels.** Level k with the default options is level k of the environments published with the paper.
    """

    size: int = 8
    """Cells per side, 4 to 32."""
    pixels: int = 64
    """Side of the frame, a multiple of size; a cell needs at least 4 pixels."""
    rock_density: float = 0.2
    """Share of rocks among the cells drawn, taken as the nearest fraction with a denominator up to 100."""
    minimum_length: int | None = None
    """The fewest moves that the shortest solution may have; 9 by default, fewer on boards smaller than 8."""
    dead_ends: bool = True
    """Whether a level must have a reachable place from which the goal can no longer be reached."""

    random_start_in_play: ClassVar[bool] = False

    def __post_init__(self) -> None:
        check_board(self.size, self.pixels)
        if not 0.01 <= self.rock_density <= 0.9:
            raise InputError(f"rock_density is {self.rock_density}; it must be between 0.01 and 0.9")
        if self.minimum_length is not None and self.minimum_length < 1:
            raise InputError(f"minimum_length is {self.minimum_length}; a solution has at least 1 move")

    @property
    def looks(self) -> dict[str, Any]:
        """The size of a cell."""
        return {"pixels/size": self.pixels // self.size}

    def make(self, number: int) -> Level:
        """Level `number`; an InputError if the generator gives up, never an unsuitable level."""
        length = self.minimum_length or _SHORTEST_BY_SIZE.get(self.size, 9)
        attempts = 0
        most = min(1_000_000, 64_000_000 // self.size**2)
        for free, start, goal in self._boards(number):
            successors = slides(free)
            chosen = first_suitable(successors, start, goal, length, self.dead_ends)
            if chosen is not None:
                return self._level(
                    number, free[chosen], successors[:, :, chosen].T, int(start[chosen]), int(goal[chosen])
                )
            attempts += len(free)
            if attempts >= most:
                raise InputError(
                    f"no IceSlider level {number} of size {self.size} with a solution of at least {length} moves among "
                    f"{attempts:,} boards; lower minimum_length, change rock_density or allow dead_ends=False"
                )
        raise AssertionError("the boards never end")

    def draw(self, drawing: Drawing) -> Level:
        """The level of a drawing."""
        drawing.check(self.size**2, "01", "0")
        free = np.array([cell == "0" for cell in drawing.cells]).reshape(self.size, self.size)
        return self._level(drawing.number, free, slides(free[None])[:, :, 0].T, drawing.start, drawing.goal)

    def drawing(self, level: Level) -> Drawing:
        """A level as a drawing."""
        free = {*level.starts.tolist(), level.goal, level.start}
        return Drawing(level.start, level.goal, "".join("01"[cell not in free] for cell in range(self.size**2)))

    def tiles(self) -> np.ndarray:
        """What a cell can look like: free, a rock, the goal and the player, [4,cell,cell,3] uint8."""
        return _tiles(self.pixels // self.size)[[1, 0, 2, 3]]

    def _boards(self, number: int) -> Iterator[tuple[np.ndarray, np.ndarray, np.ndarray]]:
        """Candidates in the published order, many at a time: free [B,size,size] bool, start [B], goal [B] cells."""
        size, cells = self.size, self.size**2
        density = Fraction(self.rock_density).limit_denominator(100)
        words = Words(number)
        while True:
            stream = words.take(max(_BLOCK, 8 * cells))
            cells_at, values = below(stream, density.denominator)
            # One board starts where the last one ended, so this stays a loop; bytes and views give plain integers.
            column, cell_place = drawn(stream, size).tobytes(), cells_at.data
            cells_before = before(cells_at, len(stream)).data
            begin, columns, first_cells = 0, [], []
            try:
                while True:
                    here = begin
                    while (start_column := column[here]) >= size:
                        here += 1
                    here += 1
                    while (goal_column := column[here]) >= size:
                        here += 1
                    cell = cells_before[here + 1]
                    begin = cell_place[cell + cells - 1] + 1
                    columns.append((start_column, goal_column))
                    first_cells.append(cell)
            except IndexError:  # the last board is not whole
                words.give_back(stream[begin:])
            start, goal = np.array(columns).reshape(-1, 2).T
            goal = goal + cells - size
            free = sliding_window_view(values, cells)[np.array(first_cells, np.int64)] >= density.numerator
            board = np.arange(len(free))
            free[board, start] = free[board, goal] = True
            yield free.reshape(-1, size, size), start, goal

    def _level(self, number: int, free: np.ndarray, successors: np.ndarray, start: int, goal: int) -> Level:
        cell = self.pixels // self.size
        tiles = _tiles(cell)
        drawn = free.astype(np.int64)
        drawn.ravel()[goal] = 2
        states = np.arange(self.size**2, dtype=np.int32)
        positions = np.stack(np.divmod(states, self.size), axis=1)
        return Level(
            number=number,
            background=tiles_to_image(tiles, drawn),
            patches=np.broadcast_to(tiles[3], (len(states), *tiles[3].shape)),
            corners=positions * cell,
            successors=np.concatenate([successors, states[:, None]], axis=1).astype(np.int32),
            positions=positions,
            start=start,
            goals=states == goal,
            goal=goal,
            starts=np.flatnonzero(free.ravel() & (states != goal)).astype(np.int32),
        )


def slides(free: np.ndarray) -> np.ndarray:
    """Where a slide up, right, left and down ends from every cell of boards [B,size,size]: cells [4,size²,B]."""
    boards, size, _ = free.shape
    free = np.ascontiguousarray(free.transpose(1, 2, 0))
    ends = np.empty((4, size, size, boards), np.int16)
    ends[:] = np.arange(size**2, dtype=np.int16).reshape(size, size, 1)
    up, right, left, down = ends
    for line in range(1, size):
        back = size - 1 - line
        np.copyto(up[line], up[line - 1], where=free[line - 1])
        np.copyto(left[:, line], left[:, line - 1], where=free[:, line - 1])
        np.copyto(down[back], down[back + 1], where=free[back + 1])
        np.copyto(right[:, back], right[:, back + 1], where=free[:, back + 1])
    return ends.reshape(4, -1, boards)


@cache
def _tiles(cell: int) -> np.ndarray:
    """Rock, ice, goal and player, [4,cell,cell,3] uint8."""
    return np.stack([sprite(name, cell) for name in ("rock", "ice", "goal", "player")])

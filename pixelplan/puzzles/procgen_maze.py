"""ProcgenMaze: Procgen's maze, read from the real program once per level and then played from tables."""

from __future__ import annotations

import contextlib
import io
import threading
import warnings
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.lib.stride_tricks import sliding_window_view

from pixelplan.puzzles.drawn_levels import Drawing
from pixelplan.puzzles.level import Level
from pixelplan.types import InputError


@dataclass(frozen=True)
class ProcgenMaze:
    """A mouse looks for a piece of cheese in a maze: the environment `maze` of Procgen, in its easy mode.

    **Rules.** The mouse stands on a free cell of a 15 × 15 world. A move takes it to the neighbouring cell; if a
    wall or the edge of the world is in the way, it stays. The mouse faces left or right: *left* and *right* turn it
    that way, even if a wall keeps it in its cell; *up*, *down* and *no-op* do not turn it. So a state is a free cell
    and a facing, and one cell has two frames.

    **Actions.** 0 up, 1 right, 2 left, 3 down, 4 no-op.

    **Observation.** 64 × 64 RGB, byte for byte what Procgen shows in that state. Procgen never shows the solved maze,
    since it starts its next episode at once; here that frame exists: the mouse on the cheese's cell, the cheese gone. A
    cell is 4.27 pixels wide, and in two cells of the world (row 5, columns 7 and 11) Procgen's scaling gives the mouse
    the same few pixels whichever way it faces: these two states share a frame.

    **Reward and termination.** 10 on reaching the cheese. The goal is absorbing: every action stays there, and the
    mouse no longer turns. Both facings on the goal's cell are solved; the goal frame shows the mouse facing left, as
    the start frame does, even if it can only arrive facing right. Procgen's own limit of 500 steps per episode is not
    part of a level.

    **Options.** None.

    **Levels.** Number k is Procgen's `start_level=k, num_levels=1, distribution_mode="easy"`. The maze is a square of
    3, 5, … or 15 cells per side in the middle of the world (all sizes equally likely); the rest is wall. Its free
    cells form a tree of (side + 1)² / 2 − 1 cells (7 to 127), so there is exactly one path between two cells and every
    state can still be solved, though cells behind the cheese cannot be reached from the start. The mouse starts in the
    maze's bottom left cell, facing left; the cheese lies in any other cell. Levels differ in their floor, too: its
    picture and the part of it that is shown.

    Needs Procgen: `pip install 'pixelplan[procgen]'`.
    """

    pixels: ClassVar[int] = 64
    random_start_in_play: ClassVar[bool] = True
    """Random play starts in random cells, as in the paper's appendix."""

    @property
    def looks(self) -> dict[str, Any]:
        """There is only one look."""
        return {}

    def make(self, number: int) -> Level:
        """The level with this number."""
        return self._level(number, _simulator().load(number))

    def draw(self, drawing: Drawing) -> Level:
        """The level of a drawing, on the floor of the level that it names."""
        drawing.check(_WORLD**2, "01", "0")
        if drawing.floor > 2**31 - 1:
            raise InputError(f"there is no level {drawing.floor}, whose floor the drawn level has")
        state = _simulator().load(drawing.floor)
        cells = np.array([_WALL if cell == "1" else _FREE for cell in drawing.cells], np.int32)
        cells[drawing.goal] = _CHEESE
        _cell_types(state)[:] = cells.reshape(_WORLD, _WORLD)
        row, column = divmod(drawing.start, _WORLD)
        state["mouse"]["x"], state["mouse"]["y"] = column + 0.5, _WORLD - 1 - row + 0.5
        return self._level(drawing.number, state)

    def drawing(self, level: Level) -> Drawing:
        """A level as a drawing."""
        cells = (level.positions @ [_WORLD, 1]).tolist()
        free = set(cells)
        text = "".join("01"[cell not in free] for cell in range(_WORLD**2))
        return Drawing(cells[level.start], cells[level.goal], text, level.number)

    def _level(self, number: int, state: np.ndarray) -> Level:
        simulator = _simulator()
        cell_types = _cell_types(state)
        cells = np.argwhere(cell_types != _WALL)
        goal_cell = int(np.flatnonzero(cell_types[tuple(cells.T)] == _CHEESE)[0])
        start_cell = int(np.flatnonzero((cells == _mouse_cell(state)).all(axis=1))[0])

        # Patches of different cells do not overlap, so one frame with a mouse on every cell holds them all.
        solved = state.copy()
        _cell_types(solved)[tuple(cells[goal_cell])] = _FREE
        herds = [simulator.render(solved, cells, facing) for facing in _FACINGS]
        corners = (cells * _PIXELS + 11) // _WORLD  # the rounding that catches all of mouse and cheese in 4 pixels
        patches = np.stack([_cut(herd, corners) for herd in herds], axis=1)

        successors = _successors(cells)
        successors[goal_cell] = 2 * goal_cell + np.array(_FACINGS)[:, None]
        goals = np.repeat(np.arange(len(cells)) == goal_cell, 2)
        starts = np.arange(0, len(goals), 2, dtype=np.int32)
        return Level(
            number=number,
            background=simulator.render(state, cells[:0], _LEFT),
            patches=patches.reshape(-1, _PATCH, _PATCH, 3),
            corners=np.repeat(corners, 2, axis=0).astype(np.int32),
            successors=successors.reshape(-1, len(_MOVES)),
            positions=np.repeat(cells, 2, axis=0).astype(np.int32),
            start=2 * start_cell + _LEFT,
            goals=goals,
            goal=2 * goal_cell + _LEFT,
            starts=starts[~goals[starts]],
        )


_PIXELS, _WORLD, _PATCH = 64, 15, 4
_WALL, _FREE, _CHEESE = 51, 100, 2
_FACINGS = _LEFT, _RIGHT = 0, 1
"""A state is 2 · cell + facing."""
_MOVES = ((-1, 0), (0, 1), (0, -1), (1, 0), (0, 0))
"""Rows and columns, counted from the top left, that each action goes."""


def _successors(cells: np.ndarray) -> np.ndarray:
    """States [n,2,A] after each action from each facing in each of the cells [n,2]."""
    number = np.full((_WORLD + 2, _WORLD + 2), -1, np.int32)  # a rim of walls
    number[tuple(cells.T + 1)] = np.arange(len(cells))
    there = np.stack([number[tuple((cells + move).T + 1)] for move in _MOVES], axis=1)
    there = np.where(there < 0, np.arange(len(cells))[:, None], there)
    facings = np.array([[facing, _RIGHT, _LEFT, facing, facing] for facing in _FACINGS])
    return (2 * there[:, None] + facings).astype(np.int32)


def _cut(frame: np.ndarray, corners: np.ndarray) -> np.ndarray:
    """Patches [n,p,p,3] of a frame [H,W,3] at corners [n,2]."""
    windows = sliding_window_view(frame, (_PATCH, _PATCH), axis=(0, 1))  # type: ignore[call-overload]
    return windows[tuple(corners.T)].transpose(0, 2, 3, 1)


# Procgen writes a game as 4-byte words and strings. The only strings whose length varies are the texts of its three
# random generators. Rendering needs none of them and a reset seeds them, so we cut them out (length 0, which leaves
# the generator as it is): the rest is one record, and setting it takes a fifth of the time.
_MOUSE = np.dtype([("x", "<f4"), ("y", "<f4"), ("body", "<i4", 13), ("faces_right", "<i4"), ("rest", "<i4", 15)])
_GENERATOR = np.dtype([("seeded", "<i4"), ("text_length", "<i4")])
_HEAD = [
    ("version", "<i4"),
    ("name_length", "<i4"),
    ("name", "S4"),
    ("options", "<i4", 12),
    ("grid_step", "<i4"),
    ("level_range", "<i4", 2),
    ("game", "<i4", 2),
    ("level_generator", _GENERATOR),
    ("game_generator", _GENERATOR),
    ("last_step", "<i4", 5),
    ("level", "<i4"),
    ("previous_level", "<i4"),
    ("episodes_remaining", "<i4"),
    ("clocks_and_defaults", "<i4", 7),
    ("grid_size", "<i4"),
    ("mice", "<i4"),
]
_TAIL = [
    ("drawing", "<i4", 19),
    ("asset_generator", _GENERATOR),
    ("view", "<i4", 9),
    ("grid_shape", "<i4", 3),
    ("cell_types", "<i4", _WORLD * _WORLD),
    ("sizes", "<i4", 2),
    ("end", "<i4"),
]
_STATE = np.dtype([*_HEAD, ("mouse", _MOUSE), *_TAIL])
_GENERATORS = ("level_generator", "game_generator", "asset_generator")


def _parse(state: bytes) -> np.ndarray:
    """A game's record [1] of type `_STATE`, from the bytes that Procgen wrote, without the generators' texts."""
    pieces, read, kept = [], 0, 0
    for name in _GENERATORS:
        end = _offset(name) + _GENERATOR.itemsize
        text = read + end - kept
        pieces.append(state[read : text - 4] + bytes(4))
        read, kept = text + int.from_bytes(state[text - 4 : text], "little"), end
    return np.frombuffer(b"".join([*pieces, state[read:]]), _STATE).copy()


def _offset(name: str) -> int:
    """Where a field of `_STATE` begins, in bytes."""
    assert _STATE.fields is not None
    return _STATE.fields[name][1]


def _cell_types(state: np.ndarray) -> np.ndarray:
    """The grid [15,15] of a record, rows from the top, as a view: Procgen counts them from the bottom."""
    return state["cell_types"].reshape(_WORLD, _WORLD)[::-1]


def _mouse_cell(state: np.ndarray) -> np.ndarray:
    """Row and column [2] of a record's mouse."""
    mouse = state["mouse"][0]
    return np.array([_WORLD - 1 - int(mouse["y"]), int(mouse["x"])])


class _Simulator:
    """One game of Procgen that is put into any level and any state."""

    def __init__(self) -> None:
        # Without threads of its own, Procgen lives on in a forked process.
        self._game = _import_procgen()(
            num=1, env_name="maze", distribution_mode="easy", start_level=0, num_levels=1, num_threads=0, rand_seed=0
        )
        self._any_state = _parse(self._game.get_state()[0])

    def load(self, number: int) -> np.ndarray:
        """The record [1] of a level's first state."""
        # With an episode to go, a reset keeps the level's number and makes the level from it.
        self._any_state["level"], self._any_state["episodes_remaining"] = number, 1
        self._game.set_state([self._any_state.tobytes()])
        self._game.act(np.array([-1]))  # Procgen's request for a reset
        return _parse(self._game.get_state()[0])

    def render(self, state: np.ndarray, cells: np.ndarray, facing: int) -> np.ndarray:
        """The frame [H,W,3] of a level with one mouse on each of the cells [n,2]."""
        # Procgen insists on a mouse: the first one is out of sight.
        mice = np.repeat(state["mouse"], len(cells) + 1)
        mice["x"][0] = -_WORLD
        mice["x"][1:], mice["y"][1:] = cells[:, 1] + 0.5, _WORLD - 1 - cells[:, 0] + 0.5
        mice["faces_right"] = facing
        herd = state.copy()
        herd["mice"] = len(mice)
        record, mouse = herd.tobytes(), _offset("mouse")
        self._game.set_state([record[:mouse] + mice.tobytes() + record[mouse + _MOUSE.itemsize :]])
        return self._game.observe()[1]["rgb"][0]


_simulators = threading.local()


def _simulator() -> _Simulator:
    """This thread's simulator, made at its first use: its pictures take a second or two to load, once per process."""
    if not hasattr(_simulators, "simulator"):
        _simulators.simulator = _Simulator()
    return _simulators.simulator


def _import_procgen() -> Any:
    """Procgen's class of environments."""
    # Importing it imports the old gym, which prints that it is unmaintained, and leaves a file open (ResourceWarning):
    # nothing that our users could act on.
    with contextlib.redirect_stderr(io.StringIO()), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            from procgen.env import ProcgenGym3Env
        except ImportError as error:
            raise InputError(
                "procgen-maze needs Procgen: pip install 'pixelplan[procgen]' (it has wheels for some versions of"
                " Python and some platforms only; Python 3.11 on Linux is one)."
            ) from error
    return ProcgenGym3Env

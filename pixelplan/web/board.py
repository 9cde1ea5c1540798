"""A level with a goal as the page plays it, with numbered states.

`TableBoard` is a puzzle's level. `own_board.OwnBoard` is a level of your own environment.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Protocol

import numpy as np
from PIL import Image

from pixelplan.envs.family import check_actions
from pixelplan.planning.plan import Episode
from pixelplan.puzzles import Level
from pixelplan.puzzles.goals import with_goal_shown, with_goal_state
from pixelplan.reports.figures import solution_picture
from pixelplan.reports.pictures import centres
from pixelplan.types import Goal, InputError

_MOST_DIFFERENCE = 12.0
"""Grey values per pixel by which a picture of a state may differ from its frame: a bad JPEG by 5, another level 30."""
Cells = Mapping[tuple[int, int], int]
"""The cells (row, column) on which the agent can stand, and the state that shows it there."""


class Board(Protocol):
    """What games, planners and pictures ask of a level."""

    @property
    def number(self) -> int:
        """The number of the level."""

    @property
    def name(self) -> int | str:
        """The level's name on the page: its number, a drawing, or a picture; `~40` at the end adds noise."""

    @property
    def drawing(self) -> str | None:
        """The level as a drawing, None if it cannot be drawn."""

    @property
    def actions(self) -> int:
        """The number of actions."""

    @property
    def shape(self) -> tuple[int, int, int]:
        """A frame's height and width, and 3 for its colours."""

    @property
    def start(self) -> int:
        """The state in which games begin."""

    @property
    def goal(self) -> int | None:
        """The state that shows the goal; None if no picture does."""

    @property
    def wanted(self) -> Goal:
        """The goal as planners get it."""

    @property
    def goal_note(self) -> str:
        """What `goal` does not show of a goal that a visitor gave."""

    @property
    def has_level_goal(self) -> bool:
        """Whether the goal is the one that the level came with."""

    @property
    def shortest(self) -> int | None:
        """Moves of the shortest path from the start to the goal; None if there is none or it is unknown."""

    @property
    def cells(self) -> Cells:
        """Empty if the world has no cells."""

    @property
    def cell(self) -> float | None:
        """Pixels of a cell, None if there are none."""

    def frame(self, state: int) -> np.ndarray:
        """What a state looks like, [H,W,3]; an InputError if there is no such state."""

    def after(self, state: int, action: int) -> int:
        """The state that an action leads to."""

    def solved(self, state: int) -> bool:
        """Whether a state is the goal."""

    def lost(self, state: int) -> bool | None:
        """Whether no path leads from a state to the goal; None if that is unknown."""

    def position(self, state: int) -> tuple[int, int] | None:
        """The agent's cell (row, column), None if there are none."""

    def places(self, states: Sequence[int]) -> list[tuple[float, float]]:
        """Where the agent stands in these states: centres (y, x) in pixels; empty if that is unknown."""

    def way(self, state: int) -> list[int] | None:
        """Actions that lead from the start to a state; None if the world has cells to name it by."""

    def aimed(self, goal: Goal) -> tuple[Board, str]:
        """The same level with the goal that pictures of a frame's size show, and a sentence if that was a guess.

        An InputError if they look nothing like this level.
        """

    def towards(self, state: int | None) -> Board:
        """The same level with another state as its goal; None is its own goal."""

    def picture(self, episode: Episode) -> Image.Image:
        """An episode in this level at a glance."""


def follow(board: Board, actions: Sequence[int], state: int) -> list[int]:
    """The states that actions lead through, the first one included; an InputError if there is no such action."""
    check_actions(actions, board.actions)
    states = [state]
    for action in actions:
        states.append(board.after(states[-1], action))
    return states


def state_of_cell(board: Board, row: int, column: int) -> int:
    """The state with the agent in a cell; an InputError if it can never stand there."""
    if not board.cells:
        raise InputError("this world has no cells; its goal is a frame, or where moves lead")
    try:
        return board.cells[row, column]
    except KeyError:
        raise InputError(f"the agent can never stand in row {row}, column {column} of level {board.number}") from None


@dataclass(frozen=True, eq=False)
class TableBoard:
    """A level of a puzzle, with the goal the visitor wants."""

    level: Level
    own_goal: int
    """The goal that the level came with."""
    name: int | str
    drawing: str | None = None
    noise: int = 0
    """Standard deviation of the noise on every frame, in grey values; a state's noise is always the same."""
    photo: np.ndarray | None = None
    """[H,W,3] uint8: what the start looks like, if the level was read from a picture."""
    shown: tuple[int, ...] = ()
    """The states in the pictures that were given as the goal, if these are several, or parts of them do not matter."""
    masks: np.ndarray | None = None
    """[G,H,W] bool, what matters in each of them; None if all does."""

    @property
    def number(self) -> int:
        """The number of the level."""
        return self.level.number

    @property
    def actions(self) -> int:
        """As the table says."""
        return self.level.successors.shape[1]

    @property
    def shape(self) -> tuple[int, int, int]:
        """A frame's height and width, and 3 for its colours."""
        height, width = self.level.background.shape[:2]
        return height, width, 3

    @property
    def start(self) -> int:
        """The level's."""
        return self.level.start

    @property
    def goal(self) -> int:
        """The state that the goal frame shows."""
        return self.level.goal

    @property
    def wanted(self) -> Goal:
        """What the goal's states look like."""
        return Goal(np.stack([self.frame(state) for state in self.shown or (self.goal,)]), self.masks)

    @property
    def goal_note(self) -> str:
        """How many states are the goal, if it is given by pictures."""
        return f"Any of {int(self.level.goals.sum())} states; this is the first" if self.shown else ""

    @property
    def has_level_goal(self) -> bool:
        """Whether the goal is the one that the level came with."""
        return self.goal == self.own_goal and not self.shown

    @property
    def shortest(self) -> int | None:
        """Moves of the shortest path from the start to the goal, by the true rules; None if there is none."""
        path = self.level.shortest_path(self.start)
        return None if path is None else len(path)

    @property
    def exact(self) -> bool:
        """Whether frames are those of the level, byte for byte."""
        return not self.noise and self.photo is None

    @property
    def states(self) -> int:
        """The number of states."""
        return len(self.level.successors)

    @cached_property
    def cells(self) -> Cells:
        """Where an episode may begin or end."""
        states = [*self.level.starts.tolist(), self.goal, self.start]
        positions = self.level.positions[states].tolist()
        return {(row, column): state for state, (row, column) in zip(states, positions, strict=True)}

    @property
    def cell(self) -> float:
        """Pixels of a cell."""
        return self.level.patches.shape[1]

    def frame(self, state: int) -> np.ndarray:
        """What a state looks like, [H,W,3]."""
        if not 0 <= state < len(self.level.successors):
            raise InputError(f"level {self.number} has states 0 to {len(self.level.successors) - 1} and no {state}")
        if self.photo is not None and state == self.start:
            return self.photo.copy()
        frame = self.level.frame(state)
        if not self.noise:
            return frame
        noise = np.random.default_rng([self.noise, self.number, state]).normal(0, self.noise, frame.shape)
        return np.clip(frame + noise, 0, 255).astype(np.uint8)

    def after(self, state: int, action: int) -> int:
        """As the table says."""
        return int(self.level.successors[state, action])

    def solved(self, state: int) -> bool:
        """Whether the agent is where the goal frame shows it."""
        return bool(self.level.goals[state])

    def lost(self, state: int) -> bool:
        """By the true rules."""
        return self.level.shortest_path(state) is None

    def position(self, state: int) -> tuple[int, int]:
        """The agent's cell (row, column)."""
        row, column = self.level.positions[state].tolist()
        return row, column

    def places(self, states: Sequence[int]) -> list[tuple[float, float]]:
        """Where the agent stands in these states: centres (y, x) in pixels."""
        return [(float(y), float(x)) for y, x in centres(self.level, states)]

    def way(self, state: int) -> None:
        """Cells name a puzzle's states."""

    def aimed(self, goal: Goal) -> tuple[TableBoard, str]:
        """Each picture stands for the first state that looks most like it in what matters."""
        assert goal.frames is not None
        frames = self.level.frames(np.arange(len(self.level.successors))).astype(np.int16)
        masks = np.ones(goal.frames.shape[:3], bool) if goal.masks is None else goal.masks
        readings = [
            self._most_like(np.abs(frames[:, mask] - picture[mask]).mean(axis=(1, 2)))
            for picture, mask in zip(goal.frames.astype(np.int16), masks, strict=True)
        ]
        states, notes = tuple(state for state, _ in readings), " ".join(note for _, note in readings if note)
        if goal.masks is None and len(states) == 1:
            return self.towards(states[0]), notes
        level = with_goal_shown(self.level, Goal(self.level.frames(np.array(states)), goal.masks))
        return replace(self, level=level, shown=states, masks=goal.masks), notes

    def _most_like(self, apart: np.ndarray) -> tuple[int, str]:
        """The state that differs least, `apart` [S] in grey values, from a picture, and a sentence if it differs."""
        state = int(apart.argmin())
        if apart[state] > _MOST_DIFFERENCE:
            raise InputError(
                f"the picture shows no state of level {self.number}: the most similar one differs by "
                f"{apart[state]:.0f} grey values per pixel"
            )
        if apart[state] == 0:
            return state, ""
        row, column = self.position(state)
        return state, (
            f"It was taken for row {row + 1}, column {column + 1}, from which it differs by {apart[state]:.1f} grey "
            "values per pixel."
        )

    def towards(self, state: int | None) -> TableBoard:
        """The same level with another state as its goal; None is its own goal."""
        level = with_goal_state(self.level, self.own_goal if state is None else state)
        return replace(self, level=level, shown=(), masks=None)

    def picture(self, episode: Episode) -> Image.Image:
        """The first frame with the path as arrows."""
        return solution_picture(self.level, episode)

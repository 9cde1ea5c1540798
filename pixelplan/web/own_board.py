"""A board of a user's environment: a level as far as play has seen it, with the goal that the visitor wants."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from PIL import Image

from pixelplan.planning.plan import Episode
from pixelplan.reports.figures import frames_picture
from pixelplan.types import Goal
from pixelplan.web.board import Cells
from pixelplan.web.explored_level import ExploredLevel


@dataclass(frozen=True)
class OwnBoard:
    """A level of a user's environment, with the goal that the visitor wants."""

    level: ExploredLevel
    goal: int | None
    """The state that shows the goal, or parts of it; None if no picture does."""
    wanted: Goal
    """The goal as planners get it."""
    has_level_goal: bool
    """Whether it is the level's own goal; any other one is reached when it is seen."""

    @classmethod
    def of(cls, level: ExploredLevel) -> OwnBoard:
        """A level with its own goal."""
        return cls(level, level.own_goal, level.challenge.goal, has_level_goal=True)

    @property
    def number(self) -> int:
        """The number of the level."""
        return self.level.challenge.number

    @property
    def name(self) -> int:
        """What the page calls the level: its number."""
        return self.number

    @property
    def drawing(self) -> None:
        """None: a level of your own environment cannot be drawn."""

    @property
    def actions(self) -> int:
        """The number of actions."""
        return len(self.level.challenge.action_names)

    @property
    def shape(self) -> tuple[int, int, int]:
        """A frame's height and width, and 3 for its colours."""
        return self.level.world.family.shape

    @property
    def start(self) -> int:
        """Where the level begins."""
        return self.level.start

    @property
    def shortest(self) -> int | None:
        """Known only if the environment says it, and only for the level's own goal."""
        return self.level.challenge.shortest if self.has_level_goal else None

    @property
    def goal_note(self) -> str:
        """What the frame of `goal` does not show of the goal: other pictures, and what is masked."""
        count = 0 if self.wanted.frames is None else len(self.wanted.frames)
        several = f"Any of {count} pictures; this is the first" if count > 1 else ""
        masked = "" if self.wanted.masks is None else "What is grey does not matter"
        return ". ".join(part for part in (several, masked) if part)

    @property
    def cells(self) -> Cells:
        """Empty: the environment has no cells."""
        return {}

    @property
    def cell(self) -> None:
        """None: the environment has no cells."""

    def frame(self, state: int) -> np.ndarray:
        """What a state looks like, [H,W,3]."""
        return self.level.frame(state)

    def after(self, state: int, action: int) -> int:
        """The state that an action leads to."""
        return self.level.after(state, action)

    def solved(self, state: int) -> bool:
        """Whether a state is the goal."""
        return self.level.solved(state) if self.has_level_goal else self.wanted.shown_by(self.frame(state))

    def lost(self, state: int) -> None:
        """None: the rules are unknown."""

    def position(self, state: int) -> None:
        """None: the environment has no cells."""

    def places(self, states: Sequence[int]) -> list[tuple[float, float]]:
        """Empty: the environment does not say where anything is."""
        return []

    def way(self, state: int) -> list[int] | None:
        """The actions that first led to a state, None if play has not reached it."""
        return self.level.way(state)

    def aimed(self, goal: Goal) -> tuple[OwnBoard, str]:
        """The same level with a goal that pictures show."""
        state = self.level.state_of(goal)
        return (
            OwnBoard(self.level, *self.level.checked(goal), has_level_goal=False)
            if state is None
            else self.towards(state)
        ), ""

    def towards(self, state: int | None) -> OwnBoard:
        """The same level with another state as its goal; None is its own goal."""
        if state is None or state == self.level.own_goal:
            return OwnBoard.of(self.level)
        return OwnBoard(self.level, state, Goal.of(self.frame(state)), has_level_goal=False)

    def picture(self, episode: Episode) -> Image.Image:
        """What was seen, frame by frame."""
        goal = None if self.goal is None else self.frame(self.goal)
        return frames_picture(episode, goal, self.level.challenge.action_names)

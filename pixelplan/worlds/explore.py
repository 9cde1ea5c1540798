"""Play that explores: in a deterministic world, nothing needs to be tried twice.

An explorer remembers a level as a graph of frames and actions. It takes an untried action in the current frame, or
walks along known transitions to a frame that has one. It prefers actions that have led to new frames, and near frames
to far ones: whatever promises the most new frames per step.
"""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass
from typing import Protocol

import numpy as np


class Stage(Protocol):
    """A level to explore, with numbered frames."""

    @property
    def over(self) -> bool:
        """Whether the level has ended, so that nothing changes any more."""

    def reset(self) -> int:
        """The number of the first frame."""

    def step(self, action: int) -> int:
        """The number of the frame after an action; new frames get the next numbers."""


@dataclass(frozen=True)
class ExploreConfig:
    """What an explorer expects of actions."""

    least: float = 0.15
    """The least number of new frames to expect of an untried action. An action that has never done anything may open a
    door once the key is in hand; without this minimum it would hardly be tried there."""


class Explorer:
    """Chooses actions by what is still unknown about one level."""

    def __init__(
        self,
        actions: int,
        random: np.random.Generator,
        config: ExploreConfig = ExploreConfig(),  # noqa: B008 (frozen)
    ) -> None:
        self._random, self._config = random, config
        self._successors: list[list[int]] = []  # [K][A], the frame that each action led to; -1 if untried
        self._actions, self._untried = actions, 0
        self._tried, self._new = np.zeros(actions), np.zeros(actions)
        self._rates = np.full(actions, 0.5)
        self._route: list[int] = []

    def choose(self, here: int, over: bool) -> int:
        """The next action in frame `here`."""
        if over:
            untried = [action for action, there in enumerate(self._known(here)) if there < 0]
            return untried[0] if untried else int(self._random.integers(self._actions))
        if not self._route:
            _, self._route = self._best(here)
        if not self._route:
            return int(self._random.integers(self._actions))
        return self._route.pop(0)

    def saw(self, here: int, action: int, there: int, over: bool) -> None:
        """Remember what an action led to; `over` says whether the level had already ended."""
        new = there >= len(self._successors)
        if self._known(here)[action] < 0 and not over:
            self._tried[action] += 1
            self._new[action] += new
            self._rates = np.maximum((self._new + 1) / (self._tried + 2), self._config.least)
        self._untried -= self._known(here)[action] < 0
        self._known(here)[action] = there
        self._known(there)

    def at_random(self, stage: Stage, here: int, rows: np.ndarray, actions: np.ndarray) -> int:
        """If nothing is left to try, play an episode from frame `here` at random, all actions drawn at once, and fill
        its frames [T] and actions [T]. Returns the number of steps played: fewer than T if something new happens."""
        self._known(here)
        if self._untried:
            return 0
        state_before = self._random.bit_generator.state
        actions[:] = self._random.integers(self._actions, size=len(actions))
        successors = self._successors
        for column, action in enumerate(actions.tolist()):
            there = rows[column] = stage.step(action)
            if successors[here][action] != there:
                self._random.bit_generator.state = state_before  # as if actions had been drawn one by one
                self._random.integers(self._actions, size=column + 1)
                self.saw(here, action, there, stage.over)
                return column + 1
            here = there
        return len(actions)

    def begin_anew(self, start: int, here: int) -> bool:
        """Whether the level's start promises more than this frame."""
        self._route = []
        return self._best(start)[0] >= self._best(here)[0]

    def _known(self, frame: int) -> list[int]:
        while frame >= len(self._successors):
            self._successors.append([-1] * self._actions)
            self._untried += self._actions
        return self._successors[frame]

    def _best(self, here: int) -> tuple[float, list[int]]:
        """Roughly how many new frames per step the best choice in a frame promises, and the actions of that choice."""
        self._known(here)
        if not self._untried:
            return 0.0, []
        most = float(self._rates.max())
        best, way = 0.0, list[int]()
        ways: dict[int, list[int]] = {here: []}
        queue = deque([here])
        while queue:
            frame = queue.popleft()
            steps = len(ways[frame]) + 1
            if most / steps <= best:
                break
            known = self._known(frame)
            untried = [action for action, there in enumerate(known) if there < 0]
            if untried:
                rates = self._rates[untried]
                promise = float(rates.max()) / steps
                if promise > best:
                    best = promise
                    way = [*ways[frame], int(self._random.choice(untried, p=rates / rates.sum()))]
            for action, there in enumerate(known):
                if there >= 0 and there not in ways:
                    ways[there] = [*ways[frame], action]
                    queue.append(there)
        return best, way


def explore(
    stage: Stage,
    action_count: int,
    episodes: int,
    steps: int,
    random: np.random.Generator,
    config: ExploreConfig = ExploreConfig(),  # noqa: B008 (frozen)
) -> tuple[np.ndarray, np.ndarray]:
    """Explore a level: frames [E,T+1] by number and actions [E,T].

    An episode continues where the one before ended, or starts the level again if that promises more.
    """
    explorer = Explorer(action_count, random, config)
    rows, actions = np.empty((episodes, steps + 1), np.int64), np.empty((episodes, steps), np.uint8)
    start = here = -1
    for row in range(episodes):
        if row == 0 or stage.over or explorer.begin_anew(start, here):
            start = here = stage.reset()
        rows[row, 0] = here
        played = explorer.at_random(stage, here, rows[row, 1:], actions[row])
        here = int(rows[row, played])
        for column in range(played, steps):
            over = stage.over
            action = explorer.choose(here, over)
            there = stage.step(action)
            explorer.saw(here, action, there, over)
            rows[row, column + 1], actions[row, column] = there, action
            here = there
    return rows, actions

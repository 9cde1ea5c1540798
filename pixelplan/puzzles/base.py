"""One level at a time as a Gymnasium environment, for every puzzle that can make levels."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import Field, dataclass
from functools import lru_cache
from typing import Any, ClassVar, Protocol

import gymnasium
import numpy as np
from gymnasium.error import ResetNeeded

from pixelplan.puzzles.level import Level
from pixelplan.types import ACTIONS, InputError

GOAL_REWARD = 10.0
LAST_LEVEL = 2**31 - 1


class Puzzle(Protocol):
    """A family of levels: a frozen dataclass of its options whose docstring is its documentation page."""

    __dataclass_fields__: ClassVar[dict[str, Field[Any]]]
    random_start_in_play: ClassVar[bool]
    """Whether random play for training data begins in random places (the paper does that for mazes)."""

    @property
    def looks(self) -> Mapping[str, Any]:
        """What the options make a cell look like. A model knows only one look, but may know boards of any size."""

    @property
    def pixels(self) -> int:
        """Side of the frame."""

    def make(self, number: int) -> Level:
        """Level `number`, always the same."""

    def __hash__(self) -> int: ...


@lru_cache(maxsize=1024)
def _cached_level(puzzle: Puzzle, number: int) -> Level:
    return puzzle.make(number)


def get_level(puzzle: Puzzle, number: int) -> Level:
    """A level of a puzzle, made once and then cached; an InputError if there is no level with this number."""
    if not isinstance(number, int | np.integer) or not 0 <= number <= LAST_LEVEL:
        raise InputError(f"there is no level {number!r}; levels are whole numbers from 0 to {LAST_LEVEL}")
    return _cached_level(puzzle, int(number))


@dataclass(frozen=True)
class PlayState:
    """The state of a game; made by `clone_state` and taken by `restore_state`."""

    level: int
    state: int
    steps: int
    rewarded: bool


@dataclass(frozen=True)
class PlayOptions:
    """How a puzzle is played, for one environment or many."""

    level: int | None = None
    """The level of every episode; by default a level is drawn at each reset."""
    levels: tuple[int, int] = (0, 1000)
    """The range (the second number excluded) from which levels are drawn."""
    terminate_on_goal: bool = True
    """Whether an episode ends on the goal. If not, the game plays on, as in the paper's data."""
    random_start: bool = False
    """Whether episodes begin in a random place of the level instead of its start."""
    max_episode_steps: int | None = None
    """Steps after which an episode is truncated."""

    def __post_init__(self) -> None:
        first, end = self.levels
        if not 0 <= first < end <= LAST_LEVEL + 1:
            raise InputError(f"levels is {self.levels}; it must be a range (A, B) with 0 ≤ A < B ≤ {LAST_LEVEL + 1}")
        if self.max_episode_steps is not None and self.max_episode_steps < 1:
            raise InputError(f"max_episode_steps is {self.max_episode_steps}; it must be at least 1")

    def draw(self, puzzle: Puzzle, random: np.random.Generator, wanted: Any) -> tuple[Level, int]:
        """The level of the next episode (the wanted one, the fixed one, or a random one) and the state it starts in."""
        number = wanted if wanted is not None else self.level
        level = get_level(puzzle, int(random.integers(*self.levels)) if number is None else number)
        return level, int(random.choice(level.starts)) if self.random_start else level.start


def check_reset_options(options: dict[str, Any] | None) -> Any:
    """The wanted level among the options of a reset, or None; an InputError for any other option."""
    unknown = set(options or {}) - {"level"}
    if unknown:
        raise InputError(f"reset has no option {sorted(unknown)[0]!r}; its one option is 'level'")
    return (options or {}).get("level")


class PuzzleEnv(gymnasium.Env[np.ndarray, int]):
    """A puzzle for Gymnasium; `info` carries `level`, `position` (row, column) and `solved` (on the goal now)."""

    metadata: dict[str, Any] = {"render_modes": ["rgb_array", "human"], "render_fps": 8}

    def __init__(self, puzzle: Puzzle, play: PlayOptions = PlayOptions(), render_mode: str | None = None) -> None:  # noqa: B008 (frozen)
        if render_mode not in (None, *self.metadata["render_modes"]):
            raise InputError(f"render_mode is {render_mode!r}; it must be 'rgb_array', 'human' or None")
        self.puzzle, self.play, self.render_mode = puzzle, play, render_mode
        self.action_space = gymnasium.spaces.Discrete(len(ACTIONS))  # type: ignore[assignment]
        self.observation_space = gymnasium.spaces.Box(0, 255, (puzzle.pixels, puzzle.pixels, 3), np.uint8)
        if play.level is not None:
            get_level(puzzle, play.level)
        self._level: Level | None = None
        self._state, self._steps, self._rewarded = 0, 0, False
        self._window: Any = None

    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None) -> tuple[np.ndarray, dict]:
        """The first frame and info of an episode; `options={"level": k}` chooses the level."""
        super().reset(seed=seed)
        self._level, self._state = self.play.draw(self.puzzle, self.np_random, check_reset_options(options))
        self._steps, self._rewarded = 0, False
        return self._show(), self._info()

    def step(self, action: int) -> tuple[np.ndarray, float, bool, bool, dict]:
        """Frame, reward, terminated, truncated and info after an action."""
        level = self._need_level()
        if not self.action_space.contains(action):
            raise InputError(
                f"there is no action {action!r}; actions are 0 to {len(ACTIONS) - 1}: {', '.join(ACTIONS)}"
            )
        self._state = int(level.successors[self._state, action])
        self._steps += 1
        solved = bool(level.goals[self._state])
        reward = GOAL_REWARD if solved and not self._rewarded else 0.0
        self._rewarded |= solved
        truncated = self.play.max_episode_steps is not None and self._steps >= self.play.max_episode_steps
        return self._show(), reward, solved and self.play.terminate_on_goal, truncated, self._info()

    def goal_frame(self) -> np.ndarray:
        """The frame [H,W,3] of the solved level."""
        level = self._need_level()
        return level.frame(level.goal)

    def clone_state(self) -> PlayState:
        """The state of the game, to return to later."""
        return PlayState(self._need_level().number, self._state, self._steps, self._rewarded)

    def restore_state(self, state: PlayState) -> np.ndarray:
        """Go back to a state from `clone_state`, of this or an equal environment; returns its frame."""
        self._level = get_level(self.puzzle, state.level)
        self._state, self._steps, self._rewarded = state.state, state.steps, state.rewarded
        return self._show()

    def shortest_solution(self) -> tuple[int, ...] | None:
        """A shortest path from here to the goal by the true rules, None if there is none. For evaluation only."""
        return self._need_level().shortest_path(self._state)

    def solvable_from_here(self) -> bool:
        """Whether the goal can still be reached, by the true rules. For evaluation only."""
        return self.shortest_solution() is not None

    def render(self) -> np.ndarray | None:
        """The frame in "rgb_array" mode; in "human" mode the window is refreshed as the game is played."""
        if self.render_mode == "rgb_array":
            return self._need_level().frame(self._state)
        return None

    def close(self) -> None:
        """Close the window, if there is one."""
        if self._window is not None:
            self._window.close()
            self._window = None

    def _need_level(self) -> Level:
        if self._level is None:
            raise ResetNeeded("the environment has no level yet; call reset() first")
        return self._level

    def _info(self) -> dict[str, Any]:
        level = self._need_level()
        row, column = level.positions[self._state]
        return {
            "level": level.number,
            "position": (int(row), int(column)),
            "solved": bool(level.goals[self._state]),
        }

    def _show(self) -> np.ndarray:
        frame = self._need_level().frame(self._state)
        if self.render_mode == "human":
            self._window = self._window or Window(1 / self.metadata["render_fps"])
            self._window.show(frame)
        return frame


class Window:
    """A window for `render_mode="human"`: one figure, one image in it; each frame stays for `seconds`."""

    def __init__(self, seconds: float) -> None:
        from matplotlib import pyplot  # slow to import, and rarely wanted here

        self._seconds, self._pyplot = seconds, pyplot
        self._figure, axes = pyplot.subplots(num="pixelplan", figsize=(5, 5), clear=True)
        axes.set_axis_off()
        self._image = axes.imshow(np.zeros((1, 1, 3), np.uint8), interpolation="nearest")

    def show(self, frame: np.ndarray) -> None:
        """Show a frame [H,W,3]."""
        height, width, _ = frame.shape
        self._image.set(data=frame, extent=(0, width, height, 0))
        if self._pyplot.get_backend().lower() != "agg":  # without a screen nothing is shown
            self._pyplot.pause(self._seconds)

    def close(self) -> None:
        """Close the window."""
        self._pyplot.close(self._figure)

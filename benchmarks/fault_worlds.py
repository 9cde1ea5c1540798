"""Environments that misbehave, each in its own way: `--env fault_worlds:make --option fault=NAME`.

Each is a corridor with a red square in it that behaves until it is asked for level 1 (or from the start) and then does
what its name says.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from typing import Any

import gymnasium
import numpy as np

SIDE = 8


class Unspeakable(Exception):
    """An exception whose text raises."""

    def __str__(self) -> str:
        raise ValueError("no words")


class Corridor(gymnasium.Env[np.ndarray, int]):
    """Walk left or right; faults come out of `trouble`, called with the place they are in."""

    def __init__(self, fault: str, where: str, late: bool) -> None:
        self.fault, self.where, self.late = fault, where, late
        self.action_space = gymnasium.spaces.Discrete(2)
        self.observation_space = gymnasium.spaces.Box(0, 255, (2 * SIDE, 5 * SIDE, 3), np.uint8)
        self.place = self.number = self.steps = 0

    def trouble(self, where: str, good: Any) -> Any:
        """What is given here: the good value, or what the fault makes of it."""
        due = not self.late or (self.number >= 1 and (where != "step" or self.steps >= 2))
        return FAULTS[self.fault](good) if where == self.where and due else good

    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None) -> Any:
        super().reset(seed=seed)
        self.number, self.place, self.steps = seed or 0, (seed or 0) % 4, 0
        return self.trouble("reset", (self.draw(), {}))

    def step(self, action: int) -> Any:
        self.steps += 1
        self.place = min(4, max(0, self.place + (1 if action else -1)))
        return self.trouble("step", (self.draw(), 0.0, False, False, {"solved": self.place == 4}))

    def draw(self) -> np.ndarray:
        frame = np.full((2 * SIDE, 5 * SIDE, 3), 30 + 20 * (self.number % 8), np.uint8)
        frame[:SIDE, self.place * SIDE : (self.place + 1) * SIDE] = (220, 30, 30)
        return frame

    def goal_frame(self) -> Any:
        before, self.place = self.place, 4
        frame = self.draw()
        self.place = before
        return self.trouble("goal_frame", frame)

    def shortest_solution(self) -> Any:
        return self.trouble("shortest_solution", [1] * (4 - self.place))


def _raise(problem: Callable[[], BaseException]) -> Callable[[Any], Any]:
    def fault(good: Any) -> Any:
        raise problem()

    return fault


def _hang(good: Any) -> Any:
    while True:
        time.sleep(0.01)


def _hang_busily(good: Any) -> Any:
    while True:
        pass


def _hang_stubbornly(good: Any) -> Any:
    while True:
        try:
            time.sleep(0.2)
        except Exception:
            continue


def _recurse(good: Any) -> Any:
    return _recurse(good)


def _first(change: Callable[[Any], Any]) -> Callable[[Any], Any]:
    """Change the picture, be it alone or the first of several values."""
    return lambda good: (change(good[0]), *good[1:]) if isinstance(good, tuple) else change(good)


FAULTS: dict[str, Callable[[Any], Any]] = {
    "runtime": _raise(lambda: RuntimeError("the robot is on fire")),
    "key": _raise(lambda: KeyError("x")),
    "lines": _raise(lambda: ValueError("first line\nsecond line\n  third")),
    "nothing-said": _raise(lambda: AssertionError()),
    "long": _raise(lambda: ValueError("very " * 10_000)),
    "unspeakable": _raise(Unspeakable),
    "memory": _raise(lambda: MemoryError()),
    "base": _raise(lambda: BaseException("not even an Exception")),
    "stop": _raise(lambda: StopIteration()),
    "generator": _raise(lambda: GeneratorExit()),
    "file": _raise(lambda: FileNotFoundError(2, "No such file", "level.txt")),
    "full": _raise(lambda: OSError(28, "No space left on device")),
    "exit": lambda good: sys.exit("bye"),
    "exit-0": lambda good: sys.exit(0),
    "recursion": _recurse,
    "none": lambda good: None,
    "text": lambda good: "a frame",
    "list": lambda good: list(good) if isinstance(good, tuple) else good.tolist(),
    "short": lambda good: good[:-1] if isinstance(good, tuple) else good[..., :2],
    "four": lambda good: good[:4] if isinstance(good, tuple) else good[None, None],
    "no-info": lambda good: (*good[:-1], None) if isinstance(good, tuple) else None,
    "no-reward": lambda good: (good[0], None, *good[2:]) if isinstance(good, tuple) and len(good) == 5 else None,
    "word-reward": lambda good: (good[0], "much", *good[2:]) if isinstance(good, tuple) and len(good) == 5 else None,
    "odd-end": lambda good: (*good[:2], np.zeros(3), *good[3:]) if isinstance(good, tuple) and len(good) == 5 else None,
    "float-frame": _first(lambda frame: frame.astype(np.float32)),
    "no-frame": _first(lambda frame: None),
    "other-size": _first(lambda frame: np.zeros((40, 56, 3), np.uint8)),
    "empty-frame": _first(lambda frame: frame[:0]),
    "huge-frame": _first(lambda frame: np.zeros((8, 5000, 3), np.uint8)),
    "hang": _hang,
    "busy": _hang_busily,
    "stubborn": _hang_stubbornly,
}
"""What can come instead of what is right."""
PLACES = ("reset", "step", "goal_frame", "shortest_solution")


def make(fault: str = "runtime", where: str = "step", late: bool = False) -> gymnasium.Env[Any, Any]:
    """The environment with this fault in this place, at once or late."""
    if where == "make":
        FAULTS[fault](None)
    return Corridor(fault, where, late)

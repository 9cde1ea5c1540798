"""Worlds with one thing that check-env should notice: a clock, a score, odd rewards, ends that say nothing."""

from __future__ import annotations

from typing import Any

import gymnasium
import numpy as np

from tests.own_worlds import CELLS, SIDE, Corridor


class Timed(Corridor):
    """Shows how many steps were taken."""

    def reset(self, *, seed: int | None = None, options: dict | None = None) -> tuple[Any, dict]:
        self.time = 0
        return super().reset(seed=seed)

    def step(self, action: int) -> Any:
        self.time += 1
        return super().step(action)

    def draw(self, place: int) -> np.ndarray:
        frame = super().draw(place)
        frame[2:4, : self.time % 40] = 200
        return frame


class Scored(Corridor):
    """Shows a score, which grows by more at the right end."""

    def reset(self, *, seed: int | None = None, options: dict | None = None) -> tuple[Any, dict]:
        self.score = 0
        return super().reset(seed=seed)

    def step(self, action: int) -> Any:
        self.score += 3 if self.place == CELLS - 1 else 1
        return super().step(action)

    def draw(self, place: int) -> np.ndarray:
        frame = super().draw(place)
        frame[2:4, : min(self.score, CELLS * SIDE)] = 200
        return frame


class Remembering(Corridor):
    """Shows all that was done as a number, on which steps depend: no state comes back, and nothing may be hidden."""

    def reset(self, *, seed: int | None = None, options: dict | None = None) -> tuple[Any, dict]:
        self.number = 1
        return super().reset(seed=seed)

    def moved(self, place: int, action: int) -> int:
        self.number = 3 * self.number + place + action
        return super().moved(place, action ^ self.number >> 1 & 1)

    def draw(self, place: int) -> np.ndarray:
        frame = super().draw(place)
        frame[2:4] = [[200 * (self.number >> bit & 1)] * 3 for bit in range(CELLS * SIDE)]
        return frame


class Sticky(Corridor):
    """Now and then an action is replaced by the one before, by chance that its own generator decides."""

    def reset(self, *, seed: int | None = None, options: dict | None = None) -> tuple[Any, dict]:
        self.chance, self.last = np.random.default_rng(seed), 0
        return super().reset(seed=0)

    def step(self, action: int) -> Any:
        self.last = self.last if self.chance.random() < 0.25 else int(action)
        return super().step(self.last)


class Careless(Corridor):
    """Its levels come from numpy's global generator."""

    def reset(self, *, seed: int | None = None, options: dict | None = None) -> tuple[Any, dict]:
        shown = super().reset(seed=seed)
        self.place = int(np.random.randint(4))  # noqa: NPY002
        return self.draw(self.place), shown[1]


class Short(Corridor):
    """Ends with its first step."""

    goal_frame = None  # type: ignore[assignment]

    def step(self, action: int) -> Any:
        frame, _, _, _, _ = super().step(action)
        return frame, 0.0, True, False, {}


class Unseen(Corridor):
    """The last action ends the episode, and the frame stays as it is."""

    goal_frame = None  # type: ignore[assignment]

    def __init__(self) -> None:
        super().__init__()
        self.action_space = gymnasium.spaces.Discrete(self.action_space.n + 1)

    def step(self, action: int) -> Any:
        if action < self.action_space.n - 1:
            return super().step(action)
        return self.draw(self.place), float(self.place == CELLS - 1), True, False, {}


class Paying(Corridor):
    """Pays for every step and never ends."""

    goal_frame = None  # type: ignore[assignment]

    def info(self) -> dict:
        return {}

    def step(self, action: int) -> Any:
        return super().step(action)[0], 1.0, False, False, {}


class Paid(Corridor):
    """Its reward is what the options say."""

    def __init__(self, reward: Any) -> None:
        super().__init__()
        self.reward = reward

    def step(self, action: int) -> Any:
        frame, _, *rest = super().step(action)
        return (frame, self.reward, *rest)


def vector() -> gymnasium.Env:
    return Paid(np.zeros(3))


def unpaid() -> gymnasium.Env:
    return Paid(None)


def itemised() -> gymnasium.Env:
    return Paid({"coins": 1.0})


def undefined() -> gymnasium.Env:
    return Paid(float("nan"))


class Tall(Corridor):
    """Draws more than is kept, and slowly."""

    tile_size = 32

    def draw(self, place: int) -> np.ndarray:
        import time

        time.sleep(0.012)
        return np.repeat(np.repeat(super().draw(place), 8, axis=0), 8, axis=1)

    def __init__(self) -> None:
        super().__init__()
        self.observation_space = gymnasium.spaces.Box(0, 255, (32 * SIDE, 48 * SIDE, 3), np.uint8)


class Racing(Timed):
    """A clock, and actions that stick by chance."""

    def reset(self, *, seed: int | None = None, options: dict | None = None) -> tuple[Any, dict]:
        self.chance = np.random.default_rng(seed)
        return super().reset(seed=0)

    def step(self, action: int) -> Any:
        return super().step(0 if self.chance.random() < 0.25 else action)


class Told(Corridor):
    """Says in words what is wanted, and shows no goal."""

    goal_frame = None  # type: ignore[assignment]

    def reset(self, *, seed: int | None = None, options: dict | None = None) -> tuple[Any, dict]:
        self.mission = f"go to the {'left' if (seed or 0) % 2 else 'right'}"
        return super().reset(seed=seed)


class Unsolvable(Corridor):
    """Says of every state that it is not solved, and shows no goal."""

    goal_frame = None  # type: ignore[assignment]

    def info(self) -> dict:
        return {"solved": False}


class Farther(Unsolvable):
    """A corridor without a right end, its place drawn as a number."""

    def moved(self, place: int, action: int) -> int:
        return max(0, place + (1 if action else -1))

    def draw(self, place: int) -> np.ndarray:
        frame = super().draw(0)
        frame[-SIDE:, :, 0], frame[-SIDE:, :, 1] = place % 250, place // 250
        return frame


class Even(Paying):
    """Ends at the right end, with the reward that every step pays."""

    def step(self, action: int) -> tuple[Any, float, bool, bool, dict]:
        frame, reward, *_, info = super().step(action)
        return frame, reward, self.place == CELLS - 1, False, info


class Tedious(Corridor):
    """Pays nothing and ends at the right end; it begins at the left one, and a step to the left leads back there."""

    goal_frame = None  # type: ignore[assignment]

    def __init__(self) -> None:
        super().__init__(terminates=True)

    def reset(self, *, seed: int | None = None, options: dict | None = None) -> tuple[Any, dict]:
        super().reset(seed=seed)
        self.place = 0
        return self.draw(self.place), {}

    def moved(self, place: int, action: int) -> int:
        return place + 1 if action else 0


class Beside(Even):
    """Begins next to the right end."""

    def reset(self, *, seed: int | None = None, options: dict | None = None) -> tuple[Any, dict]:
        super().reset(seed=seed)
        self.place = CELLS - 2
        return self.draw(self.place), {}


class Nearing(Even):
    """Pays for every step to the right, and ends at the right end."""

    def step(self, action: int) -> tuple[Any, float, bool, bool, dict]:
        before = self.place
        frame, _, over, _, info = super().step(action)
        return frame, float(self.place - before), over, False, info


def made(render_mode: str | None = None) -> gymnasium.Env:
    from tests.own_worlds import Rendered

    return Rendered(render_mode=render_mode)


def handed_on(**options: Any) -> gymnasium.Env:
    return made(**options)


def refusing(**options: Any) -> gymnasium.Env:
    if options:
        raise TypeError(f"unexpected arguments {options}")
    return Corridor()

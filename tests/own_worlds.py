"""Small environments of a user, good and bad: `--env tests.own_worlds:corridor` and so on."""

from __future__ import annotations

from typing import Any

import gymnasium
import numpy as np

CELLS, SIDE = 6, 8


class Corridor(gymnasium.Env):
    """Walk to the right end of a corridor; the seed decides the colours and where it begins. Actions: left, right."""

    metadata = {"render_modes": ["rgb_array"]}

    def __init__(self, one_level: bool = False, terminates: bool = False, render_mode: str | None = None) -> None:
        self.one_level, self.terminates, self.render_mode = one_level, terminates, render_mode
        self.action_space = gymnasium.spaces.Discrete(2)
        self.observation_space = gymnasium.spaces.Box(0, 255, (4 * SIDE, CELLS * SIDE, 3), np.uint8)

    def reset(self, *, seed: int | None = None, options: dict | None = None) -> tuple[Any, dict]:
        super().reset(seed=0 if self.one_level else seed)
        self.colour = self.np_random.integers(60, 250, 3)
        self.place = int(self.np_random.integers(CELLS - 2))
        return self.draw(self.place), self.info()

    def step(self, action: int) -> tuple[Any, float, bool, bool, dict]:
        self.place = self.moved(self.place, int(action))
        return self.draw(self.place), 0.0, self.terminates and self.place == CELLS - 1, False, self.info()

    def moved(self, place: int, action: int) -> int:
        return min(CELLS - 1, max(0, place + (1 if action else -1)))

    def info(self) -> dict:
        return {} if self.terminates else {"solved": self.place == CELLS - 1}

    def draw(self, place: int) -> np.ndarray:
        frame = np.zeros((4 * SIDE, CELLS * SIDE, 3), np.uint8)
        frame[SIDE : 2 * SIDE, place * SIDE : (place + 1) * SIDE] = self.colour
        return frame

    def render(self) -> np.ndarray:
        return self.draw(self.place)

    def goal_frame(self) -> np.ndarray:
        return self.draw(CELLS - 1)


class Rendered(Corridor):
    """Its observation is a number; only rendering shows it."""

    def __init__(self, **options: Any) -> None:
        super().__init__(**options)
        self.observation_space = gymnasium.spaces.Discrete(CELLS)

    def draw(self, place: int) -> Any:
        return place

    def render(self) -> np.ndarray:
        return super().draw(self.place)

    def goal_frame(self) -> np.ndarray:
        return super().draw(CELLS - 1)


class Goalless(Corridor):
    """Shows no goal and says nothing."""

    goal_frame = None  # type: ignore[assignment]

    def info(self) -> dict:
        return {}


class Continuous(Corridor):
    """Actions are real numbers."""

    def __init__(self) -> None:
        super().__init__()
        self.action_space = gymnasium.spaces.Box(-1, 1, (2,))


class Changing(Corridor):
    """Another number of actions in every other level."""

    def reset(self, *, seed: int | None = None, options: dict | None = None) -> tuple[Any, dict]:
        self.action_space = gymnasium.spaces.Discrete(2 + (seed or 0) % 2)
        return super().reset(seed=seed)


class Slippery(Corridor):
    """Now and then a step goes the other way; the seed decides when, so a plain replay would not notice."""

    def moved(self, place: int, action: int) -> int:
        return super().moved(place, 1 - action if self.np_random.random() < 0.2 else action)


class Flickering(Corridor):
    """Every frame has noise of its own; the walk is deterministic."""

    def draw(self, place: int) -> np.ndarray:
        noise = np.random.default_rng().normal(0, 10, (4 * SIDE, CELLS * SIDE, 3))
        return np.clip(super().draw(place) + noise, 0, 255).astype(np.uint8)


class Secret(Corridor):
    """A hidden counter: every third step to the right does nothing, and the frame does not show when."""

    def reset(self, *, seed: int | None = None, options: dict | None = None) -> tuple[Any, dict]:
        self.count = 0
        return super().reset(seed=seed)

    def moved(self, place: int, action: int) -> int:
        self.count += action
        return place if action and self.count % 3 == 0 else super().moved(place, action)


corridor = Corridor
rendered = Rendered


def blind() -> gymnasium.Env:
    """Shows no images at all."""
    return Rendered()


def stacked() -> gymnasium.Env:
    """Observes planes of bytes that are no colours."""
    env = Rendered()
    env.observation_space = gymnasium.spaces.Box(0, 255, (4, 4, 16), np.uint8)
    return env


class Wrapped(gymnasium.Wrapper):
    """A wrapper's class, which has no metadata of its own."""

    def __init__(self) -> None:
        super().__init__(Corridor())


goalless = Goalless
continuous = Continuous
changing = Changing
slippery = Slippery
flickering = Flickering
secret = Secret


def raises() -> gymnasium.Env:
    """Cannot be made."""
    raise RuntimeError("the robot is on fire")


def nothing() -> None:
    """Makes no environment."""

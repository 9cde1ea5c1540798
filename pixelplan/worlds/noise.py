"""Visual noise: only the pixels change, not the world. No two visits to a state look alike.

`Noisy` adds it to a family of levels, `NoisyFrames` to one Gymnasium environment.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import gymnasium
import numpy as np

from pixelplan.envs.family import Challenge, Family, Recording, Wanted
from pixelplan.envs.frames import resize
from pixelplan.envs.noise_config import NOISE, Noise
from pixelplan.types import Goal

DISTRACTOR = 1 / 8
"""Side of a distractor, as a share of the frame's shorter side."""


class Painter:
    """Disturbs the frames of one episode after another."""

    def __init__(self, noise: Noise, random: np.random.Generator) -> None:
        self._noise, self._random = noise, random
        self.begin()

    def begin(self) -> None:
        """A new episode: distractors appear somewhere and begin to move."""
        count = self._noise.distractor
        self._places = self._random.random((count, 2))  # as shares of the free room
        self._speeds = self._random.uniform(0.03, 0.12, (count, 2)) * self._random.choice([-1, 1], (count, 2))
        self._colours = self._random.integers(0, 256, (count, 3))

    def paint(self, frame: np.ndarray) -> np.ndarray:
        """The next frame of the episode [H,W,3], disturbed."""
        random, noise = self._random, self._noise
        height, width = frame.shape[:2]
        pixels = frame.astype(np.float32)
        if noise.background:
            pattern = random.uniform(-noise.background, noise.background, (4, 4, 3)) + 128
            spread = resize(np.clip(pattern, 0, 255).astype(np.uint8), (height, width)).astype(np.float32) - 128
            pixels += np.where(_background(frame)[..., None], spread, 0)
        side = max(1, round(min(height, width) * DISTRACTOR))
        for place, colour in zip(self._places, self._colours, strict=True):
            row, column = (place * (height - side, width - side)).round().astype(int)
            pixels[row : row + side, column : column + side] = colour
        self._move()
        if noise.flicker:
            pixels *= random.uniform(1 - noise.flicker, 1 + noise.flicker)
        if noise.noise:
            pixels += noise.noise * random.standard_normal(pixels.shape, np.float32)
        return np.clip(pixels + 0.5, 0, 255).astype(np.uint8)

    def _move(self) -> None:
        """Move the distractors; they turn round at the border."""
        self._places += self._speeds
        outside = (self._places < 0) | (self._places > 1)
        self._speeds = np.where(outside, -self._speeds, self._speeds)
        self._places = np.clip(self._places, 0, 1)


def _background(frame: np.ndarray) -> np.ndarray:
    """[H,W] bool: where a frame [H,W,3] has its most common colour."""
    codes = frame.astype(np.int32) @ np.array([65536, 256, 1], np.int32)
    values, counts = np.unique(codes, return_counts=True)
    return codes == values[counts.argmax()]


class NoisyFrames(gymnasium.Wrapper[np.ndarray, Any, np.ndarray, Any]):
    """An environment whose frames [H,W,3] are disturbed; the game itself is not touched."""

    def __init__(self, env: gymnasium.Env[np.ndarray, Any], noise: Noise, random: np.random.Generator) -> None:
        super().__init__(env)
        self._painter = Painter(noise, random)

    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None) -> tuple[np.ndarray, dict]:
        """The first frame, disturbed."""
        frame, info = self.env.reset(seed=seed, options=options)
        self._painter.begin()
        return self._painter.paint(frame), info

    def step(self, action: Any) -> tuple[np.ndarray, Any, bool, bool, dict]:
        """The frame after an action, disturbed."""
        frame, *rest = self.env.step(action)
        return (self._painter.paint(frame), *rest)  # type: ignore[return-value]


@dataclass(frozen=True)
class Noisy:
    """Another family's levels behind noise. Whether a level is solved is judged without the noise."""

    family: Family
    noise: Noise

    @property
    def name(self) -> str:
        """What the family behind the noise is called."""
        return self.family.name

    @property
    def options(self) -> Mapping[str, Any]:
        """The options of the family behind the noise, and those of the noise."""
        return {**self.family.options, NOISE: dataclasses.asdict(self.noise)}

    @property
    def action_names(self) -> tuple[str, ...]:
        """The actions of the family behind the noise."""
        return self.family.action_names

    @property
    def shape(self) -> tuple[int, int, int]:
        """Noise does not change the size of frames."""
        return self.family.shape

    @property
    def random_start(self) -> bool:
        """Play starts as it does without noise."""
        return self.family.random_start

    @property
    def has_goals(self) -> bool:
        """Levels have a goal if they have one without noise."""
        return self.family.has_goals

    @property
    def usual_actions(self) -> bool:
        """Noise does not change the actions."""
        return getattr(self.family, "usual_actions", False)

    def fit(self, size: tuple[int, int]) -> Noisy:
        """Noise is added after frames are resized."""
        return dataclasses.replace(self, family=self.family.fit(size))

    def level(self, number: int) -> NoisyFrames:
        """A level behind noise."""
        return NoisyFrames(
            self.family.level(number), self.noise, np.random.default_rng([self.noise.noise_seed, number])
        )

    def check(self, number: int) -> None:
        """Check the family without its noise."""
        self.family.check(number)

    @property
    def usually_random(self) -> bool:
        """Play is random, because no state can be recognised behind noise."""
        return True

    def play(
        self,
        number: int,
        episodes: int,
        steps: int,
        random: np.random.Generator,
        explores: bool = False,
        trusts: bool = False,
    ) -> Recording:
        """Random play behind noise; every frame is new, so exploring is impossible."""
        assert not explores
        play = self.family.play(number, episodes, steps, random, trusts=trusts)
        painter = Painter(self.noise, np.random.default_rng([self.noise.noise_seed, *random.integers(2**32, size=2)]))
        frames = np.empty((play.episodes.size, *self.shape), np.uint8)
        for row, shown in enumerate(play.episodes):
            painter.begin()
            for column, index in enumerate(shown):
                frames[row * (steps + 1) + column] = painter.paint(play.frames[index])
        solved = None if play.solved is None else play.solved[play.episodes.ravel()]
        painter.begin()
        goals = None if play.goals is None else np.stack([painter.paint(goal) for goal in play.goals])
        rows = np.arange(play.episodes.size).reshape(play.episodes.shape)
        return Recording(frames, rows, play.actions, solved, goals)

    def challenge(self, number: int, goal: Wanted = "level", seed: int = 0) -> Challenge:
        """A level and its goal behind noise; the goal's frames are disturbed, too, unless the user gave them."""
        challenge = self.family.challenge(number, goal, seed)
        random = np.random.default_rng([self.noise.noise_seed, seed, number, 2])
        shown = challenge.goal
        if shown.frames is not None and not isinstance(goal, Goal | np.ndarray | list):
            painter = Painter(self.noise, random)
            shown = dataclasses.replace(shown, frames=np.stack([painter.paint(frame) for frame in shown.frames]))
        return dataclasses.replace(
            challenge, env=NoisyFrames(challenge.env, self.noise, random), goal=shown, level=None, rules=None
        )

"""One level, played by the planner: to the goal, to what the goal test accepts, to what has never been seen."""

from __future__ import annotations

import copy
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from functools import partial
from typing import Any, Literal, NamedTuple

import numpy as np
import torch

from pixelplan.envs.frames import DistinctFrames, OncePerFrame
from pixelplan.planning import FullConfig, full
from pixelplan.planning.latent_graph import as_array, as_tensor, distance_table
from pixelplan.planning.one_shot import inference
from pixelplan.planning.plan import Plan
from pixelplan.types import Goal, GoalTest, Model, World, goal_test_of

RANDOM_STEPS = 5
"""How many random actions are taken when the planner does not know what to do."""


class Played(NamedTuple):
    """One episode of T steps."""

    frames: np.ndarray
    """[T+1,H,W,3]."""
    actions: np.ndarray
    """[T]."""
    solved: np.ndarray
    """[T+1] bool, whether each frame solves the level."""


class _Aim(NamedTuple):
    """What a player heads for next."""

    kind: Literal["solved", "new", "seen"]
    goal: Goal


class Player:
    """Plays one level, episode after episode, and remembers what it has seen there."""

    def __init__(
        self,
        model: Model,
        world: World,
        goal: Goal,
        seen: np.ndarray,
        config: FullConfig,
        random: np.random.Generator,
    ) -> None:
        """`seen` are the level's known frames [n,H,W,3]."""
        self._model, self._world, self._config, self._random = _Familiar(model), _Noting(world), config, random
        self._goal = goal
        self._known = _Known(self._model, seen)
        self._goes_on, self._episodes = False, 0

    def play(self, steps: int) -> Played:
        """One episode. If the last one saw something new, it continues from there; otherwise the level starts again."""
        if not self._goes_on:
            self._world.reset()
        world, steps_before, before = self._world, len(self._world.taken), len(self._known)
        aims = self._aims()
        while (left := steps + steps_before - len(world.taken)) > 0:
            aim = next(aims)
            if aim.kind != "solved" or not world.solved[-1]:
                self._pursue(aim, left)
        self._goes_on = len(self._known) > before
        self._episodes += 1
        frames, solved = np.stack(world.frames[steps_before:]), np.array(world.solved[steps_before:])
        return Played(frames, np.array(world.taken[steps_before:], np.uint8), solved)

    def _pursue(self, aim: _Aim, steps: int) -> None:
        """Head for an aim, and take a few random actions if the planner does not know what to do."""
        world, steps_before = self._world, len(self._world.taken)
        here = _Continued(world, partial(self._reached, aim))
        config = replace(self._config, step_limit=steps)
        lost = False
        if aim.kind == "new":
            scout = _Scout()
            try:
                full(self._model.testing(self._known.doubts), here, aim.goal, config, self._random, scout)
            except _NothingNew:
                lost = True
            cut_off = len(world.taken) == steps_before + steps
            self._known.sought(scout.ends[:-1] if cut_off else scout.ends)
        else:
            full(self._model, here, aim.goal, config, self._random)
        if lost or len(world.taken) == steps_before:
            for _ in range(min(RANDOM_STEPS, steps_before + steps - len(world.taken))):
                world.step(int(self._random.integers(world.actions)))
        self._known.add(world.frames[steps_before:])

    def _aims(self) -> Iterator[_Aim]:
        """The level's goal, what the goal test accepts, and something new; each episode starts with the next of these.
        After them, more that is new, or a frame seen before if nothing new was found."""
        aims = [_Aim("solved", self._goal)] if self._goal.frames is not None else []
        if goal_test_of(self._model) is not None:
            aims.append(_Aim("solved", Goal()))
        aims.append(_Aim("new", Goal()))
        first = self._episodes % len(aims)
        yield from (*aims[first:], *aims[:first])
        while True:
            before = len(self._known)
            yield _Aim("new", Goal())
            if len(self._known) == before:
                # Prefer a late one: something new is more likely to be near it.
                latest = int(self._random.integers(len(self._known), size=2).max())
                yield _Aim("seen", Goal.of(self._known.frame(latest)))

    def _reached(self, aim: _Aim, frame: np.ndarray, solved: bool) -> bool:
        """Whether a frame [H,W,3], `solved` or not, reaches an aim; the planner itself recognises the frames of a
        goal."""
        return {"solved": solved, "new": self._known.is_new(frame), "seen": False}[aim.kind]


class _NothingNew(Exception):
    """Nothing new can be reached, as far as the model knows."""


class _Scout:
    """Watches a planner that heads for something new, and stops it if there is nothing new."""

    def __init__(self) -> None:
        self.ends: list[np.ndarray] = []
        """The embeddings [d] that seemed new."""

    def planned(self, plan: Plan, actions: Sequence[int], expected: np.ndarray, claims_goal: bool) -> None:
        """A plan was made, with embeddings [n,d] expected on the way."""
        if not claims_goal:
            raise _NothingNew
        self.ends.append(expected[-1])

    def saw(self, action: int, expected: np.ndarray, observed: np.ndarray) -> None:
        """A step was taken."""


class _Known:
    """What has been seen of a level: a state is new if it is as far from all of it as different states are."""

    def __init__(self, model: _Familiar, frames: Sequence[np.ndarray] | np.ndarray) -> None:
        """Start with frames [n,H,W,3]."""
        self._model = model
        self._frames = DistinctFrames()
        self._embeddings = np.empty((0, 0), np.float32)
        self.add(frames)

    def __len__(self) -> int:
        return len(self._frames)

    def frame(self, number: int) -> np.ndarray:
        """A frame [H,W,3] by its number, in the order they were seen."""
        return self._frames[number]

    def add(self, frames: Sequence[np.ndarray] | np.ndarray) -> None:
        """Add those of the frames [n,H,W,3] that are new."""
        fresh = DistinctFrames(frame for frame in frames if self.is_new(frame))
        if len(fresh):
            for frame in fresh.stacked():
                self._frames.add(frame)
            self._remember(self._look(fresh.stacked()))

    def sought(self, ends: Sequence[np.ndarray]) -> None:
        """The embeddings [d] that seemed new have been looked for: they were seen, or do not exist."""
        if ends:
            self._remember(np.stack(ends))

    def is_new(self, frame: np.ndarray) -> bool:
        """Whether a frame [H,W,3] has not been seen; if pixels are noisy, whether nothing like it has."""
        if not self._model.noisy or not len(self._frames):
            return self._frames.number(frame) is None
        return bool(self.doubts(as_tensor(self._look(frame[None])))[0] < 1)

    def doubts(self, z: torch.Tensor) -> torch.Tensor:
        """Doubts [N] that states z [N,d] are new: a goal test."""
        apart = distance_table(as_array(z), self._embeddings).min(1)
        return as_tensor(self._model.threshold / np.maximum(apart, 1e-6))

    def _look(self, frames: np.ndarray) -> np.ndarray:
        with inference():
            return as_array(self._model.encode(frames))

    def _remember(self, embeddings: np.ndarray) -> None:
        self._embeddings = np.concatenate([self._embeddings.reshape(-1, embeddings.shape[1]), embeddings])


class _Noting:
    """A world that notes everything that happens in it; the frame after a reset replaces the one before it."""

    def __init__(self, world: World) -> None:
        self.actions, self._world = world.actions, world
        self.frames: list[np.ndarray] = []
        self.solved: list[bool] = []
        self.taken: list[int] = []

    def reset(self) -> tuple[np.ndarray, bool]:
        frame, solved = self._world.reset()
        self.frames[-1:], self.solved[-1:] = [frame], [solved]
        return frame, solved

    def step(self, action: int) -> tuple[np.ndarray, bool]:
        frame, solved = self._world.step(action)
        self.frames.append(frame)
        self.solved.append(solved)
        self.taken.append(action)
        return frame, solved


class _Familiar:
    """A model that looks at each frame of a level only once."""

    goal_test: GoalTest | None

    def __init__(self, model: Model) -> None:
        self.threshold, self.noisy, self.goal_test = model.threshold, model.noisy, goal_test_of(model)
        self._model = model
        self._embedding = OncePerFrame(lambda frame: model.encode(frame[None]))
        self.context = OncePerFrame(model.context)
        """What the model reads from a frame [H,W,3]."""

    def testing(self, test: GoalTest) -> _Familiar:
        """The same model with another goal test."""
        other = copy.copy(self)
        other.goal_test = test
        return other

    def encode(self, frames: np.ndarray) -> torch.Tensor:
        """Embeddings [N,d] of frames [N,H,W,3]."""
        return torch.cat([self._embedding(frame) for frame in frames])

    def step(self, z: torch.Tensor, context: Any) -> torch.Tensor:
        """As the model does."""
        return self._model.step(z, context)


class _Continued:
    """A world whose episode begins at its current state, and which is solved when an aim is reached."""

    def __init__(self, world: _Noting, reached: Callable[[np.ndarray, bool], bool]) -> None:
        self.actions = world.actions
        self._world, self._reached = world, reached

    def reset(self) -> tuple[np.ndarray, bool]:
        return self._world.frames[-1], False

    def step(self, action: int) -> tuple[np.ndarray, bool]:
        frame, solved = self._world.step(action)
        return frame, self._reached(frame, solved)

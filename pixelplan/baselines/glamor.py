"""GLAMOR: learn which actions lead from one frame to another, and reach a goal by asking for them.

Paster, McIlraith and Ba 2020, written from the published description. An inverse model p(a₁ … a_k, end | s, g) is an
LSTM that starts from both frames; a prior p(a₁ … a_k, end | s) sees only the first. Training data come from its own
tries: plan once towards a goal, then follow the plan with some random actions. In play it replans at each step.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn

from pixelplan.baselines.glamor_network import END, IGNORED_ACTION, GlamorConfig, GlamorNetwork, plan
from pixelplan.baselines.policy import Budget
from pixelplan.baselines.run_folder import begin_run, load_run, save_run, training_request
from pixelplan.envs.frames import DistinctFrames, OncePerFrame
from pixelplan.files import write_rows
from pixelplan.puzzles import PlayOptions, Puzzle, PuzzleEnv
from pixelplan.types import ACTIONS

SECONDS_BETWEEN_CHECKPOINTS = 60.0


class GlamorPolicy:
    """Replans at each step towards the goal frame, and takes the plan's first action."""

    def __init__(self, network: GlamorNetwork, config: GlamorConfig) -> None:
        self._network, self._config = network.eval(), config

    def begin(self, goal_frame: np.ndarray, random: np.random.Generator) -> None:
        """A new episode towards a goal frame [H,W,3]."""
        self._random = random
        self._look = OncePerFrame(self._features)
        self._goal = self._look(goal_frame)

    def act(self, frame: np.ndarray) -> int:
        """The first action of a plan from a frame [H,W,3]."""
        return plan(self._network, self._look(frame), self._goal, self._config, self._random)[0]

    @torch.inference_mode()
    def _features(self, frame: np.ndarray) -> Tensor:
        """Features [1,512] of a frame [H,W,3]."""
        return self._network.encode(frame[None])


@dataclass(frozen=True, eq=False)
class Try:
    """One episode of T steps."""

    level: int
    actions: np.ndarray
    """[T] int64."""
    frames: np.ndarray
    """[n,H,W,3] uint8, its distinct frames."""
    seen: np.ndarray
    """[T+1] indices into them."""


def play_try(env: PuzzleEnv, level: int, choose: Callable[[int], int], steps: int) -> Try:
    """Play a level for some steps or until it is solved; `choose` returns the action for each step."""
    frame, _ = env.reset(options={"level": level})
    frames = DistinctFrames()
    seen = [frames.add(frame)]
    actions: list[int] = []
    while len(actions) < steps:
        actions.append(choose(len(actions)))
        frame, _, solved, _, _ = env.step(actions[-1])
        seen.append(frames.add(frame))
        if solved:
            break
    return Try(level, np.array(actions), frames.stacked(), np.array(seen))


class Trainer:
    """The network, its optimizer, all tries so far, and how far training has come."""

    def __init__(self, puzzle: Puzzle, levels: tuple[int, int], config: GlamorConfig, seed: int, note: Any) -> None:
        torch.manual_seed(seed)
        self.config, self.levels = config, levels
        self.env = PuzzleEnv(puzzle, PlayOptions(levels=levels))
        self.network = GlamorNetwork(puzzle.pixels)
        self.network.to(memory_format=torch.channels_last)  # type: ignore[call-overload]  # faster on CPUs
        self.optimizer = torch.optim.AdamW(self.network.parameters(), lr=config.learning_rate)
        self.steps: int = note["steps"] if note else 0
        self.updates: int = note["updates"] if note else 0
        self.random = np.random.default_rng([seed, 0])
        if note:
            self.random.bit_generator.state = note["random"]
        self.tries: list[Try] = []
        self.tries_of_level: dict[int, list[Try]] = {}

    def add(self, attempt: Try) -> None:
        """Remember a try."""
        self.tries.append(attempt)
        self.tries_of_level.setdefault(attempt.level, []).append(attempt)

    def collect(self, total: int) -> None:
        """Play one try: at random while warming up, then by a plan with random actions mixed in."""
        config, random = self.config, self.random
        level = int(random.integers(*self.levels))
        planned: list[int] = []
        warm_up = config.warm_up * total
        if self.steps >= warm_up:
            planned = self._plan(level)
        passed = (self.steps - warm_up) / max(1.0, config.exploration_share * total)
        chance = max(config.exploration_end, 1 - (1 - config.exploration_end) * passed)

        def choose(step: int) -> int:
            if step >= len(planned) or random.random() < chance:
                return int(random.integers(len(ACTIONS)))
            return planned[step]

        attempt = play_try(self.env, level, choose, config.horizon)
        self.add(attempt)
        self.steps += len(attempt.actions)

    def _plan(self, level: int) -> list[int]:
        """A plan from the level's start to its goal or, half of the time, to a frame seen there before."""
        start, _ = self.env.reset(options={"level": level})
        goal = self.env.goal_frame()
        before = self.tries_of_level.get(level, [])
        if before and self.random.random() < 0.5:
            frames = before[self.random.integers(len(before))].frames
            goal = frames[self.random.integers(len(frames))]
        self.network.eval()
        with torch.inference_mode():
            features = self.network.encode(np.stack([start, goal]))
        return plan(self.network, features[:1], features[1:], self.config, self.random)

    def update(self) -> float:
        """One gradient step on a batch of segments; returns the loss."""
        self.network.train()
        frames, start, goal, actions, targets = self._batch()
        features = self.network.encode(frames)
        loss = self.network.loss(features[start], features[goal], actions, targets)
        self.optimizer.zero_grad()
        loss.backward()
        nn.utils.clip_grad_norm_(self.network.parameters(), self.config.gradient_limit)
        self.optimizer.step()
        self.updates += 1
        return float(loss.detach())

    def _batch(self) -> tuple[np.ndarray, Tensor, Tensor, Tensor, Tensor]:
        """Distinct frames [n,H,W,3]; of N segments: start and goal [N] among them, actions [N,T], targets [N,T+1]."""
        config, random = self.config, self.random
        chosen = [self.tries[index] for index in random.integers(len(self.tries), size=config.episodes_per_batch)]
        offsets = np.cumsum([0] + [len(attempt.frames) for attempt in chosen])
        start, goal = np.zeros((2, config.batch), np.int64)
        actions = np.full((config.batch, config.horizon), END, np.int64)
        targets = np.full((config.batch, config.horizon + 1), IGNORED_ACTION, np.int64)
        for row in range(config.batch):
            place = row % config.episodes_per_batch
            attempt = chosen[place]
            length = int(random.integers(1, min(config.horizon, len(attempt.actions)) + 1))
            first = int(random.integers(len(attempt.actions) - length + 1))
            start[row] = offsets[place] + attempt.seen[first]
            goal[row] = offsets[place] + attempt.seen[first + length]
            actions[row, :length] = targets[row, :length] = attempt.actions[first : first + length]
            targets[row, length] = END
        longest = int((targets != IGNORED_ACTION).sum(axis=1).max()) - 1
        used, places = np.unique(np.concatenate([start, goal]), return_inverse=True)
        frames = np.concatenate([attempt.frames for attempt in chosen])[used]
        start_place, goal_place = torch.from_numpy(places).chunk(2)
        tokens = torch.from_numpy(actions[:, :longest]), torch.from_numpy(targets[:, : longest + 1])
        return frames, start_place, goal_place, *tokens


def train_glamor(
    puzzle: Puzzle,
    name: str,
    levels: tuple[int, int],
    steps: int,
    out: Path,
    *,
    config: GlamorConfig = GlamorConfig(),  # noqa: B008 (frozen)
    seed: int = 0,
    seconds: float | None = None,
    resume: bool = False,
    progress: Callable[[int, int], None] = lambda done, total: None,
) -> tuple[GlamorPolicy, Budget]:
    """Train on a range of levels for some steps, or until `seconds` have passed; returns policy and cost.

    A run that was interrupted and is resumed ends in the same network as one that was not.
    """
    request = training_request("glamor", name, puzzle, levels, seed, config)
    note = begin_run(out, request, resume)
    trainer = Trainer(puzzle, levels, config, seed, note)
    seconds_before = note["seconds"] if note else 0.0
    if note:
        _replay(trainer, load_run(out, trainer.network, trainer.optimizer))
    began = saved = time.monotonic()
    losses: list[float] = []
    rows: list[dict[str, Any]] = note.get("rows", []) if note else []

    def save() -> None:
        nonlocal saved
        saved = time.monotonic()
        elapsed = seconds_before + saved - began
        progress_note = {"steps": trainer.steps, "updates": trainer.updates, "seconds": elapsed}
        rows.append({**progress_note, "loss": float(np.mean(losses)) if losses else None})
        losses.clear()
        drawn = trainer.random.bit_generator.state
        whole_note = {"request": request, **progress_note, "rows": rows, "random": drawn}
        write_rows(out / "metrics.jsonl", rows)  # first: no checkpoint may know more rows than this
        save_run(out, trainer.network, trainer.optimizer, whole_note, _tries(trainer))

    while trainer.steps < steps and (seconds is None or time.monotonic() - began < seconds):
        trainer.collect(steps)
        if trainer.steps >= config.warm_up * steps:
            while trainer.updates * config.batch < config.replay_ratio * trainer.steps:
                losses.append(trainer.update())
        progress(trainer.steps, steps)
        if time.monotonic() - saved > SECONDS_BETWEEN_CHECKPOINTS:
            save()
    if trainer.steps > (note["steps"] if note else -1):
        save()
    budget = Budget(
        environment_steps=trainer.steps,
        wanted_steps=steps,
        seconds=round(seconds_before + saved - began, 1),
        updates=trainer.updates,
        threads=torch.get_num_threads(),
    )
    return GlamorPolicy(trainer.network, config), budget


def _tries(trainer: Trainer) -> dict[str, Tensor]:
    """All tries as levels and actions: the world is deterministic, so frames need no space on disk."""
    return {
        "levels": torch.tensor([attempt.level for attempt in trainer.tries]),
        "lengths": torch.tensor([len(attempt.actions) for attempt in trainer.tries]),
        "actions": torch.from_numpy(np.concatenate([attempt.actions for attempt in trainer.tries]).astype(np.uint8)),
    }


def _replay(trainer: Trainer, saved: dict[str, Tensor]) -> None:
    """Replay saved tries to see their frames; their steps were already counted."""
    all_actions = saved["actions"].split(saved["lengths"].tolist())
    for level, actions in zip(saved["levels"].tolist(), all_actions, strict=True):
        trainer.add(play_try(trainer.env, level, actions.tolist().__getitem__, len(actions)))

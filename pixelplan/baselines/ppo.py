"""PPO by stable-baselines3 with Procgen's settings, on many games at once, with nothing but the sparse reward.

Schulman et al. 2017; settings of Cobbe et al. 2020: 64 games, learning rate 5e-4, discount 0.999, λ 0.95, 3 epochs of
8 minibatches, clip 0.2, entropy 0.01, normalised rewards, an episode that is cut counts as lost. Unlike their code,
this does not clip the value's change.
"""

from __future__ import annotations

import dataclasses
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

import numpy as np
import torch
from stable_baselines3 import PPO
from stable_baselines3.common.callbacks import BaseCallback
from stable_baselines3.common.policies import ActorCriticCnnPolicy, ActorCriticPolicy
from stable_baselines3.common.vec_env import VecMonitor, VecNormalize

from pixelplan.baselines.policy import Budget
from pixelplan.baselines.ppo_adapters import CellFeatures, ImpalaFeatures, VecGames
from pixelplan.baselines.ppo_state import clone, restore
from pixelplan.baselines.run_folder import begin_run, load_run, save_run, training_request
from pixelplan.files import write_rows
from pixelplan.puzzles import PlayOptions, Puzzle, PuzzleVectorEnv
from pixelplan.puzzles.base import GOAL_REWARD
from pixelplan.types import ACTIONS, InputError

ROLLOUT_STEPS = {"ice-slider": 64, "digit-jump": 64, "procgen-maze": 256}
"""Steps of a game in one rollout, after which its episode is cut.

The paper chooses it for each puzzle, because games get stuck for good: 256 is Procgen's, a quarter is enough for
boards whose solutions have about ten moves.
"""

MAZE_CELLS = 15
"""Cells per side of ProcgenMaze's world."""


@dataclass(frozen=True)
class PpoConfig:
    """Procgen's settings, and what they leave open."""

    network: Literal["cells", "nature", "impala"] = "cells"
    """cells looks at each cell of the board once and then at its neighbours; nature is stable-baselines3's NatureCNN;
    impala is Procgen's network, many times the work."""
    games: int = 64
    """Games played at once."""
    rollout_steps: int | None = None
    """Steps of each game in a rollout, and the most in an episode; the default depends on the puzzle."""
    learning_rate: float = 5e-4
    discount: float = 0.999
    gae_lambda: float = 0.95
    epochs: int = 3
    minibatches: int = 8
    clip: float = 0.2
    entropy: float = 0.01


def train_ppo(
    puzzle: Puzzle,
    name: str,
    levels: tuple[int, int],
    steps: int,
    out: Path,
    *,
    config: PpoConfig = PpoConfig(),  # noqa: B008 (frozen)
    seed: int = 0,
    seconds: float | None = None,
    resume: bool = False,
    progress: Callable[[int, int], None] = lambda done, total: None,
) -> tuple[PpoPolicy, Budget]:
    """Train on a range of levels for some steps, or until `seconds` have passed; returns policy and cost.

    A run that was interrupted and is resumed ends in the same network as one that was not.
    """
    if config.network == "nature" and puzzle.pixels < 36:
        raise InputError(f"frames have {puzzle.pixels} pixels per side; NatureCNN needs 36 or more")
    rollout = config.rollout_steps or ROLLOUT_STEPS[name]
    request = training_request("ppo", name, puzzle, levels, seed, dataclasses.replace(config, rollout_steps=rollout))
    note = begin_run(out, request, resume)
    games = PuzzleVectorEnv(
        puzzle, config.games, PlayOptions(levels=levels, max_episode_steps=rollout), autoreset_mode="SameStep"
    )
    seen = VecNormalize(VecMonitor(VecGames(games)), norm_obs=False, gamma=config.discount)  # rewards, not frames
    agent = PPO(
        ActorCriticCnnPolicy,
        seen,
        n_steps=rollout,
        batch_size=max(1, rollout * config.games // config.minibatches),
        n_epochs=config.epochs,
        learning_rate=config.learning_rate,
        gamma=config.discount,
        gae_lambda=config.gae_lambda,
        clip_range=config.clip,
        ent_coef=config.entropy,
        policy_kwargs=_network(config, puzzle),
        seed=seed,
        device="cpu",
    )
    agent.policy.to(memory_format=torch.channels_last)  # type: ignore[call-overload]  # a fifth faster on CPUs
    if note:
        tensors = load_run(out, agent.policy, agent.policy.optimizer)
        agent.num_timesteps, agent._n_updates = note["steps"], note["updates"]
        if agent.num_timesteps < steps:
            if "state" not in note:
                raise InputError(f"{out} holds a run of an earlier version; it can be played, but not resumed")
            restore(agent, seen, games, note["state"], tensors)
    keeper = Keeper(out, request, note, steps, seconds, progress, lambda: clone(agent, seen, games))
    if agent.num_timesteps < steps:
        agent.learn(steps - agent.num_timesteps, callback=keeper, reset_num_timesteps=False)
        keeper.save()
    budget = Budget(
        environment_steps=keeper.saved_steps,
        wanted_steps=steps,
        seconds=round(keeper.seconds_gone(), 1),
        updates=agent._n_updates * config.minibatches,
        threads=torch.get_num_threads(),
        curve=keeper.curve(),
    )
    return PpoPolicy(agent.policy), budget


class PpoPolicy:
    """Draws actions as in training: in a deterministic world, always taking the likeliest one can loop forever."""

    def __init__(self, network: ActorCriticPolicy) -> None:
        self._network = network.eval()

    def begin(self, goal_frame: np.ndarray, random: np.random.Generator) -> None:
        """A new episode; the goal frame is not used, PPO has only seen rewards."""
        self._random = random

    def act(self, frame: np.ndarray) -> int:
        """An action drawn by its probability in a frame [H,W,3]."""
        pictures = torch.from_numpy(frame).permute(2, 0, 1)[None]
        with torch.no_grad():
            distribution: Any = self._network.get_distribution(pictures).distribution
        chances = distribution.probs[0].double().numpy()
        return int(self._random.choice(len(ACTIONS), p=chances / chances.sum()))


def _network(config: PpoConfig, puzzle: Puzzle) -> dict[str, Any]:
    """How stable-baselines3 builds the policy; Adam's ε is that of Procgen's code."""
    options: dict[str, Any] = {"optimizer_kwargs": {"eps": 1e-5}}
    if config.network == "impala":
        options |= {"features_extractor_class": ImpalaFeatures, "features_extractor_kwargs": {"pixels": puzzle.pixels}}
    if config.network == "cells":
        cells = getattr(puzzle, "size", MAZE_CELLS)
        options |= {"features_extractor_class": CellFeatures, "features_extractor_kwargs": {"cells": cells}}
    return options


class Keeper(BaseCallback):
    """Between rollouts: writes checkpoints and a line of metrics, moves the bar, and ends training in time."""

    SECONDS_BETWEEN_CHECKPOINTS = 60.0

    def __init__(
        self,
        out: Path,
        request: dict[str, Any],
        note: dict[str, Any] | None,
        steps: int,
        seconds: float | None,
        progress: Callable[[int, int], None],
        state: Callable[[], tuple[dict[str, Any], dict[str, torch.Tensor]]],
    ) -> None:
        super().__init__()
        self._state = state
        self._rows: list[dict[str, Any]] = note["rows"] if note else []
        self._out, self._request, self._steps, self._progress = out, request, steps, progress
        self._limit = float("inf") if seconds is None else seconds
        self._seconds_before = note["seconds"] if note else 0.0
        self.saved_steps = note["steps"] if note else 0
        self._began = self._last_saved = time.monotonic()
        self._time_is_up = False

    def seconds_gone(self) -> float:
        """Wall time of training up to the last checkpoint, including the time before an interruption."""
        return self._seconds_before + self._last_saved - self._began

    def curve(self) -> tuple[tuple[int, float], ...]:
        """At each checkpoint the steps so far, and the share of the latest 100 episodes that were won."""
        return tuple((row["steps"], round(row["mean_return"] / GOAL_REWARD, 3)) for row in self._rows)

    def _on_rollout_start(self) -> None:
        now = time.monotonic()
        self._progress(self.num_timesteps, self._steps)
        time_is_up = now - self._began > self._limit
        if time_is_up or now - self._last_saved > self.SECONDS_BETWEEN_CHECKPOINTS:
            self.save()
        self._time_is_up = time_is_up

    def _on_step(self) -> bool:
        return not self._time_is_up

    def save(self) -> None:
        """Write a checkpoint, unless time was up at the last one: an unfinished rollout does not count."""
        if self._time_is_up:
            return
        self._last_saved = time.monotonic()
        self.saved_steps = self.model.num_timesteps
        values, tensors = self._state()
        mean_return = float(np.mean(values["returns"] or [0.0]))
        self._rows.append({"steps": self.saved_steps, "seconds": self.seconds_gone(), "mean_return": mean_return})
        note = {
            "request": self._request,
            "steps": self.saved_steps,
            "updates": self.model._n_updates,
            "seconds": self.seconds_gone(),
            "rows": self._rows,
            "state": values,
        }
        write_rows(self._out / "metrics.jsonl", self._rows)  # first: no checkpoint may know more rows than this
        save_run(self._out, self.model.policy, self.model.policy.optimizer, note, tensors)

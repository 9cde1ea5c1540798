"""All that decides how PPO continues besides its network: the games, the random numbers to come, running means."""

from __future__ import annotations

from collections import deque
from typing import Any

import numpy as np
import torch
from stable_baselines3 import PPO
from stable_baselines3.common.vec_env import VecMonitor, VecNormalize
from torch import Tensor

from pixelplan.puzzles import PuzzleVectorEnv


def clone(agent: PPO, seen: VecNormalize, games: PuzzleVectorEnv) -> tuple[dict[str, Any], dict[str, Tensor]]:
    """The state between two rollouts, as JSON values and as tensors."""
    monitor = seen.venv
    assert isinstance(monitor, VecMonitor)
    _, keys, place, has_gauss, gauss = np.random.get_state()  # noqa: NPY002 (stable-baselines3 draws from it)
    spread = seen.ret_rms
    values = {"games": games.clone_state(), "drawn": [place, has_gauss, gauss], "returns": _returns(agent)}
    tensors = {
        "spread_of_returns": torch.tensor([float(spread.mean), float(spread.var), spread.count], dtype=torch.float64),
        "discounted": torch.tensor(seen.returns, dtype=torch.float64),
        "episode_returns": torch.tensor(monitor.episode_returns),
        "episode_lengths": torch.tensor(monitor.episode_lengths),
        "episode_starts": torch.tensor(agent._last_episode_starts),
        "torch_random": torch.get_rng_state(),
        "numpy_random": torch.tensor(np.asarray(keys, np.int64)),
    }
    return values, tensors


def restore(
    agent: PPO, seen: VecNormalize, games: PuzzleVectorEnv, values: dict[str, Any], tensors: dict[str, Tensor]
) -> None:
    """Put everything back as it was between two rollouts."""
    monitor = seen.venv
    assert isinstance(monitor, VecMonitor) and agent.env is not None
    seen.ret_rms.mean, seen.ret_rms.var, seen.ret_rms.count = tensors["spread_of_returns"].numpy()
    seen.returns = tensors["discounted"].numpy().copy()
    monitor.episode_returns = tensors["episode_returns"].numpy().copy()
    monitor.episode_lengths = tensors["episode_lengths"].numpy().copy()
    agent.ep_info_buffer = deque([{"r": earned, "l": 0, "t": 0.0} for earned in values["returns"]], 100)
    agent.ep_success_buffer = deque(maxlen=100)
    frames = games.restore_state(values["games"])
    agent._last_obs = agent.env.transpose_observations(frames)  # type: ignore[attr-defined]
    agent._last_episode_starts = tensors["episode_starts"].numpy().copy()
    torch.set_rng_state(tensors["torch_random"])
    place, has_gauss, gauss = values["drawn"]
    keys = tensors["numpy_random"].numpy().astype(np.uint32)
    np.random.set_state(("MT19937", keys, place, has_gauss, gauss))  # noqa: NPY002


def _returns(agent: PPO) -> list[float]:
    """The returns of the latest episodes, for the metrics."""
    return [float(episode["r"]) for episode in agent.ep_info_buffer or ()]

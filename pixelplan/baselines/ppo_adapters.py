"""Our games, and networks for them, as stable-baselines3 takes them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import gymnasium
import numpy as np
import torch
from stable_baselines3.common.torch_layers import BaseFeaturesExtractor
from stable_baselines3.common.vec_env import VecEnv
from torch import nn

from pixelplan.baselines.impala import ImpalaEncoder
from pixelplan.puzzles import PuzzleVectorEnv


class VecGames(VecEnv):
    """Our vectorised games as stable-baselines3 wants them.

    A finished game starts again in the same step; its last frame is in its info as `terminal_observation`. A game that
    is cut ends like a lost one, as in Procgen's code. If its value still counted (`TimeLimit.truncated`), a stuck game
    would be worth whatever the network believes, and waiting could come to seem better than winning.
    """

    def __init__(self, games: PuzzleVectorEnv) -> None:
        self.games = games
        super().__init__(games.num_envs, games.single_observation_space, games.single_action_space)
        self._seed: int | None = None
        self._actions = np.zeros(games.num_envs, np.int64)

    def reset(self) -> np.ndarray:
        """First frames [N,H,W,3] of all games."""
        frames, _ = self.games.reset(seed=self._seed)
        self._seed = None  # a seed counts for one reset, as in Gymnasium
        return frames

    def step_async(self, actions: np.ndarray) -> None:
        """Note the actions [N] for `step_wait`."""
        self._actions = np.asarray(actions)

    def step_wait(self) -> tuple[np.ndarray, np.ndarray, np.ndarray, list[dict[str, Any]]]:
        """Frames [N,H,W,3], rewards [N], whether an episode ended [N], and an info for each game."""
        frames, rewards, terminated, truncated, infos = self.games.step(self._actions)
        over = terminated | truncated
        listed: list[dict[str, Any]] = [{} for _ in range(self.num_envs)]
        for game in np.flatnonzero(over):
            listed[game]["terminal_observation"] = infos["final_obs"][game]
        return frames, rewards.astype(np.float32), over, listed

    def seed(self, seed: int | None = None) -> Sequence[int | None]:
        """Let the next reset begin game i with seed + i."""
        self._seed = seed
        return [None if seed is None else seed + game for game in range(self.num_envs)]

    def close(self) -> None:
        """Nothing is open."""

    def get_attr(self, attr_name: str, indices: Any = None) -> list[Any]:
        """The same value for each game: they are one object."""
        return [getattr(self.games, attr_name, None) for _ in self._get_indices(indices)]

    def set_attr(self, attr_name: str, value: Any, indices: Any = None) -> None:
        """Refused: there are no single environments to change."""
        raise NotImplementedError("the games are one object; single ones cannot be changed")

    def env_method(self, method_name: str, *arguments: Any, indices: Any = None, **keywords: Any) -> list[Any]:
        """Refused: there are no single environments to call."""
        raise NotImplementedError("the games are one object; single ones cannot be called")

    def env_is_wrapped(self, wrapper_class: type[gymnasium.Wrapper], indices: Any = None) -> list[bool]:
        """No game is wrapped."""
        return [False for _ in self._get_indices(indices)]


class CellFeatures(BaseFeaturesExtractor):
    """A convolution whose stride is a cell of the board, one over neighbouring cells, and a linear layer.

    Most of NatureCNN's work is in windows that overlap, and frames here are made of cells.
    """

    def __init__(self, observation_space: gymnasium.Space[Any], cells: int, width: int = 32) -> None:
        super().__init__(observation_space, features_dim=256)
        assert observation_space.shape is not None
        pixels = observation_space.shape[-1]
        cell = pixels // cells
        window = cell if pixels % cells == 0 else 2 * cell  # with a fractional cell size, windows must overlap
        rows = (pixels - window) // cell + 1
        self.layers = nn.Sequential(
            nn.Conv2d(3, width, window, stride=cell),
            nn.ReLU(),
            nn.Conv2d(width, width, 3, padding=1),
            nn.ReLU(),
            nn.Flatten(),
            nn.Linear(width * rows**2, 256),
            nn.ReLU(),
        )

    def forward(self, observations: torch.Tensor) -> torch.Tensor:
        """[N,3,H,W] → [N,256]."""
        features: torch.Tensor = self.layers(observations)
        return features


class ImpalaFeatures(BaseFeaturesExtractor):
    """Procgen's network as stable-baselines3 takes it; pictures arrive as values from 0 to 1."""

    def __init__(self, observation_space: gymnasium.Space[Any], pixels: int) -> None:
        super().__init__(observation_space, features_dim=256)
        self.encoder = ImpalaEncoder(pixels, features=256)

    def forward(self, observations: torch.Tensor) -> torch.Tensor:
        """[N,3,H,W] → [N,256]."""
        return self.encoder(observations)

"""GLAMOR's network and how it plans: an inverse model p(a₁ … a_k, end | s, g) and a prior p(a₁ … a_k, end | s)."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn import functional

from pixelplan.baselines.impala import ImpalaEncoder, as_pictures
from pixelplan.types import ACTIONS

END = len(ACTIONS)
"""The token after the last action; as the previous action it stands for none."""
IGNORED_ACTION = -100


@dataclass(frozen=True)
class GlamorConfig:
    """The published settings; those marked "here" were chosen for puzzles with many levels and for CPUs."""

    horizon: int = 50
    """Steps of an episode, of the longest segment learned from and of the longest plan."""
    batch: int = 200
    """Segments in a gradient step."""
    episodes_per_batch: int = 20
    """Episodes that the segments come from (here): a frame that several segments share is encoded once."""
    replay_ratio: float = 4.0
    """Segments trained on for each step collected."""
    learning_rate: float = 5e-4
    gradient_limit: float = 1.0
    warm_up: float = 0.05
    """Share of the steps collected at random before training."""
    exploration_share: float = 0.3
    """Share of the steps over which the share of random actions falls from 1 to `exploration_end`."""
    exploration_end: float = 0.1
    samples: int = 200
    """Action sequences drawn for a plan."""
    discount: float = 0.99
    """Each further step multiplies a plan's score by this factor."""
    subtract_prior: bool = False
    """Score by p(a|s,g)/p(a|s) as the paper's text has it, instead of p(a|s,g), which its code does."""


class Decoder(nn.Module):
    """Log-probabilities of action sequences given features [N,F]: an LSTM of 64 units, fed the previous action.

    The LSTM's input is one part from the features plus one part from the previous action. There are only a few of
    either, so what each adds to the gates is computed once instead of at each step: half of the work of training.
    """

    def __init__(self, features: int, hidden: int = 64) -> None:
        super().__init__()
        self.begin = nn.Linear(features, 2 * hidden)
        self.known = nn.Linear(features, 512)
        self.previous = nn.Embedding(END + 1, 512)
        self.lstm = nn.LSTMCell(512, hidden)
        self.out = nn.Linear(hidden, END + 1)

    def stepper(self, known: Tensor) -> Callable[[Tensor], Tensor]:
        """A function for each step: previous actions [N] → log-probabilities [N,A+1]; known is [N,F] or [1,F]."""
        of_known = functional.linear(self.known(known), self.lstm.weight_ih, self.lstm.bias_ih + self.lstm.bias_hh)
        of_previous = functional.linear(self.previous.weight, self.lstm.weight_ih)
        hidden, cell = self.begin(known).chunk(2, dim=-1)

        def step(previous: Tensor) -> Tensor:
            nonlocal hidden, cell
            gates = of_known + of_previous[previous] + hidden @ self.lstm.weight_hh.T
            enter, keep, new, show = gates.chunk(4, dim=-1)
            cell = keep.sigmoid() * cell + enter.sigmoid() * new.tanh()
            hidden = show.sigmoid() * cell.tanh()
            return functional.log_softmax(self.out(hidden), dim=-1)

        return step

    def forward(self, known: Tensor, actions: Tensor) -> Tensor:
        """[N,F] and action sequences [N,T] → log-probabilities [N,T+1,A+1] of each action and the end."""
        step, first = self.stepper(known), actions.new_full((len(actions), 1), END)
        return torch.stack([step(previous) for previous in torch.cat([first, actions], dim=1).T], dim=1)


class GlamorNetwork(nn.Module):
    """One IMPALA encoder for frames and goals, the inverse model and the prior."""

    def __init__(self, pixels: int) -> None:
        super().__init__()
        self.encoder = ImpalaEncoder(pixels, features=512, group_norm=True)
        self.joint = nn.Sequential(
            nn.Linear(1024, 256), nn.LayerNorm(256), nn.ReLU(), nn.Linear(256, 512), nn.LayerNorm(512), nn.ReLU()
        )
        self.inverse = Decoder(512)
        self.prior = Decoder(512)

    def encode(self, frames: np.ndarray) -> Tensor:
        """Frames [N,H,W,3] uint8 → [N,512]."""
        return self.encoder(as_pictures(torch.from_numpy(frames)))

    def loss(self, start: Tensor, goal: Tensor, actions: Tensor, targets: Tensor) -> Tensor:
        """Both cross-entropies, of features [N,512] of starts and goals, actions [N,T] and targets [N,T+1]."""
        inverse = self.inverse(self.joint(torch.cat([start, goal], dim=-1)), actions)
        prior = self.prior(start, actions)
        return sum(  # type: ignore[return-value]
            functional.nll_loss(predicted.flatten(0, 1), targets.flatten(), ignore_index=IGNORED_ACTION)
            for predicted in (inverse, prior)
        )


@torch.inference_mode()
def plan(
    network: GlamorNetwork, start: Tensor, goal: Tensor, config: GlamorConfig, random: np.random.Generator
) -> list[int]:
    """The best of many drawn action sequences from a start to a goal, both features [1,512]."""
    inverse = network.inverse.stepper(network.joint(torch.cat([start, goal], dim=-1)))
    prior = network.prior.stepper(start) if config.subtract_prior else None
    generator = torch.Generator().manual_seed(int(random.integers(2**62)))
    previous = torch.full((config.samples,), END)
    scores = torch.zeros(config.samples)
    over = torch.zeros(config.samples, dtype=torch.bool)
    drawn = []
    for steps in range(config.horizon + 1):
        chances = inverse(previous)
        if prior is not None:
            chances = chances - prior(previous)
        if steps == config.horizon:
            token = torch.full_like(previous, END)
        else:
            weights = chances.softmax(dim=-1)
            if steps == 0:
                weights[:, END] = 0  # a plan has at least one action
            token = torch.multinomial(weights, 1, generator=generator)[:, 0]
        token[over] = END
        score = chances.gather(1, token[:, None])[:, 0] + math.log(config.discount)
        scores += torch.where(over, 0.0, score)
        over = over | (token == END)
        drawn.append(token)
        previous = token
        # Unless divided by the prior, scores only fall: one that is behind a finished sequence can no longer win.
        if over.all() or (prior is None and over[scores.argmax()]):
            break
    best = torch.stack(drawn, dim=1)[scores.argmax()]
    return [int(action) for action in best if action != END]

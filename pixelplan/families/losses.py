"""The losses, as pure functions. ε is the margin, z the embeddings of frames, ẑ the predicted ones."""

from __future__ import annotations

import torch
from torch import Tensor
from torch.nn import functional


def forward_loss(predicted: Tensor, target: Tensor, tolerance: float, rare_share: float) -> Tensor:
    """L_FW = E ‖f(z_t, a_t, s_c) − z_{t+1}‖², for predicted and target [M,d] (the paper's first loss).

    The mean over all steps, mixed with the mean over those that miss by more than the tolerance: soon only rare kinds
    of steps are wrong, and among thousands of right ones they would hardly count in the first mean alone.
    """
    squared = (predicted - target).pow(2).sum(-1)
    missed = squared.detach() > tolerance**2
    misses = (squared * missed).sum() / missed.sum().clamp(min=1)
    return (1 - rare_share) * squared.mean() + rare_share * misses


def inverse_loss(logits: Tensor, actions: Tensor) -> Tensor:
    """L_CE = E [−log p(a_t | z_t, z_{t+1})], for logits [M,A] and actions [M] (the paper's second loss)."""
    return functional.cross_entropy(logits, actions)


def margin_loss(squared_distances: Tensor, margin: float, rare_share: float) -> Tensor:
    """L_margin = E max(0, 1 − ‖z − z'‖² / ε²), for squared distances [M] of different states (the paper's third).

    The mean over all pairs, mixed with the mean over those closer than the margin: most pairs are soon far apart, and
    the few that are not would hardly count in the first mean alone.
    """
    hinges = functional.relu(1 - squared_distances / margin**2)
    close = hinges.sum() / (hinges > 0).sum().clamp(min=1)
    return (1 - rare_share) * hinges.mean() + rare_share * close


def pull_loss(squared_distances: Tensor) -> Tensor:
    """L_pull = E ‖z − z'‖², for squared distances [M] of different frames of the same state (not in the paper)."""
    return squared_distances.mean()


def look_loss(maps: Tensor, differing: Tensor) -> Tensor:
    """L_look = E [−log Σ_c m(c) · 1(c differs)], for attention maps [N,K,G] and bool [N,G] (not in the paper).

    A cell "differs" if its pixels are not those of some other frame of the level. What tells the states of a level
    apart can only be there, so attention belongs there; without this loss, a small figure on a rich background is found
    late or never. Frames that differ nowhere do not count, and if all cells differ, the loss is zero.
    """
    counted = differing.any(dim=1)
    attention = (maps * differing.unsqueeze(1)).sum(-1)[counted]
    return -(attention + 1e-6).log().mean() if counted.any() else maps.sum() * 0


def squared_distances(z: Tensor) -> Tensor:
    """[...,S,S] squared distances between embeddings [...,S,d]."""
    return (z.unsqueeze(-2) - z.unsqueeze(-3)).pow(2).sum(-1)


def level_pairs(states: Tensor) -> tuple[Tensor, Tensor]:
    """Pairs [L,S,S] of different states and of different frames of the same state; states [L,S] are −1 if padded."""
    real = (states >= 0).unsqueeze(-1) & (states >= 0).unsqueeze(-2)
    same = states.unsqueeze(-1) == states.unsqueeze(-2)
    upper = torch.ones(states.shape[-1], states.shape[-1], dtype=torch.bool, device=states.device).triu(1)
    return real & ~same & upper, real & same & upper

"""With noisy pixels, training may find nothing to look at. Once that is clear, it starts again with other weights."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import torch

from pixelplan.model.world_model import WorldModel


@dataclass(frozen=True)
class RestartConfig:
    """When training on noisy frames gives up an attempt and starts again with other weights."""

    attempts: int = 8
    """The most attempts. Nearly half of all attempts fail, most of them early."""
    least_passes: int = 10
    """If training has fewer passes than this, no attempt is given up. With so few (as with thousands of levels), each
    pass is too long for its mean losses to show how training is going."""
    first_verdict: float = 0.27
    """The share of training after which an attempt is first judged."""
    most_agree_loss: float = 0.85
    """The agree loss above which it is then given up: what is seen is far from everything that is predicted, because
    attention is spread over the whole picture. It never gathers later."""
    second_verdict: float = 0.55
    """The share of training after which an attempt is judged again; those that succeed are nearly right by then."""
    least_accuracy: float = 0.9
    """The one-step accuracy, by the places that the model itself sees, below which it is then given up."""
    most_look_loss: float = 0.7
    """The look loss above which it is also given up: half of the attention is where frames do not differ, and it is
    easy to be right about a place where nothing ever happens."""


def next_pass(
    rows: Sequence[dict[str, Any]],
    passes: int,
    noisy: bool,
    config: RestartConfig = RestartConfig(),  # noqa: B008 (frozen)
) -> tuple[int, int]:
    """The attempt, from 1, and the pass in it, from 1, that come after the passes in rows."""
    if not rows:
        return 1, 1
    attempt, number = rows[-1].get("attempt", 1), rows[-1]["pass"]
    may_restart = noisy and attempt < config.attempts and passes >= config.least_passes
    return (attempt + 1, 1) if may_restart and _is_lost(rows[-1], passes, config) else (attempt, number + 1)


def _is_lost(row: dict[str, Any], passes: int, config: RestartConfig) -> bool:
    """Whether an attempt is given up after the pass that a row describes."""
    if row["pass"] == round(config.first_verdict * passes):
        return bool(row.get("agree", 0.0) > config.most_agree_loss)
    if row["pass"] == round(config.second_verdict * passes):
        return bool(row["accuracy"] < config.least_accuracy or row.get("look", 0.0) > config.most_look_loss)
    return False


def last_attempt(rows: Sequence[dict[str, Any]]) -> list[dict[str, Any]]:
    """The rows of the passes that made the model."""
    return [row for row in rows if row.get("attempt", 1) == rows[-1].get("attempt", 1)]


def start_over(model: WorldModel, optimizer: torch.optim.Optimizer, seed: int) -> None:
    """Start with other weights and an empty optimizer."""
    torch.manual_seed(seed)
    model.networks.load_state_dict(WorldModel(model.config, model.sizes).networks.state_dict())
    optimizer.state.clear()

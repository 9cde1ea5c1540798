"""Where pixels are noisy, training may find nothing to look at; where that is seen, it begins anew."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import torch

from pixelplan.model.world_model import WorldModel

ATTEMPTS = 8
"""How often training may begin. Nearly every second attempt comes to nothing, most of them early."""
LEAST_PASSES = 10
"""Passes: with fewer, as with thousands of levels, a pass is so long that its means tell nothing of a moment."""
FIRST_VERDICT, MOST_AGREE_LOSS = 0.27, 0.85
"""The share of training after which an attempt is first judged, and the agree loss above which it is given up: what is
seen is far from all that is predicted, because attention is spread over the whole picture. It never gathers later."""
SECOND_VERDICT = 0.55
"""The share of training after which an attempt is judged again; those that come to something are nearly right then."""
LEAST_ACCURACY = 0.9
"""The one-step accuracy, by the places that the model itself sees, below which it is given up."""
MOST_LOOK_LOSS = 0.7
"""The look loss above which it is, too: half of the attention is where frames do not differ, and it is easy to be right
about a place where nothing ever happens."""


def next_pass(rows: Sequence[dict[str, Any]], passes: int, noisy: bool) -> tuple[int, int]:
    """The attempt, from 1, and the pass in it, from 1, that come after the passes in rows."""
    if not rows:
        return 1, 1
    attempt, number = rows[-1].get("attempt", 1), rows[-1]["pass"]
    lost = noisy and attempt < ATTEMPTS and passes >= LEAST_PASSES and _is_lost(rows[-1], passes)
    return (attempt + 1, 1) if lost else (attempt, number + 1)


def _is_lost(row: dict[str, Any], passes: int) -> bool:
    """Whether an attempt is given up after the pass that a row tells of."""
    if row["pass"] == round(FIRST_VERDICT * passes):
        return bool(row.get("agree", 0.0) > MOST_AGREE_LOSS)
    if row["pass"] == round(SECOND_VERDICT * passes):
        return bool(row["accuracy"] < LEAST_ACCURACY or row.get("look", 0.0) > MOST_LOOK_LOSS)
    return False


def last_attempt(rows: Sequence[dict[str, Any]]) -> list[dict[str, Any]]:
    """The rows of the passes that made the model."""
    return [row for row in rows if row.get("attempt", 1) == rows[-1].get("attempt", 1)]


def begin_anew(model: WorldModel, optimizer: torch.optim.Optimizer, seed: int) -> None:
    """Other weights to begin with, and nothing that the optimizer remembers."""
    torch.manual_seed(seed)
    model.networks.load_state_dict(WorldModel(model.config, model.sizes).networks.state_dict())
    optimizer.state.clear()

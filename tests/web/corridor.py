"""The corridor of tests/own_worlds.py on the page, with a model that knows it exactly."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np
import pytest
import torch

from pixelplan.by_name.resolve import open_family
from pixelplan.web import thinkers
from pixelplan.web.thinkers import Models
from tests.own_worlds import CELLS, SIDE


class CorridorModel:
    """An embedding for each place; two actions, which lead where the corridor's do."""

    threshold, noisy = 0.5, False

    def encode(self, frames: np.ndarray) -> torch.Tensor:
        """The agent's place is where the frame is not black."""
        return torch.eye(CELLS)[frames[:, SIDE, ::SIDE].sum(2).argmax(1)]

    def context(self, frame: np.ndarray) -> Any:
        return None

    def step(self, z: torch.Tensor, context: Any) -> torch.Tensor:
        place = z.argmax(1)
        return torch.eye(CELLS)[torch.stack([place - 1, place + 1], 1).clamp(0, CELLS - 1)]


@contextmanager
def corridor_models(
    env: str = "tests.own_worlds:corridor", model: CorridorModel | None = None, **options: Any
) -> Iterator[Models]:
    """The page's models with an own environment whose model is exact."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(thinkers, "choose_model", lambda name, planner, family: (model or CorridorModel(), family))
        yield Models("runs/corridor", open_family(env, options))

"""A distance for models without a learned one."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from pixelplan.planning.latent_graph import as_array, as_tensor
from pixelplan.planning.problem import Problem
from pixelplan.types import is_discrete

if TYPE_CHECKING:
    import torch


class Nearness:
    """A distance that needs no learning: how much an embedding differs from the goal's, in units of one step's change.

    For zeros and ones, the difference is the number of bits that differ. It ranks near states well, and says little
    about distant ones. If a test decides the goal, it says only whether the goal is met.
    """

    def __init__(self, problem: Problem) -> None:
        self._problem = problem
        self._order = 1.0 if is_discrete(problem.model) else 2.0
        changes = np.abs(problem.expand(problem.start[None]) - problem.start)  # [A,d]
        sizes = (changes**self._order).sum(1) ** (1 / self._order)
        sizes = sizes[sizes >= problem.model.threshold]
        self._step = float(sizes.mean()) if len(sizes) else 1.0

    def __call__(self, z: torch.Tensor, goals: torch.Tensor) -> torch.Tensor:
        """Steps [N] from z [N,d] to the problem's goal."""
        problem = self._problem
        if problem.goal.test is not None:
            return as_tensor((problem.far(as_array(z)) >= problem.model.threshold).astype(np.float32))
        return as_tensor(problem.goal.apart(as_array(z), problem.model, self._order) / self._step)

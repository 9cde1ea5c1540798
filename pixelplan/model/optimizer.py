"""Muon: matrices take steps of equal size in all directions; all other parameters take those of AdamW.

The step of a matrix or a kernel is the running mean of its gradient with all singular values set to about one
(Jordan et al., 2024). `torch.optim.Muon` takes matrices only, and most weights of a world model are kernels.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import Any

import torch
from torch import Tensor, nn

from pixelplan.types import ADDED_LATER


@dataclass(frozen=True)
class MuonConfig:
    """How Muon moves matrices and kernels."""

    momentum: float = 0.95
    """The share of the running mean of gradients that each step keeps."""
    matrix_rate: float = 10.0
    """Their learning rate as a multiple of AdamW's: their steps do not depend on the size of the gradient."""
    matrix_decay: float = 0.01
    """Their weight decay, as a multiple of their learning rate."""
    rounds: int = 5
    """Newton-Schulz rounds that bring the singular values of a step near one."""
    coefficients: tuple[float, float, float] = field(default=(3.4445, -4.7750, 2.0315), metadata=ADDED_LATER)
    """Jordan's coefficients of each round; five rounds bring singular values between 0.7 and 1.2."""
    least_norm: float = field(default=1e-7, metadata=ADDED_LATER)
    """Added to the norm that a step is divided by, so that a gradient of zeros stays one."""


class Muon(torch.optim.AdamW):
    """Orthogonalised steps for matrices [out,in] and kernels [out,in,h,w], AdamW for the rest."""

    def __init__(
        self,
        parameters: Iterable[nn.Parameter],
        rate: float,
        weight_decay: float,
        config: MuonConfig = MuonConfig(),  # noqa: B008 (frozen)
    ) -> None:
        super().__init__(parameters, rate, weight_decay=weight_decay)
        self.config = config

    @torch.no_grad()
    def step(self, closure: Callable[[], float] | None = None) -> Any:
        """Move all parameters that have a gradient."""
        config = self.config
        for group in self.param_groups:
            for weights in group["params"]:
                if weights.grad is None or weights.ndim not in (2, 4):
                    continue
                state = self.state[weights]
                if not state:
                    state.update(step=torch.zeros(()), mean=torch.zeros_like(weights))  # AdamW asks for a step, too
                mean = state["mean"].mul_(config.momentum).add_(weights.grad)
                wanted = (weights.grad + config.momentum * mean).flatten(1)
                direction = orthogonalised(wanted, config).view_as(weights)
                rate = config.matrix_rate * group["lr"]
                tall = weights.shape[0] / weights[0].numel()
                weights.mul_(1 - rate * config.matrix_decay).sub_(direction, alpha=rate * max(1.0, tall) ** 0.5)
                weights.grad = None  # so that AdamW leaves it alone
        return super().step(closure)


def orthogonalised(matrix: Tensor, config: MuonConfig = MuonConfig()) -> Tensor:  # noqa: B008 (frozen)
    """The matrix [n,m] with the same singular vectors and all singular values about one."""
    if matrix.shape[0] > matrix.shape[1]:
        return orthogonalised(matrix.T, config).T
    near = matrix / (matrix.norm() + config.least_norm)
    first, second, third = config.coefficients
    for _ in range(config.rounds):
        square = near @ near.T
        near = first * near + (second * square + third * square @ square) @ near
    return near

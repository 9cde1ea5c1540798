"""LATENT GRAPH: everything around a goal, for worlds in which every move can be undone.

From the goal outwards, a model finds states in the order of their distance, and this distance is exact. Any other state
is farther away than the last complete layer. A search that knows this never overestimates, and it can stop where it
meets a known state: it has to find only the first half of a plan of 14 steps.

Shapes: G goals, d zeros and ones a state, A actions.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any
from weakref import WeakKeyDictionary

import numpy as np

from pixelplan.planning.latent_graph import as_array, as_tensor, with_room
from pixelplan.planning.packed_graph import Table
from pixelplan.planning.plan import pack, unpack
from pixelplan.types import Distance, InputError, Model

if TYPE_CHECKING:
    import torch

_STATES_AT_ONCE = 2048
"""States that are expanded at a time."""


class Perimeter:
    """The states around a goal with their steps to it."""

    def __init__(self, model: Model, context: Any, goals: np.ndarray, nodes: int) -> None:
        """Visit `nodes` states around goals [G,d]; an InputError if some move cannot be undone by another."""
        self._table = Table()
        self._table.find_or_add(pack(goals))
        bits = goals.shape[1]
        self._steps, parents = np.zeros(1024, np.int32), np.full(1024, -1, np.int64)
        self.whole = 0
        """Steps from the goal within which every state is known."""
        layer, size = np.arange(self._table.size), self._table.size
        while len(layer):
            for first in range(0, len(layer), _STATES_AT_ONCE):
                leaves = layer[first : first + _STATES_AT_ONCE]
                points = as_array(model.step(as_tensor(unpack(self._table.rows[leaves], bits)), context))  # [n,A,d]
                states, new = self._table.find_or_add(pack(points.reshape(-1, bits)))
                back = states.reshape(len(leaves), -1) == parents[leaves, None]
                if self.whole and not back.any(1).all():
                    raise InputError(
                        "a perimeter is for worlds in which every move can be undone by another; here some cannot"
                    )
                while self._table.size > len(self._steps):
                    self._steps, parents = with_room(self._steps), with_room(parents)
                self._steps[states[new]], parents[states[new]] = self.whole + 1, leaves[new // points.shape[1]]
                if self._table.size >= nodes:
                    return
            self.whole += 1
            layer, size = np.arange(size, self._table.size), self._table.size

    def __call__(self, z: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Steps [n] from states z [n,d] to the goal, exact or a lower bound, and which [n] are exact."""
        states = self._table.find(pack(z))
        return np.where(states < 0, self.whole + 1, self._steps[states]), states >= 0


class WithPerimeter:
    """A `Distance` that is exact around the goal; of any other state it knows at least that it is farther away."""

    def __init__(self, perimeter: Perimeter, beyond: Distance | None) -> None:
        """`beyond` knows more about states that are farther away, if it is given."""
        self._perimeter, self._beyond = perimeter, beyond

    def __call__(self, z: torch.Tensor, goals: torch.Tensor) -> torch.Tensor:
        """Steps [N] from z [N,d] to the nearest of goals [G,d], which have to be the perimeter's."""
        steps, exact = self._perimeter(as_array(z))
        if self._beyond is not None:
            steps = np.where(exact, steps, np.maximum(as_array(self._beyond(z, goals)), steps))
        return as_tensor(steps.astype(np.float32))


_LAST_PERIMETERS: WeakKeyDictionary[Model, tuple[Any, Perimeter]] = WeakKeyDictionary()
"""The last perimeter of each model: in many worlds all levels have the same goal."""


def around(model: Model, context: Any, goals: np.ndarray, nodes: int) -> Perimeter:
    """The perimeter of goals [G,d]; the last one of a model is remembered."""
    wanted = (nodes, goals.tobytes(), None if context is None else as_array(context).tobytes())
    known = _LAST_PERIMETERS.get(model)
    if known is None or known[0] != wanted:
        known = _LAST_PERIMETERS[model] = wanted, Perimeter(model, context, goals, nodes)
    return known[1]

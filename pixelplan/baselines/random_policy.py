"""The floor: actions drawn without looking."""

from __future__ import annotations

import numpy as np

from pixelplan.types import ACTIONS


class RandomPolicy:
    """Every action equally likely, whatever the frame shows."""

    def begin(self, goal_frame: np.ndarray, random: np.random.Generator) -> None:
        """A new episode; the goal does not matter."""
        self._random = random

    def act(self, frame: np.ndarray) -> int:
        """Any action."""
        return int(self._random.integers(len(ACTIONS)))

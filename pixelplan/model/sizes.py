"""The sizes that differ between worlds, chosen by a rule from the data and never from a puzzle's name."""

from __future__ import annotations

import math
from dataclasses import dataclass

from pixelplan.data.changes import changed_boxes, patch_side
from pixelplan.types import Trajectories


@dataclass(frozen=True)
class Sizes:
    """What the networks must know of a world before they are made."""

    height: int
    """Of frames, in pixels."""
    width: int
    """Of frames, in pixels."""
    actions: int
    """How many actions there are."""
    patch: int
    """Side in pixels of a cell of the latent grid."""
    reach: int
    """How many cells a step can move the agent."""

    @property
    def grid(self) -> tuple[int, int]:
        """Rows and columns of the latent grid."""
        return self.height // self.patch, self.width // self.patch


def sizes_of(data: Trajectories) -> Sizes:
    """The cell is as large as what moves (the nearest divisor of the frame's sides), the reach as far as it moves."""
    height, width = data.frames.shape[1:3]
    actions = int(data.manifest.get("actions", int(data.actions.max(initial=0)) + 1))
    boxes = changed_boxes(data)
    common = math.gcd(height, width)
    divisors = [side for side in range(min(4, common), common + 1) if common % side == 0]
    mover = max(patch_side(boxes, common), 1)
    patch = min(divisors, key=lambda side: abs(math.log(side / mover)))
    farthest = int(boxes.max(initial=0))
    reach = min(max(height, width) // patch - 1, max(1, -(-farthest // patch)))
    return Sizes(height, width, actions, patch, reach)

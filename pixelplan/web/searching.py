"""How the page's planners search, and how likely their plans are to succeed."""

from __future__ import annotations

from dataclasses import dataclass

from pixelplan.evaluation.chance import Chance
from pixelplan.planning import OneShotConfig

GUIDED = OneShotConfig(frontier="best-first", weight=3.0, node_limit=20_000)
"""How models with a learned distance are searched."""


@dataclass(frozen=True)
class Searching:
    """What a run needs to know besides the model."""

    config: OneShotConfig
    chance: Chance | None = None
    """None if it was not learned."""


USUAL_SEARCH = Searching(OneShotConfig())

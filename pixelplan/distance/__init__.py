"""DISTANCE: search guided by the number of steps from a state to a goal, and how a network learns that number."""

from __future__ import annotations

from pixelplan.distance.best_first import frontier
from pixelplan.planning.one_shot import FRONTIERS

FRONTIERS.add({"best-first": frontier})

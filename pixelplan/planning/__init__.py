"""LATENT GRAPH and PLAN: planners that search a world model, and one that needs no model."""

from __future__ import annotations

from typing import Any

from pixelplan.planning.full import FullConfig, full
from pixelplan.planning.image_search import ImageSearchConfig, image_search
from pixelplan.planning.one_shot import OneShotConfig, one_shot, play_one_shot
from pixelplan.planning.plan import Episode
from pixelplan.planning.planner import Planner
from pixelplan.types import InputError

__all__ = [
    "PLANNERS",
    "FullConfig",
    "ImageSearchConfig",
    "OneShotConfig",
    "Planner",
    "find_planner",
    "full",
    "image_search",
    "one_shot",
]


def _image_search(model: Any, *arguments: Any) -> Episode:
    return image_search(*arguments)


PLANNERS = {
    "full": Planner(full, FullConfig, "Full", "plans, looks after each step, remembers and replans", watched=True),
    "one-shot": Planner(play_one_shot, OneShotConfig, "One-shot", "plans once and acts with its eyes closed"),
    "image-search": Planner(
        _image_search,
        ImageSearchConfig,
        "GS on Images",
        "has no model: tries untried moves and remembers frames",
        needs_model=False,
    ),
}
"""The planners by their names on the command line. The commands, the judge and the page all read this table."""


def find_planner(name: str) -> Planner:
    """The planner with this name; an InputError if there is none."""
    if name not in PLANNERS:
        raise InputError(f"there is no planner {name!a}; the planners are {', '.join(PLANNERS)}")
    return PLANNERS[name]

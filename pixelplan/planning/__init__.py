"""LATENT GRAPH and PLAN: what searches a world model, and what does without one."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from pixelplan.planning.full import FullConfig, full
from pixelplan.planning.image_search import ImageSearchConfig, image_search
from pixelplan.planning.one_shot import OneShotConfig, one_shot, play_one_shot
from pixelplan.types import Episode

__all__ = [
    "PLANNERS",
    "FullConfig",
    "ImageSearchConfig",
    "OneShotConfig",
    "Planner",
    "full",
    "image_search",
    "one_shot",
]


@dataclass(frozen=True)
class Planner:
    """A planner by name: it plays one episode of a `World` towards a goal frame."""

    play: Callable[..., Episode]
    """A function of (model, world, goal frame, config, random generator)."""
    config: type[Any]
    needs_model: bool = True


def _image_search(model: Any, *arguments: Any) -> Episode:
    return image_search(*arguments)


PLANNERS = {
    "full": Planner(full, FullConfig),
    "one-shot": Planner(play_one_shot, OneShotConfig),
    "image-search": Planner(_image_search, ImageSearchConfig, needs_model=False),
}
"""The planners by their names on the command line."""

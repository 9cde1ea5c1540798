"""Training settings by name."""

from __future__ import annotations

from dataclasses import replace

from pixelplan.families.grid import ModelConfig
from pixelplan.families.paper import PaperConfig
from pixelplan.families.rules import RulesConfig
from pixelplan.families.vector import VectorConfig
from pixelplan.model.calibrate import JudgingConfig
from pixelplan.model.find_family import Config
from pixelplan.model.goal_test import GoalTestConfig
from pixelplan.model.objective import ObjectiveConfig
from pixelplan.model.picture_config import PictureConfig
from pixelplan.model.train_config import TrainConfig
from pixelplan.types import InputError

SPATIAL = TrainConfig(preset="spatial", model=ModelConfig())
GENERAL = replace(SPATIAL, frames=16, precision="auto", judging=JudgingConfig(slack=1.5))
"""What the families that assume nothing share."""
PRESETS: dict[str, TrainConfig] = {
    "auto": replace(GENERAL, preset="auto", candidates=(PictureConfig(), PictureConfig(features=8))),
    "picture": replace(GENERAL, preset="picture", model=PictureConfig()),
    "vector": replace(GENERAL, preset="vector", model=VectorConfig()),
    "ppgs": replace(SPATIAL, preset="ppgs", model=VectorConfig(noise=0.0, inverse=True), frames=16),
    "rules": replace(SPATIAL, preset="rules", model=RulesConfig()),
    "spatial": SPATIAL,
    "noisy": replace(SPATIAL, model=ModelConfig(noisy=True)),
    "latent": replace(SPATIAL, preset="latent", model=ModelConfig(family="latent")),
    "paper": replace(
        SPATIAL,
        preset="paper",
        model=PaperConfig(),
        objective=ObjectiveConfig(margin=0.1),
        frames=5,
        learning_rate=1e-3,
        weight_decay=0.0,
        threshold="half-margin",
    ),
    "tiny": replace(
        SPATIAL,
        preset="tiny",
        model=ModelConfig(dimensions=16, encoder_width=8, context_width=16),
        updates=60,
        frames=12,
        goal_test=GoalTestConfig(updates=20),
    ),
}
"""Configurations by name. `auto` lets candidates race; `spatial` is `position`; `ppgs` is PPGS at a size for one
processor core; `paper` is PPGS with the paper's networks, losses, threshold and number of gradient steps (the steps
from 5 states of 8 levels are about 128); `tiny` is for tests."""


def preset(name: str, inverse: bool = True) -> TrainConfig:
    """A preset by its name, with or without the inverse model; an InputError for an unknown name."""
    if name not in PRESETS:
        raise InputError(f"there is no preset {name!r}; the presets are {', '.join(PRESETS)}")
    chosen = PRESETS[name]
    return chosen if inverse else replace(chosen, model=without_inverse(chosen.model))


def without_inverse(model: Config) -> Config:
    """A family without its inverse model; an InputError if it has none."""
    if not hasattr(model, "inverse"):
        raise InputError(f"the family {model.family} has no inverse model to leave out")
    return replace(model, inverse=False)

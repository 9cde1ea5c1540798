"""How to train, and the presets."""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass, field
from typing import Literal

from pixelplan.model.families import Config
from pixelplan.model.families.grid import ModelConfig
from pixelplan.model.families.picture import PictureConfig
from pixelplan.model.families.rules import RulesConfig
from pixelplan.model.families.vector import VectorConfig
from pixelplan.model.objective import ObjectiveConfig
from pixelplan.types import InputError


@dataclass(frozen=True)
class TrainConfig:
    """How to train."""

    preset: str = "spatial"
    """What these settings are called."""
    model: Config = field(default_factory=lambda: ModelConfig("auto"))
    """The family and its settings."""
    candidates: tuple[Config, ...] | None = field(default=None, metadata={"later": True})
    """Families that race in place of `model`, the most general first: the one that predicts held-out frames best goes
    on."""
    objective: ObjectiveConfig = field(default_factory=ObjectiveConfig)
    """The losses' weights."""
    updates: int | None = None
    """Gradient steps, rounded up to whole passes; by default the family's own number. Families that guess nothing end
    sooner, when held-out predictions no longer improve."""
    batch: int = 8
    """Levels in a gradient step, over all processes."""
    frames: int = 24
    """About how many frames of a level a gradient step uses at most (whole episodes)."""
    learning_rate: float = 2e-3
    """The highest of a one-cycle schedule."""
    weight_decay: float = 1e-4
    """Of AdamW."""
    colour: float = 0.3
    """Strength of the random change of a level's colours; 0 for none."""
    grid: tuple[int, int] | None = None
    """Rows and columns of the latent grid; by default those in which the things that move in the data stay."""
    threshold: Literal["calibrated", "half-margin"] = "calibrated"
    """Where the reidentification threshold comes from: validation levels, or the paper's ε/2."""
    seed: int = 0
    """Same seed, same weights (on the same machine, with the same number of threads)."""
    threads: int = 2
    """Processor cores to use."""
    device: Literal["cpu", "cuda", "mps"] = "cpu"
    """Where to compute."""
    devices: int = 1
    """Processes that share each batch."""
    precision: Literal["32-true", "bf16-mixed", "16-mixed"] = "32-true"
    """Of computation; weights are always stored in 32 bits."""
    quiet: bool = False
    """No progress display."""

    def check(self) -> None:
        """An InputError for a setting that cannot work."""
        for name in ("updates", "batch", "frames", "threads", "devices"):
            if getattr(self, name) is not None and getattr(self, name) < 1:
                raise InputError(f"{name} is {getattr(self, name)}; it must be at least 1")
        if self.batch < self.devices:
            raise InputError(f"a batch of {self.batch} levels cannot be shared by {self.devices} processes")
        if self.seed < 0:
            raise InputError(f"seed is {self.seed}; it must be 0 or more")
        if getattr(self.model, "noisy", False) and self.model.family not in ("auto", "position"):
            raise InputError(f"noisy frames can be learned by the family position only, not by {self.model.family}")


PRESETS: dict[str, TrainConfig] = {
    "auto": TrainConfig(preset="auto", candidates=(PictureConfig(), VectorConfig(), ModelConfig("auto")), frames=16),
    "picture": TrainConfig(preset="picture", model=PictureConfig(), frames=16),
    "vector": TrainConfig(preset="vector", model=VectorConfig(), frames=16),
    "rules": TrainConfig(preset="rules", model=RulesConfig()),
    "spatial": TrainConfig(),
    "noisy": TrainConfig(model=ModelConfig("auto", noisy=True)),
    "latent": TrainConfig(preset="latent", model=ModelConfig(family="latent")),
    "paper": TrainConfig(
        preset="paper",
        model=ModelConfig(family="paper", dimensions=16, encoder_width=64),
        objective=ObjectiveConfig(margin=0.1, pull_weight=0.0, look_weight=0.0),
        updates=5000,
        learning_rate=1e-3,
        weight_decay=0.0,
        colour=0.0,
    ),
    "tiny": TrainConfig(
        preset="tiny",
        model=ModelConfig("auto", dimensions=16, encoder_width=8, context_width=16),
        updates=60,
        frames=12,
    ),
}
"""Configurations by name. `auto` lets families race, `spatial` takes the one that the data suggests; `paper` has
the paper's networks, losses and 40 passes; `tiny` is for tests."""


def preset(name: str, inverse: bool = True) -> TrainConfig:
    """A preset by its name, with or without the inverse model; an InputError for an unknown name."""
    if name not in PRESETS:
        raise InputError(f"there is no preset {name!r}; the presets are {', '.join(PRESETS)}")
    chosen = PRESETS[name]
    return chosen if inverse else dataclasses.replace(chosen, model=without_inverse(chosen.model))


def without_inverse(model: Config) -> Config:
    """A family without its inverse model; an InputError if it has none."""
    if isinstance(model, PictureConfig | RulesConfig):
        raise InputError(f"the family {model.family} has no inverse model to leave out")
    return dataclasses.replace(model, inverse=False)

"""How to train."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal

from pixelplan.model.batches import BatchConfig
from pixelplan.model.calibrate import JudgingConfig
from pixelplan.model.find_family import Config
from pixelplan.model.goal_test import LARGEST, GoalTestConfig
from pixelplan.model.objective import ObjectiveConfig
from pixelplan.model.optimizer import MuonConfig
from pixelplan.model.picture_config import PictureConfig
from pixelplan.model.restarts import RestartConfig
from pixelplan.model.schedule import ScheduleConfig
from pixelplan.types import ADDED_LATER, InputError


@dataclass(frozen=True)
class RaceConfig:
    """How long families race."""

    updates: int = 500
    """The most gradient steps of each. Some worlds (a switch far from its door) are learned late and then quickly."""
    good: float = 0.95
    """The score at which a family wins at once: the rest of training will bring what is missing."""


@dataclass(frozen=True)
class TrainConfig:
    """How to train."""

    preset: str = "picture"
    """What these settings are called."""
    model: Config = field(default_factory=PictureConfig)
    """The family and its settings."""
    candidates: tuple[Config, ...] | None = field(default=None, metadata=ADDED_LATER)
    """Families that race in place of `model`, the most general first; the one that predicts held-out frames best is
    trained."""
    objective: ObjectiveConfig = field(default_factory=ObjectiveConfig)
    """The losses' weights."""
    updates: int | None = None
    """Gradient steps, rounded up to whole passes; by default the family's own number. Families that assume nothing end
    sooner, when held-out predictions stop improving."""
    batch: int = 8
    """Levels in a gradient step, over all processes."""
    frames: int = 24
    """Roughly the most frames of a level that a gradient step uses (whole episodes)."""
    learning_rate: float = 2e-3
    """The peak of a one-cycle schedule."""
    weight_decay: float = 1e-4
    """The weight decay of AdamW."""
    colour: float = 0.3
    """Strength of the random change of a level's colours; 0 for none."""
    batches: BatchConfig = field(default=BatchConfig(), metadata=ADDED_LATER)
    """What a gradient step takes from its levels."""
    grid: tuple[int, int] | None = None
    """Rows and columns of the latent grid; by default those of the grid on which things move in the data."""
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
    precision: Literal["auto", "32-true", "bf16-mixed"] = "32-true"
    """The precision of computation; weights are always stored in 32 bits. `auto` is bfloat16 for families that learn as
    well with it, if the processor has instructions for it, and 32 bits otherwise."""
    quiet: bool = False
    """No progress display."""
    restarts: RestartConfig = field(default=RestartConfig(), metadata=ADDED_LATER)
    """When training on noisy frames starts again."""
    judging: JudgingConfig = field(default=JudgingConfig(), metadata=ADDED_LATER)
    """On how many held-out levels the model is measured."""
    schedule: ScheduleConfig = field(default=ScheduleConfig(), metadata=ADDED_LATER)
    """When training ends if held-out predictions decide it."""
    race: RaceConfig = field(default=RaceConfig(), metadata=ADDED_LATER)
    """How long the candidates race."""
    goal_test: GoalTestConfig = field(default=GoalTestConfig(), metadata=ADDED_LATER)
    """How a goal test is learned if the data shows what solves a level."""
    muon: MuonConfig = field(default=MuonConfig(), metadata=ADDED_LATER)
    """How matrices and kernels move in the families that train with Muon: picture and vector."""
    gradient_limit: float = field(default=1.0, metadata=ADDED_LATER)
    """The largest gradient norm; longer gradients are clipped to it."""

    def check(self) -> None:
        """An InputError for a setting that cannot work."""
        for name in ("updates", "batch", "frames", "threads", "devices"):
            if getattr(self, name) is not None and getattr(self, name) < 1:
                raise InputError(f"{name} is {getattr(self, name)}; it must be at least 1")
        if self.batch < self.devices:
            raise InputError(f"a batch of {self.batch} levels cannot be shared by {self.devices} processes")
        if self.judging.held_out_every < 2:
            raise InputError(f"held_out_every is {self.judging.held_out_every}; it must be at least 2")
        if not self.gradient_limit > 0:
            raise InputError(f"gradient_limit is {self.gradient_limit}; it must be above 0")
        side = self.goal_test.neighbourhood
        if side not in range(1, LARGEST[2] + 1, 2):
            raise InputError(f"neighbourhood is {side}; it must be an odd number up to {LARGEST[2]}")
        if self.seed < 0:
            raise InputError(f"seed is {self.seed}; it must be 0 or more")

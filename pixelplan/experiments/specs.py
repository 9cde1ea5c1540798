"""CELLS: what an experiment trains and measures, as values whose contents identify their records."""

from __future__ import annotations

import dataclasses
import hashlib
import json
import tempfile
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Protocol

from pixelplan import collect
from pixelplan.by_name.evaluate import evaluate
from pixelplan.by_name.open_model import ORACLE, SHIPPED
from pixelplan.by_name.resolve import EnvLike, open_family
from pixelplan.envs.noise_config import Noise
from pixelplan.evaluation.stats import mean
from pixelplan.files import checksum, level_numbers, parse_levels
from pixelplan.model.batches import level_plays
from pixelplan.model.calibrate import calibrate
from pixelplan.model.checkpoint import WEIGHTS_FILE, load_model
from pixelplan.model.metrics import step_errors
from pixelplan.model.train import training_versions
from pixelplan.model.train_config import TrainConfig
from pixelplan.model.world_model import WorldModel
from pixelplan.planning import PLANNERS, FullConfig
from pixelplan.training.on_policy import Stage
from pixelplan.types import ADDED_LATER, InputError, values_before
from pixelplan.worlds.noise import Noisy

FORMAT = 1
"""The format of cells' records; any other number belongs to another version."""
MACHINE_SETTINGS = ("threads", "quiet", "device", "devices")
"""Settings that say where and how fast something is computed, not what."""


@dataclass(frozen=True)
class Variant:
    """Levels that differ from a puzzle's usual ones."""

    options: tuple[tuple[str, Any], ...] = ()
    """The puzzle's options that are not its defaults."""
    noise: Noise = field(default_factory=Noise)
    """The noise on its frames."""

    @property
    def name(self) -> str:
        """A name for people."""
        words = [f"{key} {value}" for key, value in (*self.options, *dataclasses.asdict(self.noise).items()) if value]
        return ", ".join(words)

    def levels_of(self, env: str) -> EnvLike:
        """The family of such levels."""
        family = open_family(env, dict(self.options))
        return family if self.noise.silent else Noisy(family, self.noise)


@dataclass(frozen=True)
class Play:
    """Random play to be recorded."""

    env: str
    levels: str = "0:1000"
    episodes: int = 20
    steps: int = 20
    seed: int = 0
    variant: Variant | None = field(default=None, metadata=ADDED_LATER)

    @property
    def family(self) -> EnvLike:
        """Where to play."""
        return self.env if self.variant is None else self.variant.levels_of(self.env)


@dataclass(frozen=True)
class Training:
    """A model to be trained."""

    play: Play
    config: TrainConfig
    validation: Play | None = None
    """The levels for calibration and accuracy; by default a tenth of the levels, or all of them if fewer than ten."""
    stages: tuple[Stage, ...] = ()
    """Stops during training."""

    @property
    def env(self) -> str:
        """The puzzle's name."""
        return self.play.env

    @property
    def name(self) -> str:
        """A name for people."""
        without = "" if getattr(self.config.model, "inverse", True) else " without inverse model"
        stops = " on-policy" if any(stage.episodes for stage in self.stages) else ""
        steps = self.play.episodes * self.play.steps
        variant = "" if self.play.variant is None else f" of {self.play.variant.name}"
        levels = f"{self.count} levels × {steps} steps{stops}"
        return f"{self.config.preset}{without}{variant}, {levels}, seed {self.config.seed}"

    @property
    def count(self) -> int:
        """Levels to train on."""
        return len(level_numbers(parse_levels(self.play.levels)))


@dataclass(frozen=True)
class Shipped:
    """The model that the package ships for a puzzle."""

    env: str

    @property
    def name(self) -> str:
        """A name for people."""
        return "shipped model"

    @property
    def folder(self) -> Path:
        """Where it is."""
        return SHIPPED / self.env

    @property
    def weights(self) -> str:
        """The checksum of its weights: other weights are another model."""
        if not (self.folder / WEIGHTS_FILE).exists():
            raise InputError(f"{self.folder} holds no model of {self.env}")
        return checksum(self.folder / WEIGHTS_FILE)


@dataclass(frozen=True)
class Oracle:
    """The true rules of a puzzle as the model: what a planner would solve if nothing had to be learned."""

    env: str

    @property
    def name(self) -> str:
        """A name for people."""
        return "true rules"


class Measure(Protocol):
    """What to find out about a model: a frozen dataclass."""

    @property
    def name(self) -> str:
        """A name for people."""

    def take(self, env: str, model: Path | None, out: Path) -> dict[str, Any]:
        """Measure the model in a folder, or the true rules if there is none, for a record; `out` is a file for
        unfinished work."""


@dataclass(frozen=True)
class Evaluation:
    """How many levels a planner solves."""

    planner: str = "full"
    config: Any = field(default_factory=FullConfig)
    """The planner's settings."""
    levels: str = "2000:2100"
    seed: int = 0
    variant: Variant | None = field(default=None, metadata=ADDED_LATER)

    @property
    def name(self) -> str:
        """A name for people."""
        return f"{self.planner} on {self.levels}" + ("" if self.variant is None else f" of {self.variant.name}")

    def family(self, env: str) -> EnvLike:
        """Where to play."""
        return env if self.variant is None else self.variant.levels_of(env)

    def open_model(self, env: str, folder: Path) -> WorldModel:
        """The model to plan with."""
        return load_model(folder)

    def take(self, env: str, model: Path | None, out: Path) -> dict[str, Any]:
        """Play the levels."""
        needed = PLANNERS[self.planner].needs_model
        evaluated = evaluate(
            self.family(env),
            self.levels,
            planner=self.planner,
            model=None if not needed else ORACLE if model is None else self.open_model(env, model),
            config=self.config,
            seed=self.seed,
            out=out,
            resume=True,
        )
        raised = [episode for episode in evaluated.episodes if episode.error is not None]
        if raised:
            raise InputError(f"level {raised[0].level} raised {raised[0].error}")
        return {
            "levels": len(evaluated.episodes),
            "success": evaluated.success,
            "interval": evaluated.interval,
            "optimal": evaluated.optimal,
            "unsolved": [episode.level for episode in evaluated.episodes if not episode.solved],
            "steps": mean([episode.steps for episode in evaluated.episodes if episode.solved]),
            "replans": mean([episode.replans for episode in evaluated.episodes]),
            "nodes": mean([episode.nodes for episode in evaluated.episodes]),
            "seconds_per_plan": evaluated.seconds_per_plan,
        }


@dataclass(frozen=True)
class Calibrated(Evaluation):
    """The same with a threshold calibrated on other levels, whatever threshold the model was trained for."""

    calibration: str = "1000:1100"
    """These levels."""

    @property
    def name(self) -> str:
        """A name for people."""
        return f"{super().name}, calibrated threshold"

    def open_model(self, env: str, folder: Path) -> WorldModel:
        """The model with that threshold."""
        model = load_model(folder)
        with tempfile.TemporaryDirectory() as play:
            data = collect(self.family(env), self.calibration, play)
            model.threshold = calibrate(step_errors(model, level_plays(data)), model.networks.discrete).threshold
        return model


@dataclass(frozen=True)
class Cell:
    """One number (or curve, or picture) of an experiment: a model and a measure of it."""

    model: Training | Shipped | Oracle
    measure: Measure
    share: float = 1.0
    """The share of training done when the measure is taken: one of its stages, or 1."""

    @property
    def env(self) -> str:
        """The puzzle's name."""
        return self.model.env

    @property
    def name(self) -> str:
        """A name for people."""
        part = "" if self.share == 1 else f", {self.share:g} of training"
        return f"{self.env}, {self.model.name}{part}: {self.measure.name}"


def described(value: Any) -> Any:
    """A cell or a part of one as JSON values: everything that decides its result, and nothing else."""
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        settings = {field.name: getattr(value, field.name) for field in dataclasses.fields(value)}
        before, never = values_before(value), object()
        kept = {
            name: described(setting)
            for name, setting in settings.items()
            if name not in MACHINE_SETTINGS and setting != before.get(name, never)
        }
        return {"kind": type(value).__name__, **kept, **_beyond_settings(value)}
    return [described(part) for part in value] if isinstance(value, tuple) else value


def _beyond_settings(value: Any) -> dict[str, Any]:
    """What decides a result besides the settings: a shipped model's weights, and versions of training and planners.

    The first version is not named, so records from before there were versions are still found.
    """
    if isinstance(value, Shipped):
        return {"weights": value.weights}
    versions: dict[str, int] = {}
    if isinstance(value, Training):
        versions = training_versions(value.config)
    if isinstance(value, Evaluation):
        versions = {value.planner: PLANNERS[value.planner].version}
    later = {name: version for name, version in versions.items() if version > 1}
    return {"versions": later} if later else {}


def fingerprint(value: Any) -> str:
    """A SHA-256 that stands for a cell or a part of one."""
    return hashlib.sha256(json.dumps([FORMAT, described(value)], sort_keys=True).encode()).hexdigest()

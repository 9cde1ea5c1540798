"""The distance under which two embeddings count as the same state, chosen on levels not trained on."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from pixelplan.model.metrics import MetricsConfig, StepErrors
from pixelplan.types import ADDED_LATER


@dataclass(frozen=True)
class JudgingConfig:
    """How many held-out levels a model is measured on, and what counts as poor."""

    quick_levels: int = 25
    """Levels measured after each pass."""
    quick_rollout: int = 20
    """Steps of the rollouts measured after each pass."""
    final_levels: int = 200
    """Levels that the threshold is chosen on, and that the finished model is measured on."""
    slack: float = 1.0
    """A threshold's mistakes are averaged over all thresholds up to this factor smaller or larger. With 1, it may lie
    just below the distance of the nearest pair of states. But a search compares predictions with each other, not with
    what was seen, and their errors add up."""
    slack_steps: int = 21
    """Thresholds tried around each candidate if there is slack."""
    poor: float = 0.9
    """If a smaller share of held-out steps is predicted exactly, a model warns that it has not learned its world."""
    held_out_every: int = field(default=10, metadata=ADDED_LATER)
    """Without validation data, every n-th level is held out; with fewer than n levels none is."""
    walks: int = field(default=50, metadata=ADDED_LATER)
    """Random walks along recorded steps that rollouts are compared with."""
    rehearsed: int = field(default=10, metadata=ADDED_LATER)
    """Levels in which solutions are planned when training is over."""
    long_rollout: int = field(default=10, metadata=ADDED_LATER)
    """A model warns that long plans will often fail if a smaller share than `poor` of rollouts is right after this many
    steps."""
    collapsed: float = field(default=0.95, metadata=ADDED_LATER)
    """Training warns that embeddings are all alike if the margin loss is at least this (it is 1 if no two differ)…"""
    guessing: float = field(default=0.98, metadata=ADDED_LATER)
    """… and the inverse model's loss is at least this share of what guessing the action costs."""
    few_rehearsed: int = field(default=5, metadata=ADDED_LATER)
    """Training warns if plans in fewer held-out levels than this are all it knows about other levels."""
    metrics: MetricsConfig = field(default=MetricsConfig(), metadata=ADDED_LATER)
    """What predictions are measured on."""
    candidates: int = field(default=2000, metadata=ADDED_LATER)
    """Thresholds to choose from, evenly spread up to the largest distance."""


QUANTILES = (0.5, 0.9, 0.99, 0.999)
"""The quantiles of distances that a model's config reports; they decide nothing."""


@dataclass(frozen=True)
class Calibration:
    """A threshold and the mistakes to expect with it."""

    threshold: float
    """Two embeddings nearer than this are the same state."""
    missed: float
    """Share of predictions that would not be recognised as the state they predict."""
    confused: float
    """Share of predictions that would be mistaken for a state they do not predict."""
    merged: float
    """Share of frames that would be mistaken for another state of the level."""
    forward_errors: dict[str, float]
    """Quantiles of the distance from a prediction to the right state."""
    separations: dict[str, float]
    """Lower quantiles of the distance from a state to the nearest other one."""


def calibrate(
    errors: StepErrors,
    discrete: bool = False,
    config: JudgingConfig = JudgingConfig(),  # noqa: B008 (frozen)
) -> Calibration:
    """The threshold with the fewest mistakes of both kinds; if several have the fewest, the middle of their range.

    A prediction farther than the threshold from its own state is missed; one nearer than the threshold to another
    state is confused. Both cost a search the same: a state lost, or a state duplicated. If embeddings are zeros and
    ones (`discrete`) and some of the best thresholds tell all of them apart, only these count: equal is simpler than
    near.
    With `config.slack`, a threshold's mistakes are the mean over all thresholds up to this factor away.
    """
    finite = np.concatenate([part[np.isfinite(part)] for part in (errors.right, errors.other)])
    if not finite.any():  # there is nothing to tell apart
        return rates(errors, 1.0)
    candidates = np.linspace(0, float(finite.max()), config.candidates + 1)[1:]
    factors = np.geomspace(1 / config.slack, config.slack, config.slack_steps)
    tried = candidates * factors[:, None]  # [s,n]
    missed = 1 - np.searchsorted(np.sort(errors.right), tried) / len(errors.right)
    confused = np.searchsorted(np.sort(errors.other), tried) / len(errors.other)
    mistakes = (missed + confused).mean(0)
    fewest = np.flatnonzero(mistakes <= mistakes.min() + 1e-12)
    exact = fewest[candidates[fewest] < 1] if discrete else fewest[:0]
    fewest = exact if len(exact) else fewest
    return rates(errors, float(candidates[fewest[len(fewest) // 2]]))


def rates(errors: StepErrors, threshold: float) -> Calibration:
    """The mistakes to expect with a given threshold."""
    return Calibration(
        threshold=round(threshold, 4),
        missed=float((errors.right >= threshold).mean()),
        confused=float((errors.other < threshold).mean()),
        merged=float((errors.separation < threshold).mean()),
        forward_errors={str(q): round(float(np.quantile(errors.right, q)), 4) for q in QUANTILES},
        separations={
            str(round(1 - q, 3)): round(float(np.quantile(_finite(errors.separation), 1 - q)), 4) for q in QUANTILES
        },
    )


def _finite(distances: np.ndarray) -> np.ndarray:
    """Without the frames of levels in which only one state was seen; [0] if nothing is left."""
    finite = distances[np.isfinite(distances)]
    return finite if len(finite) else np.zeros(1)

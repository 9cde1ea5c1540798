"""What a trained model is and does, in words and as a picture."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from pixelplan.model.batches import LevelPlay, level_plays
from pixelplan.model.checkpoint import CONFIG, load_model, read_description
from pixelplan.model.metrics import predict_steps, rankings, step_errors
from pixelplan.model.world_model import WorldModel
from pixelplan.reports.summaries import summarise_training
from pixelplan.reports.worst_predictions import draw_misses, worst_misses
from pixelplan.types import ACTIONS, InputError, Trajectories

if TYPE_CHECKING:
    from matplotlib.figure import Figure, SubFigure

LEVELS_MEASURED = 200
"""The most levels of the data that metrics are measured on."""
LEVELS_LOOKED_THROUGH, MISSES_SHOWN = 25, 8
"""The levels searched for the worst predictions, and how many predictions are shown."""


@dataclass(frozen=True, eq=False)
class Inspection:
    """A report, and a picture if there was data to draw it from."""

    report: str
    picture: Figure | None


def inspect_model(folder: str | Path, data: Trajectories | None = None, level: int | None = None) -> Inspection:
    """Sizes and stored measurements of the model in a folder; with data, its metrics there and a picture of a level.

    The picture is of the data's level with the given number, or of its first one. The data may show boards of another
    size than the model was trained on, if its family takes them.
    """
    folder = Path(folder)
    model, description = load_model(folder), read_description(folder)
    lines = [f"{folder}: {describe(model)}", *stored_lines(description)]
    if data is None:
        return Inspection("\n".join(lines), None)
    model = model.for_frames(*data.frames.shape[1:3])
    numbers = np.unique(data.episode_level).tolist()
    if level is not None and level not in numbers:
        raise InputError(f"the data has no level {level}; it has {len(numbers)} levels from {numbers[0]}")
    levels = level_plays(data)
    lines += measured_lines(model, levels[:LEVELS_MEASURED])
    shown = levels[0 if level is None else numbers.index(level)]
    names = data.manifest.get("action_names") or (ACTIONS if len(ACTIONS) == model.sizes.actions else ())
    return Inspection("\n".join(lines), model_picture(model, shown, levels[:LEVELS_LOOKED_THROUGH], names))


def describe(model: WorldModel) -> str:
    """Sizes in one line."""
    sizes = model.sizes
    return (
        f"{model.config.family} model, {model.parameter_count:,} parameters, "
        f"frames of {sizes.height} × {sizes.width} pixels in {sizes.rows} × {sizes.columns} cells, "
        f"{sizes.actions} actions"
    )


def stored_lines(description: dict[str, object]) -> list[str]:
    """What the config file says about training, calibration and validation; an InputError if it is damaged there."""
    try:
        return [*_training_lines(description), *(f"  {line}" for line in summarise_training(description))]
    except (KeyError, TypeError, ValueError):
        raise InputError(f"{CONFIG} is damaged: what was measured cannot be read; train the model again") from None


def _training_lines(description: dict[str, object]) -> list[str]:
    lines = []
    data, calibration, validation = (description.get(key) for key in ("data", "calibration", "validation_metrics"))
    if isinstance(data, dict):
        lines.append(f"  trained on      {data.get('env')}, levels {data.get('levels')}, in {description['seconds']} s")
    if isinstance(calibration, dict):
        lines.append(
            f"  threshold       {calibration['threshold']}: {calibration['missed']:.3%} of predictions missed, "
            f"{calibration['confused']:.3%} taken for another state"
        )
    if isinstance(validation, dict):
        ranked = ", ".join(f"H@{ranking['horizon']} {ranking['hits']:.4f}" for ranking in validation["rankings"])
        lines.append(f"  then validated  one-step accuracy {validation['one_step_accuracy']:.5f}, {ranked}")
    return lines


def measured_lines(model: WorldModel, levels: list[LevelPlay]) -> list[str]:
    """The metrics on levels."""
    errors = step_errors(model, levels)
    lines = [
        f"  measured on     {len(levels)} levels, {len(errors.right):,} distinct steps",
        f"  one-step        {errors.accuracy(model.threshold):.5f} right, errors of {np.median(errors.right):.4f} "
        f"(median) and {errors.right.max():.4f} (largest), states at least {errors.separation.min():.4f} apart",
    ]
    for ranking in rankings(model, levels):
        lines.append(
            f"  after {ranking.horizon:2} steps  H@{ranking.horizon} {ranking.hits:.4f}, "
            f"MRR@{ranking.horizon} {ranking.reciprocal_rank:.4f} ({ranking.episodes} episodes)"
        )
    return lines


def model_picture(model: WorldModel, level: LevelPlay, levels: list[LevelPlay], action_names: Sequence[str]) -> Figure:
    """The latent space of a level, above the worst predictions on levels."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(10, 9), layout="constrained")
    parts = figure.subfigures(2, 1, height_ratios=(5, 4), squeeze=False)
    draw_latents(parts[0, 0], model, level)
    draw_misses(parts[1, 0], worst_misses(model, levels, MISSES_SHOWN), action_names)
    return figure


def draw_latents(figure: SubFigure, model: WorldModel, level: LevelPlay) -> None:
    """Embeddings of a level's frames on their two main axes, coloured by position, and the predicted ones with them."""
    frames, steps = np.asarray(level.frames), level.steps
    seen, predicted = (z.numpy() for z in predict_steps(model, level))
    centre = seen.mean(axis=0)
    axes = np.linalg.svd(seen - centre, full_matrices=False)[2][:2].T  # [d,2]
    colours = _colours(frames)
    left, right = figure.subplots(1, 2, sharex=True, sharey=True)
    true, imagined = (seen - centre) @ axes, (predicted - centre) @ axes
    left.scatter(*true.T, c=colours, s=40)
    left.set_title("frames of the level, coloured by where they differ")
    right.scatter(*true.T, c=colours, s=60, alpha=0.3)
    right.scatter(*imagined.T, c=colours[steps[:, 2]], s=10, marker="x")
    right.set_title("predicted (×) and true (○)")


def _colours(frames: np.ndarray) -> np.ndarray:
    """[n,3] red and blue from the row and column at which each frame differs most from the level's typical one."""
    differs = (frames != np.median(frames, axis=0).astype(np.uint8)).any(axis=3)  # [n,H,W]
    weight = np.maximum(differs.sum(axis=(1, 2)), 1)
    rows = (differs.sum(axis=2) * np.linspace(0, 1, frames.shape[1])).sum(axis=1) / weight
    columns = (differs.sum(axis=1) * np.linspace(0, 1, frames.shape[2])).sum(axis=1) / weight
    return np.stack([rows, 0.4 * np.ones_like(rows), columns], axis=1)

"""The end of training: choose the threshold, measure, and write the model folder."""

from __future__ import annotations

import dataclasses
from pathlib import Path
from typing import Any

from pixelplan.model.attempts import last_attempt
from pixelplan.model.batches import LevelPlay, look_again
from pixelplan.model.calibrate import calibrate, rates
from pixelplan.model.checkpoint import CHECKPOINT, save_model
from pixelplan.model.config import TrainConfig
from pixelplan.model.description import versions
from pixelplan.model.metrics import rankings, step_errors
from pixelplan.model.progress import draw_curves
from pixelplan.model.world_model import WorldModel

FINAL_LEVELS = 200
"""Validation levels that the threshold is chosen on."""


def finish(
    model: WorldModel,
    held_out: list[LevelPlay],
    out: Path,
    config: TrainConfig,
    request: dict[str, Any],
    rows: list[dict[str, Any]],
) -> None:
    """Calibrate on held-out levels and write everything; the checkpoint is deleted last, so a kill loses nothing.

    Where training stopped on the way, the checkpoint stays: what follows begins with it.
    """
    held_out = held_out[:FINAL_LEVELS]
    if model.noisy:
        held_out = look_again(held_out, model)
    errors = step_errors(model, held_out)
    margin = config.objective.margin
    calibration = calibrate(errors, margin) if config.threshold == "calibrated" else rates(errors, margin / 2)
    model.threshold = calibration.threshold
    draw_curves(out, last_attempt(rows))
    description = {
        "calibration": dataclasses.asdict(calibration),
        "validation_metrics": {
            "levels": len(held_out),
            "one_step_accuracy": errors.accuracy(model.threshold),
            "rankings": [dataclasses.asdict(one) for one in rankings(model, held_out)],
        },
        "seconds": rows[-1]["seconds"],
        "parameters": sum(parameter.numel() for parameter in model.parameters()),
        "versions": versions(),
        **request,
    }
    save_model(out, model, description)
    if "until" not in request:
        (out / CHECKPOINT).unlink(missing_ok=True)

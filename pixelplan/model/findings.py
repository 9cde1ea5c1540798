"""The end of training: choose the threshold, measure against frames, say what was found, and write the model folder."""

from __future__ import annotations

import dataclasses
from pathlib import Path
from typing import Any

import numpy as np

from pixelplan.model import goal_test
from pixelplan.model.batches import LevelPlay, of_size
from pixelplan.model.calibrate import JudgingConfig, calibrate, rates
from pixelplan.model.checkpoint import CHECKPOINT, save_model
from pixelplan.model.description import versions
from pixelplan.model.goal_test import GoalTestReport
from pixelplan.model.learn_goal_test import learn_goal_test
from pixelplan.model.metrics import StepErrors, rankings, rollout_exactness, step_errors
from pixelplan.model.progress import draw_curves
from pixelplan.model.restarts import last_attempt
from pixelplan.model.train_config import TrainConfig
from pixelplan.model.world_model import WorldModel


def finish(
    model: WorldModel,
    levels: list[LevelPlay],
    by_family: list[LevelPlay],
    frames: list[LevelPlay],
    recorded: int,
    out: Path,
    config: TrainConfig,
    request: dict[str, Any],
    rows: list[dict[str, Any]],
) -> None:
    """Calibrate on held-out levels and write everything; the checkpoint is deleted last, so a kill loses nothing.

    `levels` were trained on; `by_family` are held-out ones with the family's states, and `frames` the same levels with
    the states that recorded futures prove. If training stopped on the way, the checkpoint stays, so that it can
    continue. `recorded` is the number of levels in the data.
    """
    final = config.judging.final_levels
    model.networks.settle(frames[:final])
    by_family, unseen = model.networks.judged(by_family[:final]), frames[:final]
    frames = by_family if model.noisy else unseen
    errors = step_errors(model, by_family)
    if config.threshold == "calibrated":
        calibration = calibrate(errors, model.networks.discrete, config.judging)
    else:
        calibration = rates(errors, config.objective.margin / 2)
    model.threshold = calibration.threshold
    sizes = model.sizes
    tried, others = (of_size(part, sizes.height, sizes.width) for part in (levels, unseen))
    learned = learn_goal_test(model, tried, others, sizes.rows, sizes.columns, config.goal_test, config.seed)
    report: GoalTestReport | None = None
    if learned is not None:
        model.goal_test, report = learned
    draw_curves(out, last_attempt(rows))
    true = step_errors(model, frames)
    judging, measured_on = config.judging, config.judging.metrics
    horizons = sorted({*measured_on.rollout_steps, judging.long_rollout})
    rollouts = rollout_exactness(model.networks, frames, horizons, judging.walks, config=measured_on)
    accuracy = errors.accuracy(model.threshold)
    facts = findings(model, by_family, frames, accuracy, true, rollouts, recorded, judging)
    facts["goal_test_warnings"] = goal_test.warnings(report, config.goal_test)
    facts["goal_test"] = None if report is None else dataclasses.asdict(report)
    description = {
        "calibration": dataclasses.asdict(calibration),
        "validation_metrics": {
            "levels": len(frames),
            "one_step_accuracy": true.accuracy(model.threshold),
            "exact": true.exact,
            "rollouts": {str(steps): share for steps, share in rollouts.items()},
            "rankings": [dataclasses.asdict(ranking) for ranking in rankings(model, frames, config=measured_on)],
        },
        "findings": facts,
        "seconds": rows[-1]["seconds"],
        "parameters": model.parameter_count,
        "versions": versions(),
        **request,
    }
    save_model(out, model, description)
    if "until" not in request:
        (out / CHECKPOINT).unlink(missing_ok=True)


def findings(
    model: WorldModel,
    by_family: list[LevelPlay],
    frames: list[LevelPlay],
    family_accuracy: float,
    true: StepErrors,
    rollouts: dict[int, float],
    recorded: int,
    judging: JudgingConfig,
) -> dict[str, Any]:
    """What was assumed and found, and a warning if the world was not learned.

    `by_family` and `family_accuracy` use the states that the family tells apart; everything else uses frames.
    """
    count = sum(len(level.frames) for level in frames)
    merged = sum(len(level.frames) - len(np.unique(level.states)) for level in by_family)
    poor, long = judging.poor, judging.long_rollout
    reach = [recorded_depths(level).max() for level in frames]
    warnings = []
    steps = np.concatenate([level.steps for level in frames])
    if (steps[:, 0] == steps[:, 2]).all():
        warnings.append(
            "nothing ever changes in the held-out play, so there was nothing to learn; check with check-env that "
            "actions do something, or record longer episodes"
        )
    elif true.exact < poor <= family_accuracy:
        warnings.append(
            f"the model mistakes {merged} of {count} held-out frames for others, and no recorded future proves them "
            "the same; if they look different for a reason, plans will fail: then train with --family picture"
        )
    elif true.exact < poor:
        warnings.append(
            f"this world was not learned: only {true.exact:.0%} of held-out steps are predicted exactly, so most plans "
            f"will fail; try more levels (it had {recorded}), longer episodes (collect --steps), or "
            "see what check-env says"
        )
    elif rollouts[long] < poor:
        warnings.append(
            f"long plans will often fail: only {rollouts[long]:.0%} of rollouts are still right after {long} steps; "
            "the full planner, which replans, copes better than one-shot; more levels or longer episodes help"
        )
    return {
        "family": model.config.family,
        "lattice": [model.sizes.rows, model.sizes.columns],
        "held_out_frames": count,
        "merged_by_family": merged,
        "play_reaches": {"median": float(np.median(reach)), "most": int(max(reach))},
        "goals_seen": goals_seen(frames),
        "warnings": warnings,
    }


def goals_seen(levels: list[LevelPlay]) -> dict[str, Any] | None:
    """In how many levels play saw a solved state, and how many recorded steps away it was (the median over levels).

    None if the environment never says what is solved.
    """
    labelled = [level for level in levels if level.is_labelled]
    if not labelled:
        return None
    away = []
    for level in labelled:
        depths = recorded_depths(level)[level.solved == 1]
        if (depths >= 0).any():
            away.append(int(depths[depths >= 0].min()))
    return {"levels": len(away), "of": len(labelled), "steps": float(np.median(away)) if away else None}


def recorded_depths(level: LevelPlay) -> np.ndarray:
    """[n] how many steps each frame is from the first one, by the shortest recorded path; -1 if there is none."""
    steps = level.steps
    depth = np.full(len(level.frames), -1)
    depth[level.episodes[0, 0]] = 0
    for distance in range(len(level.frames)):
        next_frames = np.unique(steps[depth[steps[:, 0]] == distance, 2])
        new = next_frames[depth[next_frames] < 0]
        if not len(new):
            break
        depth[new] = distance + 1
    return depth

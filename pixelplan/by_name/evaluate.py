"""An evaluation of a world, a model and whatever helps it, each by its name."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from pixelplan.by_name.open_model import calibrated, choose_model, guided, model_name
from pixelplan.by_name.resolve import EnvLike, open_family
from pixelplan.envs.family import Goals
from pixelplan.evaluation import run
from pixelplan.evaluation.result import Result
from pixelplan.files import parse_levels
from pixelplan.planning import find_planner
from pixelplan.types import Model


def evaluate(
    env: EnvLike,
    levels: str,
    *,
    planner: str = "full",
    model: str | Path | Model | None = None,
    heuristic: str | Path | None = None,
    config: Any = None,
    calibration: str | Path | None = None,
    other_size: bool = False,
    goals: Goals | None = None,
    seed: int = 0,
    workers: int = 1,
    out: Path | None = None,
    resume: bool = False,
    **options: Any,
) -> Result:
    """Play levels ("A:B", B excluded) with a planner, and write the result to the file `out` if it is given.

    `env` is a puzzle's name, a Gymnasium id, package.module:function, an environment, or a function that makes one.
    `model` is a folder, the name of a shipped model, "oracle" or a model; by default the shipped model of the puzzle.
    `heuristic` is a folder that `train-heuristic` wrote for this model, for best-first search.
    `calibration` is the record of an evaluation of `one-shot` with the same model and search on validation levels; it
    teaches how likely each plan is to succeed.
    With `other_size`, frames of your own environment are not resized to the model's: they show a larger or smaller
    board than it was trained on, with the same number of pixels per cell.
    `goals` are those that levels show ("level"), random states ("random"), or whatever solves a level ("solved", the
    default for worlds that show no goal).
    What happens in a level depends only on (seed, level). Finished levels are kept in a journal beside `out`, and
    `resume` continues from there. `progress` is called with the number of finished levels and of all levels.
    """
    family = open_family(env)
    run.check_request(family, planner, goals, seed, workers, out, resume)
    parse_levels(levels)
    config = find_planner(planner).config() if config is None else config
    opened, family = choose_model(model, planner, family, other_size)
    opened = guided(opened, heuristic, family.name, config)
    return run.evaluate(
        family,
        levels,
        planner=planner,
        model=opened,
        config=config,
        chance=calibrated(calibration, opened, heuristic, config),
        goals=goals,
        seed=seed,
        workers=workers,
        out=out,
        resume=resume,
        names={
            "model": model_name(model, planner, family.name),
            "heuristic": None if heuristic is None else str(heuristic),
            "calibration": None if calibration is None else str(calibration),
        },
        **options,
    )

"""Cells' records: small JSON files in results/cells, found again by the cell's fingerprint."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

from pixelplan.experiments.specs import FORMAT, Cell, Evaluation, Play, Training, described, fingerprint
from pixelplan.files import read_json, write_json
from pixelplan.machine import describe_machine
from pixelplan.model.checkpoint import read_description
from pixelplan.types import InputError

TOLD = ("threshold", "calibration", "validation_metrics", "seconds", "parameters", "sizes", "versions")
"""What a record repeats of a model's own description."""


def make_record(cell: Cell, model: Path, result: dict[str, Any]) -> dict[str, Any]:
    """The record of a cell: what it is, how its model turned out, what was measured, and on which machine."""
    description = read_description(model)
    return {
        "format": FORMAT,
        "fingerprint": fingerprint(cell),
        "name": cell.name,
        "cell": described(cell),
        "model": {name: description[name] for name in TOLD if name in description},
        "result": result,
        **describe_machine(),
    }


def record_path(cell: Cell, results: Path) -> Path:
    """Where the record of a cell stands: named for people, and by the beginning of its fingerprint."""
    name = re.sub(r"[^a-z0-9]+", "-", cell.name.lower()).strip("-")
    return results / "cells" / f"{name}-{fingerprint(cell)[:10]}.json"


def write_record(record: dict[str, Any], cell: Cell, results: Path) -> None:
    """Keep a record."""
    path = record_path(cell, results)
    path.parent.mkdir(parents=True, exist_ok=True)
    write_json(path, record)


def find_record(cell: Cell, results: Path) -> dict[str, Any] | None:
    """The record of a cell, None if it was never finished; an InputError if it is another version's."""
    path = record_path(cell, results)
    if not path.exists():
        try:
            return _main_record(cell, results / "main")
        except (KeyError, TypeError, AttributeError) as problem:
            raise InputError(f"a record of {cell.env} in {results / 'main'} is damaged: {problem!r}") from None
    record = read_json(path)
    found = record.get("format") if isinstance(record, dict) else None
    if found != FORMAT:
        raise InputError(f"{path} has record format {found}; this version reads format {FORMAT}: delete it and run it")
    if record.get("fingerprint") != fingerprint(cell) or not isinstance(record.get("result"), dict):
        raise InputError(f"{path} is not the record of the cell that it is named for; delete it and run it")
    return dict(record)


def _main_record(cell: Cell, main: Path) -> dict[str, Any] | None:
    """The same from the records that results/records.sh makes, if they are of this same training and measure."""
    if not isinstance(cell.model, Training) or not isinstance(cell.measure, Evaluation):
        return None
    training, measure, seed = cell.model, cell.measure, cell.model.config.seed
    if measure.variant is not None:
        return None
    trained = main / f"{cell.env}-training-seed{seed}.json"
    evaluated = main / f"{cell.env}-{measure.planner}-{measure.levels.partition(':')[0]}-seed{seed}.json"
    if not trained.exists() or not evaluated.exists():
        return None
    description = read_json(trained)
    if not is_of(training, description):
        return None
    evaluation = read_json(evaluated)
    same_measure = (
        evaluation["planner"] == measure.planner
        and evaluation["config"] == _without_kinds(described(measure.config))
        and ":".join(map(str, evaluation["levels"])) == measure.levels
        and evaluation["seed"] == measure.seed
        and evaluation["goals"] == "level"
    )
    if not same_measure:
        return None
    kept = ("success", "interval", "optimal", "seconds_per_plan")
    unsolved = [one["level"] for one in evaluation["episodes"] if not one["solved"]]
    return {
        "model": {name: description[name] for name in TOLD if name in description},
        "result": {**{name: evaluation[name] for name in kept}, "unsolved": unsolved},
    }


def is_of(training: Training, description: dict[str, Any]) -> bool:
    """Whether a model's description is of this same training, uninterrupted."""
    return (
        _without_kinds(described(training.config)).items() <= description["config"].items()
        and _same_play(training.play, description.get("data"))
        and _same_play(training.validation, description.get("validation"))
        and not training.stages
        and "until" not in description
    )


def _same_play(play: Play | None, found: dict[str, Any] | None) -> bool:
    if play is None or found is None:
        return play is None and found is None
    levels = ",".join(f"{first}:{end}" for first, end in found["levels"])
    return play.variant is None and (play.env, play.levels, play.episodes, play.steps, play.seed) == (
        found["env"],
        levels,
        found["episodes"],
        found["steps"],
        found["seed"],
    )


def _without_kinds(value: Any) -> Any:
    if isinstance(value, dict):
        return {name: _without_kinds(part) for name, part in value.items() if name != "kind"}
    return value

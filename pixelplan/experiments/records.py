"""Cells' records: small JSON files in results/cells, found by the cell's fingerprint."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

from pixelplan.experiments.specs import FORMAT, Cell, described, fingerprint
from pixelplan.files import check_format, read_json, write_json
from pixelplan.machine import describe_machine
from pixelplan.model.checkpoint import read_description
from pixelplan.types import InputError

METRICS_FILE = "metrics.jsonl"
"""What training writes into a model's folder after each pass."""
REPEATED_KEYS = ("threshold", "calibration", "validation_metrics", "seconds", "parameters", "sizes", "versions")
"""What a record repeats of a model's own description."""


def make_record(cell: Cell, model: Path | None, result: dict[str, Any]) -> dict[str, Any]:
    """The record of a cell: what it is, how its model turned out, what was measured, and on which machine."""
    about_model: dict[str, Any] = {}
    if model is not None:
        description = read_description(model)
        about_model = {name: description[name] for name in REPEATED_KEYS if name in description}
        about_model["threads"] = description["config"]["threads"]
        about_model |= _learning(model)
    return {
        "format": FORMAT,
        "fingerprint": fingerprint(cell),
        "name": cell.name,
        "cell": described(cell),
        "model": about_model,
        "result": result,
        **describe_machine(),
    }


def _learning(model: Path) -> dict[str, Any]:
    """The share of held-out steps that were predicted exactly, by gradient steps, if training kept that."""
    path = model / METRICS_FILE
    rows = [json.loads(line) for line in path.read_text().splitlines()] if path.exists() else []
    return {"learning": [[row["updates"], row["exact"]] for row in rows if row.get("updates")]}


def record_path(cell: Cell, results: Path) -> Path:
    """The path of a cell's record: a name for people, and the first digits of its fingerprint."""
    name = re.sub(r"[^a-z0-9]+", "-", cell.name.lower()).strip("-")
    return results / "cells" / f"{name}-{fingerprint(cell)[:10]}.json"


def write_record(record: dict[str, Any], cell: Cell, results: Path) -> None:
    """Keep a record."""
    path = record_path(cell, results)
    path.parent.mkdir(parents=True, exist_ok=True)
    write_json(path, record)


def find_record(cell: Cell, results: Path) -> dict[str, Any] | None:
    """The record of a cell; None if it was never finished, an InputError if it is another version's."""
    path = record_path(cell, results)
    if not path.exists():
        return None
    record = read_json(path)
    check_format(record, FORMAT, f"{path} has record", "delete it and run it")
    if record.get("fingerprint") != fingerprint(cell) or not isinstance(record.get("result"), dict):
        raise InputError(f"{path} is not the record of the cell that it is named for; delete it and run it")
    return dict(record)

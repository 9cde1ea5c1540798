"""Check records: measure some of an experiment's cells again, and compare them with their records."""

from __future__ import annotations

import random
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from pixelplan.evaluation.stats import wilson
from pixelplan.experiments.records import find_record
from pixelplan.experiments.runner import make_model, measure, model_folder
from pixelplan.experiments.specs import Cell, Training
from pixelplan.model.checkpoint import CONFIG
from pixelplan.types import InputError

SAMPLE = 5
"""Cells that are measured again."""


@dataclass(frozen=True)
class Checked:
    """A cell that was measured again."""

    cell: Cell
    verdict: Literal["agrees", "differs"]
    recorded: float
    """The success that the record states."""
    measured: float
    """The success now."""

    def __str__(self) -> str:
        return f"{self.verdict:7}  {self.cell.name}: {self.recorded:.3f} recorded, {self.measured:.3f} now"


def check_cells(cells: Sequence[Cell], results: Path, runs: Path, threads: int, retrain: bool) -> list[Checked]:
    """Measure a random sample of the recorded cells again: with the models stored in `runs` or, if it may `retrain`,
    with models that are trained again. An InputError if there is nothing to compare."""
    recorded = [(cell, record) for cell in cells if (record := find_record(cell, results)) is not None]
    recorded = [(cell, record) for cell, record in recorded if "success" in record["result"]]
    if not recorded:
        raise InputError(f"{results} holds no record of a success that could be checked; --run makes them")
    possible = [(cell, record) for cell, record in recorded if retrain or is_stored(cell, runs)]
    if not possible:
        raise InputError(f"{runs} holds none of the {len(recorded)} models; add --run to train some of them again")
    chosen = random.sample(possible, min(SAMPLE, len(possible)))
    return [check_cell(cell, record["result"], runs, threads) for cell, record in chosen]


def is_stored(cell: Cell, runs: Path) -> bool:
    """Whether a cell can be measured without training."""
    return not isinstance(cell.model, Training) or (model_folder(cell.model, runs) / CONFIG).exists()


def check_cell(cell: Cell, recorded: dict[str, Any], runs: Path, threads: int) -> Checked:
    """Measure a cell again from scratch."""
    with tempfile.TemporaryDirectory() as folder:
        _, measured = measure(cell, make_model(cell.model, runs, threads), Path(folder))
    return Checked(cell, "agrees" if agree(recorded, measured) else "differs", recorded["success"], measured["success"])


def agree(recorded: dict[str, Any], measured: dict[str, Any]) -> bool:
    """Whether two results agree: each success lies in the other's 95 % interval, and the record is consistent (its
    success is the share of levels that it does not list as unsolved)."""
    levels, success = recorded["levels"], recorded["success"]
    whole = abs(success - (1 - len(recorded["unsolved"]) / levels)) < 1e-9 and levels == measured["levels"]
    low, high = wilson(round(success * levels), levels)
    return (
        whole and low <= measured["success"] <= high and measured["interval"][0] <= success <= measured["interval"][1]
    )

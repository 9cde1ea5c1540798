"""The experiments by their names, and the records that they show."""

from __future__ import annotations

import importlib
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol, cast

from pixelplan.experiments.records import find_record
from pixelplan.experiments.selection import Selection
from pixelplan.experiments.specs import Cell
from pixelplan.experiments.tables import Report
from pixelplan.types import InputError

EXPERIMENTS = {
    "success": "the comparison of success rates",
    "generalisation": "success by the number of training levels",
    "ablation": "what each part of the world model and of the planner is worth",
    "paper-miniature": "PPGS itself in miniature, or at the paper's size, compared with pixelplan",
    "on-policy": "learning from the planner's own play",
    "fringe": "leaves of the search with and without reidentification",
    "failures": "levels in which one-shot fails and the full planner succeeds",
    "trajectories": "expert trajectories",
    "noise": "success behind visual noise, compared with a search on images (not in the paper)",
    "boards": "larger boards (not in the paper)",
    "transfer": "boards of other sizes than in training (not in the paper)",
}
"""What can be reproduced; each has a module of its own here."""


@dataclass(frozen=True)
class Records:
    """The records in a folder."""

    results: Path

    def find(self, cell: Cell) -> dict[str, Any] | None:
        """A cell's, None if it has none."""
        return find_record(cell, self.results)

    def find_all(self, cells: Iterable[Cell]) -> list[dict[str, Any]]:
        """Those of all cells that have one."""
        return [record for cell in cells if (record := self.find(cell)) is not None]


class Experiment(Protocol):
    """A module that declares its cells and shows their results."""

    def cells(self, selection: Selection) -> list[Cell]:
        """All cells, the most valuable first."""

    def report(self, selection: Selection, records: Records) -> Report:
        """What is recorded, ours beside the paper's."""


def experiment(name: str) -> Experiment:
    """An experiment by its name; an InputError for an unknown one."""
    if name not in EXPERIMENTS:
        raise InputError(f"there is no experiment {name!r}; the experiments are {', '.join(EXPERIMENTS)}")
    return cast(Experiment, importlib.import_module(f"pixelplan.experiments.{name.replace('-', '_')}_table"))

"""The records in results/, for the tables of the docs."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

from pixelplan.experiments.tables import markdown

ROOT = Path(__file__).parent.parent
SEEDS = (0, 1, 2)


def record(name: str) -> dict[str, Any]:
    """A record in results/."""
    recorded: dict[str, Any] = json.loads((ROOT / "results" / f"{name}.json").read_text())
    return recorded


def record_if_made(name: str) -> dict[str, Any] | None:
    """A record in results/; None if it was not made."""
    return record(name) if (ROOT / "results" / f"{name}.json").exists() else None


def all_if_made(*names: str) -> list[dict[str, Any]] | None:
    """Records in results/; None if any of them was not made."""
    records = [value for name in names if (value := record_if_made(name)) is not None]
    return records if len(records) == len(names) else None


def table(header: str, rows: Iterable[Sequence[str]]) -> str:
    """A Markdown table; bars separate the names of its columns."""
    return markdown(header.split(" | "), list(rows)).rstrip("\n")

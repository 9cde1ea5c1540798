"""Records of what needs no cell of its own: results/baselines."""

from __future__ import annotations

from pathlib import Path

from pixelplan.experiments.tables import Summary, summarise
from pixelplan.files import read_json


def image_search_rates(results: Path, env: str, levels: str) -> Summary | None:
    """GS on Images on a puzzle's test levels, over seeds; None if it was not run on them."""
    records = [read_json(path) for path in sorted(results.glob(f"baselines/{env}-image-search-*.json"))]
    wanted = [int(end) for end in levels.split(":")] if levels.count(":") == 1 else None
    return summarise([record["success"] for record in records if record["levels"] == wanted])

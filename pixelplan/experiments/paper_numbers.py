"""What the paper reports, kept as data with its source."""

from __future__ import annotations

import json
from functools import cache
from pathlib import Path
from typing import Any


@cache
def paper() -> dict[str, Any]:
    """The paper's numbers: `paper_numbers.json`, where every table names the place it was taken from."""
    numbers: dict[str, Any] = json.loads(Path(__file__).with_name("paper_numbers.json").read_text())
    return numbers


def success_rates(method: str) -> dict[str, float | None]:
    """The paper's success of a method (ppgs-full, ppgs-one-shot, image-search, ppo, glamor, dreamer or random) by
    puzzle."""
    rates: dict[str, float | None] = paper()["success"]["rates"][method]
    return rates

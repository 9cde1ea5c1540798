"""The campaign of faults (benchmarks/faults.py): its fastest cases always, ten minutes of it with the slow tests."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

CAMPAIGN = Path(__file__).parents[1] / "benchmarks" / "faults.py"


def campaign(*words: str) -> str:
    """Run a part of the campaign in a process of its own: it forks, which torch does not like after training."""
    environment = {**os.environ, "OMP_NUM_THREADS": "1"}
    done = subprocess.run(
        [sys.executable, str(CAMPAIGN), *words], capture_output=True, text=True, env=environment, check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


QUICK = [
    *("kills: collect", "kills: import", "kills: evaluate", "kills: random", "random kills: collect"),
    *("full disks: collect", "full disks: import", "full disks: evaluate", "full disks: random", "bombs"),
    *("damaged inputs: data sets", "damaged inputs: unfinished", "damaged inputs: models", "damaged inputs: pictures"),
    *("damaged inputs: records", "damaged inputs: recordings", "damaged inputs: command", "two at once"),
    *("damaged inputs: heuristics", "damaged inputs: level", "bad environments"),
]


def test_the_fastest_cases_of_each_kind() -> None:
    output = campaign("--share", "0.012", "--seed", "1", "--only", *QUICK)
    assert output.splitlines()[-1].endswith(" cases, 0 failed") and output.count("\n") == len(QUICK) + 1


@pytest.mark.slow
def test_ten_minutes_of_the_campaign() -> None:
    campaign("--share", "0.5", "--seed", "2")

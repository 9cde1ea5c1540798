"""What all tests share."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

# Before torch is imported: two test processes with two threads each spin against each other on two cores.
os.environ.setdefault("OMP_NUM_THREADS", "1")

import matplotlib
import pytest

from pixelplan.envs import PUZZLES

matplotlib.use("Agg")


@pytest.fixture(params=list(PUZZLES))
def name(request: pytest.FixtureRequest) -> str:
    """Each puzzle by its command-line name; ProcgenMaze only where it can be installed."""
    if request.param == "procgen-maze":
        pytest.importorskip("procgen", reason="procgen-mirror has no wheel for this machine")
    return request.param


def run_command(*arguments: str | Path, code: int = 0) -> subprocess.CompletedProcess[str]:
    """Run `pixelplan` as a user does and check its exit code; a traceback is never fine."""
    result = subprocess.run(
        [sys.executable, "-m", "pixelplan", *map(str, arguments)], capture_output=True, text=True, timeout=300
    )
    assert "Traceback" not in result.stderr, result.stderr
    assert result.returncode == code, result.stderr
    return result


def one_sentence(result: subprocess.CompletedProcess[str]) -> str:
    """The sentence that a failed command printed; nothing else may stand on standard error."""
    lines = result.stderr.strip().splitlines()
    assert len(lines) == 1 and lines[0].startswith("pixelplan: "), result.stderr
    return lines[0]

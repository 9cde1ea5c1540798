"""What all tests share."""

from __future__ import annotations

import contextlib
import io
import os
import subprocess
from pathlib import Path
from typing import Any

# Before torch is imported: two test processes with two threads each spin against each other on two cores.
os.environ.setdefault("OMP_NUM_THREADS", "1")

import matplotlib
import pytest
from hypothesis import settings

from pixelplan.cli import main
from pixelplan.puzzles import PUZZLES

settings.register_profile("pixelplan", deadline=None)  # a busy machine is no failure
settings.load_profile("pixelplan")

matplotlib.use("Agg")


@pytest.fixture(params=list(PUZZLES))
def name(request: pytest.FixtureRequest) -> str:
    """Each puzzle by its command-line name; ProcgenMaze only if it is installed."""
    if request.param == "procgen-maze":
        pytest.importorskip("procgen", reason="procgen-mirror has no wheel for this machine")
    return request.param


def run_command(*arguments: str | Path, code: int = 0) -> subprocess.CompletedProcess[str]:
    """Call `pixelplan` as the command does and check its exit code; whatever it raises is a failure.

    In this process: a process of its own would spend most of its time on importing torch.
    """
    output, errors = io.StringIO(), io.StringIO()
    with contextlib.redirect_stdout(output), contextlib.redirect_stderr(errors):
        try:
            returned: Any = main([str(argument) for argument in arguments])
        except SystemExit as end:  # the parser's way to end after --help or a wrong option
            returned = end.code or 0
    assert returned == code, errors.getvalue()
    return subprocess.CompletedProcess(arguments, returned, output.getvalue(), errors.getvalue())


def one_sentence(result: subprocess.CompletedProcess[str]) -> str:
    """The sentence that a failed command printed; standard error must have nothing else."""
    lines = result.stderr.strip().splitlines()
    assert len(lines) == 1 and lines[0].startswith("pixelplan: "), result.stderr
    return lines[0]

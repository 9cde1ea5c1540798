"""The grid on a real local ray cluster, and without one."""

from __future__ import annotations

import contextlib
import os
import signal
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from tests.conftest import one_sentence, run_command
from tests.test_experiments_runner import TINY, places

WORDS = ("reproduce", "generalisation", "--run", "--puzzles", "digit-jump", "--levels", "1,2", *TINY)


@pytest.fixture
def cluster() -> Iterator[str]:
    """The address of a cluster with room for two workers, ours alone and gone afterwards."""
    pytest.importorskip("ray")
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        address = f"127.0.0.1:{free.getsockname()[1]}"
    words = ["start", "--head", "--block", "--num-cpus", "2", "--port", address.partition(":")[2]]
    words += ["--include-dashboard", "false", "--disable-usage-stats", "--node-ip-address", "127.0.0.1"]
    with tempfile.TemporaryDirectory(prefix="ray", dir="/tmp", ignore_cleanup_errors=True) as folder:  # short: sockets
        head = subprocess.Popen(
            [Path(sys.executable).with_name("ray"), *words, "--temp-dir", folder],
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        _wait_until(lambda: _answers(address), head)
        yield address
        head.terminate()
        head.wait(timeout=60)


@pytest.mark.extras
def test_the_grid_survives_a_killed_worker(cluster: str, tmp_path: Path) -> None:
    words = [*WORDS, "--ray", cluster, *places(tmp_path)]
    process = subprocess.Popen(
        [sys.executable, "-m", "pixelplan", *words], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )
    try:
        os.kill(_worker(tmp_path / "runs" / "models", process), signal.SIGKILL)
        out, errors = process.communicate(timeout=900)
    finally:
        process.kill()
    assert process.returncode == 0, errors
    assert "FAILED" in errors and "trying again, 1 of 2" in errors, "the killed worker's job came back"
    assert len(list((tmp_path / "results" / "cells").glob("*.json"))) == 4
    assert "4 of 36 cells are recorded" in out


def _answers(address: str) -> bool:
    host, _, port = address.partition(":")
    with contextlib.suppress(OSError):
        socket.create_connection((host, int(port)), timeout=1).close()
        return True
    return False


def _wait_until(ready: Callable[[], bool], process: subprocess.Popen[bytes]) -> None:
    until = time.monotonic() + 300
    while not ready():
        assert process.poll() is None and time.monotonic() < until, "the cluster did not start"
        time.sleep(0.1)


def _worker(models: Path, process: subprocess.Popen[str]) -> int:
    """The process that trains the first model, once it is in the middle of it."""
    until = time.monotonic() + 600
    while process.poll() is None and time.monotonic() < until:
        for lock in models.glob("*.lock"):
            if lock.read_text():
                return int(lock.read_text())
        time.sleep(0.02)
    raise AssertionError(f"no worker began: {process.communicate()}")


def test_no_ray_is_one_sentence(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "ray", None)  # as if it were not installed
    assert "pixelplan[cluster]" in one_sentence(run_command(*WORDS, "--ray", "auto", *places(tmp_path), code=2))


@pytest.mark.extras
def test_no_cluster_at_an_address_is_one_sentence(tmp_path: Path) -> None:
    pytest.importorskip("ray")
    for address, words in (("127.0.0.1:1", "no ray cluster answers at 127.0.0.1:1"), ("nowhere", "is not the address")):
        assert words in one_sentence(run_command(*WORDS, "--ray", address, *places(tmp_path), code=2))

"""What a record says about the machine and the code that made it; never a host name or a path."""

from __future__ import annotations

import os
import platform
import subprocess
from pathlib import Path
from typing import Any


def describe_machine() -> dict[str, Any]:
    """Processor, cores, Python, our version and, in a checkout, the commit (with a plus if files have changed)."""
    from pixelplan import __version__

    return {
        "machine": {"processor": _processor(), "cores": os.cpu_count(), "python": platform.python_version()},
        "version": __version__,
        "commit": commit(),
    }


def free_memory() -> int | None:
    """Bytes that a process may still take without pushing others out; None if unknown."""
    try:
        lines = Path("/proc/meminfo").read_text().splitlines()
        return 1024 * int(next(line.split()[1] for line in lines if line.startswith("MemAvailable")))
    except (OSError, StopIteration, ValueError):
        return None


def commit() -> str | None:
    """The short commit of the checkout this package runs from; None outside a checkout."""
    here = Path(__file__).resolve().parent
    if not (here.parent / ".git").exists():
        return None
    try:
        hash_, status = (
            subprocess.run(["git", *words], cwd=here, capture_output=True, text=True, check=True).stdout.strip()
            for words in (["rev-parse", "--short", "HEAD"], ["status", "--porcelain", "--untracked-files=no", "."])
        )
    except (OSError, subprocess.CalledProcessError):
        return None
    return hash_ + ("+" if status else "")


def _processor() -> str:
    try:
        lines = Path("/proc/cpuinfo").read_text().splitlines()
        return next(line.split(":", 1)[1].strip() for line in lines if line.startswith("model name"))
    except (OSError, StopIteration):
        return platform.processor() or platform.machine()

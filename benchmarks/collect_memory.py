"""The memory that collecting and opening 10,000 levels of ProcgenMaze takes: the process's own, without mapped files.

python benchmarks/collect_memory.py [--levels 10000] [--json results/benchmark-collect-memory.json]
"""

from __future__ import annotations

import argparse
import re
import tempfile
import threading
import time
from pathlib import Path

import numpy as np

import pixelplan
from pixelplan.files import write_json
from pixelplan.machine import describe_machine


def own_memory_mib() -> float:
    """Anonymous memory of this process now (Linux)."""
    status = Path("/proc/self/status").read_text()
    match = re.search(r"RssAnon:\s+(\d+)", status)
    assert match is not None
    return int(match[1]) / 1024


def main() -> None:
    """Measure, print and optionally record."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--levels", type=int, default=10_000)
    parser.add_argument("--json", type=Path)
    arguments = parser.parse_args()
    peak, done = 0.0, threading.Event()

    def watch() -> None:
        nonlocal peak
        while not done.wait(0.02):
            peak = max(peak, own_memory_mib())

    watcher = threading.Thread(target=watch)
    watcher.start()
    with tempfile.TemporaryDirectory() as folder:
        begin = time.perf_counter()
        pixelplan.collect("procgen-maze", f"0:{arguments.levels}", Path(folder) / "data")
        collected = time.perf_counter()
        data = pixelplan.open_trajectories(Path(folder) / "data")
        np.asarray(data.frames[:: max(1, len(data.frames) // 1000)]).sum()
        opened = time.perf_counter()
        record = {
            "command": f"python benchmarks/collect_memory.py --levels {arguments.levels}",
            **describe_machine(),
            "levels": arguments.levels,
            "frames": len(data.frames),
            "collect_seconds": collected - begin,
            "open_seconds": opened - collected,
        }
        del data
    done.set()
    watcher.join()
    record["peak_own_memory_mib"] = peak
    print(
        f"{record['frames']:,} frames of {arguments.levels:,} levels collected in {record['collect_seconds']:.0f} s, "
        f"opened in {record['open_seconds']:.1f} s within {peak:.0f} MiB of the process's own memory"
    )
    if arguments.json:
        write_json(arguments.json, record)


if __name__ == "__main__":
    main()

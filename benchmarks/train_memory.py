"""The memory that training takes: the process's own, mapped files apart, over one pass through ProcgenMaze's levels.

python benchmarks/train_memory.py [--levels 1000 10000] [--json results/benchmark-train-memory.json]

Later passes take what the first takes. Each number of levels is trained on in a process of its own.
"""

from __future__ import annotations

import argparse
import multiprocessing
import multiprocessing.connection
import tempfile
import threading
from dataclasses import replace
from pathlib import Path

from collect_memory import own_memory_mib

import pixelplan
from pixelplan.families.presets import PRESETS
from pixelplan.files import write_json
from pixelplan.machine import describe_machine
from pixelplan.model.train import train


def peak_of_training(levels: int, connection: multiprocessing.connection.Connection) -> None:
    """Send the peak of this process's own memory in MiB while it trains on `levels` levels for one pass."""
    peak, done = 0.0, threading.Event()

    def watch() -> None:
        nonlocal peak
        while not done.wait(0.1):
            peak = max(peak, own_memory_mib())

    with tempfile.TemporaryDirectory() as folder:
        data = pixelplan.collect("procgen-maze", f"0:{levels}", Path(folder) / "data")
        watcher = threading.Thread(target=watch)
        watcher.start()
        train(data, Path(folder) / "model", replace(PRESETS["spatial"], updates=1, threads=1, quiet=True))
        done.set()
        watcher.join()
    connection.send(peak)


def main() -> None:
    """Measure, print and optionally record."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--levels", type=int, nargs="+", default=[1000, 10_000])
    parser.add_argument("--json", type=Path)
    arguments = parser.parse_args()
    peaks = {}
    for levels in arguments.levels:
        receiver, sender = multiprocessing.Pipe(duplex=False)
        process = multiprocessing.get_context("spawn").Process(target=peak_of_training, args=(levels, sender))
        process.start()
        peaks[str(levels)] = round(receiver.recv())
        process.join()
        print(
            f"training on {levels:,} levels: {peaks[str(levels)]:,} MiB of the process's own memory at most", flush=True
        )
    if arguments.json:
        command = f"python benchmarks/train_memory.py --levels {' '.join(map(str, arguments.levels))}"
        write_json(arguments.json, {"command": command, **describe_machine(), "peak_own_memory_mib": peaks})


if __name__ == "__main__":
    main()

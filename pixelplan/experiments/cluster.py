"""The same jobs on a ray cluster: each is a task with its resources; the driver collects records and retries."""

from __future__ import annotations

import dataclasses
import logging
import socket
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from pixelplan import __version__
from pixelplan.experiments.records import write_record
from pixelplan.experiments.runner import Failure, Job, jobs_of, locked, missing_cells, outcome, reason, run_job, say
from pixelplan.experiments.specs import Cell, Training, fingerprint
from pixelplan.types import InputError

MEMORY = 3 * 2**29
"""Bytes that a job may need: the data is memory-mapped, the rest is torch and a batch."""


def run_there(
    cells: Sequence[Cell], results: Path, runs: Path, threads: int, address: str, retries: int
) -> list[Failure]:
    """Run the cells that have no record on the cluster at an address. `auto` is the one that is running here or, if
    there is none, a new one with this machine's cores.

    Data and models stay on the workers, in their runs folder; records come back and are written here. If a job's
    worker dies or one of its cells fails, it is tried again; on the same machine it continues from what is there.
    """
    ray = _connect(address)
    try:
        return _drive(ray, jobs_of(missing_cells(cells, results)), results, runs, threads, retries)
    finally:
        ray.shutdown()


def _connect(address: str) -> Any:
    """The ray library, connected; an InputError if it is not there or cannot be reached."""
    try:
        import ray
    except ImportError:
        raise InputError("ray is not installed; pip install 'pixelplan[cluster]' brings it") from None
    if address != "auto":
        _knock(address)
    try:
        ray.init(
            address=None if address == "auto" else address,
            log_to_driver=False,
            logging_level=logging.ERROR,
        )
    except (ConnectionError, RuntimeError, ValueError, OSError) as problem:
        raise InputError(f"the ray cluster {address!r} cannot be used: {reason(problem)}") from None
    return ray


def _knock(address: str) -> None:
    """An InputError if nothing answers at host:port; ray itself would wait for minutes."""
    host, _, port = address.removeprefix("ray://").rpartition(":")
    if not host or not port.isdigit():
        raise InputError(f"{address!r} is not the address of a ray cluster; write auto, host:port or ray://host:port")
    try:
        socket.create_connection((host, int(port)), timeout=10).close()
    except OSError as problem:
        raise InputError(f"no ray cluster answers at {address}: {problem}") from None


def _drive(ray: Any, jobs: list[Job], results: Path, runs: Path, threads: int, retries: int) -> list[Failure]:
    """Hand out all jobs, and write the records that come back, until nothing is left to try."""
    left = {fingerprint(job.model): job for job in jobs}
    tries = dict.fromkeys(left, 0)
    failures: list[Failure] = []

    def hand_out(job: Job) -> Any:
        return ray.remote(_work).options(**resources(job, threads)).remote(job, runs.absolute(), threads, __version__)

    tasks = {hand_out(job): key for key, job in left.items()}
    while tasks:
        (task,), _ = ray.wait(list(tasks))
        key = tasks.pop(task)
        job = left[key]
        try:
            outcomes: list[tuple[Cell, dict[str, Any] | Failure]] = ray.get(task)
        except ray.exceptions.RayError as problem:
            outcomes = [(cell, Failure(cell, reason(problem))) for cell in job.cells]
        for cell, result in outcomes:
            if not isinstance(result, Failure):
                write_record(result, cell, results)
            say(outcome(cell, result))
        failed = [failure for _, failure in outcomes if isinstance(failure, Failure)]
        if failed and tries[key] < retries:
            tries[key] += 1
            left[key] = Job(tuple(failure.cell for failure in failed))
            say(f"trying again, {tries[key]} of {retries}: {job.model.env}, {job.model.name}")
            tasks[hand_out(left[key])] = key
        else:
            failures += failed
    return failures


def resources(job: Job, threads: int) -> dict[str, Any]:
    """What a job needs of a machine; retrying is the driver's business."""
    device = job.model.config.device if isinstance(job.model, Training) else "cpu"
    return {"num_cpus": threads, "num_gpus": int(device == "cuda"), "memory": MEMORY, "max_retries": 0}


def _work(job: Job, runs: Path, threads: int, version: str) -> list[tuple[Cell, dict[str, Any] | Failure]]:
    """What a worker does; nothing if it has another version than the driver."""
    if version != __version__:
        different = f"the worker has pixelplan {__version__}, the driver {version}; install the same on both"
        return [(cell, Failure(cell, different)) for cell in job.cells]
    quiet = job
    if isinstance(job.model, Training):
        model = dataclasses.replace(job.model, config=dataclasses.replace(job.model.config, quiet=True))
        quiet = Job(tuple(dataclasses.replace(cell, model=model) for cell in job.cells))
    with locked(runs / "models" / fingerprint(job.model)[:16], wait=True):
        return list(run_job(quiet, runs, threads))

"""Runs an experiment's cells: those without a record, each on its own, and none twice.

Cells that share a model make one job. A job's model and data are in the runs folder, under their fingerprints. So an
interrupted run continues, and several processes with the same runs folder share the work.
"""

from __future__ import annotations

import dataclasses
import fcntl
import os
import sys
from collections import deque
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pixelplan import collect
from pixelplan.experiments.records import find_record, make_record, write_record
from pixelplan.experiments.specs import Cell, Oracle, Play, Shipped, Training, fingerprint
from pixelplan.model.checkpoint import CONFIG, read_checkpoint_note, read_description
from pixelplan.model.train import train
from pixelplan.training.on_policy import open_data_world, stage_folder, train_in_stages
from pixelplan.types import InputError, Trajectories


@dataclass(frozen=True)
class Job:
    """The cells of one model."""

    cells: tuple[Cell, ...]

    @property
    def model(self) -> Training | Shipped | Oracle:
        """The model that they share."""
        return self.cells[0].model


@dataclass(frozen=True)
class Failure:
    """A cell without a result."""

    cell: Cell
    reason: str


def model_folder(model: Training | Shipped, runs: Path) -> Path:
    """Where a model is or will be; its name says what it is."""
    if isinstance(model, Shipped):
        return model.folder
    return runs / "models" / f"{model.env}-{fingerprint(model)[:16]}"


def jobs_of(cells: Sequence[Cell]) -> list[Job]:
    """The cells grouped by model, in their order; a cell that occurs twice counts once."""
    jobs: dict[str, dict[str, Cell]] = {}
    for cell in cells:
        jobs.setdefault(fingerprint(cell.model), {})[fingerprint(cell)] = cell
    return [Job(tuple(job.values())) for job in jobs.values()]


def missing_cells(cells: Sequence[Cell], results: Path) -> list[Cell]:
    """Those without a record."""
    return [cell for cell in cells if find_record(cell, results) is None]


def state_of(cell: Cell, results: Path, runs: Path) -> str:
    """Whether a cell is done, begun or missing."""
    if find_record(cell, results) is not None:
        return "done"
    if isinstance(cell.model, Oracle):
        return "to measure"
    folder = model_folder(cell.model, runs)
    if (folder / CONFIG).exists():
        return "to measure"
    return "begun" if folder.exists() else "to train"


def run_here(cells: Sequence[Cell], results: Path, runs: Path, threads: int) -> list[Failure]:
    """Run the cells that have no record, one job after the other; a cell that fails does not stop the others.

    A job that another process is running comes last.
    """
    queue = deque(jobs_of(missing_cells(cells, results)))
    waiting, failures, total = 0, list[Failure](), len(queue)
    while queue:
        job = queue.popleft()
        with locked(runs / "models" / fingerprint(job.model)[:16], wait=waiting > len(queue)) as acquired:
            if not acquired:
                queue.append(job)
                waiting += 1
                continue
            waiting = 0
            job = Job(tuple(cell for cell in job.cells if find_record(cell, results) is None))
            if job.cells:
                say(f"model {total - len(queue)} of {total}: {job.model.env}, {job.model.name}")
                for cell, result in run_job(job, runs, threads):
                    if isinstance(result, Failure):
                        failures.append(result)
                    else:
                        write_record(result, cell, results)
                    say(outcome(cell, result))
    return failures


def run_job(job: Job, runs: Path, threads: int) -> Iterator[tuple[Cell, dict[str, Any] | Failure]]:
    """Make the job's model, unless it exists, and measure it; yields a record or a failure for each cell."""
    try:
        model = make_model(job.model, runs, threads)
    except Exception as problem:  # whatever it is, the other models do not need this one
        yield from ((cell, Failure(cell, reason(problem))) for cell in job.cells)
        return
    for cell in job.cells:
        try:
            folder, result = measure(cell, model, runs / "measures")
            yield cell, make_record(cell, folder, result)
        except Exception as problem:
            yield cell, Failure(cell, reason(problem))


def measure(cell: Cell, model: Path | None, measures: Path) -> tuple[Path | None, dict[str, Any]]:
    """Take a cell's measure of the model in a folder, or of the true rules; returns the folder of the stage and the
    result. An interrupted measure continues in the folder `measures`."""
    out = measures / f"{cell.env}-{fingerprint(cell)[:16]}.json"
    out.parent.mkdir(parents=True, exist_ok=True)
    folder = None if model is None else stage_folder(model, cell.share)
    return folder, cell.measure.take(cell.env, folder, out)


def make_model(training: Training | Shipped | Oracle, runs: Path, threads: int) -> Path | None:
    """The folder of a model, None for true rules; a finished model is reused, an interrupted one continues."""
    if isinstance(training, Oracle):
        return None
    folder = model_folder(training, runs)
    if isinstance(training, Shipped) or (folder / CONFIG).exists():
        return folder
    data = make_play(training.play, runs)
    validation = None if training.validation is None else make_play(training.validation, runs)
    config = dataclasses.replace(training.config, threads=_begun_with(folder) or threads)
    if training.stages:
        train_in_stages(data, folder, config, training.stages, open_data_world(data), validation, resume=True)
    else:
        train(data, folder, config, validation, resume=True)
    return folder


def make_play(play: Play, runs: Path) -> Trajectories:
    """The recorded play; a finished data set is reused, an interrupted one continues."""
    folder = runs / "data" / f"{play.env}-{fingerprint(play)[:16]}"
    with locked(folder, wait=True):
        return collect(
            play.family, play.levels, folder, episodes=play.episodes, steps=play.steps, seed=play.seed, resume=True
        )


def _begun_with(folder: Path) -> int | None:
    """The threads of the training in a folder: it can only continue with the same number."""
    for place in (folder, *folder.glob("stage-*")):
        note = read_checkpoint_note(place)
        if note is not None:
            return int(note["request"]["config"]["threads"])
        if (place / CONFIG).exists():
            return int(read_description(place)["config"]["threads"])
    return None


@contextmanager
def locked(folder: Path, wait: bool) -> Iterator[bool]:
    """Lock a folder for this process and yield whether that worked; the lock ends with the process it names."""
    folder.parent.mkdir(parents=True, exist_ok=True)
    with folder.with_name(f"{folder.name}.lock").open("a+") as file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | (0 if wait else fcntl.LOCK_NB))
        except BlockingIOError:
            yield False
            return
        file.truncate(0)
        file.write(str(os.getpid()))
        file.flush()
        yield True


def reason(problem: BaseException) -> str:
    """Why something failed, in a line."""
    text = " ".join(str(problem).split())
    return text if isinstance(problem, InputError) else f"{type(problem).__name__}: {text}"


def outcome(cell: Cell, result: dict[str, Any] | Failure) -> str:
    """How a cell went, in a line."""
    if isinstance(result, Failure):
        return f"FAILED {cell.name}: {result.reason}"
    success = result["result"].get("success")
    return f"done {cell.name}" + ("" if success is None else f": {success:.3f}")


def say(line: str) -> None:
    """Tell the user how it goes."""
    print(line, file=sys.stderr, flush=True)

"""Many levels, one planner, one record: resumable, on several processes, the same numbers either way."""

from __future__ import annotations

import dataclasses
import multiprocessing
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import ProcessPoolExecutor, as_completed
from concurrent.futures.process import BrokenProcessPool
from pathlib import Path
from typing import Any

from pixelplan.envs.family import Family, Goals
from pixelplan.evaluation.chance import Chance
from pixelplan.evaluation.finished_levels import FinishedLevels
from pixelplan.evaluation.play import Task, check_goal, check_wanted, play_level, weights_of
from pixelplan.evaluation.result import LevelResult, Result
from pixelplan.evaluation.stats import outcome, row, seconds_per_plan
from pixelplan.files import level_numbers, parse_levels, write_json
from pixelplan.machine import describe_machine
from pixelplan.planning import find_planner
from pixelplan.planning.one_shot import check_memory
from pixelplan.types import InputError, Model


def check_request(
    family: Family, planner: str, goals: Goals | None, seed: int, workers: int, out: Path | None, resume: bool
) -> Goals:
    """The kind of goals; an InputError for a request that cannot be met, whatever the model."""
    find_planner(planner)
    goals = ("level" if family.has_goals else "solved") if goals is None else goals
    check_wanted(goals)
    if seed < 0 or workers < 1:
        raise InputError(f"seed is {seed} and workers is {workers}; they must be at least 0 and 1")
    if resume and out is None:
        raise InputError("without a file there is nothing to resume; name one with --json FILE")
    return goals


def evaluate(
    family: Family,
    levels: str,
    *,
    planner: str = "full",
    model: Model | None = None,
    config: Any = None,
    chance: Chance | None = None,
    goals: Goals | None = None,
    seed: int = 0,
    workers: int = 1,
    out: Path | None = None,
    resume: bool = False,
    progress: Callable[[int, int], None] = lambda done, total: None,
    names: Mapping[str, str | None] = {},
) -> Result:
    """Play levels ("A:B", B excluded) with a planner, and write the result to the file `out` if it is given.

    No model means the true rules of each level, if it has tables. `chance` says how likely plans are to succeed.
    `goals` are those that levels show ("level"), random states ("random"), or whatever solves a level ("solved", the
    default for worlds that show no goal). `names` says what the record calls the `model`, its `heuristic` and its
    `calibration`.
    What happens in a level depends only on (seed, level). Finished levels are kept in a journal beside `out`, and
    `resume` continues from there.
    """
    goals = check_request(family, planner, goals, seed, workers, out, resume)
    ranges = parse_levels(levels)
    numbers = level_numbers(ranges)
    config = find_planner(planner).config() if config is None else config
    family.check(numbers[0])  # fail before anything is played
    family.level(max(numbers))
    challenge = family.challenge(numbers[0], goals, seed)
    check_memory(model, config, challenge.env.reset()[0])
    check_goal(model, planner, challenge.goal)
    pairs = tuple((part.start, part.stop) for part in ranges)
    request: dict[str, Any] = {
        "env": family.name,
        "options": dict(family.options),
        "planner": planner,
        "config": dataclasses.asdict(config),
        "model": names.get("model"),
        "levels": pairs[0] if len(pairs) == 1 else pairs,
        "goals": goals,
        "step_limit": getattr(config, "step_limit", getattr(config, "depth_limit", 0)),
        "seed": seed,
        "weights": weights_of(model),
        "heuristic": names.get("heuristic"),
        "calibration": names.get("calibration"),
    }
    journal = FinishedLevels(out, request, resume)
    left = [number for number in numbers if number not in journal.done]
    task = Task(family, planner, config, goals, seed, chance)
    try:
        played = _play_here(task, model, left) if workers == 1 else _play_there(task, model, left, workers)
        for finished in played:
            journal.add(finished)
            progress(len(journal.done), len(numbers))
    finally:
        journal.write()
    episodes = tuple(journal.done[number] for number in numbers)
    result = Result(
        **request,
        **outcome(episodes),
        seconds_per_plan=seconds_per_plan(episodes),
        **describe_machine(),
        threads=1,
        episodes=episodes,
    )
    if out is not None:
        write_json(out, record(result))
        journal.remove()
    return result


def record(result: Result) -> dict[str, Any]:
    """An evaluation as JSON values."""
    return {**dataclasses.asdict(result), "episodes": [row(episode) for episode in result.episodes]}


def _play_here(task: Task, model: Model | None, numbers: list[int]) -> Iterator[LevelResult]:
    for number in numbers:
        yield play_level(task, model, number)


_task: Task
_model: Model | None


def _start_worker(task: Task, model: Model | None) -> None:
    global _task, _model
    _task, _model = task, model


def _play_in_worker(number: int) -> LevelResult:
    return play_level(_task, _model, number)


def _play_there(task: Task, model: Model | None, numbers: list[int], workers: int) -> Iterator[LevelResult]:
    # Spawned, not forked: the threads of torch and Procgen do not survive a fork. Planners use one thread each.
    context = multiprocessing.get_context("spawn")
    pool = ProcessPoolExecutor(min(workers, len(numbers) or 1), context, _start_worker, (task, model))
    try:
        for future in as_completed([pool.submit(_play_in_worker, number) for number in numbers]):
            yield future.result()
    except BrokenProcessPool:
        raise InputError(
            "a worker process died, perhaps for lack of memory; try fewer workers (--resume keeps what is finished)"
        ) from None
    finally:
        pool.shutdown(cancel_futures=True)

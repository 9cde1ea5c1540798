"""Judge trained policies exactly as planners are: on the same levels, with the same step limit and the same record."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Mapping
from typing import Any, Literal

import numpy as np

from pixelplan.baselines.policy import Budget, Policy, play_policy
from pixelplan.envs.frames import DistinctFrames
from pixelplan.evaluation.result import LevelResult
from pixelplan.evaluation.stats import level_result, outcome, row
from pixelplan.files import level_numbers, parse_levels
from pixelplan.machine import describe_machine
from pixelplan.puzzles import Level, Puzzle, get_level
from pixelplan.puzzles.table_family import blindfolded
from pixelplan.types import InputError

Rule = Literal["goal", "near"]
RULES = {
    "goal": "the goal is reached",
    "near": "the goal is reached, or the episode ends at most one row and one column from it",
}
"""When a level counts as solved; the second is the paper's rule for GLAMOR."""


def evaluate_policy(
    policy: Policy,
    puzzle: Puzzle,
    levels: str,
    *,
    request: Mapping[str, Any],
    budget: Budget,
    rule: Rule = "goal",
    step_limit: int = 256,
    seed: int = 0,
    progress: Callable[[int, int], None] = lambda done, total: None,
) -> dict[str, Any]:
    """Let a policy play levels ("A:B", B excluded) and return the record.

    `request` says what the policy is: env, planner (the algorithm), config, and the levels and seed of its training.
    What happens in a level depends only on (seed, level) and the policy.
    """
    if step_limit < 1 or seed < 0:
        raise InputError(f"the step limit is {step_limit} and the seed {seed}; they must be at least 1 and 0")
    ranges = parse_levels(levels)
    numbers = level_numbers(ranges)
    by_rule: dict[str, list[LevelResult]] = {name: [] for name in RULES}
    for number in numbers:
        for name, result in _play_level(policy, puzzle, number, step_limit, seed).items():
            by_rule[name].append(result)
        progress(len(by_rule[rule]), len(numbers))
    episodes = by_rule[rule]
    pairs = [(numbers.start, numbers.stop) for numbers in ranges]
    return {
        **request,
        "options": dataclasses.asdict(puzzle),
        "levels": pairs[0] if len(pairs) == 1 else pairs,
        "goals": "level",
        "rule": RULES[rule],
        "step_limit": step_limit,
        "seed": seed,
        **outcome(episodes),
        "success_by_rule": {name: outcome(all_)["success"] for name, all_ in by_rule.items()},
        "seconds_per_plan": None,
        "budget": describe_budget(budget),
        **describe_machine(),
        "episodes": [row(episode) for episode in episodes],
    }


def describe_budget(budget: Budget) -> dict[str, Any]:
    """A budget for a record, with the training rate."""
    rate = round(budget.environment_steps / budget.seconds, 1) if budget.seconds else None
    return {**dataclasses.asdict(budget), "steps_per_second": rate, **describe_machine()}


def _play_level(policy: Policy, puzzle: Puzzle, number: int, step_limit: int, seed: int) -> dict[str, LevelResult]:
    """How one level went, by each of the rules."""
    level = get_level(puzzle, number)
    random = np.random.default_rng([seed, number])
    episode = play_policy(policy, blindfolded(puzzle, level), level.frame(level.goal), step_limit, random)
    shortest = level.shortest_path(level.start)
    strict = level_result(number, episode, None if shortest is None else len(shortest))
    near = episode.solved or shows_place_near_goal(level, episode.frames[-1])
    return {"goal": strict, "near": dataclasses.replace(strict, solved=near)}


def shows_place_near_goal(level: Level, frame: np.ndarray) -> bool:
    """Whether a frame [H,W,3] shows a state at most one row and one column from the goal."""
    near = np.abs(level.positions - level.positions[level.goal]).max(axis=1) <= 1
    return DistinctFrames(level.frames(np.flatnonzero(near))).number(frame) is not None

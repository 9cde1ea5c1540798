"""One level of a world, played with a model and whatever helps it, each by its name."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from pixelplan.by_name.open_model import calibrated, choose_model, guided
from pixelplan.by_name.resolve import EnvLike, open_family
from pixelplan.envs.family import Challenge, Wanted
from pixelplan.evaluation.play import Task, check_goal, check_wanted, play
from pixelplan.planning import find_planner
from pixelplan.planning.one_shot import check_memory
from pixelplan.planning.plan import Episode
from pixelplan.types import InputError, Model


def solve(
    env: EnvLike,
    number: int,
    *,
    planner: str = "full",
    model: str | Path | Model | None = None,
    heuristic: str | Path | None = None,
    config: Any = None,
    calibration: str | Path | None = None,
    other_size: bool = False,
    goal: Wanted | None = None,
    seed: int = 0,
) -> tuple[Challenge, Episode]:
    """Play one level towards a goal: its own, whatever solves it ("solved"), a random state, a `Goal`, any frame
    [H,W,3] or one of several, or where a tuple of actions leads. By default the goal is the one that the level shows
    or, if it shows none, whatever solves it. `other_size` is that of `evaluate`.

    Returns the level with that goal, and the episode.
    """
    check_wanted(goal)
    family = open_family(env)
    settings = find_planner(planner).config
    if seed < 0:
        raise InputError(f"seed is {seed}; it must be 0 or more")
    opened, family = choose_model(model, planner, family, other_size)
    family.check(number)
    usual: Wanted = "level" if family.has_goals else "solved"
    challenge = family.challenge(number, usual if goal is None else goal, seed)
    check_goal(opened, planner, challenge.goal)
    config = settings() if config is None else config
    check_memory(opened, config, challenge.env.reset()[0])
    opened = guided(opened, heuristic, family.name, config)
    chance = calibrated(calibration, opened, heuristic, config)
    return challenge, play(Task(family, planner, config, seed=seed, chance=chance), opened, challenge)

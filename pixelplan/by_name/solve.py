"""One level, played and shown."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from pixelplan.by_name.open_model import calibrated, choose_model, guided
from pixelplan.by_name.resolve import EnvLike, open_family
from pixelplan.envs.family import Challenge, Wanted
from pixelplan.evaluation.play import Task, check_goal, check_wanted, play
from pixelplan.files import write_bytes, write_picture
from pixelplan.planning import find_planner
from pixelplan.planning.one_shot import check_memory
from pixelplan.planning.plan import Episode
from pixelplan.reports.figures import episode_gif, frames_picture, solution_picture
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


def story(challenge: Challenge, episode: Episode) -> str:
    """What happened, in a sentence or two."""
    moves = ", ".join(challenge.action_names[action] for action in episode.actions) or "none"
    if challenge.shortest is not None:
        best = f" ({challenge.shortest} would do)"
    else:  # only tables can say that there is none
        best = "" if challenge.level is None else " (there is no solution)"
    outcome = {
        "solved": "solved",
        "steps": "not solved: out of steps",
        "exhausted": "not solved: everything that can be reached was tried, and the goal is not there",
        "plan over": "not solved: the plan did not lead to the goal",
    }[episode.ended]
    if episode.ended == "plan over" and episode.plans and not episode.plans[-1].reached:
        outcome = "not solved: the goal was not found"
    chance = episode.plans[0].chance if episode.plans else None
    sure = "" if chance is None else f"\nthe first plan was predicted to succeed with a chance of {chance:.3f}"
    return (
        f"level {challenge.number}: {outcome} after {len(episode.actions)} steps{best}, {episode.replans} replans, "
        f"{1e3 * episode.seconds:.0f} ms of planning\nmoves: {moves}{sure}"
    )


def write_figure(challenge: Challenge, episode: Episode, out: Path) -> None:
    """Write the episode as PNG or GIF, by the file's ending; a PNG shows the path as arrows if the level has tables."""
    if out.suffix.lower() == ".gif":
        out.parent.mkdir(parents=True, exist_ok=True)
        write_bytes(out, episode_gif(episode))
    elif challenge.level is not None:
        write_picture(out, solution_picture(challenge.level, episode))
    else:
        write_picture(out, frames_picture(episode, challenge.goal_frame, challenge.action_names))

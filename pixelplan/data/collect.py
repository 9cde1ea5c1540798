"""Recorded play: the only data that the world model ever sees. Play is random, or explores if that sees more."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from pixelplan.data.dataset import SECONDS_BETWEEN_NOTES, TrajectoryWriter, open_trajectories
from pixelplan.envs.family import Family
from pixelplan.envs.frames import DistinctFrames, distinct_frames
from pixelplan.envs.noise_config import NOISE
from pixelplan.files import level_numbers, notice, parse_levels
from pixelplan.types import InputError, Trajectories

LEVELS_AT_ONCE = 32
"""How many levels are kept in memory before they are written."""
MOST_STEPS = 10_000_000
"""The most steps in all episodes of a level together."""


@dataclass(frozen=True)
class ChoiceConfig:
    """How to choose between random play and exploring, if the user does not."""

    levels: int = 8
    """Levels that are tried both ways."""
    enough: float = 0.9
    """Play is random if it sees this share of an explorer's frames, and as many goals."""
    steps: int = 20
    """Steps in an episode."""
    longer: tuple[int, ...] = (50, 100)
    """Longer episodes to try, in this order, while shorter ones see too few goals."""
    few: float = 0.5
    """Too few goals are seen if fewer than this share of the levels show one, unless pictures show them."""


def collect(
    family: Family,
    levels: str,
    out: str | Path,
    *,
    episodes: int = 20,
    steps: int | None = None,
    seed: int = 0,
    explore: bool | None = None,
    choice: ChoiceConfig = ChoiceConfig(),  # noqa: B008 (frozen)
    resume: bool = False,
    progress: Callable[[int, int], None] = lambda done, total: None,
) -> Trajectories:
    """Record `episodes` of `steps` actions in each level, playing on past the goal, into folder `out`.

    Actions are uniformly random, or they `explore` the level. By default a few levels are tried both ways, and play is
    random unless exploring sees clearly more; episodes have 20 steps, or 50 or 100 if goals are seen in too few of
    these levels (`choice`). Puzzles are recorded at random, as in the paper.

    Returns the opened data set. What happens in a level depends only on (seed, level), so a run that is interrupted
    and resumed writes the same bytes. `progress` is called with the number of finished levels and of all levels. If an
    environment fails, the levels recorded so far are kept.
    """
    fewest, most = (choice.steps, max(choice.longer)) if steps is None else (steps, steps)
    if episodes < 1 or fewest < 1:
        raise InputError(f"episodes is {episodes} and steps is {fewest}; both must be at least 1")
    if episodes * most > MOST_STEPS:
        raise InputError(
            f"{episodes:,} episodes of {most:,} steps are too many for a level; at most {MOST_STEPS:,} steps fit"
        )
    if seed < 0:
        raise InputError(f"seed is {seed}; it must be 0 or more")
    ranges = parse_levels(levels)
    numbers = level_numbers(ranges)
    family.check(numbers[0])  # fail before the folder is touched
    if explore and NOISE in family.options:
        raise InputError("exploring needs frames that recur, and with noise none does; record random play instead")
    if family.usually_random:
        explore, steps = bool(explore), fewest
    elif explore is None or (explore and steps is None):
        explore, steps = _choose(family, numbers, episodes, steps, seed, explore, choice)
    steps = fewest if steps is None else steps
    request: dict[str, Any] = {
        "env": family.name,
        "options": dict(family.options),
        "levels": [[part.start, part.stop] for part in ranges],
        "episodes": episodes,
        "steps": steps,
        "seed": seed,
        "actions": len(family.action_names),
        "random_start": family.random_start,
    }
    if explore:
        request["explore"] = True
    if not getattr(family, "usual_actions", False):
        request["action_names"] = list(family.action_names)
    with TrajectoryWriter(Path(out), request, resume) as writer:
        was_complete = writer.complete
        if not was_complete:
            while (first := writer.levels_done) < len(numbers):
                progress(first, len(numbers))
                _append_levels(writer, family, numbers[first : first + LEVELS_AT_ONCE], episodes, steps, seed, explore)
            writer.finish(family.shape, steps)
            progress(len(numbers), len(numbers))
    return open_trajectories(out, verify=was_complete)


def _append_levels(
    writer: TrajectoryWriter,
    family: Family,
    numbers: list[int],
    episodes: int,
    steps: int,
    seed: int,
    explores: bool,
) -> None:
    """Play these levels and append them to the folder together.

    If a level fails, those before it are still appended. If play is slow, whatever was played in about a second is
    appended.
    """
    offset, began = writer.frames_written, time.monotonic()
    parts: list[dict[str, np.ndarray]] = []
    try:
        for number in numbers:
            play = family.play(number, episodes, steps, np.random.default_rng([seed, number]), explores, trusts=True)
            kept, number_of = distinct_frames(play.frames)
            parts.append(
                {
                    "frames": play.frames[kept],
                    "frame_level": np.full(len(kept), number),
                    "episodes": number_of[play.episodes] + offset,
                    "actions": play.actions,
                    "episode_level": np.full(episodes, number),
                    "solved": solved_frames(play.solved, number_of),
                    **never_reached(play.goals, play.frames, number),
                }
            )
            offset += len(kept)
            if time.monotonic() - began > SECONDS_BETWEEN_NOTES:
                break
    finally:
        if parts:
            writer.append(len(parts), **{name: np.concatenate([part[name] for part in parts]) for name in parts[0]})


@dataclass(frozen=True)
class Reach:
    """How much one way of playing sees in a few levels."""

    levels: int
    goals: int
    """Levels in which a solved state was seen."""
    frames: float
    """Distinct frames per level, on average."""

    def __str__(self) -> str:
        return f"{self.frames:.0f} frames per level and the goal in {self.goals} of {self.levels}"


def reach(family: Family, numbers: list[int], episodes: int, steps: int, seed: int, explores: bool) -> Reach:
    """How much random play, or exploring, sees in these levels."""
    goals, frames = 0, 0
    for number in numbers:
        play = family.play(number, episodes, steps, np.random.default_rng([seed, number]), explores, trusts=True)
        goals += play.solved is not None and bool(play.solved.any())
        frames += len(distinct_frames(play.frames)[0])
    return Reach(len(numbers), goals, frames / len(numbers))


def _choose(
    family: Family,
    numbers: list[int],
    episodes: int,
    steps: int | None,
    seed: int,
    explore: bool | None,
    choice: ChoiceConfig,
) -> tuple[bool, int]:
    """Whether to explore, and for how many steps, unless the user has decided.

    Play explores if random play sees fewer goals in the first levels, or clearly fewer frames. Episodes are lengthened
    while exploring sees too few goals, as long as longer ones see more goals or clearly more frames. An environment
    that fails here will fail again while recording, which keeps the earlier levels.
    """
    tried = numbers[: choice.levels]
    usual = choice.steps if steps is None else steps
    try:
        explored = reach(family, tried, episodes, usual, seed, True)
        by_chance = explored if explore else reach(family, tried, episodes, usual, seed, False)
        better = bool(explore) or explored.goals > by_chance.goals or by_chance.frames < choice.enough * explored.frames
        lengths = choice.longer if better and steps is None and not family.has_goals else ()
        chosen, seen, compared = usual, explored, ""
        for length in lengths:
            if seen.goals >= choice.few * len(tried):
                break
            at_length = reach(family, tried, episodes, length, seed, True)
            compared += f", and with {length} steps instead of {chosen} {at_length}"
            if at_length.goals <= seen.goals and at_length.frames * choice.enough <= seen.frames:
                break
            chosen, seen = length, at_length
    except InputError:
        return bool(explore), usual
    by_way = f"exploring sees {explored}" if explore else f"random play sees {by_chance}, exploring {explored}"
    notice(
        f"play {'explores' if better else 'is random'} ({'--random' if better else '--explore'} decides otherwise): "
        f"{by_way}{compared}"
        + (f"; episodes have {chosen} steps (--steps decides otherwise)" if chosen != usual else "")
    )
    return better, chosen


def without_goals(data: Trajectories) -> str:
    """What to do if play has seen no goal: longer play helps only where something was left to try."""
    tried = data.episodes[:, :-1].astype(np.int64) * int(data.manifest["actions"]) + data.actions
    if len(np.unique(tried)) == len(data.frames) * int(data.manifest["actions"]):
        return (
            "every action was tried in every state, so longer play sees no more; "
            'set info["solved"] in the states that are goals'
        )
    return "try longer episodes (--steps)" + ("" if "explore" in data.manifest else ", or --explore")


def solved_frames(solved: np.ndarray | None, number_of: np.ndarray) -> np.ndarray:
    """[m] int8, whether each kept frame solves its level (-1 if unknown), from `solved` [n] for all frames and their
    numbers [n] among the kept ones. A frame that solved the level once counts as solved."""
    kept = np.full(number_of.max() + 1, -1, np.int8)
    if solved is not None:
        np.maximum.at(kept, number_of, solved.astype(np.int8))
    return kept


def never_reached(goals: np.ndarray | None, frames: np.ndarray, number: int) -> dict[str, np.ndarray]:
    """The arrays `goals` and `goal_level` of a level: those of its goals [G,H,W,3] that are not among the frames
    [n,H,W,3]. For the others, play has already shown whether they solve it."""
    seen = DistinctFrames(frames)
    unseen = [goal for goal in (() if goals is None else goals) if seen.number(goal) is None]
    kept = np.array(unseen, np.uint8).reshape(len(unseen), *frames.shape[1:])
    return {"goals": kept, "goal_level": np.full(len(kept), number)}

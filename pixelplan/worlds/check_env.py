"""Whether a world fits: what a little play shows about an environment before hours of recording and training."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from pixelplan.envs.family import Family
from pixelplan.envs.frames import DistinctFrames
from pixelplan.types import InputError
from pixelplan.worlds import env_findings as say
from pixelplan.worlds.determinism import REPLAYED_STEPS, Determinism, judge_determinism
from pixelplan.worlds.env_findings import CheckConfig, Finding
from pixelplan.worlds.measured_play import Seen, find_chance, find_clock, find_score, hidden, look, sample


@dataclass(frozen=True)
class Check:
    """What is known about a world."""

    env: str
    fits: bool
    """Whether recording, training and planning can work."""
    findings: tuple[Finding, ...]
    determinism: tuple[Determinism, ...]
    """One for each level played."""
    states_seen: tuple[float, ...]
    """Distinct frames of a level after a quarter, half, three quarters and all of its play, the mean of levels."""
    farthest: float
    """Steps to the farthest frame that random play has reached, the mean of levels."""
    hidden: float | None
    """Share of repeated steps (equal frame, equal action) that led to another frame; None if none was repeated."""
    goals_seen: tuple[int, int]
    """The number of levels in which random play and exploring, also with longer episodes, saw a solved state."""
    one_level: bool
    """Whether all seeds begin with the same frame."""
    next_command: str
    """The command to run next."""


def check_env(
    family: Family,
    levels: list[int],
    episodes: int = 20,
    steps: int = 20,
    seed: int = 0,
    config: CheckConfig = CheckConfig(),  # noqa: B008 (frozen)
    words: str | None = None,
    progress: Callable[[int, int], None] = lambda done, total: None,
) -> Check:
    """Play a few levels, at random and exploring, and say what fits and what does not.

    `words` name the environment on the command line, with its options, for the command to run next. `progress` is
    called with the number of levels played in one of these ways, and how many there may be.
    """
    if not levels or episodes < 1 or steps < 4:
        raise InputError(
            f"{len(levels)} levels, {episodes} episodes and {steps} steps are too few; play at least 1, 1 and 4"
        )
    played = itertools.count(1)

    def watch(number: int, length: int, explores: bool = False) -> Seen:
        play = look(family, number, episodes, length, seed, explores)
        progress(next(played), 3 * len(levels))
        return play

    draws = np.random.default_rng([seed, 3])
    determinism = tuple(
        judge_determinism(family.level(number), draws.integers(len(family.action_names), size=REPLAYED_STEPS).tolist())
        for number in levels
    )
    verdicts = {judged.verdict for judged in determinism}
    noisy = "visual noise" in verdicts
    sampled = sample(family, levels, steps, seed)
    seen = [watch(number, steps) for number in levels]
    growth = tuple(float(mean) for mean in np.mean([play.growth() for play in seen], axis=0))
    unlike = hidden(seen)
    # Frames that differ between replays say nothing of the state.
    judged = verdicts == {"deterministic"} and not sampled.ends_at_once
    state = _about_state(family, levels, seen, unlike, config) if judged else None
    explored: list[Seen] = []
    longer: list[Seen] = []
    if state is not None and state.mark != "does not fit":
        explored = [watch(number, steps, True) for number in levels]
        if _goals(explored) < (len(levels) + 1) // 2 and not family.has_goals:
            longer = [watch(number, config.longer, True) for number in levels]
    goals = _goals(seen), max(_goals(explored), _goals(longer))
    ended = getattr(family, "has_ended", sampled.ends > 0)
    one_level = len(levels) > 1 and len(DistinctFrames(play.first for play in seen)) == 1
    nothing_left = not unlike and bool(explored) and all(play.tried_all for play in (longer or explored))
    command = " ".join(
        [
            f"pixelplan collect {words or f'--env {family.name}'}",
            "--levels 0:1 --episodes 200" if one_level else f"--levels 0:{say.levels_advised(sampled, config)}",
            *([] if any(goals) or family.has_goals or nothing_left else [f"--steps {config.far}"]),
            "--out runs/data",
        ]
    )
    findings = [
        Finding("actions", "fits", f"{len(family.action_names)}: {', '.join(family.action_names[:12])}"),
        say.about_frames(family),
        say.about_levels(seen, noisy),
        say.about_determinism(determinism),
        say.about_episodes(sampled, config),
        say.about_goal(family, levels[0]),
    ]
    if noisy:
        unseen = "cannot be judged: under noise every frame is new"
        findings.append(Finding("states", "mind", unseen, "check the world without its noise, if you can"))
    else:
        findings += [
            say.about_growth(growth, episodes, steps, config),
            say.about_reach(seen, [*explored, *longer], config),
            say.about_goals_seen(
                seen, explored, longer, sampled, ended, family.has_goals, nothing_left, config, command
            ),
        ]
    if sampled.words and not family.has_goals:
        findings.append(say.about_words(sampled.words))
    if state is not None:
        findings.append(state)
    findings.append(say.about_speed(sampled, family, config))
    return Check(
        env=family.name,
        fits=all(finding.mark != "does not fit" for finding in findings),
        findings=tuple(findings),
        determinism=determinism,
        states_seen=growth,
        farthest=float(np.mean([play.farthest() for play in seen])),
        hidden=unlike,
        goals_seen=goals,
        one_level=one_level,
        next_command=command,
    )


def _goals(seen: list[Seen]) -> int:
    return sum(bool(play.solved.any()) for play in seen)


def _about_state(
    family: Family, levels: list[int], seen: list[Seen], unlike: float | None, config: CheckConfig
) -> Finding:
    """Whether frames show the whole state and, if not, what prevents it."""
    chance = find_chance(family, levels, seen, REPLAYED_STEPS)
    if chance is not None:
        return say.about_chance(chance)
    clock = find_clock(seen) or find_score(seen)
    if clock is not None:
        return say.about_clock(clock)
    return say.about_hidden(unlike, config, ends_unseen=bool(unlike) and not hidden(seen, after_ends=False))

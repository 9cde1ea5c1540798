"""Whether a world fits: what a little play shows of an environment before anybody records or trains for hours."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from pixelplan.data import env_findings as say
from pixelplan.data.env_findings import Finding
from pixelplan.data.seen import Seen, find_chance, find_clock, hidden, look, sample
from pixelplan.envs.determinism import STEPS, Determinism, judge_determinism
from pixelplan.envs.family import Family
from pixelplan.types import InputError


@dataclass(frozen=True)
class Check:
    """What was found out about a world."""

    env: str
    fits: bool
    """Whether nothing stands against recording, training and planning."""
    findings: tuple[Finding, ...]
    determinism: tuple[Determinism, ...]
    """For each level looked at."""
    states_seen: tuple[float, ...]
    """Distinct frames of a level after a quarter, half, three quarters and all of its play, the mean of levels."""
    farthest: float
    """Steps to the farthest frame that random play has reached, the mean of levels."""
    hidden: float | None
    """Share of repeated steps (equal frame, equal action) that led to another frame; None where none was repeated."""
    goals_seen: tuple[int, int]
    """In how many levels a solved state was seen, by random play and by exploring."""
    one_level: bool
    """Whether all seeds begin alike."""

    def next_command(self, words: str) -> str:
        """What to run next, for the environment that these words of the command line name."""
        levels = "--levels 0:1 --episodes 200" if self.one_level else "--levels 0:1000"
        steps = " --steps 50" if not any(self.goals_seen) else ""
        return f"pixelplan collect {words} {levels}{steps} --out runs/data"


def check_env(family: Family, levels: list[int], episodes: int = 20, steps: int = 20, seed: int = 0) -> Check:
    """Play a few levels, at random and exploring, and say what fits and what does not."""
    if not levels or episodes < 1 or steps < 4:
        raise InputError(f"{len(levels)} levels, {episodes} episodes and {steps} steps are too few; play 1, 1 and 4")
    draws = np.random.default_rng([seed, 3])
    determinism = tuple(
        judge_determinism(family.level(number), draws.integers(len(family.action_names), size=STEPS).tolist())
        for number in levels
    )
    verdicts = {one.verdict for one in determinism}
    noisy = "visual noise" in verdicts
    told = sample(family, levels, steps, seed)
    seen = [look(family, number, episodes, steps, seed) for number in levels]
    recurs = verdicts == {"deterministic"}
    explored = [look(family, number, episodes, steps, seed, True) for number in levels] if recurs else []
    growth = tuple(float(mean) for mean in np.mean([one.growth() for one in seen], axis=0))
    unlike = hidden(seen)
    findings = [
        Finding("actions", "fits", f"{len(family.action_names)}: {', '.join(family.action_names[:12])}"),
        say.about_frames(family),
        say.about_levels(seen, noisy),
        say.about_determinism(determinism),
        say.about_episodes(told),
        say.about_goal(family, levels[0]),
    ]
    if noisy:
        unseen = "cannot be judged: under noise every frame is new"
        findings.append(Finding("states", "mind", unseen, "check the world without its noise, if you can"))
    else:
        findings += [say.about_growth(growth, episodes, steps), say.about_reach(seen, explored)]
        findings.append(say.about_goals_seen(seen, explored, told, family.has_goals))
    if recurs:  # else frames differ for another reason
        findings.append(_about_state(family, levels, seen, unlike))
    findings.append(say.about_speed(told, family))
    return Check(
        env=family.name,
        fits=all(one.mark != "does not fit" for one in findings),
        findings=tuple(findings),
        determinism=determinism,
        states_seen=growth,
        farthest=float(np.mean([one.farthest() for one in seen])),
        hidden=unlike,
        goals_seen=(_goals(seen), _goals(explored)),
        one_level=len(levels) > 1 and len({one.first.tobytes() for one in seen}) == 1,
    )


def _goals(seen: list[Seen]) -> int:
    return sum(bool(one.solved.any()) for one in seen)


def _about_state(family: Family, levels: list[int], seen: list[Seen], unlike: float | None) -> Finding:
    """Whether frames show the whole state, and if not, what is in the way."""
    clock = find_clock(seen)
    if clock is not None:
        return say.about_clock(clock)
    chance = find_chance(family, levels, seen, STEPS)
    return say.about_hidden(unlike) if chance is None else say.about_chance(chance)

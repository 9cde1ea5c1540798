"""Numbers that say how an evaluation went."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Sequence
from typing import Any

from pixelplan.evaluation.result import LevelResult
from pixelplan.planning.plan import Episode

_Z = 1.959963984540054  # 95 % of a normal distribution lies within this many standard deviations


def wilson(successes: int, trials: int) -> tuple[float, float]:
    """The 95 % Wilson interval of a success rate; unlike the usual interval, it holds near 0 and 1."""
    if trials == 0:
        return 0.0, 1.0
    rate = successes / trials
    centre = rate + _Z**2 / (2 * trials)
    spread = _Z * math.sqrt(rate * (1 - rate) / trials + _Z**2 / (4 * trials**2))
    scale = 1 + _Z**2 / trials
    low = 0.0 if successes == 0 else (centre - spread) / scale
    high = 1.0 if successes == trials else (centre + spread) / scale
    return low, high


def level_result(number: int, episode: Episode, shortest: int | None) -> LevelResult:
    """How a level went, from its episode and the steps of its shortest solution."""
    first = episode.plans[0] if episode.plans else None
    return LevelResult(
        level=number,
        solved=episode.solved,
        steps=len(episode.actions),
        shortest=shortest,
        replans=episode.replans,
        nodes=sum(plan.nodes for plan in episode.plans),
        seconds=round(episode.seconds, 6),
        plans=len(episode.plans),
        ended=episode.ended,
        found=None if first is None else first.reached,
        planned=None if first is None else len(first.actions),
        far=None if first is None or not math.isfinite(first.far) else round(first.far, 6),
        chance=None if first is None or first.chance is None else round(first.chance, 6),
    )


def outcome(episodes: Sequence[LevelResult]) -> dict[str, Any]:
    """What a record says about all its levels: success, its interval, and the share of optimal solutions."""
    solved = sum(episode.solved for episode in episodes)
    return {
        "success": solved / len(episodes),
        "interval": wilson(solved, len(episodes)),
        "optimal": share_optimal(episodes),
    }


def row(episode: LevelResult) -> dict[str, Any]:
    """A level as a row of a record; `error` and fields that were added later appear only if they say something."""
    optional = ("found", "planned", "far", "chance", "error")
    return {
        key: value for key, value in dataclasses.asdict(episode).items() if key not in optional or value is not None
    }


def share_optimal(episodes: Sequence[LevelResult]) -> float | None:
    """Share of the solved levels that took the fewest possible steps; None if that number is unknown."""
    judged = [episode for episode in episodes if episode.solved and episode.shortest is not None]
    return sum(episode.steps == episode.shortest for episode in judged) / len(judged) if judged else None


def seconds_per_plan(episodes: Sequence[LevelResult]) -> float | None:
    """Time to perceive and plan, per plan; None if nothing was planned."""
    plans = sum(episode.plans for episode in episodes)
    return sum(episode.seconds for episode in episodes) / plans if plans else None


def mean(values: Sequence[float]) -> float | None:
    """The mean; None if there are no values."""
    return sum(values) / len(values) if values else None

"""Which cells of an experiment to run, and the trainings that several experiments share."""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass

from pixelplan.experiments.specs import Evaluation, Play, Training
from pixelplan.families.presets import preset
from pixelplan.planning import FullConfig, OneShotConfig
from pixelplan.puzzles import PUZZLES

TEST_LEVELS = "2000:2100"
"""The paper's test levels, and those of every cell unless the user asks for another range."""
VALIDATION = "1000:1200"
"""The levels for calibration with 1000 training levels or more; with fewer, it uses some of those."""


@dataclass(frozen=True)
class Selection:
    """Which cells to run."""

    puzzles: tuple[str, ...] = tuple(PUZZLES)
    levels: tuple[int, ...] | None = None
    """Numbers of training levels; None is all that the experiment has."""
    seeds: tuple[int, ...] = (0, 1, 2)
    preset: str = "spatial"
    """The world model."""
    test_levels: str = TEST_LEVELS
    full_size: bool = False
    """PPGS at the paper's size instead of in miniature."""


def training_on(
    env: str, count: int, seed: int, model: str, inverse: bool = True, play: Play | None = None
) -> Training:
    """The training on `count` levels: 0 to 999, then from 20000 on."""
    levels = f"0:{count}" if count <= 1000 else f"0:1000,20000:{19000 + count}"
    return Training(
        Play(env, levels) if play is None else play,
        dataclasses.replace(preset(model, inverse), seed=seed),
        None if count < 1000 else Play(env, VALIDATION),
    )


def full_planner(levels: str, lookup: bool = True) -> Evaluation:
    """The full planner on test levels, as it was when the tables were recorded: it never guesses the goal."""
    return Evaluation("full", FullConfig(lookup=lookup, likely_goal=0, likely_look=0), levels)


def papers_one_shot(levels: str, reidentification: bool = True) -> Evaluation:
    """One-shot planning exactly as in the paper."""
    return Evaluation("one-shot", _papers_search(reidentification), levels)


def papers_full(levels: str, lookup: bool = True) -> Evaluation:
    """The full planner exactly as in the paper."""
    return Evaluation(
        "full", FullConfig(_papers_search(), lookup=lookup, horizon=10, likely_goal=0, likely_look=0), levels
    )


def _papers_search(reidentification: bool = True) -> OneShotConfig:
    return OneShotConfig(reidentification=reidentification, cut="code", context="frame", second_look=False)


def one_shot_planner(levels: str, reidentification: bool = True) -> Evaluation:
    """The one-shot planner on test levels."""
    return Evaluation("one-shot", OneShotConfig(reidentification=reidentification), levels)

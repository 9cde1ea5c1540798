"""The rehearsal: a trained model plans in held-out levels, to say before any evaluation whether plans will fail.

Even if every step is predicted correctly, and the goal test is right about everything that was recorded, plans can
fail: a goal may lie farther away than the search goes, or the goal test may accept states that were never recorded.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from pixelplan.files import write_json
from pixelplan.model.batches import LevelPlay, of_size
from pixelplan.model.calibrate import JudgingConfig
from pixelplan.model.checkpoint import CONFIG, read_description
from pixelplan.model.train_data import RecordedPlay, held_out_levels, level_count, worlds_of
from pixelplan.model.world_model import WorldModel
from pixelplan.planning.one_shot import one_shot
from pixelplan.types import Goal, Model


def rehearse(
    model: WorldModel, folder: Path, play: RecordedPlay, validation: RecordedPlay | None, config: JudgingConfig
) -> None:
    """If the model has a goal test, plan to whatever solves a level, and add the findings to its folder."""
    description = read_description(folder)
    facts = description.setdefault("findings", {})
    if model.goal_test is None or "rehearsal" in facts:
        return
    others = () if validation is None else worlds_of(validation)
    held_out = held_out_levels(worlds_of(play), others, config.held_out_every)
    levels = of_size(held_out, model.sizes.height, model.sizes.width)[: config.rehearsed]
    facts["rehearsal"] = plans = plans_found(model, levels)
    few = len(levels) < config.few_rehearsed and level_count(worlds_of(play)) > 1
    doubts = [*warnings(plans, config.poor), *([too_few(len(levels))] if few else [])]
    facts["goal_test_warnings"] = [*facts.get("goal_test_warnings", []), *doubts]
    write_json(folder / CONFIG, description)


def plans_found(model: Model, levels: Sequence[LevelPlay]) -> dict[str, int]:
    """In how many levels a plan from the first frame is found, and how many of these recorded play proves wrong."""
    found = wrong = 0
    for level in levels:
        start = int(level.episodes[0, 0])
        plan = one_shot(model, np.asarray(level.frames[start]), Goal(), random=np.random.default_rng(0))
        end = follow(level, start, plan.actions)
        found += plan.reached
        wrong += plan.reached and end is not None and level.solved is not None and level.solved[end] == 0
    return {"levels": len(levels), "found": int(found), "wrong": int(wrong)}


def follow(level: LevelPlay, start: int, actions: Sequence[int]) -> int | None:
    """The frame that actions lead to by recorded steps; None if one of the steps was not recorded."""
    after = {(int(frame), int(action)): int(then) for frame, action, then in level.steps}
    here: int | None = start
    for action in actions:
        here = None if here is None else after.get((here, action))
    return here


def too_few(levels: int) -> str:
    """What to say if plans were rehearsed in hardly any levels."""
    return (
        f"plans were rehearsed in only {levels} level{'s' * (levels > 1)}, which says little about others: goals there "
        "may look different from those seen so far; record more levels"
    )


def warnings(plans: dict[str, Any], poor: float) -> list[str]:
    """What the rehearsal says against planning to whatever solves a level."""
    if plans["found"] - plans["wrong"] >= poor * plans["levels"]:
        return []
    wrong = f", and recorded play proves {plans['wrong']} of these plans wrong" if plans["wrong"] else ""
    return [
        f"many levels will not be solved: in a rehearsal, the search found a plan in {plans['found']} of "
        f"{plans['levels']} held-out levels{wrong}; goals may lie farther away than it goes (try --node-limit or "
        "--frontier best-first), or the goal test may not recognise them"
    ]

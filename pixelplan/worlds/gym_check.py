"""Whether planning is possible in a user's environment, as far as a few of its levels show."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from pixelplan.types import InputError
from pixelplan.worlds.determinism import REPLAYED_STEPS, judge_determinism
from pixelplan.worlds.gym_level import GymLevel

if TYPE_CHECKING:
    from pixelplan.worlds.gym_family import GymFamily

LEVELS_CHECKED = 8


def check_playable(family: GymFamily, number: int) -> None:
    """An InputError if actions change from level to level, if the same actions do not lead to the same state, or if
    every episode ends with its first step, in some levels from `number` on.

    Noisy pixels are fine.
    """
    following = range(number + 1, number + LEVELS_CHECKED)
    levels = [family.level(other) for other in (number, *following) if other == number or other < family.level_count]
    for level in levels:
        level.reset()
    if all(_ends_at_once(level) for level in levels):
        raise InputError(f"every episode of {family.name} ends with its first step, so there is nothing to plan")
    actions = np.random.default_rng([number, 3]).integers(levels[0].action_count, size=REPLAYED_STEPS).tolist()
    replays = judge_determinism(family.level(number), actions)
    if replays.verdict == "nondeterministic":
        raise InputError(
            f"{family.name} is not deterministic: the same actions in level {number} show different frames after "
            f"step {replays.first_step}, and not by visual noise; planning needs a world in which an action always "
            "does the same thing"
        )


def _ends_at_once(level: GymLevel) -> bool:
    """Whether a level is over after any one action."""
    for action in range(level.action_count):
        level.begin()
        level.act(action)
        if not level.over:
            return False
    return True

"""Steps that were made before are not drawn again, and what is recorded stays the same."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import pixelplan
from pixelplan.worlds.check_env import check_env
from pixelplan.worlds.gym_family import GymFamily
from pixelplan.worlds.gym_play import SPOT_CHECK
from tests.own_worlds import CELLS, Rendered

STEPS = 20


class Drawn(Rendered):
    """Counts how often it is drawn."""

    drawings = 0

    def __init__(self, terminates: bool = False) -> None:
        super().__init__(terminates=terminates, render_mode="rgb_array")

    def render(self) -> np.ndarray:
        self.drawings += 1
        return super().render()


class Silent(Drawn):
    """Tells nothing but what it draws, and every seventh step to the right does nothing."""

    count = 0

    def reset(self, *, seed: int | None = None, options: dict | None = None) -> tuple[Any, dict]:
        self.count = 0
        _, info = super().reset(seed=seed)
        return 0, info

    def step(self, action: int) -> tuple[Any, float, bool, bool, dict]:
        return 0, *super().step(action)[1:]

    def moved(self, place: int, action: int) -> int:
        self.count += action
        return place if action and self.count % 7 == 0 else super().moved(place, action)

    def info(self) -> dict:
        return {}


def record(env: Drawn, explores: bool, trusts: bool) -> tuple[Any, int]:
    """What is recorded of two levels, and how often it was drawn."""
    family = GymFamily(env)
    before = env.drawings
    played = [
        family.play(number, STEPS, STEPS, np.random.default_rng(number), explores, trusts=trusts) for number in (0, 1)
    ]
    return [
        (recording.frames, recording.episodes, recording.actions, recording.solved) for recording in played
    ], env.drawings - before


@pytest.mark.parametrize("explores", [False, True])
@pytest.mark.parametrize("terminates", [False, True])
def test_known_steps_are_not_drawn_again(explores: bool, terminates: bool) -> None:
    whole, often = record(Drawn(terminates), explores, False)
    saved, seldom = record(Drawn(terminates), explores, True)
    for one, other in zip(whole, saved, strict=True):
        for array, same in zip(one, other, strict=True):
            np.testing.assert_array_equal(array, same)
    distinct = 2 * (CELLS * 2 + 1)  # steps from each place, and the reset, in two levels
    assert seldom <= distinct + 2 * 2 + often / SPOT_CHECK + 1
    assert seldom < often / 3 or terminates


@pytest.mark.parametrize("explores", [False, True])
def test_a_level_that_looks_otherwise_is_drawn_whole(explores: bool) -> None:
    """Frames of this world do not show the whole state, and nothing else tells: a spot check finds it out."""
    whole, often = record(Silent(), explores, False)
    saved, drawn = record(Silent(), explores, True)
    assert often < drawn < 1.5 * often, "the first level was drawn in part and then again, the second at once"
    for one, other in zip(whole, saved, strict=True):
        for array, same in zip(one, other, strict=True):
            np.testing.assert_array_equal(array, same)


def test_collect_saves_drawing_and_check_env_looks_at_everything(tmp_path: Path) -> None:
    env = Drawn()
    family = GymFamily(env)
    family.check(0)
    checked = env.drawings
    data = pixelplan.collect(family, "0:4", tmp_path / "data", explore=False)
    assert env.drawings - 2 * checked < data.actions.size / 3
    check = check_env(GymFamily(Silent()), [0, 1])
    assert not check.fits and check.hidden is not None and check.hidden > 0

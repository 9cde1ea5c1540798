"""Wrappers of other people's environments: each resets and steps, and its levels are its seeds."""

from __future__ import annotations

import numpy as np
import pytest
from zoo import ZOO

from pixelplan.by_name.resolve import open_family
from pixelplan.types import InputError

pytestmark = [pytest.mark.zoo, pytest.mark.filterwarnings("ignore")]


@pytest.mark.parametrize("name", ZOO)
def test_each_resets_and_steps(name: str) -> None:
    family = open_family(ZOO[name].env, ZOO[name].options)
    shown = []
    for number in (0, 1, 0):
        level = family.level(number)
        shown.append([level.reset()[0], *(level.step(action)[0] for action in (0, 1, 2))])
    assert shown[0][0].shape == family.shape and shown[0][0].dtype == np.uint8
    if ZOO[name].refused is None:
        assert np.array_equal(shown[0], shown[2]), "the same seed is the same level"


@pytest.mark.parametrize("name", [name for name, animal in ZOO.items() if animal.refused])
def test_negative_controls_are_refused_for_the_right_reason(name: str) -> None:
    from pixelplan.worlds.check_env import check_env

    check = check_env(open_family(ZOO[name].env, ZOO[name].options), [0, 1], episodes=8)
    assert ZOO[name].refused in [finding.what for finding in check.findings if finding.mark == "does not fit"]


def test_an_old_id_is_an_environment() -> None:
    try:
        family = open_family("gym:gym_sokoban:Sokoban-small-v0")
    except InputError as problem:
        pytest.skip(str(problem))
    assert family.level(0).reset()[0].shape == family.shape

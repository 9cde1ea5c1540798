"""GS on Images."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pixelplan.planning import ImageSearchConfig, image_search
from pixelplan.types import InputError
from tests.toy import ToyWorld, frame_of, random_world


@settings(deadline=None, max_examples=60)
@given(st.integers(2, 25), st.integers(1, 4), st.integers(0, 2**31))
def test_it_tries_everything_once_and_ends(states, actions, seed):
    world = random_world(states, actions, seed)
    random = np.random.default_rng(seed)
    episode = image_search(world, frame_of(world.goal), ImageSearchConfig(10_000), random)
    assert episode.ended in ("solved", "exhausted")
    assert episode.solved == (world.goal in world.visited)
    tried = set(zip(world.visited[:-1], episode.actions, strict=True))
    if episode.ended == "exhausted":
        last = world.visited[-1]
        assert {(last, action) for action in range(actions)} <= tried


def test_the_same_seed_plays_the_same():
    world = random_world(20, 4, 3)
    goal = frame_of(200)
    one, other = (image_search(world, goal, random=np.random.default_rng(5)).actions for _ in range(2))
    assert one == other != image_search(world, goal, random=np.random.default_rng(6)).actions


def test_limits_and_start_at_the_goal():
    world = ToyWorld([[1], [0], [2]], 2)
    assert image_search(world, frame_of(2), ImageSearchConfig(1)).ended == "steps"
    assert image_search(world, frame_of(2)).ended == "exhausted"
    assert image_search(world, frame_of(0)).actions == ()
    with pytest.raises(InputError, match="step_limit is 0"):
        ImageSearchConfig(0)

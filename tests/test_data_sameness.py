"""Which frames no recorded future tells apart."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from pixelplan.data.sameness import alike_frames


def pairs(steps: list[tuple[int, int, int]], frames: int, actions: int) -> set[tuple[int, int]]:
    return {tuple(pair) for pair in alike_frames(np.array(steps), frames, actions).tolist()}


def test_two_looks_of_one_place_are_alike():
    # Frames 0 and 1 are one place seen in two ways: both actions lead to the same frames, waiting keeps the look.
    steps = [(0, 0, 2), (1, 0, 2), (0, 1, 3), (1, 1, 3), (0, 2, 0), (1, 2, 1)]
    assert pairs(steps, 4, 3) == {(0, 1)}


def test_one_future_that_differs_tells_frames_apart():
    # Both fall into the same hole by one action, as in FrozenLake, but another action leads to different places.
    steps = [(0, 0, 2), (1, 0, 2), (0, 1, 3), (1, 1, 4)]
    assert pairs(steps, 5, 2) == set()


def test_what_follows_from_what_follows_counts():
    # The successors 3 and 4 share an outcome, but are told apart later, and then so are 0 and 1.
    steps = [(0, 0, 2), (1, 0, 2), (0, 1, 3), (1, 1, 4), (3, 0, 2), (4, 0, 2), (3, 1, 5), (4, 1, 6)]
    assert pairs(steps, 7, 2) == set()


def test_frames_that_share_nothing_are_different():
    assert pairs([(0, 0, 0), (1, 0, 1)], 2, 1) == set(), "two places where nothing happens are two places"


@given(st.data())
def test_frames_that_are_alike_lead_to_frames_that_are(data):
    frames, actions = data.draw(st.integers(2, 8)), data.draw(st.integers(1, 3))
    table = np.array(
        data.draw(st.lists(st.integers(-1, frames - 1), min_size=frames * actions, max_size=frames * actions))
    ).reshape(frames, actions)
    steps = [(frame, action, int(table[frame, action])) for frame, action in np.argwhere(table >= 0).tolist()]
    if not steps:
        return
    found = pairs(steps, frames, actions)
    for one, other in found:
        ends = [(table[one, action], table[other, action]) for action in range(actions)]
        tried = [tuple(sorted((int(a), int(b)))) for a, b in ends if a >= 0 and b >= 0]
        assert any(a == b for a, b in tried), "they share an outcome"
        assert all(a == b or (a, b) in found for a, b in tried)

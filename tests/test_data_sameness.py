"""Which frames no recorded future tells apart."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from pixelplan.data.sameness import undecided_pairs


def pairs(steps: list[tuple[int, int, int]], frames: int, actions: int) -> set[tuple[int, int]]:
    """The undecided pairs, of frames from which something was tried."""
    table = undecided_pairs(np.array(steps), frames, actions)
    assert (table == table.T).all()
    tried = {step[0] for step in steps}
    return {(one, other) for one, other in np.argwhere(np.triu(table)).tolist() if {one, other} <= tried}


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


def test_a_shared_outcome_may_come_later():
    # Up from both looks of one place leads to both looks of another; sideways from there, they are one.
    steps = [(0, 0, 2), (1, 0, 3), (2, 1, 4), (3, 1, 4)]
    assert pairs(steps, 5, 2) == {(0, 1), (2, 3)}


def test_frames_that_stay_are_different():
    assert pairs([(0, 0, 0), (1, 0, 1)], 2, 1) == set(), "two places where nothing happens are two places"


def test_nothing_tried_in_both_is_no_evidence():
    assert pairs([(0, 0, 2), (1, 1, 2)], 3, 2) == set()


@given(st.data())
def test_what_is_undecided_leads_to_what_is(data):
    frames, actions = data.draw(st.integers(2, 8)), data.draw(st.integers(1, 3))
    table = np.array(
        data.draw(st.lists(st.integers(-1, frames - 1), min_size=frames * actions, max_size=frames * actions))
    ).reshape(frames, actions)
    steps = [(frame, action, int(table[frame, action])) for frame, action in np.argwhere(table >= 0).tolist()]
    if not steps:
        return
    undecided = pairs(steps, frames, actions)
    for one, other in undecided:
        ends = [(table[one, action], table[other, action]) for action in range(actions)]
        tried = [tuple(sorted((int(a), int(b)))) for a, b in ends if a >= 0 and b >= 0]
        assert all(a == b or (a, b) in undecided for a, b in tried)

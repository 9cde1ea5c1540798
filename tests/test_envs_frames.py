"""Equal frames are one frame, wherever they come from."""

import numpy as np

from pixelplan.envs.frames import DistinctFrames, OncePerFrame, distinct_frames
from tests.toy import frame_of


def test_distinct_frames_are_numbered_in_the_order_in_which_they_came():
    frames = DistinctFrames([frame_of(3), frame_of(1), frame_of(3)])
    assert len(frames) == 2 and frames.add(frame_of(1)) == 1 and frames.add(frame_of(2)) == 2
    assert frames.number(frame_of(3)) == 0 and frames.number(frame_of(7)) is None
    assert len(frames) == 3, "asking for a number adds nothing"
    np.testing.assert_array_equal(frames.stacked(), np.stack([frame_of(3), frame_of(1), frame_of(2)]))
    np.testing.assert_array_equal(frames[2], frame_of(2))


def test_which_frames_to_keep():
    kept, number_of = distinct_frames(np.stack([frame_of(3), frame_of(1), frame_of(3)]))
    assert kept.tolist() == [0, 1] and number_of.tolist() == [0, 1, 0]


def test_a_frame_is_looked_at_once():
    looked = []
    look = OncePerFrame(lambda frame: looked.append(frame) or len(looked))
    assert [look(frame_of(place)) for place in (3, 1, 3, 1, 2)] == [1, 2, 1, 2, 3]
    assert len(looked) == 3

"""Which recorded frames may show the same state, judged only by what followed them.

Two frames of a level are *told apart* if an action that was tried in both led to two different frames, unless those
are themselves undecided. They are *undecided* if they are not told apart and actions that were tried in both lead,
immediately or eventually, to the same frame. An example is a figure that faces left or right in the same place: once
it moves sideways, nothing remembers which way it faced before. One shared outcome is no proof. (If a hole hides what
fell into it, many frames lead to one.) A whole recorded future is no proof either: two places in a corridor may lead
to the same ends forever. So undecided frames count neither as the same state nor as different ones. Training does not
push them apart, and a prediction that confuses them counts neither as right nor as wrong.

Frames are only compared for equality, so there is nothing to tune.
"""

from __future__ import annotations

import numpy as np


def undecided_pairs(steps: np.ndarray, frames: int, actions: int) -> np.ndarray:
    """[n,n] bool: the pairs of a level's frames that steps [m,3] (frame, action, next frame) leave undecided."""
    successors = np.full((frames, actions), -1)
    successors[steps[:, 0], steps[:, 1]] = steps[:, 2]
    tried = successors >= 0
    moves = [(places := np.flatnonzero(tried[:, action]), successors[places, action]) for action in range(actions)]
    moves = [(places, after) for places, after in moves if len(places)]
    alike = np.eye(frames, dtype=bool)
    while True:  # add pairs that lead to the same frame, then pairs that lead to those
        before = alike.copy()
        for places, after in moves:
            alike[np.ix_(places, places)] |= before[np.ix_(after, after)]
        if (alike == before).all():
            break
    while True:  # drop pairs that lead to frames told apart, then pairs that lead to those
        before = alike.copy()
        for places, after in moves:
            alike[np.ix_(places, places)] &= before[np.ix_(after, after)]
        if (alike == before).all():
            break
    np.fill_diagonal(alike, False)
    return alike

"""Which recorded frames may show the same state, by what followed from them and by nothing else.

Two frames of a level are *told apart* if some action that was tried in both led to two different frames, unless these
are undecided themselves. They are *undecided* if they are not told apart and actions that were tried in both lead, at
once or in the end, to one and the same frame. A figure that looks left or right in the same place is an example: as
soon as it moves sideways, nothing remembers how it looked before. One shared outcome is no proof. (If a hole hides
whoever fell into it, many frames lead to one.) And no recorded future is a proof either: two places of a corridor may
lead to the same ends for ever. So undecided frames count neither as the same state nor as different ones. Nothing holds
them apart in training, and a prediction that takes one for the other counts neither as right nor as wrong.

Nothing here looks at pixels beyond equality, so there is nothing to tune.
"""

from __future__ import annotations

import numpy as np


def undecided_pairs(steps: np.ndarray, frames: int, actions: int) -> np.ndarray:
    """[n,n] bool: the pairs of a level's frames that steps [m,3] (frame, action, frame after it) do not tell apart."""
    successors = np.full((frames, actions), -1)
    successors[steps[:, 0], steps[:, 1]] = steps[:, 2]
    tried = successors >= 0
    moves = [(places := np.flatnonzero(tried[:, action]), successors[places, action]) for action in range(actions)]
    moves = [(places, after) for places, after in moves if len(places)]
    alike = np.eye(frames, dtype=bool)
    while True:  # what leads to the same frame, and then what leads to that
        before = alike.copy()
        for places, after in moves:
            alike[np.ix_(places, places)] |= before[np.ix_(after, after)]
        if (alike == before).all():
            break
    while True:  # without what leads to frames that are told apart, and then without what leads to that
        before = alike.copy()
        for places, after in moves:
            alike[np.ix_(places, places)] &= before[np.ix_(after, after)]
        if (alike == before).all():
            break
    np.fill_diagonal(alike, False)
    return alike

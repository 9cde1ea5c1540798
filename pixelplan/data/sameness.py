"""Which recorded frames may show the same state, by what followed from them and by nothing else.

Two frames of a level are *alike* if they share an outcome and no recorded future tells them apart: every action that
was tried in both led to the same frame, or again to two frames that are alike. A figure that looks left or right in the
same place is an example. One shared outcome is no proof. (If a hole hides whoever fell into it, many frames lead to
one.) And no recorded future is a proof either: two places of a corridor may lead to the same ends for ever. So frames
that are alike count neither as the same state nor as different ones: nothing holds them together or apart in training,
and a prediction that takes one for the other counts neither as right nor as wrong.

Nothing here looks at pixels beyond equality, so there is nothing to tune.
"""

from __future__ import annotations

import numpy as np


def alike_frames(steps: np.ndarray, frames: int, actions: int) -> np.ndarray:
    """[p,2] int64: the pairs of a level's frames that steps [m,3] (frame, action, frame after it) do not tell apart.

    All pairs that share an outcome are taken to be alike at first. Then those are dropped of which some action leads to
    two frames that are not, again and again until nothing changes: what is left supports itself.
    """
    successors = np.full((frames, actions), -1)
    successors[steps[:, 0], steps[:, 1]] = steps[:, 2]
    shared = np.zeros((frames, frames), bool)
    for action in range(actions):
        tried = np.flatnonzero(successors[:, action] >= 0)
        after = successors[tried, action]
        shared[np.ix_(tried, tried)] |= after[:, None] == after
    pairs = np.argwhere(np.triu(shared, 1))  # [p,2]
    alike = np.eye(frames, dtype=bool)
    alike[pairs[:, 0], pairs[:, 1]] = alike[pairs[:, 1], pairs[:, 0]] = True
    while len(pairs):
        ends = successors[pairs]  # [p,2,A]
        told_apart = ~((ends < 0).any(1) | alike[ends[:, 0], ends[:, 1]]).all(1)
        if not told_apart.any():
            break
        one, other = pairs[told_apart].T
        alike[one, other] = alike[other, one] = False
        pairs = pairs[~told_apart]
    return pairs

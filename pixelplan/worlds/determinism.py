"""Whether a world is deterministic, noisy only in its pixels, or random: replays of the same actions tell."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal

import gymnasium
import numpy as np

from pixelplan.envs.frames import DistinctFrames

REPLAYED_STEPS, REPLAYS = 40, 6
NOISE_SHARE = 0.9
"""Noise is assumed if at least this share of frames is new: under noise all are, while states of a game recur."""
MOST_GROWTH = 2.0
"""Under noise, replays differ as much late as early. If they differ this many times more, the worlds diverged."""


@dataclass(frozen=True)
class Determinism:
    """What replays of the same actions show."""

    verdict: Literal["deterministic", "visual noise", "nondeterministic"]
    first_step: int | None
    """The step after which replays differ, 0 if their first frames already do; None if none does."""
    early: float
    """Mean difference between replays in their first frames that differ, in grey values per pixel."""
    late: float
    """The same in their last quarter."""
    new_frames: float
    """The share of all replays' frames that came only once."""


def judge_determinism(level: gymnasium.Env[np.ndarray, Any], actions: Sequence[int]) -> Determinism:
    """Replay actions several times in a level, each time with other random numbers, and compare what is seen."""
    runs = np.stack([replay(level, actions, run) for run in range(REPLAYS)])  # [R,T+1,H,W,3]
    apart = np.abs(runs[1:].astype(np.int16) - runs[0]).mean(axis=(2, 3, 4))  # [R-1,T+1]
    differing = np.flatnonzero(apart.any(axis=0))
    frames = runs.reshape(-1, *runs.shape[2:])
    new = len(DistinctFrames(frames)) / len(frames)
    if not len(differing):
        return Determinism("deterministic", None, 0.0, 0.0, new)
    first = int(differing[0])
    early, late = float(apart[:, first : first + 2].mean()), float(apart[:, -len(actions) // 4 :].mean())
    # The first frame may show the noise of the level's seed, which is the same in every replay.
    noise = new >= NOISE_SHARE and first <= 1 and late <= MOST_GROWTH * early
    return Determinism("visual noise" if noise else "nondeterministic", first, early, late, new)


def replay(level: gymnasium.Env[np.ndarray, Any], actions: Sequence[int] | np.ndarray, run: int = 0) -> np.ndarray:
    """The frames [T+1,H,W,3] that actions lead through; run 0 has the level's own random numbers."""
    frames = [level.reset()[0]]
    if run and hasattr(level.unwrapped, "shake"):  # a user's environment: let any randomness in its steps show
        level.unwrapped.shake(run)
    frames += [level.step(int(action))[0] for action in actions]
    return np.stack(frames)

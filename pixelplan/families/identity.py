"""Which recorded frames show the same state. Only this module decides that; training asks nowhere else.

It uses only pixels and recorded steps. Frames with equal bytes are one state. Two frames of a level are also one state
if their difference does not matter to play, such as which way a figure faces. Such frames are *near*: they differ only
inside a square no larger than the thing that moves. (A figure that has moved changes both the cell that it left and the
one that it entered, so frames of different positions are not near.) The recorded steps then vote on a near pair:

- for merging it, if an action was taken in both and led to the same frame;
- against merging it, if an action was taken in both and led to frames that are not even near.

Pairs with a vote for and none against are merged. Pairs without votes are merged if (nearly) all votes in the whole
data set are for merging.

All this applies only if near frames differ in the look of the thing that moves: then nearly all steps from them change
something there. A coin that is present or gone is small, too, but it lies elsewhere, and steps elsewhere do not change
it.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from pixelplan.data.by_level import rows_of_levels
from pixelplan.envs.frames import distinct_frames
from pixelplan.families.changes import changed_spans, difference_boxes, difference_spans, patch_side
from pixelplan.families.reading_config import ReadingConfig
from pixelplan.types import Trajectories


@dataclass(frozen=True)
class Verdict:
    """The votes of a level's steps on its near pairs of frames."""

    same: list[tuple[int, int]]
    different: list[tuple[int, int]]
    unknown: list[tuple[int, int]]


def states_of_frames(
    data: Trajectories,
    reading: ReadingConfig = ReadingConfig(),  # noqa: B008 (frozen)
) -> np.ndarray:
    """[F] int64: a number for each frame's state; frames with the same number show the same state."""
    side = patch_side(changed_spans(data, reading), min(data.frames.shape[1:3]), reading)
    states = np.arange(len(data.frames))
    verdicts: list[tuple[np.ndarray, Verdict]] = []
    there: list[np.ndarray] = []
    for first, end, rows in rows_of_levels(data):
        frames = np.asarray(data.frames[first:end])
        equal = equal_frames(frames)
        states_of_level = states[first:end]
        states_of_level[:] = first + equal
        episodes = equal[data.episodes[rows] - first]
        steps = np.stack([episodes[:, :-1].ravel(), data.actions[rows].ravel(), episodes[:, 1:].ravel()], axis=1)
        near = near_pairs(frames, equal, side)
        there.append(steps_there(near, frames, steps))
        verdicts.append((states_of_level, judge(near, steps)))
    if np.concatenate([*there, [True]]).mean() < reading.changed_there:
        return states
    votes_for = sum(len(verdict.same) for _, verdict in verdicts)
    votes_against = sum(len(verdict.different) for _, verdict in verdicts)
    one_voice = votes_for > 0 and votes_for >= reading.one_voice * (votes_for + votes_against)
    for states_of_level, verdict in verdicts:
        for pair in verdict.same + (verdict.unknown if one_voice else []):
            low, high = sorted(states_of_level[list(pair)])
            states_of_level[states_of_level == high] = low
    return states


def equal_frames(frames: np.ndarray) -> np.ndarray:
    """[n] for each of the frames [n,H,W,3], the lowest index of one with the same bytes."""
    kept, number_of = distinct_frames(frames)
    return kept[number_of]


def near_pairs(frames: np.ndarray, equal: np.ndarray, side: int) -> list[tuple[int, int]]:
    """Pairs of frames [n,H,W,3] that differ, but only inside a square of `side` pixels; equal frames count once."""
    distinct = np.unique(equal)
    first, second = np.triu_indices(len(distinct), 1)
    # Sums over lines rule out nearly all pairs: comparing every pixel of every pair would take a hundred times longer.
    lines_of_bytes = frames[distinct].reshape(len(distinct), frames.shape[1], -1)  # [n,H,W·3]
    rows, columns = lines_of_bytes.sum(axis=2, dtype=np.int32), lines_of_bytes.sum(axis=1, dtype=np.int32)
    for lines, limit in ((rows, side), (columns, 3 * side)):
        close = (lines[first] != lines[second]).sum(axis=1) <= limit
        first, second = first[close], second[close]
    boxes = difference_boxes(frames[distinct[first]], frames[distinct[second]])
    near = boxes.max(axis=1) <= side
    return [(int(distinct[a]), int(distinct[b])) for a, b in zip(first[near], second[near], strict=True)]


def steps_there(near: list[tuple[int, int]], frames: np.ndarray, steps: np.ndarray) -> np.ndarray:
    """[k] whether a step [m,3] from a near pair of frames [n,H,W,3] changes something where the pair differs.

    It goes pair by pair, through all steps from either frame that change anything.
    """
    if not near:
        return np.zeros(0, bool)
    pairs = np.array(near)
    steps = np.unique(steps[np.isin(steps[:, 0], pairs) & (steps[:, 0] != steps[:, 2])], axis=0)
    changes = difference_spans(frames[steps[:, 0]], frames[steps[:, 2]])  # [m,2,2]
    differences = difference_spans(frames[pairs[:, 0]], frames[pairs[:, 1]])  # [p,2,2]
    theirs = (steps[:, 0] == pairs[:, :1]) | (steps[:, 0] == pairs[:, 1:])  # [p,m]
    meet = np.maximum(changes[None, ..., 0], differences[:, None, :, 0]) < np.minimum(
        changes[None, ..., 1], differences[:, None, :, 1]
    )
    return np.asarray(meet.all(axis=2)[theirs])


def judge(near: list[tuple[int, int]], steps: np.ndarray) -> Verdict:
    """How steps [m,3] (from, action, to) vote on near pairs."""
    successors: dict[int, dict[int, int]] = {}
    for source, action, target in steps.tolist():
        successors.setdefault(source, {})[action] = target
    known = set(near)
    verdict = Verdict([], [], [])
    for pair in near:
        first, second = successors.get(pair[0], {}), successors.get(pair[1], {})
        ends = [tuple(sorted((first[action], second[action]))) for action in first.keys() & second.keys()]
        if any(end[0] != end[1] and end not in known for end in ends):
            verdict.different.append(pair)
        elif any(end[0] == end[1] for end in ends):
            verdict.same.append(pair)
        else:
            verdict.unknown.append(pair)
    return verdict

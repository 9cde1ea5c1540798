"""What a little play shows about a world, counted."""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from pixelplan.envs.family import Family
from pixelplan.envs.frames import distinct_frames
from pixelplan.worlds.determinism import replay


@dataclass(frozen=True, eq=False)
class Seen:
    """Play in one level, with its frames numbered."""

    rows: np.ndarray
    """[E,T+1], equal numbers mean equal frames."""
    actions: np.ndarray
    """[E,T]."""
    frames: np.ndarray
    """[n,H,W,3], the frames by number."""
    solved: np.ndarray
    """[n] bool, those that solve the level."""
    action_count: int
    """How many actions there are."""

    @property
    def first(self) -> np.ndarray:
        """The level's first frame [H,W,3]."""
        frame: np.ndarray = self.frames[self.rows[0, 0]]
        return frame

    def steps(self) -> np.ndarray:
        """[E·T,3] frame, action, next frame."""
        return np.stack([self.rows[:, :-1].ravel(), self.actions.ravel(), self.rows[:, 1:].ravel()], axis=1)

    def depths(self) -> dict[int, int]:
        """Steps from the first frame to each frame that play connects with it."""
        successors: dict[int, set[int]] = {}
        for before, _, after in self.steps().tolist():
            successors.setdefault(before, set()).add(after)
        depths = {int(self.rows[0, 0]): 0}
        queue = deque(depths)
        while queue:
            here = queue.popleft()
            for there in successors.get(here, ()):
                if there not in depths:
                    depths[there] = depths[here] + 1
                    queue.append(there)
        return depths

    def farthest(self) -> int:
        """Steps to the farthest frame."""
        return max(self.depths().values())

    def goal_distance(self) -> int | None:
        """Steps to the nearest solved frame; None if none was seen."""
        return min((steps for frame, steps in self.depths().items() if self.solved[frame]), default=None)

    @property
    def tried_all(self) -> bool:
        """Whether every action was tried in every frame, so that no longer play can see anything else."""
        tried = np.unique(self.steps()[:, :2], axis=0)
        return len(tried) == len(self.frames) * self.action_count

    def lasts(self) -> np.ndarray:
        """[E,T+1] bool, where an episode has not yet ended: after its end the world stands still."""
        changes = self.rows[:, 1:] != self.rows[:, :-1]
        later = np.logical_or.accumulate(changes[:, ::-1], axis=1)[:, ::-1]  # something will change
        return np.concatenate([np.ones((len(later), 1), bool), later | changes], axis=1)

    def growth(self) -> list[int]:
        """Distinct frames after each quarter of the episodes' steps, over all episodes."""
        in_time = self.rows.T.ravel()  # the first frames of all episodes, then the second ones …
        return [len(np.unique(in_time[: max(1, len(in_time) * quarter // 4)])) for quarter in range(1, 5)]


def look(family: Family, number: int, episodes: int, steps: int, seed: int, explores: bool = False) -> Seen:
    """Play a level at random, or explore it; exploring does not draw again what it knows."""
    play = family.play(number, episodes, steps, np.random.default_rng([seed, number]), explores, trusts=explores)
    kept, number_of = distinct_frames(play.frames)
    solved = np.zeros(len(kept), bool)
    if play.solved is not None:
        solved[number_of[play.solved]] = True
    return Seen(number_of[play.episodes], play.actions, play.frames[kept], solved, len(family.action_names))


def hidden(seen: Sequence[Seen], after_ends: bool = True) -> float | None:
    """The share of repeated (frame, action) pairs that led to different frames; None if none was repeated.

    What is seen once nothing changes any more in an episode, as after its end, can be left out.
    """
    repeated = different = 0
    for play in seen:
        steps = play.steps() if after_ends else play.steps()[play.lasts()[:, 1:].ravel()]
        _, pair_of, counts = np.unique(steps[:, :2], axis=0, return_inverse=True, return_counts=True)
        outcomes = np.unique(np.stack([pair_of.reshape(-1), steps[:, 2]], axis=1), axis=0)[:, 0]
        repeated += int((counts > 1).sum())
        different += int((np.bincount(outcomes, minlength=len(counts)) > 1).sum())
    return different / repeated if repeated else None


@dataclass(frozen=True)
class Clock:
    """Where a picture shows the time."""

    rows: tuple[int, int]
    """The first and the last row of pixels."""
    columns: tuple[int, int]


def find_clock(seen: Sequence[Seen]) -> Clock | None:
    """The pixels that depend only on the number of steps, if frames recur when these are ignored, and only then.

    Other states never come back either, such as those of a game in which stones are laid, but their pixels differ from
    episode to episode. What stands still after the end of an episode does not count.
    """
    ticking = np.zeros(seen[0].frames.shape[1:3], bool)
    for play in seen:
        lasts = play.lasts()
        if _comes_back(play.rows, lasts):
            return None
        longest = int(lasts.sum(axis=1).argmax())
        shown = play.frames[play.rows]  # [E,T+1,H,W,3]
        other = (shown != shown[longest]).any(axis=4) & lasts[:, :, None, None]
        changes = (shown[longest] != shown[longest, :1]).any(axis=(0, 3))
        ticking |= ~other.any(axis=(0, 1)) & changes
    if not ticking.any():
        return None
    for play in seen:
        without = np.where(ticking[None, :, :, None], 0, play.frames)
        if _comes_back(distinct_frames(without)[1][play.rows], play.lasts()):
            rows, columns = np.flatnonzero(ticking.any(axis=1)), np.flatnonzero(ticking.any(axis=0))
            return Clock((int(rows[0]), int(rows[-1])), (int(columns[0]), int(columns[-1])))
    return None


def _comes_back(rows: np.ndarray, lasts: np.ndarray) -> bool:
    """Whether any frame of episodes [E,T+1] was seen at two different times before their ends."""
    times = np.broadcast_to(np.arange(rows.shape[1]), rows.shape)
    pairs = np.unique(np.stack([rows[lasts], times[lasts]], axis=1), axis=0)
    return len(pairs) > len(np.unique(rows[lasts]))


def find_score(seen: Sequence[Seen]) -> Clock | None:
    """A band of rows or columns without which frames come back that otherwise never do in an episode, and without which
    the same actions still always do the same.

    It need not change alike in every episode, as a clock does, but nothing else depends on it.
    """
    if any(_returns(play) for play in seen):
        return None
    changing = np.any([(play.frames != play.frames[0]).any(axis=(0, 3)) for play in seen], axis=0)
    for rows, columns in _bands(changing):
        rest = []
        for play in seen:
            frames = play.frames.copy()
            frames[:, rows[0] : rows[1] + 1, columns[0] : columns[1] + 1] = 0
            kept, number_of = distinct_frames(frames)
            rest.append(
                Seen(number_of[play.rows], play.actions, frames[kept], np.zeros(len(kept), bool), play.action_count)
            )
        if any(_returns(play) for play in rest) and not hidden(rest):
            return Clock(rows, columns)
    return None


def _returns(play: Seen) -> bool:
    """Whether an episode leaves a frame and comes back to it."""
    left = (row[np.append(True, row[1:] != row[:-1])] for row in play.rows)
    return any(len(np.unique(frames)) < len(frames) for frames in left)


def _bands(changing: np.ndarray) -> Iterator[tuple[tuple[int, int], tuple[int, int]]]:
    """The first and last rows and columns of each run of neighbouring rows, or columns, with pixels that change, of
    changing [H,W]."""
    height, width = changing.shape
    for first, last in _runs(changing.any(axis=1)):
        yield (first, last), (0, width - 1)
    for first, last in _runs(changing.any(axis=0)):
        yield (0, height - 1), (first, last)


def _runs(lines: np.ndarray) -> list[tuple[int, int]]:
    """Where each run of true values begins and ends."""
    edges = np.flatnonzero(np.diff(lines.astype(np.int8), prepend=0, append=0))
    return [(int(first), int(end) - 1) for first, end in edges.reshape(-1, 2)]


def find_chance(family: Family, levels: Sequence[int], seen: Sequence[Seen], steps: int) -> int | None:
    """The first step after which two levels that start with the same frame differ despite the same actions.

    Only their seeds differ, and it shows later: that is chance, not another level.
    """
    kept, alike = distinct_frames(np.stack([play.first for play in seen]))
    for number, other in zip(levels, np.asarray(levels)[kept[alike]].tolist(), strict=True):
        if other == number:
            continue
        actions = np.random.default_rng(number).integers(len(family.action_names), size=steps).tolist()
        mine, others = (replay(family.level(level), actions) for level in (number, other))
        apart = np.flatnonzero((mine != others).any(axis=(1, 2, 3)))
        if len(apart):
            return int(apart[0])
    return None


@dataclass(frozen=True)
class Sample:
    """A random episode of each level, step by step."""

    episodes: int
    ends: int
    """Episodes that ended by themselves."""
    longest: int
    """Steps of the longest of those."""
    rewarded: float
    """Share of steps with a positive reward."""
    says_if_solved: bool
    """Whether the environment itself says if a level is solved."""
    seconds: float
    """Per step, including drawing: the median, which a busy machine changes little."""
    tiles: bool
    """Whether the environment has a setting `tile_size`, as those of MiniGrid do."""
    words: tuple[str, ...]
    """The missions of two levels, if levels say in words what is wanted and do not all say the same; else none."""

    @property
    def ends_at_once(self) -> bool:
        """Whether every episode that ended did so with its first step."""
        return self.ends > 0 and self.longest <= 1


def sample(family: Family, levels: Sequence[int], steps: int, seed: int) -> Sample:
    """Play one random episode in each level and note what the environment says."""
    ends, longest, rewards, says_if_solved, taken = 0, 0, 0, False, list[float]()
    game, missions = getattr(family, "game", None), dict[str, None]()
    for number in levels:
        level = family.level(number)
        level.reset()
        if isinstance(mission := getattr(game, "mission", None), str):
            missions[mission] = None
        drawn = np.random.default_rng([seed, number, 5]).integers(len(family.action_names), size=steps)
        for count, action in enumerate(drawn.tolist(), 1):
            began = time.perf_counter()
            reward = float(level.step(action)[1])
            taken.append(time.perf_counter() - began)
            rewards += reward > 0
            says_if_solved |= bool(getattr(level.unwrapped, "says_if_solved", False))
            if getattr(level.unwrapped, "over", False):
                ends, longest = ends + 1, max(longest, count)
                break
    seconds, share = float(np.median(taken)), rewards / len(taken)
    words = tuple(missions)[:2] if len(missions) > 1 else ()
    return Sample(len(levels), ends, longest, share, says_if_solved, seconds, hasattr(game, "tile_size"), words)

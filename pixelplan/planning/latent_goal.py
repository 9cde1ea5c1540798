"""A goal inside a latent space: how far embeddings are from it."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import reduce

import numpy as np

from pixelplan.planning.latent_graph import as_array, as_tensor, distances
from pixelplan.planning.packed_graph import hashes
from pixelplan.planning.plan import pack
from pixelplan.types import Goal, GoalTest, InputError, Model, goal_test_of, is_discrete, looks_of

EQUAL_SHARE = 0.1
"""Embeddings that differ by less than this share of the model's threshold count as equal."""
CHANCE_SHARE = 0.25
"""Of the numbers that visible pixels should decide, if a smaller share than this stays the same, that is chance."""
DIFFERENT_GREY = 40
"""Pixels that differ by more than this many grey values show different things."""


@dataclass(frozen=True, eq=False)
class LatentGoal:
    """What a search looks for: any of several points, the parts of them that matter, or whatever passes a test."""

    points: np.ndarray
    """[G,d], any of which is the goal; none (G = 0) if a test decides, or if the model cannot recognise the goal."""
    matters: np.ndarray | None = None
    """[G,d] bool, which numbers of each point matter; None if all do."""
    test: GoalTest | None = None
    """Decides if there are no points."""

    def met(self, z: np.ndarray, model: Model) -> np.ndarray:
        """How far [n] embeddings z [n,d] are from the goal. Below the model's threshold, the goal is met.

        Embeddings of zeros and ones either equal the goal or are infinitely far from it.
        """
        if self.test is not None or not is_discrete(model):
            return self.apart(z, model)
        if self.matters is None and len(self.points):
            return np.where(among(pack(z), pack(self.points)), 0.0, np.inf)
        return np.where(self.apart(z, model) < 0.5, 0.0, np.inf)

    def apart(self, z: np.ndarray, model: Model, order: float = 2.0) -> np.ndarray:
        """How much [n] embeddings z [n,d] differ from the nearest point, or a test's doubts as a distance."""
        if self.test is not None:
            doubts: np.ndarray = as_array(self.test(as_tensor(z)))
            return np.maximum(doubts, 0) * model.threshold
        if not len(self.points):
            return np.full(len(z), np.inf)
        if order == 2.0 and self.matters is None:
            return reduce(np.minimum, (distances(z, point) for point in self.points))
        weights = np.ones_like(self.points) if self.matters is None else self.matters
        differences = [np.abs(z - point) ** order @ weight for point, weight in zip(self.points, weights, strict=True)]
        return np.min(differences, axis=0) ** (1 / order)

    def unlike(self, z: np.ndarray, model: Model) -> np.ndarray:
        """How much [n] the pictures of embeddings z [n,d] differ from the goal's; as `apart` if the model cannot say.

        Embeddings tell small things apart on purpose, so a mouse that faces the other way may be as far from the goal
        as one that stands elsewhere. In a picture it is not.
        """
        looks = looks_of(model)
        if looks is None or self.test is not None:
            return self.apart(z, model)
        return replace(self, points=self.points * looks).apart(z * looks, model)


def in_latent_space(model: Model, frame: np.ndarray, goal: Goal) -> tuple[np.ndarray, LatentGoal]:
    """The embedding [d] of a frame [H,W,3], and a goal of the same level, as the model sees it.

    Pixels that do not matter in a picture must not matter in its embedding either, so numbers that change with those
    pixels are left out. If all numbers change (a vector has no places), those pixels are assumed to stay as they are in
    the frame. The model may then fail to see that a picture differs from the frame. Such a picture is left out, as
    otherwise the frame itself would be the goal. An InputError if the goal is whatever solves the level and the model
    has no goal test.
    """
    if goal.frames is None:
        test = need_goal_test(model)
        return as_array(model.encode(frame[None]))[0], LatentGoal(np.empty((0, 0), np.float32), test=test)
    if goal.masks is not None and hasattr(model, "matching"):
        return as_array(model.encode(frame[None]))[0], LatentGoal(as_array(model.matching(goal)))
    start, *points = as_array(model.encode(np.stack([frame, *goal.completed(frame)])))
    if goal.masks is None:
        return start, LatentGoal(np.stack(points))
    matters, distinct = _what_matters(model, goal, frame), ~_overlooked(model, goal, frame, start, np.stack(points))
    return start, LatentGoal(np.stack(points)[distinct], None if matters is None else matters[distinct])


def _overlooked(model: Model, goal: Goal, frame: np.ndarray, start: np.ndarray, points: np.ndarray) -> np.ndarray:
    """[G] bool: the pictures that differ from a frame in something that matters, although the model takes both for the
    same state."""
    assert goal.frames is not None and goal.masks is not None
    differ = (np.abs(goal.frames.astype(np.int16) - frame) > DIFFERENT_GREY).any(axis=3) & goal.masks
    return differ.any(axis=(1, 2)) & (distances(points, start) < model.threshold) & (not model.noisy)


def _what_matters(model: Model, goal: Goal, frame: np.ndarray) -> np.ndarray | None:
    """[G,d] bool: the numbers in a goal's embeddings that stay the same whatever the masked pixels show.

    None if all numbers must count: masked pixels change no number or, in a latent without places, all of them.
    """
    assert goal.masks is not None
    noise = np.random.default_rng(0).integers(0, 256, (2, *frame.shape), np.uint8)
    first, *others = (as_array(model.encode(goal.completed(filling))) for filling in (frame, 255 - frame, *noise))
    if max(float(distances(other, first).max()) for other in others) < EQUAL_SHARE * model.threshold:
        return None
    same = np.all([other == first for other in others], axis=0)  # exactly: an unseen place changes nothing
    enough = same.mean(1) >= CHANCE_SHARE * goal.masks.mean(axis=(1, 2))
    return np.where((enough & same.any(1))[:, None], same, True)


def need_goal_test(model: Model) -> GoalTest:
    """A model's goal test; an InputError if it has none."""
    test = goal_test_of(model)
    if test is None:
        raise InputError(
            "this model has no goal test, so it cannot tell what solves a level; give a picture as the goal, or train "
            "on recorded play that solves levels (collect --explore)"
        )
    return test


def among(bits: np.ndarray, wanted: np.ndarray) -> np.ndarray:
    """Which of the rows [n,w] are among the wanted ones [G,w]."""
    is_among = np.isin(hashes(bits), hashes(wanted))
    is_among[is_among] = [(row == wanted).all(1).any() for row in bits[is_among]]
    return is_among

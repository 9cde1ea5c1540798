"""Plans from one picture to another, for worlds with a model but no environment."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import numpy as np

from pixelplan.by_name.open_model import find_model, guided
from pixelplan.envs.frames import resize, resized_goal, to_frame
from pixelplan.planning import OneShotConfig, one_shot
from pixelplan.planning.latent_goal import in_latent_space
from pixelplan.planning.plan import Plan
from pixelplan.puzzles import PUZZLES
from pixelplan.types import ACTIONS, Goal, InputError

DIFFERENT_PATCH = 40
"""Patches that differ by this many grey values per pixel show different things; noise and a plain patch by 64."""
MOST_STRANGE = 0.5
"""If a larger share of a goal picture is strange, it cannot be of the same level."""


@dataclass(frozen=True, eq=False)
class PicturePlan:
    """A plan from one picture to another, and how far it can be trusted."""

    plan: Plan
    action_names: tuple[str, ...]
    strange: float
    """The share of the goal picture that is like nothing in the first one."""
    distance: float
    """Between the embedding at the plan's end and the goal's."""
    threshold: float
    """The distance below which two embeddings are the same state."""

    @property
    def found(self) -> bool:
        """Whether the goal was reached, and can be a state of the same level at all."""
        return self.plan.reached and self.strange <= MOST_STRANGE


def plan_between(
    model: str | Path,
    frame: np.ndarray,
    goal: Goal | np.ndarray,
    config: OneShotConfig = OneShotConfig(),  # noqa: B008 (frozen)
    seed: int = 0,
    heuristic: str | Path | None = None,
    other_size: bool = False,
) -> PicturePlan:
    """A plan by the model in a folder (or a shipped one) from one picture to another, or to any goal.

    Pictures are resized to the model's frames, or kept as they are if they show a board of another size with as many
    pixels per cell: a picture alone does not tell which is right.
    """
    from pixelplan.model.checkpoint import load_model, read_description

    if seed < 0:
        raise InputError(f"seed is {seed}; it must be 0 or more")
    goal = Goal.of(goal)
    goal.check_size(frame.shape, "the frame")
    folder = find_model(model)
    opened, data = load_model(folder), read_description(folder).get("data", {})
    if other_size:
        opened = opened.for_frames(*frame.shape[:2])
    size = opened.sizes.height, opened.sizes.width
    start = resize(to_frame(frame), size)
    wanted, strange = _without_strangers(start, resized_goal(goal, size))
    thinker = guided(opened, heuristic, str(data.get("env")), config)
    assert thinker is not None
    plan = one_shot(thinker, start, wanted, config, np.random.default_rng(seed))
    distance = float(in_latent_space(opened, start, wanted)[1].apart(plan.embeddings[-1:], opened)[0])
    known = ACTIONS if data.get("env") in PUZZLES else data.get("action_names") or ()
    names = tuple(known) if len(known) >= opened.sizes.actions else tuple(map(str, range(opened.sizes.actions)))
    return PicturePlan(plan, names, strange, distance, opened.threshold)


def _without_strangers(frame: np.ndarray, goal: Goal) -> tuple[Goal, float]:
    """A goal without the pictures that cannot show the level of a frame [H,W,3], unless none can; and the share of the
    least strange one that is unlike anything in the frame."""
    if goal.frames is None:
        return goal, 0.0
    masks = np.ones(goal.frames.shape[:3], bool) if goal.masks is None else goal.masks
    strange = np.array([strangeness(frame, *pair) for pair in zip(goal.frames, masks, strict=True)])
    kept = strange <= max(MOST_STRANGE, strange.min())
    return Goal(goal.frames[kept], None if goal.masks is None else goal.masks[kept]), float(strange.min())


def strangeness(frame: np.ndarray, other: np.ndarray, matters: np.ndarray) -> float:
    """The share of patches of the second frame [H,W,3] that no patch of the first is like, whatever its place, in the
    pixels that matter [H,W]; patches in which none does are left out.

    An encoder has an embedding for any picture, so noise or a photograph may seem to be a state. But states of a level
    are made of the same things: nearly everything that one shows, another shows somewhere, too.
    """
    pictures = frame, other, np.repeat(matters[..., None], 3, axis=2)
    known, shown, seen = (_patches(picture) for picture in pictures)  # [n,p]
    looked_at = [(patch, pixels > 0) for patch, pixels in zip(shown, seen, strict=True) if pixels.any()]
    nearest = [np.abs(known[:, pixels] - patch[pixels]).mean(axis=1).min() for patch, pixels in looked_at]
    return float(np.mean(np.array(nearest) > DIFFERENT_PATCH)) if nearest else 0.0


def _patches(frame: np.ndarray) -> np.ndarray:
    """A frame [H,W,3] cut into patches of 8 × 8 pixels (fewer if it is smaller), [n,p] int16."""
    side = min(8, *frame.shape[:2])
    rows, columns = frame.shape[0] // side, frame.shape[1] // side
    cut = frame[: rows * side, : columns * side].astype(np.int16).reshape(rows, side, columns, side, 3)
    return cut.transpose(0, 2, 1, 3, 4).reshape(rows * columns, -1)


def plan_story(judged: PicturePlan) -> str:
    """A plan in a sentence or two, or how far the search got without one."""
    plan = judged.plan
    moves = ", ".join(judged.action_names[action] for action in plan.actions) or "none"
    effort = f"{plan.nodes} states looked at, {1e3 * plan.seconds:.0f} ms of planning"
    if judged.found:
        return f"a plan of {len(plan.actions)} actions, {effort}\nmoves: {moves}"
    if judged.strange > MOST_STRANGE:
        return (
            f"no plan was found: {judged.strange:.0%} of the goal picture is unlike anything in the first one, so it "
            f"is not a state of the same level; {effort}"
        )
    if np.isinf(judged.distance) and not plan.actions:
        return (
            "no plan was found: the model mistakes the first picture for the goal, although the two differ where it "
            f"matters; give a goal picture all of which matters, or train with --family picture; {effort}"
        )
    return (
        f"no plan was found, {effort}: the nearest state is {len(plan.actions)} actions away and {judged.distance:.2f} "
        f"from the goal; less than {judged.threshold:.2f} would be the same\nmoves: {moves}"
    )

"""From one picture to another: plans for worlds of which only a model is left, and no environment."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from pixelplan.envs import PUZZLES
from pixelplan.envs.frames import resize, to_frame
from pixelplan.evaluation.models import find_model, guided
from pixelplan.planning import OneShotConfig, one_shot
from pixelplan.types import ACTIONS, InputError, Plan


def plan_between(
    model: str | Path,
    frame: np.ndarray,
    goal_frame: np.ndarray,
    config: OneShotConfig = OneShotConfig(),  # noqa: B008 (frozen)
    seed: int = 0,
    heuristic: str | Path | None = None,
) -> tuple[Plan, tuple[str, ...]]:
    """A plan by the model in a folder (or a shipped one) from one picture to another, and what its actions are called.

    Pictures of any size are brought to the model's.
    """
    from pixelplan.model.checkpoint import load_model, read_description

    if frame.shape != goal_frame.shape:
        raise InputError(
            f"the goal frame is {goal_frame.shape[1]} × {goal_frame.shape[0]} pixels and the frame {frame.shape[1]} × "
            f"{frame.shape[0]}; they must be pictures of one level"
        )
    folder = find_model(model)
    opened, data = load_model(folder), read_description(folder).get("data", {})
    size = opened.sizes.height, opened.sizes.width
    start, goal = (resize(to_frame(picture), size) for picture in (frame, goal_frame))
    thinker = guided(opened, heuristic, str(data.get("env")), config)
    assert thinker is not None
    plan = one_shot(thinker, start, goal, config, np.random.default_rng(seed))
    numbers = map(str, range(opened.sizes.actions))
    return plan, ACTIONS if data.get("env") in PUZZLES else tuple(data.get("action_names") or numbers)


def plan_story(plan: Plan, action_names: tuple[str, ...]) -> str:
    """A plan in a sentence or two."""
    moves = ", ".join(action_names[action] for action in plan.actions) or "none"
    outcome = (
        f"a plan of {len(plan.actions)} actions"
        if plan.reached
        else "the goal was not found; towards what is nearest it"
    )
    return f"{outcome}, {plan.nodes} states looked at, {1e3 * plan.seconds:.0f} ms of planning\nmoves: {moves}"

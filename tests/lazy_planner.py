"""A planner that tests add, as the text of its file."""

PLANNER = '''
"""The plan of one-shot without its last steps."""

from dataclasses import dataclass

import numpy as np

from pixelplan.planning.one_shot import one_shot
from pixelplan.planning.plan import Episode


@dataclass(frozen=True)
class LazyConfig:
    """How lazy it is."""

    naps: int = 1
    """Steps that it leaves out."""


def lazy(model, world, goal_frame, config, random):
    frame, solved = world.reset()
    plan = one_shot(model, frame, goal_frame).actions
    actions, frames = plan[: len(plan) - config.naps], [frame]
    for action in actions:
        frame, solved = world.step(action)
        frames.append(frame)
    return Episode(actions, np.stack(frames), solved, "solved" if solved else "plan over")
'''

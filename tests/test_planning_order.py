"""Where the full planner goes first, and what it comes back to."""

from __future__ import annotations

import numpy as np
import torch

from pixelplan.planning import FullConfig, full
from pixelplan.planning.plan import can_return
from tests.toy import ToyModel, ToyWorld, frame_of, grid


class BadlyPredictedGoal(ToyModel):
    """Predicts the last state farther from what is seen there than its threshold allows."""

    def step(self, z: torch.Tensor, context: object) -> torch.Tensor:
        after = super().step(z, context).clone()
        after[..., -1] *= 0.4
        return after


def test_a_goal_that_is_predicted_badly_is_visited_first():
    world = ToyWorld(grid(8), goal=63)
    episode = full(BadlyPredictedGoal(world.successors), world, frame_of(63))
    assert episode.solved and len(episode.actions) == 14
    explored = full(BadlyPredictedGoal(world.successors), world, frame_of(63), FullConfig(likely_goal=0))
    assert len(explored.actions) > 28, "whatever is near comes first"


def test_what_looks_like_the_goal_is_visited_first():
    """By embeddings the goal is no nearer than most states; in a picture it is."""

    class Elsewhere(ToyModel):
        def step(self, z: torch.Tensor, context: object) -> torch.Tensor:
            after = super().step(z[:, :64], context)
            hidden = 1.2 * after[..., 63:]
            return torch.cat([after, hidden], -1)

        def encode(self, frames: np.ndarray) -> torch.Tensor:
            z = super().encode(frames)
            return torch.cat([z, torch.zeros(len(z), 1)], 1)

    world = ToyWorld(grid(8), goal=63)
    model = Elsewhere(world.successors)
    explored = full(model, world, frame_of(63))
    model.looks = np.array([1.0] * 64 + [0.6], np.float32)
    episode = full(model, world, frame_of(63))
    assert episode.solved and len(episode.actions) == 14 < len(explored.actions)
    assert len(full(model, world, frame_of(63), FullConfig(likely_look=0.1)).actions) > 14


def test_what_the_goal_test_accepts_is_visited_first():
    """The goal never looks like its picture: where the way to it ends, it looks much like any other state."""
    world = ToyWorld(np.vstack([grid(8), [64] * 4]), goal=63)  # 64 is the goal's picture, and nothing leads to it
    model = ToyModel(world.successors)
    blind = full(model, world, frame_of(64), FullConfig(step_limit=400))
    assert len(blind.actions) > 28, "whatever is near comes first"
    model.embeddings[63] = 0.8 * model.embeddings[63] + 0.2 * model.embeddings[64]
    model.goal_test = lambda z: 2.0 - 2.0 * (z @ model.embeddings[63] > 0.6).float()
    episode = full(model, world, frame_of(64))
    assert episode.solved and len(episode.actions) == 14


def test_what_only_looks_like_the_goal_is_visited_once():
    """The last state is predicted in a place from which another one is reached."""
    successors = grid(4)
    wrong = successors.copy()
    wrong[5, 1] = 15  # the model takes one step for a leap to the goal
    world = ToyWorld(successors, goal=15)
    episode = full(BadlyPredictedGoal(wrong), world, frame_of(15))
    assert episode.solved and world.visited.count(6) <= 2


def test_a_false_goal_is_left_behind():
    world = ToyWorld([[1, 2], [1, 0], [3, 0], [3, 3]], 3)
    model = ToyModel(world.successors)
    model.embeddings[1] = model.embeddings[3]  # state 1 looks like the goal
    model.step = lambda z, context: model.embeddings[model.successors[_nearest(z, model)]]
    episode = full(model, world, frame_of(3))
    assert world.visited == [0, 1, 0, 2, 3] and episode.solved


def _nearest(z, model):
    return [min(range(4), key=lambda state: float((model.embeddings[state] - embedding).norm())) for embedding in z]


def test_what_looks_irreversible_waits():
    # The model knows no way to the goal, 4. From 0, action 0 leads to 1 for good, action 1 to 2 and back. The true way
    # is from 2, where the model takes action 0 for a bump.
    true = [[1, 2], [1, 1], [4, 0], [3, 3], [4, 4]]
    model = ToyModel([[1, 2], [1, 1], [2, 0], [3, 3], [4, 4]])
    model.embeddings[1] = 0.7 * model.embeddings[1] + 0.3 * model.embeddings[4]  # and the trap looks nearer to the goal
    world = ToyWorld(true, 4)
    assert full(model, world, frame_of(4)).solved
    assert world.visited == [0, 2, 4]


def test_what_is_new_nearby_comes_before_what_is_new_far_away():
    # From 0, action 0 leads to 6, from where the true way to the goal, 7, is unknown to the model. Action 1 leads along
    # a corridor, 1 to 5, whose end looks a little nearer to the goal than anything else.
    true = [[6, 1], [0, 2], [1, 3], [2, 4], [3, 5], [4, 5], [0, 7], [7, 7]]
    model = ToyModel([*true[:6], [0, 6], [7, 7]])
    model.embeddings[5] = 0.7 * model.embeddings[5] + 0.3 * model.embeddings[7]
    world = ToyWorld(true, 7)
    assert full(model, world, frame_of(7)).solved
    assert world.visited[1] == 6 and 5 in world.visited


def test_known_transitions_are_not_repeated():
    # Every action is a bump but one, and the model thinks each of them leads to the goal.
    world = ToyWorld([[0, 0, 0, 0, 1], [1, 1, 1, 1, 1]], 1)
    episode = full(ToyModel([[1] * 5, [1] * 5]), world, frame_of(1))
    assert sorted(episode.actions) == [0, 1, 2, 3, 4] and episode.solved and episode.replans == 4


def test_can_return():
    successors = np.array([[1, 2], [3, -1], [0, 4], [3, 3], [2, -1]])
    assert can_return(successors).tolist() == [True, False, True, False, True]

"""The full planner: right models, wrong models, dead ends, false goals and giving up."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from pixelplan.planning import PLANNERS, FullConfig, OneShotConfig, full
from pixelplan.planning.memory import Memory
from pixelplan.planning.plan import can_return
from pixelplan.puzzles import get_level, make_puzzle
from pixelplan.puzzles.oracle import Oracle
from pixelplan.puzzles.table_family import blindfolded
from pixelplan.types import InputError
from tests.toy import ToyModel, ToyWorld, frame_of, random_world


def corrupted(successors: np.ndarray, share: float, seed: int) -> np.ndarray:
    """The table with a share of its entries wrong."""
    random = np.random.default_rng(seed)
    wrong = random.random(successors.shape) < share
    return np.where(wrong, random.integers(len(successors), size=successors.shape), successors)


def grid(side: int) -> np.ndarray:
    """Moves in a square: up, right, left, down."""
    row, column = np.divmod(np.arange(side * side), side)
    moves = ((-1, 0), (0, 1), (0, -1), (1, 0))
    ends = [np.clip(row + r, 0, side - 1) * side + np.clip(column + c, 0, side - 1) for r, c in moves]
    return np.stack(ends, axis=1)


@pytest.mark.parametrize("planner", PLANNERS)
def test_every_planner_on_every_puzzle(name, planner):
    puzzle = make_puzzle(name)
    solved = 0
    for number in range(12):
        level = get_level(puzzle, number)
        episode = PLANNERS[planner].play(
            Oracle(level),
            blindfolded(puzzle, level),
            level.frame(level.goal),
            PLANNERS[planner].config(),
            np.random.default_rng(number),
        )
        state = level.start
        for action, frame in zip(episode.actions, episode.frames[1:], strict=True):
            state = level.successors[state, action]
            assert np.array_equal(level.frame(state), frame)
        assert episode.solved == bool(level.goals[state]) == (episode.ended == "solved")
        solved += episode.solved
        if PLANNERS[planner].needs_model:
            assert len(episode.actions) == len(level.shortest_path(level.start))
            assert episode.replans == 0
    assert solved == 12 if PLANNERS[planner].needs_model else solved > 0


def test_states_are_recognised_even_if_no_frame_comes_twice():
    """By their embeddings if pixels are noisy; else by their frames, whatever the embeddings say."""
    frames = np.stack([frame_of(0)] * 3)
    frames[:, 3, 3, 0] = range(3)  # a pixel that means nothing counts the frames
    embeddings = np.eye(2, dtype=np.float32)[[0, 1, 0]]
    noisy, clear = Memory(4, threshold=0.5), Memory(4)
    assert [noisy.observe(frame, z) for frame, z in zip(frames, embeddings, strict=True)] == [0, 1, 0]
    assert [clear.observe(frame, z) for frame, z in zip(frames, embeddings, strict=True)] == [0, 1, 2]


class Mistaken(ToyModel):
    """Takes the first frames that it sees after the start for the start."""

    noisy = True
    mistakes = 4

    def encode(self, frames: np.ndarray) -> torch.Tensor:
        embeddings = super().encode(frames)
        if len(frames) == 1 and self.mistakes:
            self.mistakes -= 1
            return self.embeddings[[0]]
        return embeddings


def test_with_noisy_pixels_mistakes_are_not_for_ever():
    """After four mistakes every action seems to lead back to the start: nothing is left, but nothing is proved."""
    world = ToyWorld(grid(3), goal=8)
    assert full(Mistaken(world.successors), world, frame_of(8)).solved
    walled_in = ToyWorld(np.vstack([grid(3), [9] * 4]), goal=9)  # nothing leads to the goal
    assert full(Mistaken(walled_in.successors), walled_in, frame_of(9)).ended == "steps"
    assert full(ToyModel(walled_in.successors), walled_in, frame_of(9)).ended == "exhausted"


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


@settings(deadline=None, max_examples=60)
@given(st.integers(2, 25), st.integers(1, 4), st.integers(0, 2**31))
def test_the_right_model_needs_no_second_plan(states, actions, seed):
    world = random_world(states, actions, seed)
    episode = full(ToyModel(world.successors), world, frame_of(world.goal))
    shortest = world.shortest()
    assert episode.solved == (shortest is not None)
    if episode.solved:
        assert len(episode.actions) == shortest and episode.replans == 0
    else:
        assert episode.ended == "exhausted"


@settings(deadline=None, max_examples=60)
@given(st.integers(3, 6), st.integers(0, 2**31), st.floats(0.0, 1.0), st.sampled_from([0.0, 0.2]))
def test_lookup_corrects_any_wrong_model_if_nothing_is_final(side, seed, share, noise):
    goal = 1 + seed % (side * side - 1)
    world = ToyWorld(grid(side), goal)
    model = ToyModel(corrupted(world.successors, share, seed), noise, encoder_noise=noise)
    episode = full(model, world, frame_of(goal), FullConfig(step_limit=2000))
    assert episode.solved
    tried = list(zip(world.visited[:-1], episode.actions, strict=True))
    assert len(set(tried)) <= side * side * 4


@settings(deadline=None, max_examples=60)
@given(st.integers(2, 25), st.integers(1, 4), st.integers(0, 2**31), st.floats(0.0, 1.0))
def test_it_always_ends_with_a_reason(states, actions, seed, share):
    world = random_world(states, actions, seed)
    model = ToyModel(corrupted(world.successors, share, seed))
    episode = full(model, world, frame_of(world.goal), FullConfig(step_limit=5000))
    assert episode.ended in ("solved", "exhausted")  # 5000 steps suffice to try everything
    if episode.ended == "exhausted":
        reached = {world.visited[-1]}
        while True:
            more = reached | set(world.successors[sorted(reached)].ravel().tolist())
            if more == reached:
                break
            reached = more
        assert world.goal not in reached  # a proof


def test_without_the_lookup_a_wrong_model_is_not_corrected():
    world = ToyWorld(grid(3), 8)
    wrong = world.successors.copy()
    wrong[0] = [8, 1, 0, 3]  # the goal seems to be one step away: it is not
    assert not full(ToyModel(wrong), world, frame_of(8), FullConfig(lookup=False, step_limit=50)).solved
    episode = full(ToyModel(wrong), world, frame_of(8))
    assert episode.solved and len(episode.actions) == 5 and episode.replans == 1


def test_a_collapsed_model_still_ends_in_success_by_trying():
    world = ToyWorld(grid(3), 8)
    model = ToyModel(world.successors)
    model.embeddings = model.embeddings * 0 + 1  # every state looks the same, and like the goal
    assert full(model, world, frame_of(8)).solved


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


def test_exhausted_out_of_steps_and_start_at_the_goal():
    nowhere = ToyWorld([[0, 1], [0, 1], [2, 2]], 2)
    assert full(ToyModel(nowhere.successors), nowhere, frame_of(2)).ended == "exhausted"
    episode = full(ToyModel(nowhere.successors), nowhere, frame_of(2), FullConfig(step_limit=2))
    assert episode.ended == "steps" and len(episode.actions) == 2
    episode = full(ToyModel(nowhere.successors), ToyWorld(nowhere.successors, 0), frame_of(0))
    assert episode.solved and episode.actions == () and episode.frames.shape == (1, 4, 4, 3)


def test_the_horizon_limits_later_searches_only():
    world = ToyWorld([*[[state + 1] for state in range(30)], [30]], 30)
    wrong = world.successors.copy()
    wrong[3] = 5
    episode = full(ToyModel(wrong), world, frame_of(30), FullConfig(horizon=10))
    assert episode.solved and episode.plans[0].layers > 10
    assert all(plan.layers <= 10 for plan in episode.plans[1:])


def test_without_reidentification_it_still_plays():
    world = ToyWorld(grid(3), 8)
    config = FullConfig(search=OneShotConfig(reidentification=False))
    assert full(ToyModel(world.successors), world, frame_of(8), config).solved


def test_an_environment_that_raises_is_not_hidden():
    world = ToyWorld(grid(3), 8)
    world.step = lambda action: 1 / 0
    with pytest.raises(ZeroDivisionError):
        full(ToyModel(world.successors), world, frame_of(8))


def test_an_environment_that_returns_garbage_is_named():
    world = ToyWorld(grid(3), 8)
    world.step = lambda action: (np.zeros((2, 2)), False)
    with pytest.raises(InputError, match="the frame is float64"):
        full(ToyModel(world.successors), world, frame_of(8))


def test_an_observer_sees_plans_and_steps():
    seen = []

    class Watcher:
        def planned(self, plan, actions, expected, claims_goal):
            seen.append(("planned", len(actions), len(expected), claims_goal))

        def saw(self, action, expected, observed):
            seen.append(("saw", action, bool(np.allclose(expected, observed))))

    full(ToyModel([[1], [2], [2]]), ToyWorld([[1], [2], [2]], 2), frame_of(2), observer=Watcher())
    assert seen == [("planned", 2, 2, True), ("saw", 0, True), ("saw", 0, True)]


def test_can_return():
    successors = np.array([[1, 2], [3, -1], [0, 4], [3, 3], [2, -1]])
    assert can_return(successors).tolist() == [True, False, True, False, True]


@pytest.mark.parametrize("setting", ["step_limit", "horizon"])
def test_settings_out_of_range_are_refused(setting):
    with pytest.raises(InputError, match=f"{setting} is 0"):
        FullConfig(**{setting: 0})

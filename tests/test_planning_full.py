"""The full planner: right models, wrong models, dead ends, false goals and giving up."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from pixelplan.planning import PLANNERS, FullConfig, OneShotConfig, full
from pixelplan.planning.memory import Memory
from pixelplan.puzzles import get_level, make_puzzle
from pixelplan.puzzles.oracle import Oracle
from pixelplan.puzzles.table_family import blindfolded
from pixelplan.types import InputError
from tests.toy import ToyModel, ToyWorld, frame_of, grid, random_world


def corrupted(successors: np.ndarray, share: float, seed: int) -> np.ndarray:
    """The table with a share of its entries wrong."""
    random = np.random.default_rng(seed)
    wrong = random.random(successors.shape) < share
    return np.where(wrong, random.integers(len(successors), size=successors.shape), successors)


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


@pytest.mark.parametrize("setting", ["step_limit", "horizon"])
def test_settings_out_of_range_are_refused(setting):
    with pytest.raises(InputError, match=f"{setting} is 0"):
        FullConfig(**{setting: 0})

"""What is known around a goal: exact distances, shortest plans with fewer nodes, and worlds for which it is not."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from examples.cube import Cube
from pixelplan.distance.perimeter import Perimeter
from pixelplan.planning import OneShotConfig, one_shot
from pixelplan.types import InputError
from tests.test_planning_best_first import check, steps_to
from tests.toy import ToyModel, ToyWorld, frame_of

BEST = OneShotConfig(frontier="best-first", batch=1, node_limit=10_000, depth_limit=10_000)


def undoable_world(states: int, actions: int, seed: int) -> ToyWorld:
    """A random world in which every action, taken twice, changes nothing."""
    random = np.random.default_rng(seed)
    successors = np.tile(np.arange(states)[:, None], (1, actions))
    for action in range(actions):
        one, other = random.permutation(states)[: states // 2 * 2].reshape(2, -1)
        successors[one, action], successors[other, action] = other, one
    return ToyWorld(successors, int(random.integers(states)))


def discrete(world: ToyWorld) -> ToyModel:
    model = ToyModel(world.successors)
    model.discrete = True
    return model


@settings(deadline=None, max_examples=60)
@given(st.integers(2, 60), st.integers(1, 4), st.integers(1, 80), st.integers(0, 2**31))
def test_distances_within_are_exact_and_those_beyond_never_too_large(states, actions, nodes, seed):
    world = undoable_world(states, actions, seed)
    codes = np.eye(states, dtype=np.float32)
    steps, exact = Perimeter(discrete(world), None, codes[[world.goal]], nodes)(codes)
    truth = steps_to(world, [world.goal])
    np.testing.assert_array_equal(steps[exact], truth[exact])
    assert (steps[~exact] <= truth[~exact]).all()
    assert exact.sum() >= min(nodes, np.isfinite(truth).sum())


@settings(deadline=None, max_examples=60)
@given(st.integers(2, 60), st.integers(1, 4), st.integers(1, 80), st.integers(0, 2**31))
def test_plans_are_shortest(states, actions, perimeter, seed):
    world = undoable_world(states, actions, seed)
    plan = one_shot(discrete(world), frame_of(0), frame_of(world.goal), dataclasses.replace(BEST, perimeter=perimeter))
    check(world, plan, [world.goal])
    assert plan.reached == (world.shortest() is not None)
    if plan.reached:
        assert len(plan.actions) == world.shortest()


def test_half_of_the_way_is_searched_from_each_side_and_the_goals_half_once():
    world = Cube(size=2, steps=6)
    model = world.oracle()
    taken, step = [], model.step

    def counted(z: torch.Tensor, context: None) -> torch.Tensor:
        taken.append(len(z))
        return step(z, context)

    model.step = counted
    config = dataclasses.replace(BEST, perimeter=500)
    for level in range(3):
        frame, _ = world.reset(seed=level)
        plan = one_shot(model, frame, world.goal_frame(), config)
        assert plan.reached and len(plan.actions) == 6
        blind = one_shot(world.oracle(), frame, world.goal_frame(), dataclasses.replace(BEST, weight=0))
        assert plan.nodes < blind.nodes / 4
        if level:
            assert sum(taken) < 200, "what is around the goal is known by now"
        taken.clear()


def test_what_a_perimeter_is_not_for():
    one_way = ToyWorld([[1], [2], [0]], 0)
    config = dataclasses.replace(BEST, perimeter=3)
    with pytest.raises(InputError, match="every move can be undone"):
        one_shot(discrete(one_way), frame_of(1), frame_of(0), config)
    with pytest.raises(InputError, match="zeros and ones"):
        one_shot(ToyModel(one_way.successors), frame_of(1), frame_of(0), config)
    with pytest.raises(InputError, match="perimeter is -1"):
        OneShotConfig(perimeter=-1)

"""Policies in best-first search: right ones save nodes, wrong ones only cost some, and weight 0 leaves them out."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from pixelplan.distance.surprise import Surprise
from pixelplan.planning import OneShotConfig, one_shot
from pixelplan.planning.packed_graph import PackedGraph
from pixelplan.types import InputError
from tests.test_planning_best_first import Guided, check, line_and_field, steps_to
from tests.toy import ToyModel, ToyWorld, frame_of, random_world


class Player(Guided):
    """A model with a distance and a policy: a number for each action of each state, as good as a logarithm or not."""

    def __init__(self, world: ToyWorld, ahead: np.ndarray, logarithms: np.ndarray) -> None:
        super().__init__(world, ahead)
        self.distance, self._logarithms = self, torch.from_numpy(np.asarray(logarithms, np.float32))

    def __call__(self, z: torch.Tensor, goals: torch.Tensor) -> torch.Tensor:
        self.asked += len(z)
        return self._ahead[z.argmax(1)]

    def look(self, z: torch.Tensor, goals: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        return self(z, goals), self._logarithms[z.argmax(1)]


def logarithms_of(world: ToyWorld, best: float) -> np.ndarray:
    """[S,A], a policy that takes an action along a shortest path with this share of the probability, or avoids it."""
    steps = steps_to(world, [world.goal])
    right = steps[world.successors] < steps[:, None]
    chances = np.where(right, best, 1 - best)
    return np.log(chances / chances.sum(1, keepdims=True))


WRONG_POLICIES = [
    lambda random, world: logarithms_of(world, 0.01),
    lambda random, world: np.log(random.random(world.successors.shape)),
    lambda random, world: random.normal(size=world.successors.shape) * 100,
    lambda random, world: np.full(world.successors.shape, np.nan),
    lambda random, world: np.full(world.successors.shape, -np.inf),
    lambda random, world: np.where(random.random(world.successors.shape) < 0.5, np.inf, -np.inf),
]


@settings(deadline=None, max_examples=100)
@given(
    st.integers(2, 60),
    st.integers(1, 4),
    st.integers(0, 2**31),
    st.sampled_from([0.0, 1.0, 3.0, float("inf")]),
    st.sampled_from([0.01, 1.0, 1e6]),
    st.sampled_from(WRONG_POLICIES),
    st.integers(1, 70),
)
def test_with_any_policy_it_ends_within_its_limits(states, actions, seed, weight, policy_weight, wrong, limit):
    world = random_world(states, actions, seed)
    random = np.random.default_rng(seed)
    model = Player(world, random.random(states) * 20, wrong(random, world))
    config = OneShotConfig(frontier="best-first", weight=weight, policy_weight=policy_weight, batch=2)
    plan = one_shot(model, frame_of(0), frame_of(world.goal), dataclasses.replace(config, node_limit=limit))
    check(world, plan, [world.goal])
    assert plan.nodes < limit + 2 * actions
    assert model.asked == plan.nodes, "distance and policy are asked about every node once"
    free = one_shot(model, frame_of(0), frame_of(world.goal), config)
    check(world, free, [world.goal])
    assert free.reached == (world.shortest() is not None), "whatever it is told, it misses nothing"


@settings(deadline=None, max_examples=60)
@given(st.integers(2, 40), st.integers(1, 4), st.integers(0, 2**31), st.sampled_from(WRONG_POLICIES))
def test_without_a_weight_a_policy_changes_nothing(states, actions, seed, wrong):
    """Best-first search with weight 1 and an admissible distance stays optimal."""
    world = random_world(states, actions, seed)
    ahead = steps_to(world, [world.goal])
    config = OneShotConfig(frontier="best-first", weight=1, batch=2)
    player = Player(world, ahead, wrong(np.random.default_rng(seed), world))
    one, other = (
        one_shot(model, frame_of(0), frame_of(world.goal), config) for model in (player, Guided(world, ahead))
    )
    assert one.actions == other.actions and one.leaves == other.leaves
    assert not one.reached or len(one.actions) == world.shortest()


def test_a_good_policy_saves_nodes_and_a_bad_one_costs_them():
    """The distance knows nothing here: only the policy tells where to go."""
    world, _ = line_and_field()
    nodes = {}
    for best in (0.9, 0.5, 0.1):
        model = Player(world, np.zeros(900), logarithms_of(world, best))
        config = OneShotConfig(frontier="best-first", weight=1, policy_weight=10, batch=1)
        plan = one_shot(model, frame_of(0), frame_of(world.goal), config)
        check(world, plan, [world.goal])
        assert plan.reached
        nodes[best] = plan.nodes
    assert nodes[0.9] < nodes[0.5] <= nodes[0.1]


def test_surprise_follows_shorter_paths():
    """A node that is found again by a shorter path has that path's surprise."""
    graph, surprise = PackedGraph(np.eye(4, dtype=np.float32)[0]), Surprise()
    for node, action in ((1, 0), (2, 1), (3, 0)):
        graph.add(np.eye(4, dtype=np.float32)[[node]], np.array([node - 1]), np.array([action]))
    surprise.note(np.arange(4), np.log([[0.5, 0.5], [0.2, 0.8], [0.1, 0.9], [1.0, 1e-9]]))
    nodes = np.arange(4)
    for node in nodes:
        surprise.of(graph, nodes[node : node + 1])
    np.testing.assert_allclose(np.exp(-surprise.of(graph, nodes)), [1, 0.5, 0.4, 0.04], rtol=1e-5)
    assert graph.reroute(np.array([3]), np.array([1]), np.array([0])).tolist() == [3]
    np.testing.assert_allclose(np.exp(-surprise.of(graph, nodes)), [1, 0.5, 0.4, 0.1], rtol=1e-5)


def test_a_policy_weight_needs_a_policy():
    world, ahead = line_and_field(4)
    for model in (Guided(world, ahead), ToyModel(world.successors)):
        config = OneShotConfig(frontier="best-first", policy_weight=0.5)
        with pytest.raises(InputError, match=r"policy-weight is 0.5, but no policy was learned"):
            one_shot(model, frame_of(0), frame_of(15), config)

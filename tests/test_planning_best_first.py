"""Best-first search: optimal with an admissible distance, within its limits with any, and right by the true rules."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from pixelplan.planning import FullConfig, OneShotConfig, full, one_shot
from pixelplan.planning.plan import Plan
from pixelplan.puzzles import get_level, make_puzzle
from pixelplan.puzzles.oracle import Oracle
from pixelplan.puzzles.table_family import blindfolded
from pixelplan.types import InputError
from tests.toy import ToyModel, ToyWorld, frame_of, random_world

BEST = OneShotConfig(frontier="best-first", batch=3, node_limit=10_000, depth_limit=10_000)


def steps_to(world: ToyWorld, goals: list[int]) -> np.ndarray:
    """[S] steps from each state to the nearest goal; infinite if no path leads there."""
    steps = np.full(len(world.successors), np.inf)
    steps[goals] = 0
    for _ in steps:
        steps = np.minimum(steps, steps[world.successors].min(1) + 1)
    return steps


class Guided(ToyModel):
    """A model with a distance: a number for each state."""

    def __init__(self, world: ToyWorld, ahead: np.ndarray, discrete: bool = True, noise: float = 0.0) -> None:
        super().__init__(world.successors, noise=noise)
        self.discrete, self.asked = discrete, 0
        self._ahead = torch.from_numpy(np.asarray(ahead, np.float32))

    def distance(self, z: torch.Tensor, goals: torch.Tensor) -> torch.Tensor:
        self.asked += len(z)
        return self._ahead[z.argmax(1)]


def check(world: ToyWorld, plan: Plan, goals: list[int]) -> None:
    """What must hold of any plan: replayed on the true rules it does what it says."""
    state = 0
    for action in plan.actions:
        state = int(world.successors[state, action])
    assert plan.reached == (state in goals)
    graph = plan.graph
    assert len(plan.path) == len(plan.actions) + 1
    states = graph.embeddings.argmax(1)
    assert len(set(states.tolist())) == plan.nodes, "a state is a node once"
    for node in range(1, plan.nodes):
        parent, action = graph.parents[node], graph.parent_actions[node]
        assert world.successors[states[parent], action] == states[node]
        assert graph.depths[node] > graph.depths[parent]
    known = graph.successors >= 0
    np.testing.assert_array_equal(states[graph.successors[known]], world.successors[states][known])


@settings(deadline=None, max_examples=150)
@given(st.integers(2, 40), st.integers(1, 4), st.integers(0, 2**31), st.integers(1, 9), st.booleans())
def test_a_star_with_an_admissible_distance_is_optimal(states, actions, seed, batch, discrete):
    """However inconsistent the distance is: nodes that are found by a shorter path are expanded again."""
    world = random_world(states, actions, seed)
    ahead = steps_to(world, [world.goal]) * np.random.default_rng(seed).random(states)
    config = OneShotConfig(frontier="best-first", weight=1, batch=batch)
    plan = one_shot(
        Guided(world, np.nan_to_num(ahead, nan=0.0, posinf=np.inf), discrete), frame_of(0), frame_of(world.goal), config
    )
    check(world, plan, [world.goal])
    shortest = world.shortest()
    assert plan.reached == (shortest is not None)
    if plan.reached:
        assert len(plan.actions) == shortest


@settings(deadline=None, max_examples=60)
@given(st.integers(3, 30), st.integers(0, 2**31), st.sampled_from([0.0, 1.0]))
def test_the_nearest_of_several_goals_counts(states, seed, weight):
    world = random_world(states, 2, seed)
    goals = sorted(set(np.random.default_rng(seed).integers(states, size=3).tolist()))
    steps = steps_to(world, goals)
    model = Guided(world, np.where(np.isfinite(steps), steps, 1e6))
    frames = np.stack([frame_of(goal) for goal in goals])
    for config in (OneShotConfig(frontier="best-first", weight=weight, batch=2), OneShotConfig()):
        plan = one_shot(model, frame_of(0), frames, config)
        check(world, plan, goals)
        assert plan.reached == bool(np.isfinite(steps[0]))
        if plan.reached:
            assert len(plan.actions) == steps[0]


WRONG = [
    lambda random, steps: random.random(len(steps)) * 1000,
    lambda random, steps: -steps,
    lambda random, steps: np.full(len(steps), np.nan),
    lambda random, steps: np.full(len(steps), np.inf),
    lambda random, steps: np.where(random.random(len(steps)) < 0.5, np.inf, -np.inf),
    lambda random, steps: np.zeros(len(steps)),
]


@settings(deadline=None, max_examples=150)
@given(
    st.integers(2, 60),
    st.integers(1, 4),
    st.integers(0, 2**31),
    st.sampled_from([0.0, 0.5, 1.0, 3.0, float("inf")]),
    st.sampled_from(WRONG),
    st.integers(1, 70),
)
def test_with_any_distance_it_ends_within_its_limits(states, actions, seed, weight, wrong, limit):
    world = random_world(states, actions, seed)
    model = Guided(world, wrong(np.random.default_rng(seed), steps_to(world, [world.goal])))
    config = OneShotConfig(frontier="best-first", weight=weight, batch=2, node_limit=limit)
    plan = one_shot(model, frame_of(0), frame_of(world.goal), config)
    check(world, plan, [world.goal])
    assert plan.nodes < limit + 2 * actions
    assert model.asked == plan.nodes, "the distance is asked about every node once"
    free = one_shot(model, frame_of(0), frame_of(world.goal), OneShotConfig(frontier="best-first", weight=weight))
    check(world, free, [world.goal])
    assert free.reached == (world.shortest() is not None), "whatever it is told, it misses nothing"


def test_depth_is_limited():
    world = ToyWorld([[min(state + 1, 9)] for state in range(10)], goal=9)
    model = Guided(world, np.arange(10)[::-1])
    for depth, reached in ((8, False), (9, True)):
        config = OneShotConfig(frontier="best-first", depth_limit=depth)
        assert one_shot(model, frame_of(0), frame_of(9), config).reached == reached


def line_and_field(side: int = 30) -> tuple[ToyWorld, np.ndarray]:
    """A large open field, and the steps from each of its cells to the far corner."""
    row, column = np.divmod(np.arange(side * side), side)
    moves = ((-1, 0), (0, 1), (0, -1), (1, 0))
    ends = [np.clip(row + r, 0, side - 1) * side + np.clip(column + c, 0, side - 1) for r, c in moves]
    return ToyWorld(np.stack(ends, axis=1), side * side - 1), 2 * (side - 1) - row - column


def test_a_good_distance_saves_nodes():
    world, ahead = line_and_field()
    nodes = {}
    for weight in (0.0, 1.0, 3.0, float("inf")):
        config = OneShotConfig(frontier="best-first", weight=weight, batch=1)
        plan = one_shot(Guided(world, ahead), frame_of(0), frame_of(world.goal), config)
        assert plan.reached and len(plan.actions) == 58
        nodes[weight] = plan.nodes
    assert nodes[0.0] == 900 > 3 * nodes[1.0] and nodes[3.0] <= nodes[1.0] and nodes[float("inf")] < 200


def test_without_a_learned_distance_embeddings_tell():
    """One-hot embeddings tell nothing but the goal itself, and still it is found."""
    world, _ = line_and_field(8)
    model = ToyModel(world.successors)
    plan = one_shot(model, frame_of(0), frame_of(world.goal), OneShotConfig(frontier="best-first", weight=2))
    check(world, plan, [world.goal])
    assert plan.reached


@pytest.mark.parametrize("weight", [1.0, 5.0])
def test_the_full_planner_plays_best_first_on_every_puzzle(name, weight):
    puzzle = make_puzzle(name)
    config = FullConfig(OneShotConfig(frontier="best-first", weight=weight, batch=8))
    for number in range(6):
        level = get_level(puzzle, number)
        episode = full(Oracle(level), blindfolded(puzzle, level), level.frame(level.goal), config)
        assert episode.solved and episode.replans == 0
        if weight == 1:
            assert len(episode.actions) == len(level.shortest_path(level.start))


@settings(deadline=None, max_examples=30)
@given(st.integers(0, 2**31), st.floats(0.0, 1.0))
def test_the_full_planner_corrects_a_wrong_model_and_a_wrong_distance(seed, share):
    world, _ = line_and_field(4)
    random = np.random.default_rng(seed)
    wrong = np.where(random.random((16, 4)) < share, random.integers(16, size=(16, 4)), world.successors)
    model = Guided(ToyWorld(wrong, 15), random.random(16) * 100)
    config = FullConfig(OneShotConfig(frontier="best-first", weight=2, batch=2), step_limit=2000)
    assert full(model, world, frame_of(15), config).solved


@settings(deadline=None, max_examples=40)
@given(st.integers(2, 40), st.integers(1, 4), st.integers(0, 2**31))
def test_breadth_first_search_is_the_same_on_packed_nodes(states, actions, seed):
    world = random_world(states, actions, seed)
    plain, packed = ToyModel(world.successors), ToyModel(world.successors)
    packed.discrete = True
    one, other = (one_shot(model, frame_of(0), frame_of(world.goal)) for model in (plain, packed))
    assert one.actions == other.actions and one.path == other.path and one.leaves == other.leaves
    for part in ("embeddings", "successors", "parents", "parent_actions", "depths"):
        np.testing.assert_array_equal(getattr(one.graph, part), getattr(other.graph, part))
    assert other.graph.bits == states and one.graph.bits is None


REFUSED = [("weight", -1.0), ("weight", float("nan")), ("batch", 0)]
REFUSED += [("policy_weight", value) for value in (-1.0, float("nan"), float("inf"))]


@pytest.mark.parametrize(("setting", "value"), REFUSED)
def test_settings_out_of_range_are_refused(setting, value):
    with pytest.raises(InputError, match=f"{setting} is"):
        OneShotConfig(**{setting: value})


def test_large_graphs_of_continuous_codes_are_searched_best_first():
    """Larger than what is compared as a whole."""
    states = 1200
    line = np.stack([np.arange(states), np.minimum(np.arange(states) + 1, states - 1)], axis=1)
    plan = one_shot(ToyModel(line), frame_of(0), frame_of(states - 1), dataclasses.replace(BEST, weight=0.0))
    assert plan.reached and len(plan.actions) == states - 1

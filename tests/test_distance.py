"""Learned distances: what graphs teach, what networks take, what is written and read."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from pixelplan.distance.distance_config import NetworkConfig
from pixelplan.distance.labels import back_and_forth, backed_up, from_search, in_hindsight, to_any
from pixelplan.distance.learned_distance import LearnedDistance, load_distance, save_distance
from pixelplan.distance.network import FARTHEST, DistanceNetwork
from pixelplan.distance.rounds import imagine
from pixelplan.planning import OneShotConfig, one_shot
from pixelplan.planning.plan import LatentGraph, unpack
from pixelplan.types import InputError
from tests.test_planning_best_first import steps_to
from tests.toy import ToyModel, frame_of, random_world

SMALL = NetworkConfig(goal_width=4, goal_blocks=1, state_width=4, hidden=16)


@settings(deadline=None, max_examples=60)
@given(st.integers(2, 40), st.integers(1, 4), st.integers(0, 2**31))
def test_a_whole_graph_teaches_true_distances(states, actions, seed):
    """No way that was found is shorter than the shortest; if all was seen and nothing leads there, it is far."""
    world = random_world(states, actions, seed)
    model = ToyModel(world.successors)
    model.discrete = True
    model.distance = lambda z, goals: torch.ones(len(z))
    config = OneShotConfig(frontier="best-first", weight=0.0, batch=1)
    graph = one_shot(model, frame_of(0), np.stack([frame_of(0)]), config).graph
    assert len(graph.codes) == 1, "the start is the goal"
    plan = one_shot(model, frame_of(0), frame_of(world.goal), config)
    path, random = plan.path if plan.reached else None, np.random.default_rng(seed)
    goal = np.eye(states, dtype=np.float32)[world.goal]
    examples = from_search(plan.graph, path, goal, 1000, random)
    learned = unpack(examples.codes, states).argmax(1)
    steps = steps_to(world, [world.goal])
    truth, sure = steps[learned], examples.sure == 1
    after = steps[world.successors[learned]]  # [n,A]
    assert (after < examples.steps[:, None])[examples.best].all(), "the best actions lead nearer"
    assert (examples.best.any(1) <= sure).all() and examples.best.shape == (len(learned), actions)
    assert (examples.steps[sure] >= truth[sure]).all() and not examples.at_least.any()
    if path is not None:
        of_state = dict(zip(learned.tolist(), examples.steps.tolist(), strict=True))
        along = [of_state[state] for state in plan.embeddings.argmax(1).tolist()]
        assert along == list(range(len(plan.actions), -1, -1))
        best = dict(zip(learned.tolist(), examples.best, strict=True))
        states_along = plan.embeddings.argmax(1).tolist()
        assert all(best[state][action] for state, action in zip(states_along, plan.actions, strict=False))
    else:
        assert not sure.any() and (examples.steps == FARTHEST).all()
    if plan.nodes > 1:
        later = in_hindsight(plan.graph, False, 1000, random)
        truth = steps_to(world, [int(later.goal.argmax())])[unpack(later.codes, states).argmax(1)]
        assert (later.steps >= truth)[~later.at_least].all() and (truth > 0)[later.at_least].all()


def test_guesses_are_backed_up_from_the_rim():
    successors = np.array([[1, 2], [1, 3], [-1, -1], [-1, -1]])
    np.testing.assert_array_equal(backed_up(successors, np.array([np.inf, np.inf, 7.5, 2.0])), [4, 3, 7.5, 2])
    np.testing.assert_array_equal(backed_up(successors, np.full(4, np.inf)), np.full(4, np.inf))


def test_who_comes_back_belongs_together():
    """0 and 1 lead to one another, 2 leads nowhere else, and 3 was not expanded."""
    successors = np.array([[1, 2], [0, 3], [2, 2], [-1, -1]], np.int32)
    graph = LatentGraph(np.eye(4, dtype=np.float32), successors, *np.zeros((3, 4), np.int32))
    assert [back_and_forth(graph, node).tolist() for node in range(4)] == [[0, 1], [0, 1], [2], [3]]


def test_imagined_play_is_a_graph_of_the_world():
    world = random_world(30, 3, 5)
    model = ToyModel(world.successors)
    start = np.eye(30, dtype=np.float32)[0]
    graph = imagine(model, None, start, np.random.default_rng(0), walks=4, steps=20)
    states = graph.embeddings.argmax(1)
    known = graph.successors >= 0
    assert states[0] == 0 and known.any(1).sum() > 5
    np.testing.assert_array_equal(states[graph.successors[known]], world.successors[states][known])
    steps = to_any(graph, [3])
    assert steps[3] == 0 and steps[np.isfinite(steps)].max() > 1


@pytest.mark.parametrize("layout", [None, (3, 3, 9)])
def test_networks_take_codes_of_any_layout(layout):
    torch.manual_seed(0)
    network = DistanceNetwork(81, layout, 4, SMALL)
    z, goals = torch.rand(2, 5, 81).round(), torch.rand(2, 81).round()
    roots, logits = network(z, network.read_goal(goals))
    assert roots.shape == (2, 5) and logits.shape == (2, 5, 4)
    distance = LearnedDistance(network)
    steps = distance(z[0], goals[:1])
    assert steps.shape == (5,) and (steps >= 0).all() and (steps <= FARTHEST).all()
    torch.testing.assert_close(steps, distance(z[0], goals[[0, 0]]), msg="several equal goals are one")
    torch.nn.init.constant_(network.answer.weight, 0.01)  # small enough for no distance to be the farthest
    assert not torch.equal(distance(z[0], goals[:1]), distance(z[0], goals[1:])), "another goal, another distance"


def test_a_distance_is_read_as_it_was_written(tmp_path):
    network = DistanceNetwork(81, (3, 3, 9), 4, SMALL)
    torch.nn.init.ones_(network.answer.weight)
    save_distance(network, tmp_path / "h", {"model": "m", "model_identity": "abc", "rounds": []})
    loaded, about = load_distance(tmp_path / "h", "abc")
    z, goals = torch.rand(5, 81).round(), torch.rand(1, 81).round()
    torch.testing.assert_close(loaded(z, goals), LearnedDistance(network)(z, goals))
    assert about["model"] == "m"
    with pytest.raises(InputError, match=r"trained for another model \(m, abc\); this one is xyz"):
        load_distance(tmp_path / "h", "xyz")
    with pytest.raises(InputError, match="holds no heuristic"):
        load_distance(tmp_path)
    (tmp_path / "h" / "weights.safetensors").write_bytes(b"nothing")
    with pytest.raises(InputError, match="is damaged"):
        load_distance(tmp_path / "h", "abc")
    (tmp_path / "h" / "weights.safetensors").unlink()
    with pytest.raises(InputError, match="is damaged"):
        load_distance(tmp_path / "h", "abc")

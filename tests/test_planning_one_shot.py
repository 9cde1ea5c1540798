"""One-shot planning: golden searches, properties against the true rules, limits and bad input."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from pixelplan.planning import OneShotConfig, one_shot
from pixelplan.planning.plan import Plan
from pixelplan.puzzles import PUZZLES, get_level, make_puzzle
from pixelplan.puzzles.oracle import Oracle
from pixelplan.types import InputError
from tests.toy import ToyModel, ToyWorld, frame_of, random_world

GOLDEN = Path(__file__).parent / "golden"
BOARDS = {
    "ice-slider": {"size": 5, "pixels": 20},
    "digit-jump": {"size": 4, "pixels": 16},
    "procgen-maze": {},
}


def oracle_plan(name: str, number: int, **options: int) -> Plan:
    level = get_level(make_puzzle(name, **options), number)
    return one_shot(Oracle(level), level.frame(level.start), level.frame(level.goal))


def written(plan: Plan) -> dict:
    """A search as it is recorded in tests/golden."""
    graph = plan.graph
    return {
        "actions": list(plan.actions),
        "path": list(plan.path),
        "leaves": list(plan.leaves),
        "places": graph.embeddings.argmax(1).tolist(),
        "parents": graph.parents.tolist(),
        "depths": graph.depths.tolist(),
        "successors": graph.successors.tolist(),
    }


@pytest.mark.parametrize("name", BOARDS)
@pytest.mark.parametrize("number", [0, 1, 2])
def test_golden_searches(name, number):
    recorded = json.loads((GOLDEN / f"{name}.json").read_text())[str(number)]
    assert written(oracle_plan(name, number, **BOARDS[name])) == recorded


@pytest.mark.parametrize("name", PUZZLES)
def test_plans_on_the_oracle_are_right_and_shortest(name):
    puzzle = make_puzzle(name)
    for number in range(30):
        level = get_level(puzzle, number)
        plan = oracle_plan(name, number)
        state = level.start
        for action in plan.actions:
            state = level.successors[state, action]
        assert plan.reached and level.goals[state]
        assert len(plan.actions) == len(level.shortest_path(level.start))


@settings(deadline=None, max_examples=80)
@given(st.integers(2, 40), st.integers(1, 5), st.integers(0, 2**31), st.sampled_from([0.0, 0.2]))
def test_properties_in_random_worlds(states, actions, seed, noise):
    world = random_world(states, actions, seed)
    plan = one_shot(ToyModel(world.successors, noise), frame_of(0), frame_of(world.goal))
    shortest = world.shortest()
    assert plan.reached == (shortest is not None)
    if plan.reached:
        assert len(plan.actions) == shortest
        world.reset()
        assert [world.step(action)[1] for action in plan.actions][-1:] == [True]
    places = plan.graph.embeddings.argmax(1)
    nodes, taken = np.nonzero(plan.graph.successors >= 0)
    ends = plan.graph.successors[nodes, taken]
    np.testing.assert_array_equal(places[ends], world.successors[places[nodes], taken])  # every edge is a transition
    assert len(set(places.tolist())) == plan.nodes  # and every node another state
    assert plan.embeddings.shape == (len(plan.actions) + 1, states)
    assert plan.layers == len(plan.leaves)
    assert plan.graph.depths.max() <= plan.layers


def test_start_equals_goal_is_an_empty_plan():
    plan = one_shot(ToyModel([[1], [0]]), frame_of(0), frame_of(0))
    assert plan.reached and plan.actions == () and plan.nodes == 1 and plan.layers == 0


def test_one_move_from_solved():
    plan = one_shot(ToyModel([[0, 0, 1], [1, 1, 1]]), frame_of(0), frame_of(1))
    assert plan.reached and plan.actions == (2,) and plan.path == (0, 1)


def line(length: int) -> ToyWorld:
    states = np.arange(length)
    return ToyWorld(np.stack([np.minimum(states + 1, length - 1), np.maximum(states - 1, 0)], axis=1), length - 1)


@pytest.mark.parametrize("limit", ["depth_limit", "node_limit"])
def test_limits_end_the_search_at_the_node_nearest_the_goal(limit):
    world = line(30)
    model = ToyModel(world.successors)
    model.embeddings = torch.arange(30.0)[:, None] * torch.tensor([[1.0, 0.0]])  # on a line, so that near means near
    model.step = lambda z, context: model.embeddings[model.successors[z[:, 0].round().long()]]
    plan = one_shot(model, frame_of(0), frame_of(29), OneShotConfig(**{limit: 10}))
    assert not plan.reached
    assert plan.actions == (0,) * len(plan.actions) and len(plan.actions) == plan.graph.depths.max()
    assert plan.nodes <= 11 and plan.layers <= 10


def test_a_failed_plan_ends_where_the_picture_is_most_like_the_goal():
    """Of two places, one is unlike the goal in what pictures hardly show, the other in what they do."""
    model = ToyModel([[1, 2], [1, 1], [2, 2], [3, 3]])
    model.embeddings = torch.tensor([[5.0, 5.0], [3.0, 0.0], [0.0, 2.0], [0.0, 0.0]])
    model.step = lambda z, context: model.embeddings[model.successors[torch.cdist(z, model.embeddings).argmin(1)]]
    assert one_shot(model, frame_of(0), frame_of(3)).actions == (1,)
    model.looks = np.array([0.1, 1.0], np.float32)
    assert one_shot(model, frame_of(0), frame_of(3)).actions == (0,)


def test_an_unreachable_goal_ends_when_all_is_seen():
    plan = one_shot(ToyModel([[1], [0], [2]]), frame_of(0), frame_of(2))
    assert not plan.reached and plan.nodes == 2


def test_a_whole_layer_is_one_step_of_the_model():
    world = line(20)
    model = ToyModel(world.successors)
    plan = one_shot(model, frame_of(0), frame_of(19))
    assert plan.reached and model.steps == plan.layers == 19


def tree(depth: int) -> np.ndarray:
    """A binary tree whose leaves lead back to the root."""
    states = np.arange(2 ** (depth + 1) - 1)
    below = np.stack([2 * states + 1, 2 * states + 2], axis=1)
    return np.where(below < len(states), below, 0)


@pytest.mark.parametrize("cut", ["text", "code"])
def test_the_cut_keeps_as_many_leaves_as_it_says(cut):
    successors = tree(6)
    config = OneShotConfig(cutoff=8, cut=cut)
    unreachable = np.append(successors, [[len(successors)] * 2], axis=0)
    plan = one_shot(ToyModel(unreachable), frame_of(0), frame_of(len(successors)), config)
    assert max(plan.leaves) <= 8
    if cut == "code":  # all leaves count as visited; of them at most 8 are expanded, some drawn twice
        assert plan.nodes > sum(plan.leaves)
    else:
        assert plan.nodes == sum(plan.leaves)
    again = one_shot(ToyModel(unreachable), frame_of(0), frame_of(len(successors)), config)
    np.testing.assert_array_equal(plan.graph.embeddings, again.graph.embeddings)


def test_without_reidentification_the_graph_is_a_tree():
    world = line(4)
    plan = one_shot(ToyModel(world.successors), frame_of(0), frame_of(3), OneShotConfig(reidentification=False))
    assert plan.reached and plan.actions == (0, 0, 0)
    assert plan.leaves == (1, 2, 4)


class PointModel(ToyModel):
    """A model whose states are points and whose predictions are given: (state, action) -> point."""

    def __init__(self, points, predictions):
        super().__init__([[state] * 2 for state in range(len(points))])
        self.embeddings = torch.tensor(points, dtype=torch.float32)
        self.predictions = torch.tensor(predictions, dtype=torch.float32)

    def step(self, z, context):
        return self.predictions[torch.cdist(z, self.embeddings).argmin(1)]


def test_the_goal_competes_with_visited_nodes():
    # The prediction is within the threshold of the start and of the goal, and nearer to the goal.
    model = PointModel([[0.0], [0.7]], [[[0.4], [0.0]], [[0.7], [0.7]]])
    plan = one_shot(model, frame_of(0), frame_of(1), OneShotConfig(second_look=False))
    assert plan.reached and plan.actions == (0,)


def test_a_second_look_finds_a_doubtful_goal():
    # The prediction is nearer to the start than to the goal, and yet it is the only hope.
    model = PointModel([[0.0], [0.7]], [[[0.26], [0.0]], [[0.7], [0.7]]])
    assert not one_shot(model, frame_of(0), frame_of(1), OneShotConfig(second_look=False)).reached
    plan = one_shot(model, frame_of(0), frame_of(1))
    assert plan.reached and plan.actions == (0,) and plan.path == (0, 1)


def test_a_second_look_tells_states_apart_more_finely():
    # State 1 is within the threshold of state 0, and the way to the goal, state 2, leads through it.
    model = PointModel([[0.0], [0.4], [5.0]], [[[0.4], [0.0]], [[5.0], [0.4]], [[5.0], [5.0]]])
    assert not one_shot(model, frame_of(0), frame_of(2), OneShotConfig(second_look=False)).reached
    plan = one_shot(model, frame_of(0), frame_of(2))
    assert plan.reached and plan.actions == (0, 0) and plan.layers == 2


@pytest.mark.parametrize(
    ("frame", "goal", "words"),
    [
        (np.zeros((4, 4), np.uint8), frame_of(1), "the frame is uint8"),
        (frame_of(0), np.zeros((4, 4, 3)), "the goal frame is float64"),
        (frame_of(0), np.zeros((8, 4, 3), np.uint8), "must be equal"),
        (frame_of(0), None, "NoneType"),
    ],
)
def test_what_is_no_frame_is_refused(frame, goal, words):
    with pytest.raises(InputError, match=words):
        one_shot(ToyModel([[1], [0]]), frame, goal)


@pytest.mark.parametrize(
    ("settings_", "goal", "contexts"),
    [
        ({}, 1, [1]),
        ({"context": "frame"}, 1, [0]),
        ({}, 2, [2, 0]),  # out of reach: the other frame is looked at, too
        ({"context": "frame", "second_look": False}, 2, [0]),
    ],
)
def test_which_frames_the_rules_are_read_from(settings_, goal, contexts):
    model = ToyModel([[1], [0], [2]])
    seen = []
    model.context = lambda frame: seen.append(int(frame[0, 0, 0])) or seen
    one_shot(model, frame_of(0), frame_of(goal), OneShotConfig(**settings_))
    assert seen == contexts


def test_a_model_that_reads_nothing_from_frames_is_not_asked_twice():
    model = ToyModel([[1], [0], [2]])
    model.discrete = True
    one_shot(model, frame_of(0), frame_of(2), OneShotConfig(second_look=False))
    once, model.steps = model.steps, 0
    one_shot(model, frame_of(0), frame_of(2))
    assert model.steps == once  # neither a finer search, since embeddings are exact, nor one with the other frame


def test_settings_out_of_range_are_refused():
    with pytest.raises(InputError, match="cutoff is 0"):
        OneShotConfig(cutoff=0)


def test_planning_leaves_torch_as_it_was():
    threads = torch.get_num_threads()
    torch.set_num_threads(2)
    one_shot(ToyModel([[1], [0]]), frame_of(0), frame_of(1))
    assert torch.get_num_threads() == 2 and not torch.is_inference_mode_enabled()
    torch.set_num_threads(threads)


def record_golden() -> None:
    """Write tests/golden again, once it is clear why it changed: python -m tests.test_planning_one_shot"""
    for name, options in BOARDS.items():
        searches = {str(number): written(oracle_plan(name, number, **options)) for number in (0, 1, 2)}
        (GOLDEN / f"{name}.json").write_text(json.dumps(searches) + "\n")


if __name__ == "__main__":
    record_golden()

"""The small worlds of the benchmark: what they are, and what the data says about them."""

import importlib.util
from pathlib import Path

import pytest

import pixelplan
from pixelplan.families.grid import ModelConfig, suggest_grid
from pixelplan.families.identity import states_of_frames
from pixelplan.types import InputError

PATH = Path(__file__).parent.parent / "benchmarks" / "small_worlds.py"
SPEC = importlib.util.spec_from_file_location("small_worlds", PATH)
assert SPEC is not None and SPEC.loader is not None
small_worlds = importlib.util.module_from_spec(SPEC)
SPEC.loader.exec_module(small_worlds)

GRIDS = {
    "LightsOut": None,
    "Hanoi": None,
    "Portals": (8, 8),
    "Turtle": None,
    "Twins": None,
    "Keys": None,
    "Ball": (16, 16),
}
"""Of those in which one thing moves."""


@pytest.mark.parametrize("name", GRIDS)
def test_the_data_says_whether_one_thing_moves(name, tmp_path):
    data = pixelplan.collect(small_worlds.WORLDS[name], "0:12", tmp_path / "data", episodes=10)
    states = states_of_frames(data)
    assert len(set(states.tolist())) == len(data.frames), "every frame of these worlds is a state of its own"
    if GRIDS[name] is None:
        with pytest.raises(InputError, match="more than one thing changes"):
            suggest_grid(ModelConfig(), None, data)
    else:
        _, sizes = suggest_grid(ModelConfig(), None, data)
        assert (sizes.rows, sizes.columns) == GRIDS[name]


@pytest.mark.parametrize("name", GRIDS)
def test_shortest_solutions_solve(name):
    world = small_worlds.WORLDS[name]()
    for level in range(3):
        world.reset(seed=level)
        outcomes = [world.step(action)[-1]["solved"] for action in world.shortest_solution()]
        assert outcomes[-1] and not any(outcomes[:-1])


def test_all_worlds_are_known():
    assert set(small_worlds.WORLDS) == set(GRIDS)

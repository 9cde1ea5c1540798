"""The small worlds of the benchmark: what they are, and what the data says about them."""

import importlib.util
from pathlib import Path

import pytest

import pixelplan
from pixelplan.data.identity import states_of_frames
from pixelplan.model.families.grid import ModelConfig, suggest_grid

PATH = Path(__file__).parent.parent / "benchmarks" / "small_worlds.py"
SPEC = importlib.util.spec_from_file_location("small_worlds", PATH)
assert SPEC is not None and SPEC.loader is not None
small_worlds = importlib.util.module_from_spec(SPEC)
SPEC.loader.exec_module(small_worlds)

LATENTS = {
    "LightsOut": ("cells", 3, 3),
    "Hanoi": ("cells", 6, 3),
    "Portals": ("position", 8, 8),
    "Turtle": ("cells", 7, 7),
    "Twins": ("cells", 6, 6),
    "Keys": ("cells", 7, 7),
    "Ball": ("position", 16, 16),
}


@pytest.mark.parametrize("name", LATENTS)
def test_the_data_says_which_latent_a_world_needs(name, tmp_path):
    data = pixelplan.collect(small_worlds.WORLDS[name], "0:12", tmp_path / "data", episodes=10)
    states = states_of_frames(data)
    assert len(set(states.tolist())) == len(data.frames), "every frame of these worlds is a state of its own"
    networks, sizes = suggest_grid(ModelConfig("auto"), None, data)
    assert (networks.family, sizes.rows, sizes.columns) == LATENTS[name]


@pytest.mark.parametrize("name", LATENTS)
def test_shortest_solutions_solve(name):
    world = small_worlds.WORLDS[name]()
    for level in range(3):
        world.reset(seed=level)
        outcomes = [world.step(action)[-1]["solved"] for action in world.shortest_solution()]
        assert outcomes[-1] and not any(outcomes[:-1])


def test_all_worlds_are_known():
    assert set(small_worlds.WORLDS) == set(LATENTS)

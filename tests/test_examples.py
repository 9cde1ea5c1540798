"""The worked examples, and the tutorial as its page has it, with a budget too small to learn much."""

from __future__ import annotations

import ast
import importlib
import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from gymnasium.utils.env_checker import check_env as check_gymnasium

from pixelplan.by_name.resolve import open_family
from pixelplan.worlds.check_env import check_env
from tests.conftest import run_command

ROOT = Path(__file__).parents[1]
EXAMPLES = ["sokoban", "tiles", "minigrid_world"]


@pytest.fixture(params=EXAMPLES)
def example(request: pytest.FixtureRequest) -> str:
    if request.param == "minigrid_world":
        pytest.importorskip("minigrid")
    return str(request.param)


@pytest.mark.filterwarnings("ignore")  # Gymnasium warns of anything that is not usual
def test_examples_are_gymnasium_environments(example: str) -> None:
    check_gymnasium(importlib.import_module(f"examples.{example}").make(), skip_render_check=True)


def test_examples_fit(example: str) -> None:
    check = check_env(open_family(f"examples.{example}:make"), [0, 1, 2], episodes=8)
    assert check.fits and check.hidden == 0 and check.states_seen[-1] > 10


def test_levels_are_solved_by_their_shortest_solutions(example: str) -> None:
    env = importlib.import_module(f"examples.{example}").make()
    for level in range(10):
        env.reset(seed=level)
        way = env.shortest_solution()
        assert way and [env.step(action)[4]["solved"] for action in way] == [False] * (len(way) - 1) + [True]


def test_the_goal_of_doorkey_can_be_reached() -> None:
    """By hand: fetch the key, open the door, walk to the corner; a search over what the frames show finds the way."""
    pytest.importorskip("minigrid")
    env = importlib.import_module("examples.minigrid_world").make()
    first, goal = env.reset(seed=0)[0], None
    ways: dict[bytes, tuple[int, ...]] = {first.tobytes(): ()}
    queue = [first.tobytes()]
    while queue and goal is None:
        way = ways[queue.pop(0)]
        for action in range(5):
            env.reset(seed=0)
            for step in (*way, action):
                frame, _, _, _, info = env.step(step)
            if frame.tobytes() not in ways:
                ways[frame.tobytes()] = (*way, action)
                queue.append(frame.tobytes())
            if info["solved"] and np.array_equal(frame, env.goal_frame()):
                goal = (*way, action)
    assert goal is not None and len(goal) > 5


@pytest.mark.parametrize("way", ["goal picture", "reward", "recording"])
def test_the_guides_commands_run_as_written(way: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    page = (ROOT / "docs" / "own-environment.md").read_text()
    pages = re.findall(r"```python\n(.*?)```", page, flags=re.S)
    code = dict(zip(("goal picture", "reward", "recording"), pages, strict=True))[way]
    assert len([line for line in code.splitlines() if line.strip()]) <= 20
    monkeypatch.chdir(tmp_path)
    small = code.replace('"0:200"', '"0:12"').replace('-model")', '-model", preset="tiny", threads=1)')
    small = small.replace('-data")', '-data", episodes=8, steps=12)').replace("300", "40")
    assert small.count("tiny") == 1
    scope: dict[str, Any] = {"__name__": "tutorial"}
    exec(compile(small, "tutorial", "exec"), scope)
    if way == "goal picture":
        assert scope["episode"].solved
    elif way == "reward":
        assert scope["model"].goal_test is not None and len(scope["episode"].actions) > 0
    else:
        assert scope["plan"].nodes > 1


def test_wrappers_of_the_zoo_are_thin() -> None:
    """At most 15 lines of code in each class or function."""
    for wrapper in ast.parse((ROOT / "examples" / "zoo.py").read_text()).body:
        if isinstance(wrapper, ast.ClassDef | ast.FunctionDef):
            code = [line for line in ast.unparse(wrapper).splitlines() if line.strip() and '"""' not in line]
            assert len(code) <= 15, wrapper.name


def test_commands_of_the_pages_parse(tmp_path: Path) -> None:
    done = run_command("check-env", "--env", "examples.tiles:make", "--levels", "0:2", "--episodes", "3")
    assert "whole state" in done.stdout

"""Every registered id through the same checks: Gymnasium's, stable-baselines3's, and ours."""

from __future__ import annotations

import sys
import threading

import gymnasium
import numpy as np
import pytest
from gymnasium.error import ResetNeeded
from gymnasium.utils.env_checker import check_env
from hypothesis import given, settings
from hypothesis import strategies as st

import pixelplan  # noqa: F401 (registers the puzzles)
from pixelplan.puzzles import IDS, make_env, make_vector_env
from pixelplan.types import InputError

actions = st.lists(st.integers(0, 4), min_size=1, max_size=40)


def test_gymnasium_accepts_it(name: str) -> None:
    check_env(gymnasium.make(IDS[name]).unwrapped)
    check_env(gymnasium.make(IDS[name], level=7, terminate_on_goal=False).unwrapped)


def test_stable_baselines_accepts_it(name: str) -> None:
    checker = pytest.importorskip("stable_baselines3.common.env_checker", reason="needs the extra 'baselines'")
    checker.check_env(gymnasium.make(IDS[name]).unwrapped)


def test_solution_solves_and_terminates(name: str) -> None:
    env = make_env(name)
    for level in range(20, 26):
        frame, info = env.reset(options={"level": level})
        assert info["level"] == level and not info["solved"] and frame.dtype == np.uint8
        solution = env.shortest_solution()
        assert solution is not None and env.solvable_from_here()
        for count, action in enumerate(solution, 1):
            frame, reward, terminated, truncated, info = env.step(action)
            assert terminated == info["solved"] == (count == len(solution)) and not truncated
            assert reward == (10.0 if terminated else 0.0)
        assert env.shortest_solution() == ()


def test_play_continues_past_the_goal(name: str) -> None:
    env = make_env(name, level=11, terminate_on_goal=False)
    env.reset()
    for action in env.shortest_solution() or ():
        _, reward, terminated, _, info = env.step(action)
    assert info["solved"] and reward == 10.0 and not terminated
    assert env.step(4)[1] == 0.0  # the reward comes once


def test_goal_frame_is_the_solved_frame(name: str) -> None:
    env = make_env(name, level=12)
    start, _ = env.reset()
    goal = env.goal_frame()
    for action in env.shortest_solution() or ():
        frame, *_ = env.step(action)
    if name != "procgen-maze":  # there the mouse may arrive facing the other way
        assert np.array_equal(frame, goal)
    assert not np.array_equal(start, goal)


def test_levels_are_drawn_from_their_range_by_the_seed(name: str) -> None:
    env = make_env(name, levels=(30, 34))
    seen = [env.reset(seed=seed)[1]["level"] for seed in range(20)]
    assert set(seen) == {30, 31, 32, 33}
    assert seen == [env.reset(seed=seed)[1]["level"] for seed in range(20)]


def test_random_starts(name: str) -> None:
    env = make_env(name, level=5, random_start=True)
    places = {env.reset(seed=seed)[1]["position"] for seed in range(30)}
    assert len(places) > 3


def test_truncation() -> None:
    env = make_env("ice-slider", level=5, max_episode_steps=3)
    env.reset()
    assert [env.step(4)[3] for _ in range(3)] == [False, False, True]


@settings(max_examples=15, deadline=None)
@given(st.sampled_from(["ice-slider", "digit-jump"]), st.integers(0, 500), actions, actions)
def test_clone_and_restore(name: str, level: int, before: list[int], after: list[int]) -> None:
    env = make_env(name, level=level, terminate_on_goal=False)
    env.reset()
    for action in before:
        env.step(action)
    saved = env.clone_state()
    first = [env.step(action) for action in after]
    env.reset(options={"level": level + 1})
    env.restore_state(saved)
    for action, (frame, reward, *_, info) in zip(after, first, strict=True):
        again = env.step(action)
        assert np.array_equal(again[0], frame) and again[1] == reward and again[4] == info


def test_position_and_frame_agree(name: str) -> None:
    """The agent's place in the picture moves when and as its position does."""
    env = make_env(name, level=21, terminate_on_goal=False)
    frame, info = env.reset(seed=1)
    cells = 15 if name == "procgen-maze" else 8
    random = np.random.default_rng(0)
    for _ in range(60):
        new_frame, *_, new_info = env.step(int(random.integers(5)))
        if new_info["position"] != info["position"]:
            changed = np.argwhere((frame != new_frame).any(-1))
            for row, column in (info["position"], new_info["position"]):
                centre = (np.array([row, column]) + 0.5) * 64 / cells
                assert np.abs(changed + 0.5 - centre).max(1).min() < 64 / cells
        frame, info = new_frame, new_info


def test_human_mode_shows_and_closes() -> None:
    env = make_env("digit-jump", render_mode="human", level=1)
    env.reset()
    env.step(1)
    assert env.render() is None
    env.close()
    assert isinstance(make_env("digit-jump", render_mode="rgb_array", level=1).reset()[0], np.ndarray)


@pytest.mark.parametrize("action", [-1, 5, 2.5, "up", None])
def test_bad_actions(action: object) -> None:
    env = make_env("ice-slider", level=1)
    env.reset()
    with pytest.raises(InputError, match="no action"):
        env.step(action)  # type: ignore[arg-type]


def test_bad_calls() -> None:
    with pytest.raises(ResetNeeded):
        make_env("ice-slider").step(0)
    with pytest.raises(ResetNeeded):
        make_vector_env("ice-slider", 2).step(np.zeros(2, int))
    with pytest.raises(InputError, match="speed"):
        make_env("ice-slider").reset(options={"speed": 2})
    with pytest.raises(InputError, match="render_mode"):
        make_env("ice-slider", render_mode="ansi")
    with pytest.raises(InputError, match="range"):
        make_env("ice-slider", levels=(5, 5))
    with pytest.raises(InputError, match="max_episode_steps"):
        make_env("ice-slider", max_episode_steps=0)
    with pytest.raises(InputError, match="no level"):
        make_env("ice-slider", level=-3)
    env = make_vector_env("ice-slider", 3, levels=(0, 5))
    with pytest.raises(InputError, match="2 levels"):
        env.reset(options={"level": [1, 2]})
    env.reset(seed=0)
    with pytest.raises(InputError, match="out of range"):
        env.step(np.array([0, 1, 9]))
    with pytest.raises(InputError, match="whole numbers"):
        env.step(np.array([0.0, 1.0, 2.0]))


def test_without_procgen_the_maze_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "procgen", None)
    monkeypatch.setitem(sys.modules, "procgen.env", None)
    raised: list[InputError] = []

    def make() -> None:
        try:
            make_env("procgen-maze", level=2**31 - 5)
        except InputError as problem:
            raised.append(problem)

    thread = threading.Thread(target=make)  # a new thread has no simulator yet
    thread.start()
    thread.join()
    assert "pixelplan[procgen]" in str(raised[0])

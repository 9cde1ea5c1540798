"""The vectorised environment plays as many single ones do."""

from __future__ import annotations

import gymnasium
import numpy as np
import pytest
from gymnasium.vector import AutoresetMode, SyncVectorEnv

from pixelplan.puzzles import IDS, make_env, make_vector_env

MODES = [AutoresetMode.NEXT_STEP, AutoresetMode.SAME_STEP]


@pytest.mark.parametrize("mode", MODES)
def test_equals_single_environments(name: str, mode: AutoresetMode) -> None:
    options = {"levels": (40, 60), "max_episode_steps": 17, "random_start": name == "procgen-maze"}
    fast = make_vector_env(name, 6, autoreset_mode=mode.value, **options)
    slow = SyncVectorEnv([lambda: make_env(name, **options)] * 6, autoreset_mode=mode)
    random = np.random.default_rng(3)
    for one, other in zip(fast.reset(seed=5), slow.reset(seed=5), strict=True):
        same(one, other)
    for _ in range(80):
        action = random.integers(5, size=6)
        for one, other in zip(fast.step(action), slow.step(action), strict=True):
            same(one, other)


def same(one: object, other: object) -> None:
    """Equal arrays, or dictionaries of them; if a key has a mask, only what it marks counts."""
    if not isinstance(one, dict):
        assert isinstance(one, np.ndarray) and isinstance(other, np.ndarray)
        assert np.array_equal(one, other)
        return
    assert isinstance(other, dict) and set(one) == set(other)
    for key, value in one.items():
        if isinstance(value, dict):
            mask = one[f"_{key}"]
            for inner in ("level", "position", "solved"):
                assert np.array_equal(value[inner][mask], np.stack(other[key][inner][mask].tolist()))
        elif f"_{key}" in one:
            mask = one[f"_{key}"]
            assert np.array_equal(mask, other[f"_{key}"])
            assert np.array_equal(value[mask], np.stack(list(other[key][mask])))


def test_make_vec_makes_it(name: str) -> None:
    env = gymnasium.make_vec(IDS[name], num_envs=4, level=3, max_episode_steps=5)
    assert type(env.unwrapped).__name__ == "PuzzleVectorEnv"
    assert env.metadata["autoreset_mode"] == AutoresetMode.NEXT_STEP
    frames, infos = env.reset(seed=0)
    assert env.observation_space.contains(frames) and infos["level"].tolist() == [3] * 4
    frames, infos = env.reset(options={"level": [1, 2, 3, 4]})
    assert infos["level"].tolist() == [1, 2, 3, 4]


def test_frames_are_not_reused() -> None:
    env = make_vector_env("digit-jump", 3)
    first, _ = env.reset(seed=0)
    kept = first.copy()
    env.step(np.array([1, 1, 3]))
    assert np.array_equal(first, kept)


def test_disabled_autoreset_plays_on() -> None:
    env = make_vector_env("digit-jump", 2, autoreset_mode="Disabled", level=0, max_episode_steps=1)
    env.reset(seed=0)
    assert env.step(np.array([1, 1]))[3].all()
    assert env.step(np.array([1, 1]))[3].all()

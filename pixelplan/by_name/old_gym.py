"""Environments of old Gym, which Gymnasium has replaced: `gym:Id-v0`, or `gym:module:Id-v0`."""

from __future__ import annotations

import contextlib
import importlib
import inspect
import io
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import gymnasium

from pixelplan.types import InputError

OLD_GYM = "gym"


@contextmanager
def _quietly() -> Iterator[None]:
    """Without the warning that old Gym prints on every import."""
    with warnings.catch_warnings(), contextlib.redirect_stderr(io.StringIO()):
        warnings.simplefilter("ignore")
        yield


def is_old(id: str) -> bool:
    """Whether old Gym is installed and has an environment of this id."""
    try:
        with _quietly():
            gym = importlib.import_module("gym")
            return id in gym.envs.registry
    except Exception:  # a broken Gym has no environments
        return False


def old_gym(id: str) -> Callable[..., gymnasium.Env[Any, Any]]:
    """A function that makes the environment of an old id, for Gymnasium; an InputError if it is not installed."""
    try:
        with _quietly():
            gym = importlib.import_module("gym")
            shimmy = importlib.import_module("shimmy")
    except ImportError as problem:
        raise InputError(f"gym:{id} needs {problem.name}: pip install 'pixelplan[zoo]'") from None

    def make(**options: Any) -> gymnasium.Env[Any, Any]:
        with _quietly():
            env = _make_env(gym, id, options).unwrapped
            if "seed" in inspect.signature(env.reset).parameters:  # since version 0.26
                return shimmy.GymV26CompatibilityV0(env=env)
            return shimmy.GymV21CompatibilityV0(env=env, render_mode="rgb_array")

    return make


def _make_env(gym: Any, id: str, options: dict[str, Any]) -> Any:
    """The environment, asked for pictures if it can be."""
    try:
        return gym.make(id, disable_env_checker=True, **{"render_mode": "rgb_array", **options})
    except TypeError:  # it does not know the argument
        return gym.make(id, disable_env_checker=True, **options)

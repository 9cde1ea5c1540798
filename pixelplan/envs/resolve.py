"""Families of levels by what people call them: a puzzle's name, a Gymnasium id, or a function in a module."""

from __future__ import annotations

import importlib
import inspect
import os
import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, cast

import gymnasium

from pixelplan.envs import IDS, PUZZLES, make_puzzle
from pixelplan.envs.base import Puzzle
from pixelplan.envs.family import Family, Tables
from pixelplan.envs.guard import STEP_SECONDS, describe
from pixelplan.envs.gym_family import GymFamily
from pixelplan.envs.noise import NOISE, Noise, Noisy
from pixelplan.types import InputError

EnvLike = str | Puzzle | gymnasium.Env[Any, Any] | Callable[[], Any] | Family
"""What may be given for a family of levels: its name, a puzzle, an environment, a function that makes one, a family."""


def open_family(
    env: EnvLike,
    options: Mapping[str, Any] | None = None,
    pixels: tuple[int, int] | int | None = None,
    step_seconds: float = STEP_SECONDS,
) -> Family:
    """The family of levels that somebody means; an InputError says what there is.

    `options` are a puzzle's, or arguments for what makes an environment. `pixels` (height, width) is the size of an own
    environment's frames, and `step_seconds` how long one call of it may take. Names are imported: give none that was
    read from a file.
    """
    given = dict(options or {})
    if isinstance(env, str) and env in (*PUZZLES, *IDS.values()):
        name = next(name for name in PUZZLES if env in (name, IDS[name]))
        return _puzzle(make_puzzle(name, **given), pixels)
    if isinstance(env, tuple(PUZZLES.values())):
        return _puzzle(env, pixels)
    if hasattr(env, "challenge"):
        family = cast(Family, env)
        return family if pixels is None else family.fit((pixels, pixels) if isinstance(pixels, int) else pixels)
    if isinstance(env, str):
        make = Maker(env, tuple(given.items()))
        made = make()
        if hasattr(made, "challenge"):
            return open_family(made, pixels=pixels)
        return GymFamily(make, name=env, options=given, pixels=pixels, step_seconds=step_seconds)
    if isinstance(env, gymnasium.Env) or callable(env):
        return GymFamily(env, pixels=pixels, step_seconds=step_seconds)
    raise InputError(
        f"{type(env).__name__} is no environment; give a Gymnasium environment or a function that makes one"
    )


@contextmanager
def blame(name: str) -> Iterator[None]:
    """Whatever somebody else's code raises becomes an InputError that says whose it is."""
    try:
        yield
    except InputError:
        raise
    except Exception as problem:
        raise InputError(f"{name} failed: {describe(problem)}") from problem


def recorded_family(env: str, options: Mapping[str, Any], named: EnvLike | None = None) -> Family | None:
    """The family that a record is of, with its noise: a puzzle, or the environment that the user names; else None.

    Names of own environments in files are never imported: whoever made the file could have any code run.
    """
    rest = {key: value for key, value in options.items() if key != NOISE}
    if env in PUZZLES:
        family: Family = _puzzle(make_puzzle(env, **rest), None)
    elif named is None:
        return None
    else:
        pixels = rest.pop("pixels", None)
        family = open_family(named, rest, None if pixels is None else tuple(pixels))
    return Noisy(family, Noise(**options[NOISE])) if NOISE in options else family


def _puzzle(puzzle: Any, pixels: Any) -> Tables:
    if pixels is not None:
        raise InputError("a puzzle draws its frames itself; choose their size by its option, --option pixels=128")
    return Tables(puzzle, next(name for name, kind in PUZZLES.items() if isinstance(puzzle, kind)))


@dataclass(frozen=True)
class Maker:
    """Makes the environment that a text names, in this process or another."""

    name: str
    """package.module:function, or a Gymnasium id."""
    options: tuple[tuple[str, Any], ...]

    def __call__(self) -> Any:
        """The environment; an InputError where there is none of that name, or it cannot be made so."""
        module, colon, attribute = self.name.partition(":")
        if colon and all(part.isidentifier() for part in attribute.split(".")):
            return self._made(_find(module, attribute))
        if colon:
            _import(module)
        if (attribute or self.name) not in gymnasium.registry:
            raise InputError(
                f"there is no puzzle {self.name!r}; the puzzles are {', '.join(PUZZLES)}, and an environment of your "
                "own is package.module:function or a Gymnasium id"
            )
        return self._made(_registered(attribute or self.name))

    def _made(self, make: Callable[..., Any]) -> Any:
        options = dict(self.options)
        try:
            inspect.signature(make).bind(**options)
        except TypeError as problem:
            raise InputError(f"{self.name} cannot be made with options {options}: {problem}") from None
        except ValueError:  # it has no signature to look at
            pass
        try:
            return make(**options)
        except (InputError, KeyboardInterrupt):
            raise
        except BaseException as problem:  # somebody else's code may raise anything
            raise InputError(f"{self.name} cannot be made: {describe(problem)}") from problem


def _registered(id: str) -> Callable[..., Any]:
    """What makes the environment of a Gymnasium id: it renders where it can, and has no limit of steps."""

    def make(**options: Any) -> gymnasium.Env[Any, Any]:
        entry = gymnasium.spec(id).entry_point
        creator = gymnasium.envs.registration.load_env_creator(entry) if isinstance(entry, str) else entry
        if "rgb_array" in getattr(creator, "metadata", {}).get("render_modes", ()):
            options.setdefault("render_mode", "rgb_array")
        return gymnasium.make(id, max_episode_steps=-1, disable_env_checker=True, **options)

    return make


def _find(module: str, attribute: str) -> Callable[..., Any]:
    """What a module calls by this name."""
    found = _import(module)
    for part in attribute.split("."):
        if not hasattr(found, part):
            raise InputError(f"{module} has no {attribute!r}; name a function that makes an environment")
        found = getattr(found, part)
    if not callable(found):
        raise InputError(f"{module}:{attribute} is no function that makes an environment")
    return found


def _import(module: str) -> Any:
    """A module, also from the folder that the command was called in."""
    if os.getcwd() not in sys.path:
        sys.path.insert(0, os.getcwd())
    try:
        return importlib.import_module(module)
    except ImportError as problem:
        raise InputError(f"{module} cannot be imported: {' '.join(str(problem).split())}") from None
    except KeyboardInterrupt:
        raise
    except BaseException as problem:  # as above
        raise InputError(f"{module} cannot be imported: {describe(problem)}") from problem

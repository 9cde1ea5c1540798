"""Families of levels by name: a puzzle's, a Gymnasium id, or a function in a module."""

from __future__ import annotations

import contextlib
import importlib
import inspect
import os
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from typing import Any, cast

import gymnasium

from pixelplan.by_name.old_gym import OLD_GYM, is_old, old_gym
from pixelplan.envs.family import Family
from pixelplan.envs.guard import STEP_SECONDS, describe
from pixelplan.envs.noise_config import NOISE, Noise
from pixelplan.puzzles import IDS, PUZZLES, make_puzzle
from pixelplan.puzzles.base import Puzzle
from pixelplan.puzzles.table_family import Tables
from pixelplan.types import InputError
from pixelplan.worlds.gym_family import GymFamily
from pixelplan.worlds.noise import Noisy

NO_LIMIT = 10**6
"""Steps of an episode, for environments that need a number: planners and recordings have their own limits."""
EnvLike = str | Puzzle | gymnasium.Env[Any, Any] | Callable[[], Any] | Family
"""What may be given for a family of levels: its name, a puzzle, an environment, a function that makes one, a family."""


def open_family(
    env: EnvLike,
    options: Mapping[str, Any] | None = None,
    pixels: tuple[int, int] | int | None = None,
    step_seconds: float = STEP_SECONDS,
) -> Family:
    """The family of levels that `env` stands for; an InputError if there is none.

    `options` are a puzzle's, or arguments for the function that makes an environment. `pixels` (height, width) is the
    size of a user's environment's frames, and `step_seconds` how long one call of it may take. Names are imported:
    never give one that was read from a file.
    """
    options_given = dict(options or {})
    if isinstance(env, str) and env in (*PUZZLES, *IDS.values()):
        name = next(name for name in PUZZLES if env in (name, IDS[name]))
        return _puzzle(make_puzzle(name, **options_given), pixels)
    if isinstance(env, tuple(PUZZLES.values())):
        return _puzzle(env, pixels)
    if hasattr(env, "challenge"):
        family = cast(Family, env)
        return family if pixels is None else family.fit((pixels, pixels) if isinstance(pixels, int) else pixels)
    if isinstance(env, str):
        make = Maker(env, tuple(options_given.items()))
        env_made = make()
        if hasattr(env_made, "challenge"):
            return open_family(env_made, pixels=pixels)
        return GymFamily(make, name=env, options=options_given, pixels=pixels, step_seconds=step_seconds)
    if isinstance(env, gymnasium.Env) or callable(env):
        return GymFamily(env, pixels=pixels, step_seconds=step_seconds)
    raise InputError(
        f"{type(env).__name__} is not an environment; give a Gymnasium environment or a function that makes one"
    )


@contextmanager
def blame(name: str) -> Iterator[None]:
    """Turn anything that a user's code raises into an InputError that names it."""
    try:
        yield
    except InputError:
        raise
    except Exception as problem:
        raise InputError(f"{name} failed: {describe(problem)}") from problem


def recorded_family(env: str, options: Mapping[str, Any], user_env: EnvLike | None = None) -> Family | None:
    """The family of a record, with its noise: a puzzle, or the environment that the user names; else None.

    Names of environments in files are never imported: the author of the file could run any code.
    """
    rest = {key: value for key, value in options.items() if key != NOISE}
    if env in PUZZLES:
        family: Family = _puzzle(make_puzzle(env, **rest), None)
    elif user_env is None:
        return None
    else:
        pixels = rest.pop("pixels", None)
        family = open_family(user_env, rest, None if pixels is None else tuple(pixels))
    return Noisy(family, Noise(**options[NOISE])) if NOISE in options else family


def _puzzle(puzzle: Any, pixels: Any) -> Tables:
    if pixels is not None:
        raise InputError("a puzzle draws its frames itself; choose their size by its option, --option pixels=128")
    return Tables(puzzle, next(name for name, kind in PUZZLES.items() if isinstance(puzzle, kind)))


@dataclass(frozen=True)
class Maker:
    """Makes the environment that a text names, in this process or another."""

    name: str
    """package.module:function, a Gymnasium id, or an id of old Gym behind "gym:"."""
    options: tuple[tuple[str, Any], ...]

    def __call__(self) -> Any:
        """The environment; an InputError if there is none of that name, or if these options cannot make it."""
        _quiet_pygame()
        module, colon, attribute = self.name.partition(":")
        if module == OLD_GYM and colon:
            return self._make(old_gym(attribute))
        if colon and all(part.isidentifier() for part in attribute.split(".")):
            creator = _find(module, attribute)
            return self._make(creator, _pictures(creator))
        if colon:
            _import(module)
        id = attribute or self.name
        if id not in gymnasium.registry:
            raise InputError(
                f"there is no puzzle {self.name!r}; the puzzles are {', '.join(PUZZLES)}, and an environment of your "
                f"own is package.module:function or a Gymnasium id{self._suggestion(id)}"
            )
        return self._make(_registered(id))

    def _suggestion(self, id: str) -> str:
        """What an unknown id may have meant, as the end of a sentence; empty if there is no telling."""
        name, version, _ = id.rpartition("-v")
        others = [other for other in gymnasium.registry if version and other.rpartition("-v")[0] == name]
        if others:
            return f"; Gymnasium has {' and '.join(others)}"
        if is_old(id):
            return f"; it is an id of old Gym: write gym:{self.name}"
        return f"; if a package has this id, name it: package:{id}" if version and id == self.name else ""

    def _make(self, make: Callable[..., Any], pictures: Sequence[Mapping[str, Any]] = ({},)) -> Any:
        """What a function makes with the options and the first of these requests for pictures that it accepts."""
        options = dict(self.options)
        try:
            inspect.signature(make).bind(**options)
        except TypeError as problem:
            raise InputError(f"{self.name} cannot be made with options {options}: {problem}") from None
        except ValueError:  # it has no signature
            pass
        try:
            return _first(make, [{**rendering, **options} for rendering in pictures])
        except (InputError, KeyboardInterrupt):
            raise
        except BaseException as problem:  # a user's code may raise anything
            raise InputError(f"{self.name} cannot be made: {describe(problem)}") from problem


def _quiet_pygame() -> None:
    """Let pygame draw without a screen, and let a signal end the process: it would catch SIGTERM and go on."""
    os.environ.setdefault("SDL_NO_SIGNAL_HANDLERS", "1")
    if sys.platform == "linux" and not {"DISPLAY", "WAYLAND_DISPLAY"} & os.environ.keys():
        os.environ.setdefault("SDL_VIDEODRIVER", "dummy")


def _registered(id: str) -> Callable[..., Any]:
    """A function that makes the environment of a Gymnasium id, rendering if it can and without a limit of steps."""

    def make(**options: Any) -> gymnasium.Env[Any, Any]:
        entry = gymnasium.spec(id).entry_point
        creator = gymnasium.envs.registration.load_env_creator(entry) if isinstance(entry, str) else entry
        assert creator is not None
        make_one = partial(gymnasium.make, id, max_episode_steps=-1, disable_env_checker=True)
        limits: list[dict[str, Any]] = [{}]  # it may set the limit itself, and refuse another
        if "max_steps" not in options and _limits_itself(creator):
            limits.insert(0, {"max_steps": NO_LIMIT})
        return _first(
            make_one, [{**rendering, **options, **limit} for rendering in _pictures(creator) for limit in limits]
        )

    return make


def _first(make: Callable[..., Any], arguments: Sequence[Mapping[str, Any]]) -> Any:
    """What a function makes of the first arguments that it does not refuse with a TypeError."""
    for chosen in arguments[:-1]:
        with contextlib.suppress(TypeError):
            return make(**chosen)
    return make(**arguments[-1])


def _pictures(creator: Callable[..., Any]) -> tuple[Mapping[str, Any], ...]:
    """Arguments to try in turn, of which the first ask for pictures if the function or class may know how.

    It says so by an argument or in its metadata; one that takes any arguments may hand them on.
    """
    rendering = {"render_mode": "rgb_array"}
    metadata = getattr(creator, "metadata", None)  # of a wrapper's class it is a property
    modes = metadata.get("render_modes", ()) if isinstance(metadata, Mapping) else ()
    parameters: Mapping[str, inspect.Parameter] = {}
    with contextlib.suppress(TypeError, ValueError):  # some have no signature
        parameters = inspect.signature(creator).parameters
    if "render_mode" in parameters and (not modes or "rgb_array" in modes):
        return (rendering,)
    takes_any = any(parameter.kind is inspect.Parameter.VAR_KEYWORD for parameter in parameters.values())
    return (rendering, {}) if "rgb_array" in modes or (not modes and takes_any) else ({},)


def _limits_itself(creator: Callable[..., Any]) -> bool:
    """Whether an environment or its base class takes a limit of steps, as those of MiniGrid do.

    Such an environment may reward a late end less, and one after its limit not at all.
    """
    kinds: list[Any] = [creator]
    if inspect.isclass(creator):
        kinds = [vars(kind)["__init__"] for kind in inspect.getmro(creator) if "__init__" in vars(kind)]
    for kind in kinds:
        with contextlib.suppress(TypeError, ValueError):  # some have no signature
            if "max_steps" in inspect.signature(kind).parameters:
                return True
    return False


def _find(module: str, attribute: str) -> Callable[..., Any]:
    """The function that has this name in a module."""
    function = _import(module)
    for part in attribute.split("."):
        if not hasattr(function, part):
            raise InputError(f"{module} has no {attribute!r}; name a function that makes an environment")
        function = getattr(function, part)
    if not callable(function):
        raise InputError(f"{module}:{attribute} is not a function that makes an environment")
    return function


def _import(module: str) -> Any:
    """A module, also from the current folder."""
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

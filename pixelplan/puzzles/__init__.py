"""LEVELS: the puzzles, registered with Gymnasium on import."""

from __future__ import annotations

import dataclasses
from typing import Any

import gymnasium

from pixelplan.puzzles.base import PlayOptions, Puzzle, PuzzleEnv, get_level
from pixelplan.puzzles.digit_jump import DigitJump
from pixelplan.puzzles.ice_slider import IceSlider
from pixelplan.puzzles.level import Level
from pixelplan.puzzles.procgen_maze import ProcgenMaze
from pixelplan.puzzles.vector_env import PuzzleVectorEnv
from pixelplan.types import InputError

PUZZLES: dict[str, type[Any]] = {"ice-slider": IceSlider, "digit-jump": DigitJump, "procgen-maze": ProcgenMaze}
"""The puzzles by their names on the command line."""

IDS = {name: f"pixelplan/{puzzle.__name__}-v0" for name, puzzle in PUZZLES.items()}
"""The same puzzles by their Gymnasium ids."""

__all__ = [
    "IDS",
    "PUZZLES",
    "Level",
    "Puzzle",
    "PuzzleEnv",
    "PuzzleVectorEnv",
    "get_level",
    "make_env",
    "make_puzzle",
    "make_vector_env",
]


KINDS: dict[str, tuple[Any, str]] = {
    "Literal": (str, "a word"),
    "float": (int | float, "a number"),
    "int": (int, "a whole number"),
}
"""The types of options and what to call them, by a word in their annotation."""


def make_puzzle(name: str, **options: Any) -> Puzzle:
    """A puzzle by its command-line name; an InputError for an unknown one or an option it does not have."""
    if name not in PUZZLES:
        raise InputError(f"there is no puzzle {name!r}; the puzzles are {', '.join(PUZZLES)}")
    kinds = {field.name: str(field.type) for field in dataclasses.fields(PUZZLES[name])}
    for option, value in options.items():
        if option not in kinds:
            raise InputError(f"{name} has no option {option!r}; it has {', '.join(kinds) or 'none'}")
        kind = next((kind for kind in KINDS if kind in kinds[option]), "int")
        if value is not None and not isinstance(value, KINDS[kind][0]):
            raise InputError(f"{option} of {name} cannot be {value!r}; it is {KINDS[kind][1]}")
    puzzle: Puzzle = PUZZLES[name](**options)
    return puzzle


def _split(options: dict[str, Any]) -> tuple[PlayOptions, dict[str, Any]]:
    """The options of play and the rest."""
    names = {field.name for field in dataclasses.fields(PlayOptions)}
    play = PlayOptions(**{name: options.pop(name) for name in names & set(options)})
    return play, options


def make_env(puzzle: str, render_mode: str | None = None, **options: Any) -> PuzzleEnv:
    """What `gymnasium.make` calls: options of the puzzle and of play, mixed."""
    play, options = _split(options)
    return PuzzleEnv(make_puzzle(puzzle, **options), play, render_mode)


def make_vector_env(puzzle: str, num_envs: int, autoreset_mode: str = "NextStep", **options: Any) -> PuzzleVectorEnv:
    """What `gymnasium.make_vec` calls."""
    play, options = _split(options)
    return PuzzleVectorEnv(make_puzzle(puzzle, **options), num_envs, play, autoreset_mode)


for _name, _id in IDS.items():
    if _id not in gymnasium.registry:
        gymnasium.register(
            _id,
            entry_point="pixelplan.puzzles:make_env",
            vector_entry_point="pixelplan.puzzles:make_vector_env",
            kwargs={"puzzle": _name},
        )

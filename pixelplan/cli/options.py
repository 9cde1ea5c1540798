"""What several commands share: parsing levels and their options, and a progress bar."""

from __future__ import annotations

import ast
import dataclasses
import types
import typing
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager

from pixelplan.by_name.resolve import open_family
from pixelplan.envs.family import Family
from pixelplan.envs.frames import LARGEST_PICTURE
from pixelplan.envs.guard import STEP_SECONDS
from pixelplan.envs.noise_config import Noise
from pixelplan.puzzles import PUZZLES, Puzzle, make_puzzle
from pixelplan.types import InputError
from pixelplan.worlds.noise import Noisy


def parse_family(
    name: str, options: Sequence[str], pixels: str | None, noise: Noise, step_seconds: float = STEP_SECONDS
) -> Family:
    """A puzzle or your own environment by name, with options such as "size=16", perhaps with visual noise.

    `pixels` is the frame size of your own environment: 64, or 48x72 for height and width. `step_seconds` is how long
    one of its calls may take.
    """
    family = _quiet_family(name, options, parse_pixels(pixels), step_seconds)
    return family if noise.silent else Noisy(family, noise)


def _quiet_family(name: str, options: Sequence[str], pixels: tuple[int, int] | None, step_seconds: float) -> Family:
    if name in PUZZLES:
        return open_family(parse_options(name, options), pixels=pixels)
    values = {}
    for option in options:
        key, equals, text = _split_option(option)
        if not equals or not key.isidentifier():
            raise InputError(f"{option!r} is not an option; write name=value, such as size=8")
        try:
            values[key] = ast.literal_eval({"true": "True", "false": "False"}.get(text.strip(), text.strip()))
        except (ValueError, SyntaxError, MemoryError, RecursionError):
            values[key] = text.strip()
    return open_family(name, values, pixels, step_seconds)


def _split_option(option: str) -> tuple[str, str, str]:
    """The name, the equals sign ("" if it is missing) and the text of an option such as "size=16"."""
    key, equals, text = option.partition("=")
    return key.strip().replace("-", "_"), equals, text


def parse_pixels(text: str | None) -> tuple[int, int] | None:
    """Height and width from "64" or "48x72"."""
    if text is None:
        return None
    sides = text.lower().split("x")
    if len(sides) > 2 or not all(side.isascii() and side.isdigit() for side in sides):
        raise InputError(f"pixels is {text!r}; write the side of square frames, such as 64, or height x width as 48x72")
    if not all(len(side) <= 4 and 8 <= int(side) <= LARGEST_PICTURE for side in sides):
        raise InputError(f"pixels is {text[:40]!r}; a side must have 8 to {LARGEST_PICTURE}")
    return int(sides[0]), int(sides[-1])


def parse_options(name: str, options: Sequence[str]) -> Puzzle:
    """A puzzle by name with options such as "size=16"; an InputError says which options there are."""
    if name not in PUZZLES:
        raise InputError(f"there is no puzzle {name!r}; the puzzles are {', '.join(PUZZLES)}")
    kinds = typing.get_type_hints(PUZZLES[name])
    fields = [field.name for field in dataclasses.fields(PUZZLES[name])]
    values = {}
    for option in options:
        key, equals, text = _split_option(option)
        if not equals or key not in fields:
            raise InputError(
                f"{name} has no option {option!r}; write one of {', '.join(fields) or 'none'} as name=value"
            )
        values[key] = _parse(key, text.strip(), kinds[key])
    return make_puzzle(name, **values)


def _parse(key: str, text: str, kind: typing.Any) -> typing.Any:
    """The value that an option's text stands for."""
    if isinstance(kind, types.UnionType):
        kind = next(part for part in typing.get_args(kind) if part is not type(None))
    if typing.get_origin(kind) is typing.Literal:
        return text
    if kind is bool:
        if text.lower() not in ("true", "false"):
            raise InputError(f"{key} is {text!r}; it must be true or false")
        return text.lower() == "true"
    try:
        return kind(text)
    except ValueError:
        raise InputError(f"{key} is {text!r}; it must be a number") from None


def parse_numbers(text: str, name: str) -> tuple[int, ...]:
    """Whole numbers from "1,10,100"; an InputError for anything else."""
    parts = [part.strip() for part in text.split(",")]
    if not all(part.isascii() and part.isdigit() and len(part) <= 10 for part in parts):
        raise InputError(f"{name} is {text!r}; write whole numbers with commas, such as 1,10,100")
    return tuple(map(int, parts))


@contextmanager
def progress_bar(label: str, unit: str, transient: bool = False) -> Iterator[Callable[[int, int], None]]:
    """A function (done, total) that moves a bar on standard error, with the rate and the time left.

    If it is transient, nothing of it remains in the end, so that what follows stands alone.
    """
    from rich.console import Console
    from rich.progress import (
        BarColumn,
        MofNCompleteColumn,
        Progress,
        TextColumn,
        TimeElapsedColumn,
        TimeRemainingColumn,
    )

    columns = (
        TextColumn(label),
        BarColumn(),
        MofNCompleteColumn(),
        TextColumn(f"{unit}, {{task.fields[rate]}}/s,"),
        TimeElapsedColumn(),
        TextColumn("gone,"),
        TimeRemainingColumn(),
        TextColumn("left"),
    )
    progress = Progress(*columns, console=Console(stderr=True), transient=transient)
    task = progress.add_task(label, total=None, rate="…")

    def move(done: int, total: int) -> None:
        progress.start()  # only once there is something to show: an error message needs a clean screen
        speed = progress.tasks[0].finished_speed or progress.tasks[0].speed
        progress.update(task, completed=done, total=total, rate=f"{speed:.1f}" if speed else "…")

    try:
        yield move
    finally:
        if progress.live.is_started:
            progress.stop()

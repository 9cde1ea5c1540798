"""The command that looks at an environment before anything is recorded."""

from __future__ import annotations

from typing import Annotated

from tyro.conf import OmitArgPrefixes

from pixelplan.envs.guard import STEP_SECONDS
from pixelplan.envs.noise import Noise


def check_env(
    *,
    env: str,
    option: tuple[str, ...] = (),
    pixels: str | None = None,
    levels: str = "0:5",
    episodes: int = 20,
    steps: int = 20,
    seed: int = 0,
    json: str | None = None,
    step_seconds: float = STEP_SECONDS,
    disturbed: Annotated[Noise, OmitArgPrefixes] = Noise(),  # noqa: B008 (frozen)
) -> None:
    """Say what fits and what does not in an environment, from a little random play.

    Example: pixelplan check-env --env examples.sokoban:make

    Args:
        env: A puzzle (ice-slider, digit-jump, procgen-maze), or your own environment: package.module:function or a
            Gymnasium id.
        option: Options of the puzzle or environment as name=value, such as size=16 pixels=128.
        pixels: Size of an own environment's frames, as for collect.
        levels: The levels to look at, A:B, B excluded.
        episodes: Episodes a level.
        steps: Random actions an episode.
        seed: Decides the actions.
        json: The report to write, or - to print it and nothing else.
        step_seconds: How long one call of your own environment may take before it counts as failed.
        disturbed: Visual noise.
    """
    import dataclasses
    import json as json_format
    from pathlib import Path

    from rich.console import Console
    from rich.markup import escape
    from rich.table import Table

    from pixelplan.cli.options import parse_family
    from pixelplan.data.check_env import check_env as look
    from pixelplan.files import level_numbers, parse_levels, write_json
    from pixelplan.types import InputError

    numbers = level_numbers(parse_levels(levels))
    found = look(parse_family(env, option, pixels, disturbed, step_seconds), numbers, episodes, steps, seed)
    if json == "-":
        print(json_format.dumps(dataclasses.asdict(found), ensure_ascii=False))
    else:
        table = Table("what", "", "found", "advice", title=f"{escape(env)}, {len(numbers)} levels of random play")
        colours = {"fits": "green", "mind": "yellow", "does not fit": "red"}
        for one in found.findings:
            table.add_row(one.what, f"[{colours[one.mark]}]{one.mark}[/]", escape(one.found), escape(one.advice))
        Console().print(table)
    if json not in (None, "-"):
        write_json(Path(str(json)), dataclasses.asdict(found))
    if not found.fits:
        unfit = next(one for one in found.findings if one.mark == "does not fit")
        raise InputError(f"{env} does not fit ({unfit.what}): {unfit.found}")

"""The command that checks an environment before anything is recorded."""

from __future__ import annotations

from typing import Annotated

from tyro.conf import OmitArgPrefixes

from pixelplan.cli.names import WORLD
from pixelplan.envs.guard import STEP_SECONDS
from pixelplan.envs.noise_config import Noise


def check_env(
    *,
    env: Annotated[str, WORLD],
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
    """Play an environment briefly, then say what fits, what does not, and what to run next.

    Example: pixelplan check-env --env examples.sokoban:make

    Args:
        option: Options of the puzzle or environment as name=value, such as size=16 pixels=128.
        pixels: Size of your environment's frames, as for collect.
        levels: The levels to check, A:B, B excluded.
        episodes: Episodes per level.
        steps: Actions per episode.
        seed: Decides the actions.
        json: The report to write, or - to print it and nothing else.
        step_seconds: How long one call of your own environment may take before it counts as failed.
        disturbed: Visual noise.
    """
    import dataclasses
    import json as json_format
    import shlex
    from pathlib import Path

    from rich.console import Console
    from rich.markup import escape
    from rich.table import Table

    from pixelplan.cli.options import parse_family, progress_bar
    from pixelplan.files import level_numbers, parse_levels, write_json
    from pixelplan.types import InputError
    from pixelplan.worlds.check_env import check_env as look

    numbers = level_numbers(parse_levels(levels))
    options_given = f" --option {shlex.join(option)}" if option else ""
    pixels_given = f" --pixels {pixels}" if pixels else ""
    words = f"--env {shlex.quote(env)}{options_given}{pixels_given}"
    family = parse_family(env, option, pixels, disturbed, step_seconds)
    with progress_bar("playing", "levels", transient=True) as progress:
        check = look(family, numbers, episodes, steps, seed, words=words, progress=progress)
    if json == "-":
        print(json_format.dumps(dataclasses.asdict(check), ensure_ascii=False))
    else:
        table = Table("what", "", "found", "advice", title=f"{escape(env)}, {len(numbers)} levels of play")
        colours = {"fits": "green", "mind": "yellow", "does not fit": "red"}
        for finding in check.findings:
            table.add_row(
                finding.what,
                f"[{colours[finding.mark]}]{finding.mark}[/]",
                escape(finding.found),
                escape(finding.advice),
            )
        Console().print(table)
    if json not in (None, "-"):
        write_json(Path(str(json)), dataclasses.asdict(check))
    if not check.fits:
        unfit = next(finding for finding in check.findings if finding.mark == "does not fit")
        raise InputError(f"{env} does not fit ({unfit.what}): {unfit.found}")
    if json != "-":
        print(f"next: {check.next_command}")

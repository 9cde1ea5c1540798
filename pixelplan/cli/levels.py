"""Commands about levels and trajectories."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

from tyro.conf import OmitArgPrefixes

from pixelplan.cli.names import PUZZLE, WORLD
from pixelplan.envs.guard import STEP_SECONDS
from pixelplan.envs.noise_config import Noise


def collect(
    *,
    env: Annotated[str, WORLD],
    levels: str,
    out: Path,
    option: tuple[str, ...] = (),
    pixels: str | None = None,
    episodes: int = 20,
    steps: int | None = None,
    seed: int = 0,
    explore: bool = False,
    random: bool = False,
    resume: bool = False,
    step_seconds: float = STEP_SECONDS,
    disturbed: Annotated[Noise, OmitArgPrefixes] = Noise(),  # noqa: B008 (frozen)
) -> None:
    """Record play: the data a world model learns from.

    Example: pixelplan collect --env ice-slider --levels 0:1000 --out runs/ice-data

    Args:
        levels: Level ranges A:B, B excluded, several with commas; at most 1,000,000 levels.
        out: The folder to write; it must be new or empty.
        option: Options of the puzzle or environment as name=value, such as size=16 pixels=128.
        pixels: Size of your environment's frames, 64 or 48x72 (height x width), a side of 8 to 4096; by default its
            own if that is at most 128, else 64.
        episodes: Episodes per level; with the steps of each, at most 10,000,000 steps per level.
        steps: Actions per episode; by default 20, or 50 or 100 if exploring sees too few goals. Play continues past
            the goal.
        seed: What happens in a level depends only on this and the level's number.
        explore: Seek out untried actions instead of taking random ones, for the same number of steps.
        random: Take random actions. Without --explore and --random, a few levels are tried both ways and the better
            way is used; puzzles are recorded at random.
        resume: Continue an interrupted collection, to exactly the same bytes. Anything damaged in the meantime is
            played again.
        step_seconds: How long one call of your own environment may take before it counts as failed.
        disturbed: Visual noise.
    """
    import numpy as np

    from pixelplan import collect as collect_trajectories
    from pixelplan.cli.options import parse_family, progress_bar
    from pixelplan.data.collect import without_goals
    from pixelplan.files import level_numbers, parse_levels
    from pixelplan.types import InputError

    if explore and random:
        raise InputError("play can explore or be random, not both; give --explore or --random, or neither")
    family = parse_family(env, option, pixels, disturbed, step_seconds)
    family.level(max(level_numbers(parse_levels(levels))))  # fail before any level is played
    with progress_bar("collecting", "levels") as progress:
        data = collect_trajectories(
            family,
            levels,
            out,
            episodes=episodes,
            steps=steps,
            seed=seed,
            explore=True if explore else False if random else None,
            resume=resume,
            progress=progress,
        )
    count = len(np.unique(data.frame_level))
    seen = 0 if data.solved is None else len(np.unique(data.frame_level[data.solved == 1]))
    shown = 0 if data.goal_level is None else len(np.unique(data.goal_level))
    print(
        f"{data.actions.size:,} steps of {env} in {out}: {len(data.frames):,} distinct frames; the goal was seen in "
        f"{seen:,} of {count:,} levels"
        + (f", and {shown:,} show one that was not reached" if shown else "")
        + ("" if seen or shown else f"; without one, a model plans to pictures only: {without_goals(data)}")
    )


def levels(
    *, env: Annotated[str, PUZZLE], levels: str, out: Path, option: tuple[str, ...] = (), columns: int = 5
) -> None:
    """Draw levels with their shortest solutions as arrows, many on one sheet.

    Example: pixelplan levels --env digit-jump --levels 0:10 --out levels.png

    Args:
        levels: Level ranges A:B, B excluded, several with commas; at most 400 levels.
        out: The PNG file to write.
        option: Options of the puzzle as name=value, such as size=16 pixels=128.
        columns: Levels in a row.
    """
    from pixelplan.cli.options import parse_options
    from pixelplan.files import level_numbers, parse_levels, write_picture
    from pixelplan.puzzles import get_level
    from pixelplan.reports.pictures import level_sheet
    from pixelplan.types import InputError

    puzzle, numbers = parse_options(env, option), level_numbers(parse_levels(levels))
    if len(numbers) > 400 or columns < 1:
        raise InputError(
            f"{len(numbers)} levels in {columns} columns cannot be drawn; draw at most 400 in 1 or more columns"
        )
    write_picture(out, level_sheet([get_level(puzzle, number) for number in numbers], columns))
    print(f"{len(numbers)} levels of {env} in {out}")

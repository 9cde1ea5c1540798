"""What a trajectory folder holds, in words and as a picture."""

from __future__ import annotations

from pathlib import Path

import numpy as np
from PIL import Image

from pixelplan.by_name.resolve import recorded_family
from pixelplan.data.dataset import open_trajectories
from pixelplan.data.spread import evenly_spread
from pixelplan.puzzles import get_level
from pixelplan.puzzles.table_family import Tables
from pixelplan.reports.pictures import SCALE, sheet
from pixelplan.types import Trajectories

LEVELS_SHOWN, LEVELS_COUNTED = 10, 200


def inspect_trajectories(folder: Path) -> tuple[str, Image.Image]:
    """A report and a picture: counts, coverage, and where the agent was seen in a few levels."""
    data = open_trajectories(folder)
    manifest = data.manifest
    levels, frames = np.unique(data.frame_level, return_counts=True)
    transitions = _distinct_transitions(data)
    covered = coverage(data)
    options = ", ".join(f"{key} {value}" for key, value in manifest["options"].items() if value is not None)
    report = "\n".join(
        [
            f"{folder}: play of {manifest['env']}" + (f" ({options})" if options else ""),
            f"  levels      {len(levels):,} ({', '.join(f'{first}:{end}' for first, end in manifest['levels'])})",
            f"  episodes    {len(data.episodes):,} of {data.actions.shape[1]} steps"
            + (f", seed {manifest['seed']}" if "seed" in manifest else ""),
            f"  frames      {len(data.frames):,} distinct, {frames.mean():.1f} a level",
            f"  transitions {transitions:,} distinct, {transitions / len(levels):.1f} a level",
            f"  coverage    {covered or 'is known only for puzzles without noise'}",
        ]
    )
    shown = levels[evenly_spread(len(levels), LEVELS_SHOWN)]
    pictures = [_presence(data, level) for level in shown]
    return report, sheet(pictures, [f"level {level}" for level in shown])


def coverage(data: Trajectories) -> str | None:
    """The share of the reachable states that play has seen, in evenly spread levels; None if the rules are unknown."""
    family = recorded_family(data.manifest["env"], data.manifest["options"])
    if not isinstance(family, Tables):
        return None
    levels, frames = np.unique(data.frame_level, return_counts=True)
    chosen = evenly_spread(len(levels), LEVELS_COUNTED)
    reachable = 0
    for number in levels[chosen]:
        level = get_level(family.puzzle, int(number))
        begins = level.starts if data.manifest["random_start"] else [level.start]
        reachable += np.logical_or.reduce([level.reachable(int(state)) for state in begins[:8]]).sum()
    share = frames[chosen].sum() / reachable
    return f"{share:.1%} of the states that can be reached, in {len(chosen)} of the levels"


def _distinct_transitions(data: Trajectories) -> int:
    sources, actions = data.episodes[:, :-1].astype(np.int64), data.actions.astype(np.int64)
    return len(np.unique(sources * data.manifest["actions"] + actions))


def _presence(data: Trajectories, level: int) -> Image.Image:
    """The first frame of a level, bright wherever its frames differ: the places that play has reached."""
    frames = data.frames[data.frame_level == level]
    touched = (frames != frames[:1]).any(axis=(0, 3))
    shown = np.where(touched[..., None], frames[0], frames[0] // 3)
    return Image.fromarray(shown).resize((frames.shape[2] * SCALE, frames.shape[1] * SCALE), Image.Resampling.NEAREST)

"""Recorded play of one world, or of several that share a model: their sizes, and their levels to train on.

Only the picture itself tells a model which world it sees. Worlds may also be the same one on boards of several sizes.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import chain, zip_longest
from typing import Any

import numpy as np

from pixelplan.model.batches import LevelPlay, action_count, level_plays
from pixelplan.model.description import describe_data
from pixelplan.model.find_family import Config, family_of
from pixelplan.model.networks import Networks
from pixelplan.model.sizes import Sizes
from pixelplan.types import InputError, Trajectories

RecordedPlay = Trajectories | Sequence[Trajectories]
"""Recorded play of one world or of several."""


def worlds_of(play: RecordedPlay) -> tuple[Trajectories, ...]:
    """The data sets of all worlds; an InputError if there are none."""
    worlds = (play,) if isinstance(play, Trajectories) else tuple(play)
    if not worlds:
        raise InputError("there is no data to train on; name a folder that collect wrote with --data")
    return worlds


def level_count(worlds: Sequence[Trajectories]) -> int:
    """How many levels were recorded in all worlds together."""
    return sum(len(np.unique(world.episode_level)) for world in worlds)


def describe_play(play: RecordedPlay) -> dict[str, Any]:
    """What is worth knowing about the data, for the model's config."""
    worlds = worlds_of(play)
    if len(worlds) == 1:
        return describe_data(worlds[0])
    return {"worlds": [{**describe_data(world), "actions": action_count(world)} for world in worlds]}


def fit(config: Config, grid: tuple[int, int] | None, worlds: Sequence[Trajectories]) -> tuple[Config, Sizes]:
    """The settings and sizes of one model for all worlds, with the most actions and the longest reach of any of them.

    Frames have the size of the first world's. If the worlds ask for different grids, it is the finest one that the
    family can lay over all of them; an InputError if there is none, or if the family cannot mix sizes of frames.
    """
    family = family_of(config)
    fitted = [family.fit(config, grid, world) for world in worlds]
    for settings, sizes in sorted(fitted, key=lambda each: each[1].rows / each[1].height, reverse=True):
        if all(_fits(settings, sizes, grid, world) for world in worlds):
            actions, reach = (max(getattr(each, name) for _, each in fitted) for name in ("actions", "reach"))
            height, width = worlds[0].frames.shape[1:3]
            return settings, replace(sizes.resized(height, width), actions=actions, reach=reach)
    frames = sorted({world.frames.shape[1:3] for world in worlds})
    if len(frames) > 1:
        named = " and ".join(f"{height} × {width}" for height, width in frames)
        raise InputError(
            f"frames of {named} pixels cannot share a model of the family {config.family}: picture takes boards of "
            "several sizes if a cell has the same number of pixels in all of them, other families take one size"
        )
    grids = " and ".join(f"{sizes.rows} × {sizes.columns}" for _, sizes in fitted)
    raise InputError(
        f"the worlds ask for different grids: {config.family} finds {grids} cells; give one with --grid, or choose a "
        "family that needs none with --family"
    )


def _fits(config: Config, sizes: Sizes, grid: tuple[int, int] | None, world: Trajectories) -> bool:
    """Whether a family with these settings can lay a grid of these sizes over the frames of a world."""
    family, (height, width) = family_of(config), world.frames.shape[1:3]
    if family.networks.takes_any_size:
        return sizes.has_whole_cells(height, width)
    other = family.fit(config, grid, world)[1]
    return replace(sizes, actions=other.actions, reach=other.reach) == other


@dataclass(frozen=True, eq=False)
class HeldOut:
    """Levels that are not trained on, with states in two senses."""

    by_family: list[LevelPlay]
    """With the states that the family tells apart: the threshold is calibrated on these."""

    @cached_property
    def frames(self) -> list[LevelPlay]:
        """With every frame as a state, except for those that recorded futures prove to be the same: the truth."""
        return [level.by_frames() for level in self.by_family]


def split(
    networks: Networks, worlds: Sequence[Trajectories], validation: Sequence[Trajectories], held_out_every: int
) -> tuple[list[LevelPlay], HeldOut]:
    """Levels to train on and to validate on; those of several worlds alternate, so that the first few cover all.

    Without validation data, every `held_out_every`-th level of a world is held out.
    """
    recorded = [_levels(networks, world) for world in worlds]
    if validation:
        unseen = [level_plays(world, networks.states(world)) for world in validation]
        return in_turn(recorded), HeldOut(in_turn(unseen))
    parts = [_split(levels, held_out_every) for levels in recorded]
    return in_turn([kept for kept, _ in parts]), HeldOut(in_turn([held for _, held in parts]))


def held_out_levels(
    worlds: Sequence[Trajectories], validation: Sequence[Trajectories], held_out_every: int
) -> list[LevelPlay]:
    """The levels that `split` holds out, with every frame as a state."""
    if validation:
        return in_turn([level_plays(world) for world in validation])
    return in_turn([_split(level_plays(world), held_out_every)[1] for world in worlds])


def in_turn(parts: Sequence[list[LevelPlay]]) -> list[LevelPlay]:
    """The first level of each part, then the second of each, and so on."""
    return [level for level in chain.from_iterable(zip_longest(*parts)) if level is not None]


def _split(levels: list[LevelPlay], every: int) -> tuple[list[LevelPlay], list[LevelPlay]]:
    """Levels to train on, and every n-th level to validate on; with fewer than n levels, all of them for both."""
    if len(levels) < every:
        return levels, levels
    return [level for index, level in enumerate(levels) if index % every], levels[::every]


def _levels(networks: Networks, data: Trajectories) -> list[LevelPlay]:
    levels = level_plays(data, networks.states(data))
    if not levels:
        raise InputError("the data holds no episodes; there is nothing to learn from")
    return levels

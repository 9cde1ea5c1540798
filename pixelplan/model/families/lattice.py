"""The lattice of `picture`: how finely frames are cut into patches.

If a world is drawn from things that repeat, some lattices cut all of them alike and others cut each one differently
wherever it stands. The network then has to learn the same thing many times. How well a lattice fits is told by how
briefly frames can be described with it: the names of the looks of all patches, and each look once. A lattice that is
finer than usual takes more time, and its description has to be shorter by as much.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import torch
from torch.nn import functional

from pixelplan.data.spread import evenly_spread
from pixelplan.model.batches import action_count
from pixelplan.model.families.picture import PictureConfig
from pixelplan.model.sizes import Sizes
from pixelplan.types import Trajectories


def fit_lattice(config: PictureConfig, grid: tuple[int, int] | None, data: Trajectories) -> tuple[PictureConfig, Sizes]:
    """The settings with the lattice that describes recorded frames most briefly; a given grid is of other families."""
    height, width = data.frames.shape[1:3]
    if (config.coarsest, config.finest) != (1, 1):
        config = briefest(config, _some_frames(config, data))
    config = replace(config, coarsest=1.0, finest=1.0)
    return config, config.sizes(height, width, action_count(data))


def briefest(config: PictureConfig, frames: np.ndarray) -> PictureConfig:
    """Of the numbers of patches that the settings allow, the one that describes frames [N,H,W,3] most briefly."""
    least, most = (round(config.patches * factor) for factor in (config.coarsest, config.finest))
    nearest_first = sorted(range(max(1, least), most + 1), key=lambda count: abs(count - config.patches))
    costs: dict[tuple[tuple[int, int], int], tuple[float, PictureConfig]] = {}
    for count in nearest_first:
        candidate = replace(config, patches=count)
        lattice = candidate.seen(*frames.shape[1:3])
        if lattice not in costs:
            size, patch = lattice
            time = max(1.0, -(-max(size) // patch) / config.patches) ** 2  # as a multiple of the usual lattice's
            costs[lattice] = time * bits_per_pixel(frames, size, patch), candidate
    return min(costs.values(), key=lambda entry: entry[0])[1]


def bits_per_pixel(frames: np.ndarray, size: tuple[int, int], patch: int) -> float:
    """The length of a description of frames [N,H,W,3], looked at in this size and cut into square patches.

    It has the looks of all patches, by names that are shorter for common looks, and every look once, pixel by pixel.
    """
    if frames.shape[1:3] != size:
        images = torch.from_numpy(frames).permute(0, 3, 1, 2).float()
        frames = functional.interpolate(images, size, mode="area").round().byte().permute(0, 2, 3, 1).numpy()
    rows, columns = (-(-side // patch) for side in size)
    rim = [(0, 0), (0, rows * patch - size[0]), (0, columns * patch - size[1]), (0, 0)]
    cut = np.pad(frames, rim).reshape(len(frames), rows, patch, columns, patch, 3)
    patches = np.ascontiguousarray(cut.swapaxes(2, 3)).reshape(len(frames) * rows * columns, -1)
    _, counts = np.unique(patches.view(np.dtype((np.void, patches.shape[1]))), return_counts=True)
    names = -(counts * np.log2(counts / counts.sum())).sum()
    return float(names + 8 * patches.shape[1] * len(counts)) / (len(frames) * size[0] * size[1])


def _some_frames(config: PictureConfig, data: Trajectories) -> np.ndarray:
    """Frames [N,H,W,3] of levels, evenly spread."""
    levels = np.unique(data.frame_level)
    chosen = levels[evenly_spread(len(levels), config.lattice_levels)]
    places = [np.flatnonzero(data.frame_level == level) for level in chosen]
    some = [own[evenly_spread(len(own), config.lattice_frames)] for own in places]
    return np.stack([data.frames[place] for place in np.concatenate(some)])

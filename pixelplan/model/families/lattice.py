"""The lattice of `picture`: how finely frames are cut into patches.

If a world is drawn from things that repeat, some lattices cut all of them alike and others cut each one differently
wherever it stands. The network then has to learn the same thing many times. How well a lattice fits is told by how much
of what changes between frames is lost if a fixed number of numbers tells a frame: the principal components of how
patches change, the fewer for each patch the more patches there are. A lattice that is finer than usual takes more time,
and a coarser one shows less, so either has to lose less by as much.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import torch
from torch import Tensor
from torch.nn import functional

from pixelplan.data.spread import evenly_spread
from pixelplan.model.batches import action_count, to_images
from pixelplan.model.families.picture import LARGEST_PATCH, PictureConfig
from pixelplan.model.families.repaint import rescaled
from pixelplan.model.sizes import Sizes
from pixelplan.types import Trajectories


def fit_lattice(config: PictureConfig, grid: tuple[int, int] | None, data: Trajectories) -> tuple[PictureConfig, Sizes]:
    """The settings with the lattice that loses least of recorded changes; a given grid is of other families."""
    height, width = data.frames.shape[1:3]
    if (config.coarsest, config.finest) != (1, 1):
        config = best_lattice(config, _changes(config, data), (height, width))
    config = replace(config, coarsest=1.0, finest=1.0)
    return config, config.sizes(height, width, action_count(data))


def best_lattice(config: PictureConfig, changes: Tensor, frame: tuple[int, int]) -> PictureConfig:
    """Of the numbers of patches that the settings allow, the one that loses least of changes [N,3,h,w] for its price.

    The changes are those of frames of a size (`frame`), perhaps scaled down. If several numbers of patches are as good,
    it is the one nearest to the usual number.
    """
    least, most = (round(config.patches * factor) for factor in (config.coarsest, config.finest))
    nearest_first = sorted(range(max(1, least), most + 1), key=lambda count: abs(count - config.patches))
    candidates = [replace(config, patches=count) for count in nearest_first]

    def lost(candidate: PictureConfig) -> float:
        size, side = candidate.seen(*frame)
        ratio = candidate.patches / config.patches
        return max(ratio, 1 / ratio) * lost_share(changes, size, side, config.lattice_share * changes[0].numel())

    return min(candidates, key=lost)


def lost_share(changes: Tensor, size: tuple[int, int], side: int, numbers: float) -> float:
    """The share of changes [N,3,h,w], looked at in this size and cut into square patches, that is lost.

    As many principal components are kept as make `numbers` for a whole frame; a part of one keeps its part.
    """
    patches = functional.unfold(rescaled(changes, size), side, stride=side)  # [N,3·w·w,R·C]
    energy = torch.linalg.eigvalsh(torch.einsum("ndp,nep->de", patches, patches)).flip(0).clamp(min=0).double()
    kept = torch.cat([torch.zeros(1), energy.cumsum(0) / energy.sum().clamp(min=1e-9)])
    share = np.interp(numbers / patches.shape[2], np.arange(len(kept)), kept.numpy())
    return round(1 - float(share), 6)  # what is smaller is rounding


def _changes(config: PictureConfig, data: Trajectories) -> Tensor:
    """Differences [N,3,h,w] between frames of one level, of levels evenly spread; large frames are scaled down."""
    levels = np.unique(data.frame_level)
    longer = max(data.frames.shape[1:3])
    scale = min(1.0, LARGEST_PATCH * config.patches / longer)
    size = tuple(max(1, round(pixels * scale)) for pixels in data.frames.shape[1:3])
    changes = []
    for level in levels[evenly_spread(len(levels), config.lattice_levels)]:
        places = np.flatnonzero(data.frame_level == level)
        frames = np.stack([data.frames[place] for place in places[evenly_spread(len(places), config.lattice_frames)]])
        images = rescaled(to_images(frames), (size[0], size[1]))
        changes.append(images - images.roll(1, 0))
    return torch.cat(changes)

"""The lattice of `picture`: how finely frames are cut into patches.

If a world is drawn from things that repeat, some lattices cut all of them alike, and others cut each one differently
depending on where it stands. The network then has to learn the same thing many times. How well a lattice fits is
measured in two ways, and the results are multiplied. If looks repeat to the pixel, a fitting lattice gives a short
description of frames: the name of each patch's look, and every look once. If looks repeat only roughly, a few principal
components describe how patches change: the measure is how much of the changes is lost if a fixed number of numbers
describes a frame, so that more patches get fewer numbers each. A lattice that is finer than usual takes more time, and
a coarser one shows less, so either has to be better by the same factor.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import torch
from torch import Tensor
from torch.nn import functional

from pixelplan.data.spread import evenly_spread
from pixelplan.model.batches import action_count, to_images
from pixelplan.model.picture_config import PictureConfig
from pixelplan.model.repaint import rescaled
from pixelplan.model.sizes import Sizes
from pixelplan.types import Trajectories


def fit_lattice(config: PictureConfig, grid: tuple[int, int] | None, data: Trajectories) -> tuple[PictureConfig, Sizes]:
    """The settings with the lattice that fits recorded frames best; `grid` is only for other families."""
    height, width = data.frames.shape[1:3]
    if (config.coarsest, config.finest) != (1, 1):
        config = best_lattice(config, _sample(config, data), (height, width))
    config = replace(config, coarsest=1.0, finest=1.0)
    return config, config.sizes(height, width, action_count(data))


def best_lattice(config: PictureConfig, levels: Sequence[Tensor], frame: tuple[int, int]) -> PictureConfig:
    """Among the numbers of patches that the settings allow, the one that fits images [n,3,h,w] of levels best.

    The images show frames of the size `frame`, perhaps scaled down. If several numbers of patches are equally good, it
    is the one nearest to the usual number.
    """
    images = torch.cat(list(levels))
    changes = torch.cat([level - level.roll(1, 0) for level in levels])
    if not changes.any():
        return config
    least, most = (round(config.patches * factor) for factor in (config.coarsest, config.finest))
    nearest_first = sorted(range(max(1, least), most + 1), key=lambda count: abs(count - config.patches))

    def misfit(candidate: PictureConfig) -> float:
        size, side = candidate.seen(*frame)
        lost = lost_share(changes, size, side, config.lattice_share * changes[0].numel())
        ratio = candidate.patches / config.patches
        return max(lost, config.least_loss) * bits_per_pixel(images, size, side) * max(ratio, 1 / ratio)

    return min((replace(config, patches=count) for count in nearest_first), key=misfit)


def bits_per_pixel(images: Tensor, size: tuple[int, int], side: int) -> float:
    """The length of a description of images [N,3,h,w], scaled to this size and cut into square patches.

    It gives each patch's look by a name, shorter for common looks, and every look once, pixel by pixel.
    """
    colours = ((rescaled(images, size) + 0.5) * 255).round().byte()
    rows, columns = size[0] // side, size[1] // side
    cut = colours.view(len(images), 3, rows, side, columns, side).permute(0, 2, 4, 1, 3, 5)  # [N,R,C,3,w,w]
    patches = cut.reshape(len(images) * rows * columns, -1).contiguous().numpy()
    _, counts = np.unique(patches.view(np.dtype((np.void, patches.shape[1]))), return_counts=True)
    names = -(counts * np.log2(counts / counts.sum())).sum()
    return float(names + 8 * patches.shape[1] * len(counts)) / (len(images) * size[0] * size[1])


def lost_share(changes: Tensor, size: tuple[int, int], side: int, numbers: float) -> float:
    """The share that is lost of changes [N,3,h,w], scaled to this size and cut into square patches.

    As many principal components are kept as give `numbers` for a whole frame; a fraction of one keeps that fraction.
    """
    patches = functional.unfold(rescaled(changes, size), side, stride=side)  # [N,3·w·w,R·C]
    energy = torch.linalg.eigvalsh(torch.einsum("ndp,nep->de", patches, patches)).flip(0).clamp(min=0).double()
    kept = torch.cat([torch.zeros(1), energy.cumsum(0) / energy.sum().clamp(min=1e-9)])
    return 1 - float(np.interp(numbers / patches.shape[2], np.arange(len(kept)), kept.numpy()))


def _sample(config: PictureConfig, data: Trajectories) -> list[Tensor]:
    """Images [n,3,h,w] of some levels, evenly spread; large frames are scaled down."""
    levels = np.unique(data.frame_level)
    height, width = data.frames.shape[1:3]
    scale = min(1.0, config.largest_patch * config.patches / max(height, width))
    size = max(1, round(height * scale)), max(1, round(width * scale))
    images = []
    for level in levels[evenly_spread(len(levels), config.lattice_levels)]:
        places = np.flatnonzero(data.frame_level == level)
        frames = np.stack([data.frames[place] for place in places[evenly_spread(len(places), config.lattice_frames)]])
        images.append(rescaled(to_images(frames), size))
    return images

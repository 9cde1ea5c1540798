"""The network of `picture`: the patches of a lattice, and what each action turns them into.

Shapes: N images or states, L levels, A actions, c features a patch, a lattice of R × C patches of w × w pixels.
"""

from __future__ import annotations

import torch
from torch import Tensor, nn
from torch.nn import functional

from pixelplan.model.picture_config import PictureConfig
from pixelplan.model.sizes import Sizes


class Patches:
    """How frames are cut into the patches of a lattice.

    Patches do not overlap. If each also showed the edges of its neighbours, one thing would have a different look in
    every neighbourhood, and a few numbers cannot tell that many looks apart.
    """

    def __init__(self, frame: tuple[int, int], size: tuple[int, int], side: int) -> None:
        """`side` is the side of a patch once a frame of size `frame` is scaled to `size`."""
        self.frame, self.size, self.side = frame, size, side

    def scale(self, images: Tensor) -> Tensor:
        """Images [N,3,H,W], scaled to `size`."""
        return rescaled(images, self.size)

    def cut(self, images: Tensor) -> Tensor:
        """The patches [N,R·C,3·w·w] of images [N,3,H,W]."""
        return functional.unfold(self.scale(images), self.side, stride=self.side).transpose(1, 2)

    def scale_back(self, images: Tensor) -> Tensor:
        """Images of size `size`, scaled back to the size of frames [N,3,H,W]."""
        return rescaled(images, self.frame)


def rescaled(images: Tensor, size: tuple[int, int]) -> Tensor:
    """Images [N,3,H,W] in another size: mean pixels if it is smaller, nearest pixels if it is larger."""
    if images.shape[-2:] == size:
        return images
    smaller = size[0] <= images.shape[-2] and size[1] <= images.shape[-1]
    return functional.interpolate(images, size, mode="area" if smaller else "nearest")


class PoolingBlock(nn.Module):
    """Two 3×3 convolutions that add to their input; between them every place learns what is elsewhere.

    "What is elsewhere" is the largest and the mean activation of each channel (as in KataGo), at the cost of one small
    matrix.
    """

    def __init__(self, width: int) -> None:
        super().__init__()
        self.first = nn.Sequential(
            nn.GroupNorm(1, width), nn.ReLU(), nn.Conv2d(width, width, 3, padding=1), nn.GroupNorm(1, width), nn.ReLU()
        )
        self.elsewhere = nn.Linear(2 * width, width)
        self.second = nn.Sequential(nn.ReLU(), nn.Conv2d(width, width, 3, padding=1))

    def forward(self, features: Tensor) -> Tensor:
        """[N,width,R,C] to the same."""
        here = self.first(features)
        elsewhere = self.elsewhere(torch.cat([here.amax((2, 3)), here.mean((2, 3))], 1))
        return features + self.second(here + elsewhere[..., None, None])


class AttentionBlock(nn.Module):
    """Every place looks for the places that matter to it, wherever they are, and adds what it finds there.

    Pooling tells a place *that* something is elsewhere; attention tells it *which* of several things: the other end of
    the portal being stepped into, and not some other portal.
    """

    def __init__(self, width: int, heads: int) -> None:
        super().__init__()
        self.heads = heads
        self.ask = nn.Sequential(nn.GroupNorm(1, width), nn.Conv2d(width, 3 * width, 1))
        self.tell = nn.Conv2d(width, width, 1)

    def forward(self, features: Tensor) -> Tensor:
        """[N,width,R,C] to the same."""
        asked = self.ask(features).flatten(2).unflatten(1, (3, self.heads, -1))  # [N,3,h,width/h,R·C]
        questions, names, answers = asked.unbind(1)
        # Plain products are faster than PyTorch's fused attention when there are so few places.
        fit = torch.softmax(names.transpose(2, 3) @ questions * questions.shape[2] ** -0.5, dim=2)  # [N,h,R·C,R·C]
        return features + self.tell((answers @ fit).reshape_as(features))


class Repaint(nn.Module):
    """How each action changes the features of all patches, given these and one frame of the level.

    It is a U-Net, so that what is learned in one place holds everywhere. It halves the lattice twice, with blocks that
    pool over all places, so that distant things count, too. A learned map tells one place from another. The difference
    from the patches of the level's one frame shows at once what has moved, whatever the floor looks like. In the end a
    patch is repainted by what the coarser lattices say and by what it shows itself: a mouse on a floor looks like both.
    """

    def __init__(self, config: PictureConfig, sizes: Sizes, patches: Patches) -> None:
        super().__init__()
        features, width, wide = config.features, config.width, config.wide
        self.actions, self.features, self.patches = sizes.actions, features, patches
        self.look = nn.Sequential(
            nn.Conv2d(3, 2 * width, patches.side, stride=patches.side),
            nn.ReLU(),
            nn.Conv2d(2 * width, width, 1),
            PoolingBlock(width),
        )
        self.places = nn.Parameter(torch.zeros(width, sizes.rows, sizes.columns))
        self.enter = nn.Conv2d(2 * features, width, 3, padding=1)
        self.halve = nn.Conv2d(width, wide, 2, stride=2)
        self.middle = nn.Sequential(*_pooling(config), AttentionBlock(wide, config.heads))
        self.quarter = nn.Conv2d(wide, wide, 2, stride=2)
        self.coarse = nn.Sequential(*_pooling(config))
        self.to_half = nn.Conv2d(wide, wide, 1)
        self.middle_again = nn.Sequential(*_pooling(config))
        self.to_whole = nn.Sequential(
            nn.GroupNorm(1, wide), nn.ReLU(), nn.Conv2d(wide, 8 * width, 1), nn.PixelShuffle(2)
        )
        self.from_patch = nn.Conv2d(width, 2 * width, 1)
        self.change = nn.Conv2d(2 * width, sizes.actions * features, 1)
        assert self.change.bias is not None
        nn.init.zeros_(self.change.weight)  # at first, nothing changes
        nn.init.zeros_(self.change.bias)

    def forward(self, features: Tensor, context: Tensor) -> Tensor:
        """[N,A,c,R,C] the change by each action, given features [N,c,R,C] in levels with context [N,width+c,R,C]."""
        looks, known = context.split([context.shape[1] - self.features, self.features], 1)
        fine = functional.relu(self.enter(torch.cat([features, features - known], 1)) + looks + self.places)
        half = self.middle(self.halve(_even(fine)))
        coarse = self.coarse(self.quarter(_even(half)))
        half = self.middle_again(half + _twice(self.to_half(coarse), half))
        whole = self.to_whole(half)[..., : features.shape[2], : features.shape[3]]
        change = self.change(functional.relu(whole + self.from_patch(fine)))
        return change.unflatten(1, (self.actions, self.features))


def _pooling(config: PictureConfig) -> list[PoolingBlock]:
    return [PoolingBlock(config.wide) for _ in range(config.blocks)]


def _even(features: Tensor) -> Tensor:
    """[N,w,R,C] with a line of zeros added to odd sides."""
    return functional.pad(features, (0, features.shape[3] % 2, 0, features.shape[2] % 2))


def _twice(features: Tensor, like: Tensor) -> Tensor:
    """[N,w,r,c] enlarged to the rows and columns of another."""
    return functional.interpolate(features, scale_factor=2)[..., : like.shape[2], : like.shape[3]]

"""The network of `picture`: the patches of a lattice, and what each action turns them into.

Shapes: N images or states, L levels, A actions, c features a patch, a lattice of R × C patches of w × w pixels.
"""

from __future__ import annotations

import torch
from torch import Tensor, nn
from torch.nn import functional

from pixelplan.model.picture_config import PictureConfig


class Patches:
    """How frames are cut into the patches of a lattice.

    Patches do not overlap. If each also showed the edges of its neighbours, one thing would have a different look in
    every neighbourhood, and a few numbers cannot tell that many looks apart.
    """

    def __init__(self, frame: tuple[int, int], size: tuple[int, int], side: int) -> None:
        """`side` is the side of a patch once a frame of size `frame` is scaled to `size`; larger and smaller frames
        are scaled by the same factor."""
        self.frame, self.size, self.side = frame, size, side

    def scale(self, images: Tensor) -> Tensor:
        """Images [N,3,H,W], scaled so that patches have the right side."""
        return self._scaled(images, self.frame, self.size)

    def cut(self, images: Tensor) -> Tensor:
        """The patches [N,R·C,3·w·w] of images [N,3,H,W]."""
        return functional.unfold(self.scale(images), self.side, stride=self.side).transpose(1, 2)

    def scale_back(self, images: Tensor) -> Tensor:
        """Scaled images, scaled back to the size of frames [N,3,H,W]."""
        return self._scaled(images, self.size, self.frame)

    @staticmethod
    def _scaled(images: Tensor, before: tuple[int, int], after: tuple[int, int]) -> Tensor:
        """Images by the factor that takes one size to another."""
        height, width = images.shape[-2:]
        if (height, width) == before:
            return rescaled(images, after)
        return rescaled(images, (round(height * after[0] / before[0]), round(width * after[1] / before[1])))


def rescaled(images: Tensor, size: tuple[int, int]) -> Tensor:
    """Images [N,3,H,W] in another size: mean pixels if it is smaller, nearest pixels if it is larger."""
    if images.shape[-2:] == size:
        return images
    smaller = size[0] <= images.shape[-2] and size[1] <= images.shape[-1]
    return functional.interpolate(images, size, mode="area" if smaller else "nearest")


class ChannelNorm(nn.Module):
    """The channels of every place, with mean 0 and variance 1.

    It depends on nothing but the place itself, so a network of such layers is the same on boards of any size.
    """

    def __init__(self, width: int) -> None:
        super().__init__()
        self.width = width

    def forward(self, features: Tensor) -> Tensor:
        """[N,width,R,C] to the same."""
        return functional.layer_norm(features.permute(0, 2, 3, 1), (self.width,)).permute(0, 3, 1, 2)


class LocalBlock(nn.Sequential):
    """Two 3×3 convolutions that add to their input."""

    def __init__(self, width: int) -> None:
        super().__init__(*(layer for _ in range(2) for layer in _convolution(width)))

    def forward(self, features: Tensor) -> Tensor:
        """[N,width,R,C] to the same."""
        return features + super().forward(features)


def _convolution(width: int) -> tuple[nn.Module, ...]:
    return ChannelNorm(width), nn.ReLU(), nn.Conv2d(width, width, 3, padding=1)


class SweepBlock(nn.Module):
    """Every place hears what lies before it in its row and column, as far as the places between let it through.

    A quarter of the channels sweeps in each of the four directions. At each place a gate says how much of what arrives
    goes on and how much this place says itself. So "slide until something stops it" is one local rule, learned from
    every slide, and true for slides of any length. Two sweeps, one after the other, reach every place.
    """

    def __init__(self, width: int) -> None:
        super().__init__()
        self.ask = nn.Sequential(ChannelNorm(width), nn.Conv2d(width, 2 * width, 1))
        self.tell = nn.Conv2d(width, width, 1)

    def forward(self, features: Tensor) -> Tensor:
        """[N,width,R,C] to the same."""
        gates, values = self.ask(features).chunk(2, 1)
        gates = gates.sigmoid()
        values = values * (1 - gates)
        sides = zip(gates.chunk(2, 1), values.chunk(2, 1), (2, 3), strict=True)
        return features + self.tell(torch.cat([sweep(gate, value, axis) for gate, value, axis in sides], 1))


def sweep(gates: Tensor, values: Tensor, axis: int) -> Tensor:
    """Sums s along an axis of [N,w,R,C], where s here = value here + gate here · s one place before.

    The first half of the channels sweeps forwards, the second half backwards.
    """
    gates, values = (torch.cat([ahead, back.flip(axis)], 1) for ahead, back in (gates.chunk(2, 1), values.chunk(2, 1)))
    sums: list[Tensor] = []
    # With the axis in front, each place is one block of memory.
    for gate, value in zip(*(each.movedim(axis, 0).contiguous().unbind(0) for each in (gates, values)), strict=True):
        sums.append(torch.addcmul(value, gate, sums[-1]) if sums else value)
    ahead, back = torch.stack(sums, axis).chunk(2, 1)
    return torch.cat([ahead, back.flip(axis)], 1).contiguous(memory_format=torch.channels_last)


class AttentionBlock(nn.Module):
    """Every place looks for the places that matter to it, wherever they are, and adds what it finds there.

    A sweep tells a place what lies along its row and column; attention tells it *which* of several things matters: the
    other end of the portal being stepped into, and not some other portal.
    """

    def __init__(self, width: int, heads: int) -> None:
        super().__init__()
        self.heads = heads
        self.ask = nn.Sequential(ChannelNorm(width), nn.Conv2d(width, 3 * width, 1))
        self.tell = nn.Conv2d(width, width, 1)

    def forward(self, features: Tensor) -> Tensor:
        """[N,width,R,C] to the same."""
        asked = self.ask(features).flatten(2).unflatten(1, (3, self.heads, -1))  # [N,3,h,width/h,R·C]
        questions, names, answers = asked.unbind(1)
        # Plain products are faster than PyTorch's fused attention when there are so few places.
        fit = torch.softmax(names.transpose(2, 3) @ questions * questions.shape[2] ** -0.5, dim=2)  # [N,h,R·C,R·C]
        return features + self.tell((answers @ fit).reshape_as(features).contiguous(memory_format=torch.channels_last))


class Repaint(nn.Module):
    """How each action changes the features of all patches, given these and one frame of the level.

    Most of it works on half the lattice: local blocks, with a sweep after each but the last, and attention before the
    first sweep, while every place still shows what is there and little else. Nothing in it depends on the size of the
    lattice or on a place in it, so what is learned in one place holds everywhere, and on larger boards. The difference
    from the patches of the level's one frame shows at once what has moved, whatever the floor looks like. In the end a
    patch is repainted by what half the lattice says and by what it shows itself: a mouse on a floor looks like both.
    """

    def __init__(self, config: PictureConfig, actions: int, patches: Patches) -> None:
        super().__init__()
        features, width, wide = config.features, config.width, config.wide
        self.actions, self.features, self.patches = actions, features, patches
        self.look = nn.Sequential(
            nn.Conv2d(3, 2 * width, patches.side, stride=patches.side),
            nn.ReLU(),
            nn.Conv2d(2 * width, width, 1),
            LocalBlock(width),
        )
        self.enter = nn.Conv2d(2 * features, width, 3, padding=1)
        self.halve = nn.Conv2d(width, wide, 2, stride=2)
        blocks: list[nn.Module] = []
        for block in range(config.blocks):
            blocks += [LocalBlock(wide)] + ([AttentionBlock(wide, config.heads)] if block == 0 else [])
            blocks += [SweepBlock(wide)] if block < config.blocks - 1 else []
        self.middle = nn.Sequential(*blocks)
        self.to_whole = nn.Sequential(ChannelNorm(wide), nn.ReLU(), nn.Conv2d(wide, 8 * width, 1), nn.PixelShuffle(2))
        self.from_patch = nn.Conv2d(width, 2 * width, 1)
        self.change = nn.Conv2d(2 * width, actions * features, 1)
        assert self.change.bias is not None
        nn.init.zeros_(self.change.weight)  # at first, nothing changes
        nn.init.zeros_(self.change.bias)
        self.to(memory_format=torch.channels_last)  # type: ignore[call-overload]  # faster on a core

    def forward(self, features: Tensor, context: Tensor) -> Tensor:
        """[N,A,c,R,C] the change by each action, given features [N,c,R,C] in levels with context [N,width+c,R,C]."""
        looks, known = context.split([context.shape[1] - self.features, self.features], 1)
        fine = functional.relu(self.enter(torch.cat([features, features - known], 1)) + looks)
        half = self.middle(self.halve(_even(fine)))
        whole = self.to_whole(half)[..., : features.shape[2], : features.shape[3]]
        change = self.change(functional.relu(whole + self.from_patch(fine)))
        return change.unflatten(1, (self.actions, self.features))


def _even(features: Tensor) -> Tensor:
    """[N,w,R,C] with a line of zeros added to odd sides."""
    return functional.pad(features, (0, features.shape[3] % 2, 0, features.shape[2] % 2))

"""The networks of the default model: a position on a grid, and a map of where each action leads from each cell.

Shapes: N frames, L levels, S states a level, A actions, d latent dimensions, K attention maps, a grid of R × C cells
with G = R·C, and patches of p × p pixels a cell.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import torch
from torch import Tensor, nn
from torch.nn import functional


@dataclass(frozen=True)
class Grid:
    """The latent grid."""

    rows: int
    columns: int
    reach: int
    """How many cells a step can move the agent."""


class Displacements(nn.Module):
    """The moves by at most `reach` cells each way, O of them, of which M at most stay on the grid (from any one cell).

    Those that leave the grid are never looked at: on small grids they are most of all moves.
    """

    targets: Tensor
    chosen: Tensor
    barred: Tensor

    def __init__(self, grid: Grid, reach: int) -> None:
        super().__init__()
        offsets = torch.arange(-reach, reach + 1)
        cells = torch.arange(grid.rows * grid.columns)[:, None]  # [G,1]
        row = (cells // grid.columns)[..., None] + offsets[:, None]  # [G,2·reach+1,1]
        column = (cells % grid.columns)[..., None] + offsets  # [G,1,2·reach+1]
        inside = ((row >= 0) & (row < grid.rows) & (column >= 0) & (column < grid.columns)).flatten(1)  # [G,O]
        chosen = (~inside).long().argsort(dim=1, stable=True)[:, : inside.sum(1).max()]  # [G,M], those inside first
        inside = inside.gather(1, chosen)
        targets = (row * grid.columns + column).flatten(1).gather(1, chosen)
        self.register_buffer("targets", targets.where(inside, 0), persistent=False)  # [G,M] cells
        self.register_buffer("chosen", (chosen * len(cells) + cells).flatten(), persistent=False)  # [G·M] among [O,G]
        self.register_buffer("barred", torch.zeros(inside.shape).masked_fill(~inside, -torch.inf), persistent=False)

    def chances(self, logits: Tensor, actions: int) -> Tensor:
        """[L·A,G,M] from logits [L,A·O,R,C]: how likely each move is."""
        logits = logits.reshape(len(logits) * actions, -1).index_select(1, self.chosen)
        return (logits.unflatten(1, self.barred.shape) + self.barred).softmax(-1)

    def expected(self, chances: Tensor, values: Tensor) -> Tensor:
        """[B,G,v]: the mean of values [G,v] at the targets, by chances [B,G,M]."""
        return (chances.transpose(0, 1) @ functional.embedding(self.targets, values)).transpose(0, 1)

    def matrix(self, chances: Tensor) -> Tensor:
        """[B,G,G]: from where to where, by chances [B,G,M]."""
        cells = len(self.targets)
        return chances.new_zeros(len(chances), cells, cells).scatter_add(2, self.targets.expand_as(chances), chances)


class ResidualBlock(nn.Module):
    """Two 3×3 convolutions that add to what comes in, normalised over all channels and cells."""

    def __init__(self, width: int) -> None:
        super().__init__()
        self.layers = nn.Sequential(
            nn.GroupNorm(1, width),
            nn.ReLU(),
            nn.Conv2d(width, width, 3, padding=1),
            nn.GroupNorm(1, width),
            nn.ReLU(),
            nn.Conv2d(width, width, 3, padding=1),
        )

    def forward(self, features: Tensor) -> Tensor:
        """[N,width,R,C] to the same."""
        return features + self.layers(features)


class GridFeatures(nn.Module):
    """From images to features of each cell of a grid.

    One convolution whose window is twice the patch sees each cell whole wherever it lies (cells of the picture need not
    be aligned with the patches) and costs a tenth of a stack of small ones on full resolution.
    """

    def __init__(self, size: tuple[int, int], patch: int, width: int, blocks: int) -> None:
        super().__init__()
        self.size = (size[0] * patch, size[1] * patch)
        margin = patch // 2
        self.patches = nn.Conv2d(3, 2 * width, patch + 2 * margin, stride=patch, padding=margin)
        self.mix = nn.Conv2d(2 * width, width, 1)
        self.blocks = nn.Sequential(*(ResidualBlock(width) for _ in range(blocks)))

    def forward(self, images: Tensor) -> Tensor:
        """[N,3,H,W] to [N,width,R,C]; where cells are not whole pixels, the image is enlarged until they are."""
        if images.shape[-2:] != self.size:
            images = functional.interpolate(images, self.size, mode="bilinear")
        return self.blocks(self.mix(functional.relu(self.patches(images))))


def head(width: int, channels: int) -> nn.Sequential:
    """From features [N,width,R,C] to a few numbers [N,channels,R,C] for each cell."""
    return nn.Sequential(nn.GroupNorm(1, width), nn.ReLU(), nn.Conv2d(width, channels, 1))


class Readout(nn.Module):
    """The one linear map between attention maps and embeddings: a code for each cell (of each map).

    Encoder and forward model both end in it, so a prediction can be exactly what the encoder would give.
    """

    def __init__(self, maps: int, cells: int, dimensions: int) -> None:
        super().__init__()
        self.weight = nn.Parameter(torch.randn(maps, cells, dimensions) / dimensions**0.5)

    def codes(self) -> Tensor:
        """[K,G,d]. Their mean is taken out: attention is uniform at first, and would make all embeddings the mean."""
        return self.weight - self.weight.mean(dim=1, keepdim=True)

    def unit_codes(self) -> Tensor:
        """[K·G,d] of length one: the embeddings of attention to one cell only."""
        return functional.normalize(self.codes(), dim=-1).flatten(0, 1)

    def embed(self, maps: Tensor) -> Tensor:
        """Unit embeddings [N,d] of attention maps [N,K,G]."""
        return functional.normalize(maps.flatten(1) @ self.codes().flatten(0, 1), dim=-1)


class SpatialEncoder(nn.Module):
    """Where to look: K attention maps over the grid, read out into an embedding."""

    def __init__(self, features: GridFeatures, width: int, maps: int, readout: Readout) -> None:
        super().__init__()
        self.features, self.readout = features, readout
        self.head = head(width, maps)

    def forward(self, images: Tensor) -> tuple[Tensor, Tensor]:
        """Embeddings [N,d] and attention maps [N,K,G] of images [N,3,H,W]."""
        maps = self.head(self.features(images)).flatten(2).softmax(-1)
        return self.readout.embed(maps), maps

    def certain(self, maps: Tensor) -> Tensor:
        """Embeddings [N,d] of looking at nothing but the cell that attention maps [N,K,G] favour."""
        return self.readout.embed(functional.one_hot(maps.argmax(-1), maps.shape[-1]).to(maps))


class Moves(NamedTuple):
    """What a step needs to know of L levels; computed once, since a search takes many steps."""

    places: Tensor
    """[d,K·G] the directions of the cells' codes, as long as attention is sharp."""
    ends: Tensor
    """[L,K·G,A·d] the code that each cell leads to by each action."""


class TransportModel(nn.Module):
    """Where each action leads from each cell, read from one frame of the level; a step only looks it up.

    For every cell and action two networks give two answers, and a third number says which one counts:

    - jump: a distribution over displacements of up to `reach` cells, from features that see the whole neighbourhood;
    - glide: a distribution over the cell and its eight neighbours, from features that see little more than those,
      followed `reach` times. Where a thing slides until something stops it, this has one local rule to learn.

    Both are the same function everywhere in the picture, so cells that play never reached are predicted too, and they
    are computed once a level, not once a step. All of it is linear in the codes of the cells, so a level's context is
    one matrix, and a step finds the cell of an embedding (softly: an embedding that is slightly off falls back onto its
    cell) and reads its row.
    """

    def __init__(self, patch: int, width: int, blocks: int, readout: Readout, grid: Grid, actions: int) -> None:
        super().__init__()
        self.readout, self.grid, self.actions = readout, grid, actions
        self.near = GridFeatures((grid.rows, grid.columns), patch, width, blocks=1)
        self.far = nn.Sequential(*(ResidualBlock(width) for _ in range(blocks)))
        self.glide_head = head(width, actions * 9)
        self.jump_head = head(width, actions * (2 * grid.reach + 1) ** 2)
        self.choice_head = head(width, actions)
        # Codes of neighbouring cells may have a cosine near 0.5: e^4.5 · 0.5 tells them apart with certainty.
        self.log_scale = nn.Parameter(torch.tensor(4.5))
        self.jumps, self.glides = Displacements(grid, grid.reach), Displacements(grid, 1)

    def context(self, images: Tensor) -> Moves:
        """Where each cell leads by each action, from one image [L,3,H,W] of each level."""
        near = self.near(images)
        far = self.far(near)
        codes = self.readout.codes()  # [K,G,d]
        table = codes.transpose(0, 1).flatten(1)  # [G,K·d]
        by_jump = self.jumps.expected(self.jumps.chances(self.jump_head(far), self.actions), table)  # [L·A,G,K·d]
        by_glide = self._glide(self.glide_head(near), table)  # [L·A,G,K·d]
        choice = self.choice_head(far).sigmoid().flatten(2).reshape(*by_jump.shape[:2], 1)
        ends = by_glide.lerp(by_jump, choice).unflatten(0, (-1, self.actions)).unflatten(-1, (len(codes), -1))
        places = self.readout.unit_codes().T * self.log_scale.exp()
        return Moves(places, ends.permute(0, 3, 2, 1, 4).flatten(3).flatten(1, 2))

    def _glide(self, logits: Tensor, codes: Tensor) -> Tensor:
        """[L·A,G,K·d] codes at the end of a glide, from logits [L,A·9,R,C] and the cells' codes [G,K·d]."""
        chances = self.glides.chances(logits, self.actions)
        ends = self.glides.expected(chances, codes)
        if self.grid.reach > 1:
            matrix = self.glides.matrix(chances)
            for _ in range(self.grid.reach - 1):
                ends = matrix @ ends
        return ends

    def forward(self, z: Tensor, context: Moves) -> Tensor:
        """Embeddings [L,S,A,d] after each action from z [L,S,d], in levels with these contexts."""
        cells = len(self.jumps.targets)
        attention = (z @ context.places).unflatten(-1, (-1, cells)).softmax(-1).flatten(-2)  # [L,S,K·G]
        ends = (attention @ context.ends).unflatten(-1, (self.actions, -1))
        return ends / torch.linalg.vector_norm(ends, dim=-1, keepdim=True)  # a third of what `normalize` takes


class LatentModel(nn.Module):
    """The paper's fully latent forward model: three layer-normalised layers of 256 units, and no context."""

    def __init__(self, dimensions: int, actions: int, width: int = 256) -> None:
        super().__init__()
        self.actions = actions
        layers: list[nn.Module] = []
        for inputs in (dimensions + actions, width, width):
            layers += [nn.Linear(inputs, width), nn.LayerNorm(width), nn.ReLU()]
        self.layers = nn.Sequential(*layers, nn.Linear(width, dimensions))

    def context(self, images: Tensor) -> Tensor:
        """Nothing: [L,0]."""
        return images.new_zeros(len(images), 0)

    def forward(self, z: Tensor, context: Tensor) -> Tensor:
        """Embeddings [L,S,A,d] after each action from z [L,S,d]."""
        states = z.unsqueeze(2).expand(-1, -1, self.actions, -1)
        actions = torch.eye(self.actions, device=z.device, dtype=z.dtype).expand(*states.shape[:2], -1, -1)
        return functional.normalize(self.layers(torch.cat([states, actions], dim=-1)), dim=-1)


class InverseModel(nn.Module):
    """Which action led from one embedding to the next: one hidden layer of 32 layer-normalised units."""

    def __init__(self, dimensions: int, actions: int, width: int = 32) -> None:
        super().__init__()
        self.layers = nn.Sequential(
            nn.Linear(2 * dimensions, width), nn.LayerNorm(width), nn.ReLU(), nn.Linear(width, actions)
        )

    def forward(self, before: Tensor, after: Tensor) -> Tensor:
        """Logits [M,A] for M steps from before [M,d] to after [M,d]."""
        return self.layers(torch.cat([before, after], dim=-1))

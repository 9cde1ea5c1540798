"""A place on a grid as the latent, for worlds in which one thing moves: where it is, and where each action leads.

Shapes: N frames, L levels, S states per level, A actions, d latent dimensions, K attention maps, a grid of R × C cells
with G = R·C, and patches of p × p pixels per cell.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import torch
from torch import Tensor, nn
from torch.nn import functional

from pixelplan.families.blocks import GridFeatures, ResidualBlock, head, inverse_model
from pixelplan.families.grid import GridNetworks, ModelConfig, SpreadingConfig
from pixelplan.families.losses import look_loss
from pixelplan.families.metric import MetricNetworks
from pixelplan.model.batches import LevelBatch
from pixelplan.model.sizes import Sizes


class Position(GridNetworks, MetricNetworks):
    """Attention to one cell, and a map of where each action leads from each cell."""

    def __init__(self, config: ModelConfig, sizes: Sizes) -> None:
        super().__init__(sizes)
        self.config = config
        readout = Readout(config.maps, sizes.rows * sizes.columns, config.dimensions)
        self.encoder = spatial_encoder(config, sizes, readout)
        self.forward_model = TransportModel(config.context_width, far_blocks(sizes), readout, sizes, config.log_scale)
        self.inverse = inverse_model(config, sizes)

    def resized(self, height: int, width: int) -> Position:
        """The same rules on a larger or smaller grid.

        Attention, jumps and glides are the same functions everywhere in the picture. Only the codes of cells are a
        table, and a code need not mean anything: the new grid's cells get new codes, as far apart as possible.
        """
        other = type(self)(self.config, self.sizes.resized(height, width))
        cells, config = other.sizes.rows * other.sizes.columns, self.config
        codes = spread_codes(config.maps, cells, config.dimensions, config.spreading)
        weights = self.state_dict()
        other.load_state_dict({name: codes if name.endswith("readout.weight") else weights[name] for name in weights})
        return other

    def family_losses(self, batch: LevelBatch, maps: Tensor, weights: Any) -> dict[str, tuple[float, Tensor]]:
        """Attention belongs where the frames of a level differ."""
        return attention_losses(batch, maps, weights.look_weight, self.sizes)


def far_blocks(sizes: Sizes) -> int:
    """How many residual blocks, of two 3×3 convolutions each, let a cell see as far as a step can lead."""
    return max(2, -(-sizes.reach // 2))


def spatial_encoder(config: ModelConfig, sizes: Sizes, readout: Readout) -> SpatialEncoder:
    """Where to look in frames of these sizes."""
    features = GridFeatures((sizes.rows, sizes.columns), sizes.patch, config.encoder_width, config.encoder_blocks)
    return SpatialEncoder(features, config.encoder_width, config.maps, readout)


def attention_losses(
    batch: LevelBatch, maps: Tensor, weight: float, sizes: Sizes, notable: float = 0
) -> dict[str, tuple[float, Tensor]]:
    """The look loss of attention maps [N,K,G] with its weight, if it has one."""
    return {"look": (weight, look_loss(maps, differing_cells(batch, sizes, notable)))} if weight else {}


def differing_cells(batch: LevelBatch, sizes: Sizes, notable: float = 0) -> Tensor:
    """[N,G] bool: the cells in which an image differs from its partner by more than `notable` times the median cell.

    If pixels are noisy, all cells differ. Most of them show the same thing, and so reveal how large noise alone is.
    """
    apart = (batch.images - batch.images[batch.partners]).abs().mean(dim=1, keepdim=True)
    of_cells = functional.adaptive_avg_pool2d(apart, (sizes.rows, sizes.columns)).flatten(1)
    return of_cells > (notable * of_cells.median(dim=1, keepdim=True).values if notable else 0)


class Displacements(nn.Module):
    """Moves by at most `reach` cells each way: O in all, of which at most M stay on the grid from any one cell.

    Moves that leave the grid are never computed, as on small grids they are the majority.
    """

    targets: Tensor
    chosen: Tensor
    barred: Tensor

    def __init__(self, rows: int, columns: int, reach: int) -> None:
        super().__init__()
        offsets = torch.arange(-reach, reach + 1)
        cells = torch.arange(rows * columns)[:, None]  # [G,1]
        row = (cells // columns)[..., None] + offsets[:, None]  # [G,2·reach+1,1]
        column = (cells % columns)[..., None] + offsets  # [G,1,2·reach+1]
        inside = ((row >= 0) & (row < rows) & (column >= 0) & (column < columns)).flatten(1)  # [G,O]
        chosen = (~inside).long().argsort(dim=1, stable=True)[:, : inside.sum(1).max()]  # [G,M], those inside first
        inside = inside.gather(1, chosen)
        targets = (row * columns + column).flatten(1).gather(1, chosen)
        self.register_buffer("targets", targets.where(inside, 0), persistent=False)  # [G,M] cells
        self.register_buffer("chosen", (chosen * len(cells) + cells).flatten(), persistent=False)  # [G·M] among [O,G]
        self.register_buffer("barred", torch.zeros(inside.shape).masked_fill(~inside, -torch.inf), persistent=False)

    def chances(self, logits: Tensor, actions: int) -> Tensor:
        """[L·A,G,M] from logits [L,A·O,R,C]: how likely each move is."""
        logits = logits.reshape(len(logits) * actions, -1).index_select(1, self.chosen)
        return (logits.unflatten(1, self.barred.shape) + self.barred).softmax(-1)

    def targets_of(self, values: Tensor) -> Tensor:
        """[G,M,v]: the values [G,v] at the targets of each cell."""
        return functional.embedding(self.targets, values)

    def matrix(self, chances: Tensor) -> Tensor:
        """[B,G,G]: from where to where, by chances [B,G,M]."""
        cells = len(self.targets)
        return chances.new_zeros(len(chances), cells, cells).scatter_add(2, self.targets.expand_as(chances), chances)


def expected(chances: Tensor, values: Tensor) -> Tensor:
    """[B,G,v]: the mean of values [G,M,v] at the targets, by chances [B,G,M]."""
    return (chances.transpose(0, 1) @ values).transpose(0, 1)


class Readout(nn.Module):
    """The one linear map between attention maps and embeddings: a code for each cell (of each map).

    Encoder and forward model both end in it, so a prediction can equal the encoder's output exactly.
    """

    def __init__(self, maps: int, cells: int, dimensions: int) -> None:
        super().__init__()
        self.weight = nn.Parameter(torch.randn(maps, cells, dimensions) / dimensions**0.5)

    def codes(self) -> Tensor:
        """[K,G,d], less their mean: attention is uniform at first, and would make all embeddings equal the mean."""
        return self.weight - self.weight.mean(dim=1, keepdim=True)

    def unit_codes(self) -> Tensor:
        """[K·G,d] of length one: the embeddings of attention to a single cell."""
        return functional.normalize(self.codes(), dim=-1).flatten(0, 1)

    def embed(self, maps: Tensor) -> Tensor:
        """Unit embeddings [N,d] of attention maps [N,K,G]."""
        return functional.normalize(maps.flatten(1) @ self.codes().flatten(0, 1), dim=-1)


def spread_codes(
    maps: int,
    cells: int,
    dimensions: int,
    config: SpreadingConfig = SpreadingConfig(),  # noqa: B008 (frozen)
) -> Tensor:
    """[K,G,d] codes of cells, far apart and always the same: random ones that have pushed each other away.

    The nearest push hardest. In 16 dimensions, 400 codes are then a distance of 1 apart, as the margin demands in
    training.
    """
    codes = torch.randn(maps * cells, dimensions, generator=torch.Generator().manual_seed(0))
    for _ in range(config.rounds):
        codes = functional.normalize(codes, dim=-1)
        nearness = (codes @ codes.T).fill_diagonal_(-1)
        codes = codes - config.push * (config.sharpness * nearness).softmax(-1) @ codes
    return functional.normalize(codes, dim=-1).unflatten(0, (maps, cells))


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
        """Embeddings [N,d] if only the cell that attention maps [N,K,G] favour is looked at."""
        return self.readout.embed(functional.one_hot(maps.argmax(-1), maps.shape[-1]).to(maps))


class Moves(NamedTuple):
    """What a step needs to know about L levels; computed once, since a search takes many steps."""

    places: Tensor
    """[d,K·G] the directions of the cells' codes; their length is the sharpness of attention."""
    ends: Tensor
    """[L,K·G,A·d] the code that each cell leads to by each action."""


class Cells(NamedTuple):
    """What follows from the codes of cells, whatever the level."""

    places: Tensor
    """[d,K·G] as in `Moves`."""
    by_jump: Tensor
    """[G,M,K·d] the codes of the cells that a jump can lead to."""
    by_glide: Tensor
    """[G,9,K·d] the codes of each cell and its neighbours."""


class TransportModel(nn.Module):
    """Where each action leads from each cell, read from one frame of the level; a step only looks it up.

    For every cell and action, two networks give an answer, and a third output says which answer counts:

    - jump: a distribution over displacements of up to `reach` cells, from features that see the whole neighbourhood;
    - glide: a distribution over the cell and its eight neighbours, from features that see little more than those,
      followed `glide` times. If a thing slides until something stops it, this needs to learn only one local rule.

    Both are the same function everywhere in the picture, so they also predict cells that play never reached. They are
    computed once per level, not once per step. All of it is linear in the cells' codes, so a level's context is one
    matrix: a step finds the cell of an embedding (softly: an embedding that is slightly off snaps back to its cell)
    and reads its row.
    """

    def __init__(
        self, width: int, blocks: int, readout: Readout, sizes: Sizes, log_scale: float = ModelConfig.log_scale
    ) -> None:
        super().__init__()
        self.readout, self.glide, self.actions = readout, sizes.glide or sizes.reach, sizes.actions
        self.maps = len(readout.weight)
        self.near = GridFeatures((sizes.rows, sizes.columns), sizes.patch, width, blocks=1)
        self.far = nn.Sequential(*(ResidualBlock(width) for _ in range(blocks)))
        self.glide_head = head(width, sizes.actions * 9)
        self.jump_head = head(width, sizes.actions * (2 * sizes.reach + 1) ** 2)
        self.choice_head = head(width, sizes.actions)
        self.log_scale = nn.Parameter(torch.tensor(log_scale))
        self.jumps = Displacements(sizes.rows, sizes.columns, sizes.reach)
        self.glides = Displacements(sizes.rows, sizes.columns, 1)
        self._known: tuple[Any, Cells] | None = None

    def context(self, images: Tensor) -> Moves:
        """Where each cell leads by each action, from one image [L,3,H,W] of each level."""
        near = self.near(images)
        far = self.far(near)
        cells = self._cells()
        by_jump = expected(self.jumps.chances(self.jump_head(far), self.actions), cells.by_jump)  # [L·A,G,K·d]
        by_glide = self._glide(self.glide_head(near), cells.by_glide)  # [L·A,G,K·d]
        choice = self.choice_head(far).sigmoid().flatten(2).reshape(*by_jump.shape[:2], 1)
        ends = by_glide.lerp(by_jump, choice).unflatten(0, (-1, self.actions)).unflatten(-1, (self.maps, -1))
        return Moves(cells.places, ends.permute(0, 3, 2, 1, 4).flatten(3).flatten(1, 2))

    def _cells(self) -> Cells:
        """What follows from the codes alone. For planners it is cached as long as the codes stay the same."""
        if not torch.is_inference_mode_enabled() or torch.jit.is_tracing():
            return self._cells_now()
        weight, scale = self.readout.weight, self.log_scale
        codes = weight.data_ptr(), weight._version, scale.data_ptr(), scale._version
        if self._known is None or self._known[0] != codes:
            self._known = codes, self._cells_now()
        return self._known[1]

    def _cells_now(self) -> Cells:
        table = self.readout.codes().transpose(0, 1).flatten(1)  # [G,K·d]
        places = self.readout.unit_codes().T * self.log_scale.exp()
        return Cells(places, self.jumps.targets_of(table), self.glides.targets_of(table))

    def _glide(self, logits: Tensor, codes: Tensor) -> Tensor:
        """[L·A,G,K·d] codes at the end of a glide, from logits [L,A·9,R,C] and codes [G,9,K·d] of neighbours."""
        chances = self.glides.chances(logits, self.actions)
        ends = expected(chances, codes)
        if self.glide > 1:
            matrix = self.glides.matrix(chances)
            for _ in range(self.glide - 1):
                ends = matrix @ ends
        return ends

    def forward(self, z: Tensor, context: Moves) -> Tensor:
        """Embeddings [L,S,A,d] after each action in z [L,S,d], in levels with these contexts."""
        levels, states = z.shape[:2]
        fit = z @ context.places  # [L,S,K·G]
        attention = fit.view(levels, states, self.maps, fit.shape[-1] // self.maps).softmax(-1).view_as(fit)
        ends = (attention @ context.ends).view(levels, states, self.actions, z.shape[-1])
        return ends / torch.linalg.vector_norm(ends, dim=-1, keepdim=True)  # a third of the time that `normalize` takes

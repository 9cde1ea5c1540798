"""The networks of the default model: a position on a grid, and a map of where each action leads from each cell.

Shapes: N frames, L levels, S states a level, A actions, d latent dimensions, K attention maps, a grid of R × C cells
with G = R·C, and patches of p × p pixels a cell.
"""

from __future__ import annotations

import torch
from torch import Tensor, nn
from torch.nn import functional


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


class GridNetwork(nn.Module):
    """From images to a few numbers for each cell of a grid.

    One convolution whose window is twice the patch sees each cell whole wherever it lies (cells of the picture need not
    be aligned with the patches) and costs a tenth of a stack of small ones on full resolution.
    """

    def __init__(self, patch: int, width: int, blocks: int, channels: int) -> None:
        super().__init__()
        window = patch + 2 * (patch // 2)
        self.patches = nn.Conv2d(3, width, window, stride=patch, padding=patch // 2)
        self.mix = nn.Conv2d(width, width, 1)
        self.blocks = nn.Sequential(*(ResidualBlock(width) for _ in range(blocks)))
        self.head = nn.Sequential(nn.GroupNorm(1, width), nn.ReLU(), nn.Conv2d(width, channels, 1))

    def forward(self, images: Tensor) -> Tensor:
        """[N,3,H,W] to [N,channels,R,C]."""
        features = self.patches(images)
        features = features + self.mix(functional.relu(features))
        return self.head(self.blocks(features))


class Readout(nn.Module):
    """The one linear map between attention maps and embeddings, used in both directions.

    Because encoder and forward model end in it, a prediction can be exactly what the encoder would give; because the
    forward model begins with it, an embedding that is slightly off falls back onto its cell.
    """

    def __init__(self, maps: int, cells: int, dimensions: int) -> None:
        super().__init__()
        self.maps, self.cells = maps, cells
        self.weight = nn.Parameter(torch.randn(maps * cells, dimensions) / dimensions**0.5)
        # Neighbouring cells may have embeddings with a cosine near 0.5: e^4.5 · 0.5 tells them apart with certainty.
        self.log_scale = nn.Parameter(torch.tensor(4.5))

    def embed(self, maps: Tensor) -> Tensor:
        """Unit embeddings [...,d] of attention maps [...,K,G]."""
        # Without the mean, the uniform maps at the start of training would all be one embedding.
        return functional.normalize((maps - 1 / self.cells).flatten(-2) @ self.weight, dim=-1)

    def lift(self, z: Tensor) -> Tensor:
        """Attention maps [...,K,G] of embeddings [...,d]."""
        logits = z @ functional.normalize(self.weight, dim=1).T * self.log_scale.exp()
        return logits.unflatten(-1, (self.maps, self.cells)).softmax(-1)


class SpatialEncoder(nn.Module):
    """Where to look: K attention maps over the grid, read out into an embedding."""

    def __init__(self, network: GridNetwork, readout: Readout) -> None:
        super().__init__()
        self.network, self.readout = network, readout

    def forward(self, images: Tensor) -> tuple[Tensor, Tensor]:
        """Embeddings [N,d] and attention maps [N,K,G] of images [N,3,H,W]."""
        maps = self.network(images).flatten(2).softmax(-1)
        return self.readout.embed(maps), maps


class TransportModel(nn.Module):
    """Where each action leads from each cell, read from one frame of the level; a step only looks it up.

    For every cell and action the context network gives a distribution over displacements of up to `reach` cells. It
    is the same function everywhere in the picture, so cells that play never reached are predicted too, and it runs once
    a level, not once a step. Moving the attention map by it and reading the result out are both linear, so a level's
    context is one matrix and a step is a soft look-up in it.
    """

    destinations: Tensor
    inside: Tensor

    def __init__(self, network: GridNetwork, readout: Readout, grid: tuple[int, int], reach: int, actions: int) -> None:
        super().__init__()
        self.network, self.readout, self.actions = network, readout, actions
        rows, columns = grid
        offsets = torch.arange(-reach, reach + 1)
        cell_row, cell_column = torch.arange(rows * columns) // columns, torch.arange(rows * columns) % columns
        to_row = cell_row[:, None, None] + offsets[:, None]  # [G,2·reach+1,1]
        to_column = cell_column[:, None, None] + offsets  # [G,1,2·reach+1]
        inside = (to_row >= 0) & (to_row < rows) & (to_column >= 0) & (to_column < columns)
        destinations = torch.where(inside, to_row * columns + to_column, 0)
        self.register_buffer("inside", inside.flatten(1), persistent=False)  # [G,O] for O displacements
        self.register_buffer("destinations", destinations.flatten(1), persistent=False)  # [G,O]

    def context(self, images: Tensor) -> Tensor:
        """[L,K·G,A·d]: what each cell adds to the embedding after each action, from one image [L,3,H,W] of each level."""
        levels, (cells, displacements) = len(images), self.inside.shape
        logits = self.network(images).view(levels, self.actions, displacements, cells).transpose(2, 3)  # [L,A,G,O]
        chances = logits.masked_fill(~self.inside, -torch.inf).softmax(-1)
        destinations = self.destinations.expand(levels, self.actions, cells, displacements)
        transport = chances.new_zeros(levels, self.actions, cells, cells).scatter_add(-1, destinations, chances)
        weight = self.readout.weight.view(self.readout.maps, cells, -1)  # [K,G,d]
        # Every map moves alike. Centred as in Readout.embed: rows of `transport` sum to one.
        contributions = (transport - 1 / cells).unsqueeze(1) @ weight.unsqueeze(1)  # [L,K,A,G,d] by broadcasting
        return contributions.transpose(2, 3).flatten(3).flatten(1, 2)

    def forward(self, z: Tensor, context: Tensor) -> Tensor:
        """Embeddings [L,S,A,d] after each action from z [L,S,d], in levels with contexts [L,K·G,A·d]."""
        summed = self.readout.lift(z).flatten(-2) @ context
        return functional.normalize(summed.unflatten(-1, (self.actions, -1)), dim=-1)


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

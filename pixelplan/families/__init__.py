"""OTHER WORLD MODELS: families besides `picture`. To add one, write its file here and add it to this table."""

from __future__ import annotations

from pixelplan.families.grid import ModelConfig, suggest_grid
from pixelplan.families.latent import Latent
from pixelplan.families.noisy import NoisyPosition
from pixelplan.families.paper import Paper, PaperConfig
from pixelplan.families.position import Position
from pixelplan.families.rules import Rules, RulesConfig, fit_rules
from pixelplan.families.vector import Vector, VectorConfig
from pixelplan.model.batches import action_count
from pixelplan.model.find_family import FAMILIES, Family
from pixelplan.model.sizes import Sizes
from pixelplan.types import Trajectories


def fit_to_frames(
    config: PaperConfig | VectorConfig, grid: tuple[int, int] | None, data: Trajectories
) -> tuple[PaperConfig | VectorConfig, Sizes]:
    """Settings and sizes for families that need only the size of a frame and the number of actions."""
    height, width = data.frames.shape[1:3]
    return config, config.sizes(height, width, action_count(data))


OTHERS = {
    "vector": Family(Vector, VectorConfig, fit_to_frames),
    "position": Family(Position, ModelConfig, suggest_grid),
    "noisy": Family(NoisyPosition, ModelConfig, suggest_grid),
    "rules": Family(Rules, RulesConfig, fit_rules),
    "latent": Family(Latent, ModelConfig, suggest_grid),
    "paper": Family(Paper, PaperConfig, fit_to_frames),
}
FAMILIES.add(OTHERS)

"""The settings of learned distances. There are no networks here, so that help texts appear at once."""

from __future__ import annotations

from dataclasses import dataclass, field

from pixelplan.types import InputError

LIMITS = {"goal_width": (1, 512), "goal_blocks": (0, 32), "state_width": (1, 512), "hidden": (1, 4096)}
"""The smallest and largest value of each size of a network; sizes read from files are checked against these."""

LARGEST_COUNT = 10**9
"""The largest value of any count."""


@dataclass(frozen=True)
class NetworkConfig:
    """The size of the network."""

    goal_width: int = 32
    """Channels of the network that reads the goal, if codes are laid out in cells."""
    goal_blocks: int = 5
    """Its residual blocks. They are cheap: it runs only once per level."""
    state_width: int = 12
    """Channels of the network that compares neighbouring cells of each state."""
    hidden: int = 256
    """Units of the layers that see a whole state."""

    def __post_init__(self) -> None:
        for name, (low, high) in LIMITS.items():
            value: object = getattr(self, name)
            if not isinstance(value, int) or isinstance(value, bool) or not low <= value <= high:
                raise InputError(f"{name} is {value}; it must be a whole number from {low} to {high}")


@dataclass(frozen=True)
class DistanceConfig:
    """How a distance is learned."""

    rounds: int = 6
    """Rounds of searching and learning, after a first round of random play."""
    searches: int = 300
    """Training levels that a round plays or searches, drawn afresh each time."""
    walk: int = 64
    """Steps of an imagined random walk. If all levels have the same goal, longer walks from it reach distant states."""
    nodes: int = 1000
    """Nodes in a search in the first round. Each later round has twice as many as the one before, up to most_nodes."""
    most_nodes: int = 8000
    """The most nodes in a search."""
    weight: float = 3.0
    """Weight of the distance in these searches."""
    batch: int = 16
    """Nodes that these searches expand at a time."""
    states: int = 384
    """The most states to learn from in one search."""
    updates: int = 600
    """Gradient steps per round."""
    policy: float = 0.5
    """Weight of the error about actions, relative to that about distances."""
    learning_rate: float = 1.5e-3
    """The highest learning rate of a round; it then falls to zero."""
    held_out_nodes: int = 20_000
    """The most nodes in a search on held-out levels."""
    seed: int = 0
    """Decides which levels are drawn, and all other random choices."""
    network: NetworkConfig = field(default_factory=NetworkConfig)

    def __post_init__(self) -> None:
        for name in ("searches", "walk", "nodes", "most_nodes", "batch", "states", "updates", "held_out_nodes"):
            if not 1 <= getattr(self, name) <= LARGEST_COUNT:
                raise InputError(f"{name} is {getattr(self, name)}; it must be 1 to {LARGEST_COUNT:,}")
        if self.rounds < 0 or self.seed < 0 or not self.weight > 0 or not 0 <= self.policy < float("inf"):
            raise InputError(
                f"rounds is {self.rounds}, seed {self.seed}, policy {self.policy} and weight {self.weight}; they must "
                "be at least 0, 0, 0 and more than 0"
            )

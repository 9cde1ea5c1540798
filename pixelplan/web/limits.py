"""Limits on what visitors may ask of one server."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Limits:
    """Sizes, counts and times. A request beyond them is refused in one sentence and affects no one else."""

    games: int = 1000
    """Games at a time. A new one replaces a game unused for `spare_seconds`; if there is none, it is refused."""
    spare_seconds: float = 60.0
    """How long a game must be unused before another may take its place."""
    idle_seconds: float = 1800.0
    """How long a game may be unused before it is dropped."""
    moves: int = 1000
    """Moves of one game, or of one request."""
    states: int = 5000
    """States that are kept for one level of a user's environment."""
    body_bytes: int = 64 * 1024
    """Bytes of a request's body: a frame as PNG and a little more."""
    waiting: int = 200
    """Pieces of work (levels, plans, pictures) that may wait for a processor."""
    sockets: int = 100
    """Runs and races at a time."""
    run_seconds: float = 20.0
    """Time for one run of a planner."""
    step_limit: int = 256
    """Steps of one run."""
    nodes_shown: int = 20_000
    """Nodes of latent graphs that one run sends; plans beyond it are sent without their graphs."""
    score_levels: int = 200
    """Levels that are played one after another for a visitor."""
    pictures: int = 200
    """Levels read from pictures that are kept, the latest ones."""
    gif_steps: int = 100
    """Steps of an animated picture."""

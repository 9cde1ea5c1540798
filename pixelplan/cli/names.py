"""What the commands say about --env, with the puzzles that there are."""

from tyro.conf import arg

from pixelplan.puzzles import PUZZLES

WORLD = arg(
    help=f"A puzzle ({', '.join(PUZZLES)}), or your own environment: package.module:function or a Gymnasium id."
)
"""For commands that take a puzzle or an environment."""

PUZZLE = arg(help=f"The puzzle: {', '.join(PUZZLES)}.")
"""For commands that take puzzles only."""

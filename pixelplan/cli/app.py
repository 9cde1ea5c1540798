"""All commands under one roof."""

from __future__ import annotations

from collections.abc import Sequence

from tyro.extras import SubcommandApp

from pixelplan.cli.levels import collect, inspect, levels
from pixelplan.cli.model import train
from pixelplan.cli.plan import evaluate, solve

COMMANDS = (levels, collect, train, inspect, evaluate, solve)


def run(arguments: Sequence[str]) -> None:
    """Parse the arguments and run the command they name."""
    app = SubcommandApp()
    for command in COMMANDS:
        app.command(command)
    app.cli(
        prog="pixelplan",
        description="Learn a world model from images of random play, then plan in it by graph search.",
        args=list(arguments),
    )

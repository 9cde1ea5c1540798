"""All commands in one parser."""

from __future__ import annotations

from collections.abc import Sequence

from tyro.extras import SubcommandApp

from pixelplan.cli.baseline import BASELINES
from pixelplan.cli.check_env import check_env
from pixelplan.cli.export import export
from pixelplan.cli.import_recording import import_recording
from pixelplan.cli.inspect import inspect
from pixelplan.cli.levels import collect, levels
from pixelplan.cli.plan import demo, evaluate, solve
from pixelplan.cli.reproduce import reproduce
from pixelplan.cli.train import train
from pixelplan.cli.train_heuristic import train_heuristic
from pixelplan.cli.web import web

COMMANDS = (
    demo, check_env, levels, collect, train, train_heuristic, inspect, evaluate, solve, reproduce, web, export,
)  # fmt: skip
GROUPS = {"baseline": (BASELINES, "Train and play the baselines that the paper compares with.")}
"""Commands with commands of their own, such as `pixelplan baseline ppo`."""


def run(arguments: Sequence[str]) -> None:
    """Parse the arguments and run the command they name."""
    app = SubcommandApp()
    for command in COMMANDS:
        app.command(command)
    app.command(name="import")(import_recording)  # a function cannot have that name
    for name, (commands, description) in GROUPS.items():
        group = SubcommandApp()
        for member in commands:
            group.command(member)
        app.command(group, name=name, help=description)
    app.cli(
        prog="pixelplan",
        description="Learn a world model from images of random play, then plan in it by graph search. With --verbose, "
        "any command shows where an error came from.",
        args=list(arguments),
    )

"""The command that serves the page."""

from __future__ import annotations


def web(
    *,
    env: str | None = None,
    model: str | None = None,
    option: tuple[str, ...] = (),
    host: str = "127.0.0.1",
    port: int = 8000,
    open: bool = True,
) -> None:
    """Serve a page on which to play the puzzles, or your own environment, and watch the planner think.

    Example: pixelplan web --model runs/ice-model
    Example: pixelplan web --env examples.sokoban:make --model runs/sokoban-model

    Args:
        env: What the page opens on: your own environment (package.module:function or a Gymnasium id), which needs a
            model of its own, or a puzzle. The puzzles are there in any case.
        model: A folder that train wrote, or oracle for the true rules; by default the shipped model of each puzzle.
        option: Options of the puzzle or environment as name=value, such as size=16 pixels=128.
        host: The address or name to listen on. Anything but the default lets others on the network in.
        port: The port to listen on; 0 takes a free one.
        open: Open the page in a browser, where there is a screen.
    """
    from pixelplan.cli.options import parse_family
    from pixelplan.envs.noise import Noise
    from pixelplan.types import InputError
    from pixelplan.web.launch import serve

    if option and env is None:
        raise InputError("options are those of --env; name the puzzle or environment, too")
    serve(model, host, port, open, None if env is None else parse_family(env, option, None, Noise()))

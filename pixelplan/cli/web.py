"""The command that serves the page."""

from __future__ import annotations


def web(*, model: str | None = None, host: str = "127.0.0.1", port: int = 8000, open: bool = True) -> None:
    """Serve a page on which to play the puzzles and watch the planner think.

    Example: pixelplan web --model runs/ice-model

    Args:
        model: A folder that train wrote, or oracle for the true rules; by default the shipped model of each puzzle.
        host: The address or name to listen on. Anything but the default lets others on the network in.
        port: The port to listen on; 0 takes a free one.
        open: Open the page in a browser, where there is a screen.
    """
    from pixelplan.web.launch import serve

    serve(model, host, port, open)

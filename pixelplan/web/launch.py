"""Listen, say where, and serve until interrupted."""

from __future__ import annotations

import asyncio
import contextlib
import ctypes
import logging
import os
import socket
import sys
import webbrowser
from typing import TYPE_CHECKING

from pixelplan.types import InputError

if TYPE_CHECKING:
    from pathlib import Path

    import uvicorn

    from pixelplan.envs.family import Family
    from pixelplan.web.thinkers import Models

_LOOPBACK = ("127.0.0.1", "localhost", "::1")
_LOOPBACK_OF_ALL = {"0.0.0.0": "127.0.0.1", "::": "::1", "": "127.0.0.1"}


def serve(
    model: str | None,
    host: str,
    port: int,
    open_browser: bool,
    family: Family | None = None,
    heuristic: Path | None = None,
    calibration: Path | None = None,
) -> None:
    """Serve the page until interrupted; a user's own family of levels comes first.

    An InputError if that is impossible.
    """
    check_extra()
    import uvicorn

    from pixelplan.web.thinkers import Models

    if not 0 <= port <= 65535:
        raise InputError(f"port is {port}; ports are 0 to 65535, and 0 takes a free one")
    _share_memory_between_threads()
    models = Models(model, family, heuristic, calibration)
    models.check()
    listener = listen(host, port)
    models.warm_up()
    here = _LOOPBACK_OF_ALL.get(host, host)  # no browser can open the address that means all of them
    address = f"http://{f'[{here}]' if ':' in here else here}:{listener.getsockname()[1]}/"
    if host not in _LOOPBACK:
        print(
            f"Listening on {host}: anyone who can reach this machine there can play and use its processor. There is no"
            " login and no encryption; the page neither reads nor writes your files."
        )
    print(f"pixelplan is at {address} (Ctrl+C ends it)", flush=True)
    if open_browser and (
        sys.platform in ("darwin", "win32") or os.environ.get("DISPLAY") or os.environ.get("WAYLAND_DISPLAY")
    ):
        webbrowser.open(address)
    with contextlib.suppress(KeyboardInterrupt):  # Ctrl+C ends it
        uvicorn.Server(configuration(models, host)).run(sockets=[listener])


def check_extra() -> None:
    """An InputError if the extra `web` is not installed."""
    try:
        import fastapi  # noqa: F401
        import uvicorn  # noqa: F401
        import websockets  # noqa: F401
    except ImportError as problem:
        raise InputError(f"the page needs {problem.name}: pip install 'pixelplan[web]'") from None


def configuration(models: Models, host: str) -> uvicorn.Config:
    """How the application is served."""
    import uvicorn

    from pixelplan.web.server import make_app

    chosen = uvicorn.Config(
        make_app(models, names=[host]),
        log_level="warning",
        access_log=False,
        ws_max_size=16 * 1024,
        server_header=False,
        timeout_keep_alive=15,
        timeout_graceful_shutdown=3,
    )
    logging.getLogger("uvicorn.error").addFilter(_is_a_fault)
    return chosen


def _is_a_fault(entry: logging.LogRecord) -> bool:
    """Whether a log entry is a fault; a request that was cut off when the server stopped is not."""
    return not (entry.exc_info and isinstance(entry.exc_info[1], asyncio.CancelledError))


def _share_memory_between_threads() -> None:
    """One pool of memory for all threads, if the C library allows it (glibc).

    With one pool per thread, no thread can reuse memory that another has freed, and a busy server grows for minutes.
    """
    arena_max, trim_threshold = -8, -1  # malloc.h
    with contextlib.suppress(AttributeError, OSError, TypeError):
        library = ctypes.CDLL(None)
        library.mallopt(arena_max, 1)
        library.mallopt(trim_threshold, 1_000_000)


def listen(host: str, port: int) -> socket.socket:
    """A socket that listens there; an InputError if the address is not ours or the port is taken."""
    try:
        family, kind, protocol, _, address = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0]
        listener = socket.socket(family, kind, protocol)
        try:
            listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            listener.bind(address)
            listener.listen(256)
        except OSError:
            listener.close()
            raise
    except (OSError, UnicodeError) as problem:
        reason = getattr(problem, "strerror", None) or problem
        raise InputError(f"cannot listen on {host}, port {port}: {reason}") from None
    return listener

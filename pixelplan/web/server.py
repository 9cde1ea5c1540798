"""The application: a page, a JSON interface to games, and sockets on which planners report what they do."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Iterable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import torch
from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from fastapi.responses import Response
from starlette.exceptions import HTTPException
from starlette.routing import Match

from pixelplan import __version__
from pixelplan.types import InputError
from pixelplan.web.access import Application, Guard
from pixelplan.web.games import add_game_routes
from pixelplan.web.level_routes import add_level_routes
from pixelplan.web.limits import Limits
from pixelplan.web.messages import MESSAGES
from pixelplan.web.sessions import Games, NoSuchGame, TooMany
from pixelplan.web.sockets import add_socket_routes
from pixelplan.web.thinkers import Models
from pixelplan.web.threads import Work

STATIC = Path(__file__).with_name("static")
TYPES = {".html": "text/html", ".css": "text/css", ".js": "text/javascript", ".svg": "image/svg+xml"}
DESCRIPTION = (
    "Games on the puzzles' levels, and plans for them. Every refusal is JSON with one sentence, `problem`. Planners at"
    " work are watched on two sockets; their messages are at `/api/messages`."
)


def make_app(models: Models, limits: Limits = Limits(), names: Iterable[str] = ()) -> Application:  # noqa: B008 (frozen)
    """The whole server as an ASGI application; `names` are the host names that it answers to, besides localhost."""
    work, runs = (
        Work(limits.waiting),
        Work(limits.sockets),
    )  # two pools, so that moves and plans never wait for a long run

    @asynccontextmanager
    async def lifespan(app: FastAPI) -> AsyncIterator[None]:
        torch.set_num_threads(1)  # two threads plan at once, and one thread each is fastest for small tensors
        yield
        work.close()
        runs.close()

    app = FastAPI(
        title="pixelplan",
        version=__version__,
        description=DESCRIPTION,
        docs_url=None,
        redoc_url=None,
        lifespan=lifespan,
    )
    games = Games(limits)
    add_level_routes(app, models, work, limits)
    add_game_routes(app, models, games, work, limits)
    add_socket_routes(app, models, games, runs, limits)
    _add_pages(app)
    _add_refusals(app, limits)
    return Guard(app, names, limits.body_bytes)


def _add_pages(app: FastAPI) -> None:
    # A few small files, read once: no request can ever name another one.
    files = {path.name: (path.read_bytes(), TYPES[path.suffix]) for path in STATIC.iterdir() if path.suffix in TYPES}

    @app.get("/static/{name}", include_in_schema=False)
    async def static(name: str) -> Response:
        if name not in files:
            raise HTTPException(404, "there is no such file")
        content, kind = files[name]
        return Response(content, media_type=kind, headers={"cache-control": "no-cache"})

    @app.get("/", include_in_schema=False)
    async def page() -> Response:
        return await static("index.html")

    @app.get("/docs", include_in_schema=False)
    async def documentation() -> Response:
        return await static("docs.html")

    @app.get("/favicon.ico", include_in_schema=False)
    async def icon() -> Response:
        return await static("icon.svg")

    @app.get("/api/messages", tags=["documentation"])
    async def messages() -> dict[str, Any]:
        """The JSON schemas of the messages on a socket, by their types."""
        return {kind.model_fields["type"].default: kind.model_json_schema() for kind in MESSAGES}


def _add_refusals(app: FastAPI, limits: Limits) -> None:
    @app.exception_handler(NoSuchGame)
    async def no_such_game(request: Request, problem: NoSuchGame) -> Response:
        minutes = round(limits.idle_seconds / 60)
        return refusal(404, f"there is no such game; a game that is not played is dropped after {minutes} minutes")

    @app.exception_handler(TooMany)
    async def too_many(request: Request, problem: TooMany) -> Response:
        return refusal(429, str(problem))

    @app.exception_handler(InputError)
    async def wrong_input(request: Request, problem: InputError) -> Response:
        return refusal(422, str(problem))

    @app.exception_handler(RequestValidationError)
    async def invalid(request: Request, problem: RequestValidationError) -> Response:
        first = problem.errors()[0]
        where = ".".join(str(part) for part in first["loc"] if part != "body") or "the body"
        return refusal(422, f"{where}: {first['msg']}")

    @app.exception_handler(HTTPException)
    async def other(request: Request, problem: HTTPException) -> Response:
        if problem.status_code != 405:
            return refusal(problem.status_code, str(problem.detail), problem.headers)
        routes = [route for route in app.routes if route.matches(request.scope)[0] != Match.NONE]
        allowed = ", ".join(sorted({method for route in routes for method in getattr(route, "methods", None) or ()}))
        return refusal(405, f"{request.method} is not possible here; {allowed} is", {"allow": allowed})


def refusal(status: int, problem: str, headers: Any = None) -> Response:
    """A refusal in one sentence, which may contain any characters that the visitor sent."""
    body = json.dumps({"problem": problem[:500]})  # escapes what is not ASCII, lone surrogates too
    return Response(body, status, headers, "application/json")

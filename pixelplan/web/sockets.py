"""Sockets on which a planner reports what it does. Closing one stops the planner."""

from __future__ import annotations

import asyncio
import logging
import threading
from collections.abc import Callable

from fastapi import FastAPI, WebSocket
from pydantic import BaseModel
from starlette.websockets import WebSocketDisconnect

from pixelplan.planning import PLANNERS, find_planner
from pixelplan.types import InputError
from pixelplan.web.limits import Limits
from pixelplan.web.messages import ProblemMessage
from pixelplan.web.narrate import Run, Stopped
from pixelplan.web.score import play_many
from pixelplan.web.sessions import Game, Games, NoSuchGame, TooMany
from pixelplan.web.thinkers import Models
from pixelplan.web.threads import Work

Tell = Callable[[BaseModel], None]


def add_socket_routes(app: FastAPI, models: Models, games: Games, work: Work, limits: Limits) -> None:
    """Sockets under /api/games."""
    open_sockets = 0

    async def serve(socket: WebSocket, id: str, act: Callable[[Game, Tell, threading.Event], None]) -> None:
        """Run `act` on a thread and send what it reports, until it is over or the visitor leaves."""
        nonlocal open_sockets
        await socket.accept()
        open_sockets += 1
        stop, loop = threading.Event(), asyncio.get_running_loop()
        messages: asyncio.Queue[BaseModel | None] = asyncio.Queue()  # limited by a run's limits

        def tell(message: BaseModel | None) -> None:
            loop.call_soon_threadsafe(messages.put_nowait, message)

        async def think() -> None:
            try:
                if open_sockets > limits.sockets:
                    raise TooMany("too many runs at once; try again in a minute")
                game = games.get(id)
                await work.do(lambda: act(game, tell, stop))
            except Stopped:
                pass
            except NoSuchGame:
                await messages.put(ProblemMessage(problem="there is no such game; start a new one"))
            except (InputError, TooMany) as problem:
                await messages.put(ProblemMessage(problem=str(problem)))
            except Exception:
                logging.getLogger("pixelplan").exception("a run failed")
                await messages.put(ProblemMessage(problem="something went wrong inside the server; its log says what"))
            finally:
                await messages.put(None)

        listening, thinking = asyncio.ensure_future(_until_gone(socket, stop)), asyncio.ensure_future(think())
        try:
            while (message := await messages.get()) is not None:
                await socket.send_text(message.model_dump_json())
            await socket.close()
        except (WebSocketDisconnect, RuntimeError):  # the visitor left while we were sending
            pass
        finally:
            stop.set()
            open_sockets -= 1
            listening.cancel()
            await asyncio.gather(thinking, listening, return_exceptions=True)

    @app.websocket("/api/games/{id}/run")
    async def run(socket: WebSocket, id: str, planner: str = "full") -> None:
        """Let a planner play from the game's current state, and report its plans and steps."""

        def act(game: Game, tell: Tell, stop: threading.Event) -> None:
            find_planner(planner)
            tell(Run(game, models.model(game), limits, tell, stop, models.searching(game)).execute(planner))

        await serve(socket, id, act)

    @app.websocket("/api/games/{id}/race")
    async def race(socket: WebSocket, id: str) -> None:
        """Let every planner play from the level's start, and report each run."""

        def act(game: Game, tell: Tell, stop: threading.Event) -> None:
            model, searching = models.model(game), models.searching(game)
            for planner in PLANNERS:
                tell(Run(game.before(0), model, limits, tell, stop, searching).race(planner))

        await serve(socket, id, act)

    @app.websocket("/api/games/{id}/score")
    async def score(socket: WebSocket, id: str, planner: str = "full", levels: int = 100) -> None:
        """Let a planner play many levels, from the game's on, and report how each went."""

        def act(game: Game, tell: Tell, stop: threading.Event) -> None:
            find_planner(planner)
            if not 1 <= levels <= limits.score_levels:
                raise InputError(f"{levels} levels cannot be played at once; 1 to {limits.score_levels} can")
            for message in play_many(models, game, planner, levels, limits, stop):
                tell(message)

        await serve(socket, id, act)


async def _until_gone(socket: WebSocket, stop: threading.Event) -> None:
    """Wait until the visitor leaves; visitors send nothing else."""
    try:
        while True:
            await socket.receive()
    except (WebSocketDisconnect, RuntimeError):
        pass
    stop.set()

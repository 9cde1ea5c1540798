"""A server without a socket, and clients of it."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import pytest
import uvicorn
from fastapi.testclient import TestClient
from starlette.websockets import WebSocketDisconnect

from pixelplan.web import launch
from pixelplan.web.limits import Limits
from pixelplan.web.server import make_app
from pixelplan.web.thinkers import Models

MakeClient = Callable[..., TestClient]


@pytest.fixture
def make_client() -> Iterator[MakeClient]:
    """Servers with the true rules as their model, and limits of their own."""
    opened: list[TestClient] = []

    def make(models: Models | None = None, **limits: Any) -> TestClient:
        client = TestClient(make_app(models or Models("oracle"), Limits(**limits)), base_url="http://localhost")
        client.__enter__()
        opened.append(client)
        return client

    yield make
    for client in opened:
        client.__exit__(None, None, None)


@pytest.fixture
def client(make_client: MakeClient) -> TestClient:
    """One server with its usual limits."""
    return make_client()


@contextmanager
def running(models: Models) -> Iterator[str]:
    """The address of a real server on a free port of this machine."""
    listener = launch.listen("127.0.0.1", 0)
    server = uvicorn.Server(launch.configuration(models, "127.0.0.1"))
    thread = threading.Thread(target=server.run, kwargs={"sockets": [listener]})
    thread.start()
    while not server.started:
        time.sleep(0.01)
    try:
        yield f"http://127.0.0.1:{listener.getsockname()[1]}"
    finally:
        server.should_exit = True
        thread.join(20)
        listener.close()


def begin(client: TestClient, env: str = "ice-slider", level: int = 3000, **more: Any) -> dict[str, Any]:
    """A new game."""
    answer = client.post("/api/games", json={"env": env, "level": level, **more})
    assert answer.status_code == 201, answer.text
    game: dict[str, Any] = answer.json()
    return game


def listen(client: TestClient, path: str) -> list[dict[str, Any]]:
    """All messages of a socket, until the server closes it."""
    messages = []
    with client.websocket_connect(f"ws://localhost{path}") as socket:
        while True:
            try:
                messages.append(socket.receive_json())
            except WebSocketDisconnect:
                return messages

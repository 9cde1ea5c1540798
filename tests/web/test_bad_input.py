"""Whatever is sent, the answer is a clear refusal, and one visitor cannot spoil it for another."""

from __future__ import annotations

import itertools
from typing import Any

import pytest
from fastapi.testclient import TestClient
from starlette.websockets import WebSocketDisconnect

from pixelplan.puzzles import get_level, make_puzzle
from pixelplan.web.board import TableBoard
from pixelplan.web.limits import Limits
from pixelplan.web.sessions import Games, NoSuchGame, TooMany
from tests.web.client import MakeClient, begin, listen

WRONG_GAMES = [
    {"env": "chess", "level": 3000},
    {"env": "../../etc", "level": 3000},
    {"env": "ice-slider", "level": -1},
    {"env": "ice-slider", "level": 10**30},
    {"env": "ice-slider", "level": 1.5},
    {"env": "ice-slider", "level": "3000?"},
    {"env": "ice-slider", "level": None},
    {"env": "ice-slider"},
    {"env": "ice-slider", "level": 3000, "moves": [5]},
    {"env": "ice-slider", "level": 3000, "moves": [0] * 1001},
    {"env": "ice-slider", "level": 3000, "goal": {"row": 8, "column": 0}},
    {"env": "ice-slider", "level": 3000, "goal": {"row": -1, "column": 0}},
    {"env": "ice-slider", "level": 3000, "colour": "red"},
    {"env": "\ud800", "level": 3000},
    [],
    "game",
    None,
]


@pytest.mark.parametrize("wish", WRONG_GAMES, ids=str)
def test_wrong_games_are_refused(client: TestClient, wish: Any) -> None:
    import json

    body = json.dumps(wish).encode()
    answer = client.post("/api/games", content=body, headers={"content-type": "application/json"})
    assert answer.status_code == 422 and answer.json()["problem"], answer.text


@pytest.mark.parametrize(
    "body", [b"", b"{", b'{"env": NaN}', b"\xff\xfe", b"[" * 30_000, b'{"level": ' + b"9" * 9000 + b"}"]
)
def test_malformed_json_is_refused(client: TestClient, body: bytes) -> None:
    answer = client.post("/api/games", content=body, headers={"content-type": "application/json"})
    assert answer.status_code in (400, 422) and answer.json()["problem"]


def test_giant_bodies_are_refused(client: TestClient) -> None:
    answer = client.post("/api/games", content=b" " * 100_000)
    assert (answer.status_code == 413 and "64" in answer.json()["problem"]) or "65536" in answer.json()["problem"]
    untold = client.post("/api/games", content=(b" " * 1000 for _ in range(200)))
    assert untold.status_code == 413
    assert client.post("/api/games", content=b"", headers={"content-length": "many"}).status_code in (400, 413)


@pytest.mark.parametrize(
    "path",
    [
        "/api/levels/ice-slider/-1",
        f"/api/levels/ice-slider/{10**30}",
        "/api/levels/chess/1",
        "/api/frames/ice-slider/3000/64.png",
        "/api/frames/ice-slider/3000/-1.png",
        "/api/frames/ice-slider/3000/x.png",
        "/api/games/nobody",
        "/api/games/nobody/solution.png",
        f"/api/games/{'x' * 500}",
        "/static/../server.py",
        "/static/%2e%2e/server.py",
        "/static/..%2fserver.py",
        "/static/%2e%2e/%2e%2e/%2e%2e/pyproject.toml",
        "/static//etc/passwd",
        "/static/%00",
        "/nothing",
    ],
)
def test_wrong_addresses_are_refused(client: TestClient, path: str) -> None:
    answer = client.get(path)
    assert answer.status_code in (404, 422) and answer.json()["problem"]
    assert "import" not in answer.text and "root:" not in answer.text


def test_foreign_hosts_and_origins_are_refused(client: TestClient) -> None:
    for host in ("evil.example", "evil.example:8000", "localhost.evil.example", ""):
        assert client.get("/", headers={"host": host}).status_code == 403
    for host in ("localhost:8000", "127.0.0.1", "[::1]:8000", "192.168.1.20:80"):
        assert client.get("/", headers={"host": host}).status_code == 200
    wish = {"env": "ice-slider", "level": 3000}
    for origin in ("http://evil.example", "null", "http://localhost:1", "http://[", "file://"):
        assert client.post("/api/games", json=wish, headers={"origin": origin}).status_code == 403
    assert client.post("/api/games", json=wish, headers={"origin": "http://localhost"}).status_code == 201
    game = begin(client)
    with (
        pytest.raises(WebSocketDisconnect),
        client.websocket_connect(
            f"ws://localhost/api/games/{game['id']}/race", headers={"origin": "http://evil.example"}
        ),
    ):
        pass


def test_games_are_limited_and_idle_ones_dropped() -> None:
    now = 0.0
    games = Games(Limits(games=3, spare_seconds=10, idle_seconds=100), lambda: now)
    level = get_level(make_puzzle("digit-jump"), 3000)
    board = TableBoard(level, level.goal, level.number)
    first, second, _ = (games.add("digit-jump", board) for _ in range(3))
    with pytest.raises(TooMany, match="3 games"):
        games.add("digit-jump", board)
    now = 11.0
    games.get(first.id)  # the second one is now the longest unused
    games.add("digit-jump", board)
    assert len(games) == 3 and games.get(first.id) is first
    with pytest.raises(NoSuchGame):
        games.get(second.id)
    now = 500.0
    games.drop_idle()
    assert len(games) == 0


def test_too_many_games_and_too_long_ones(make_client: MakeClient) -> None:
    client = make_client(games=2, moves=5)
    game = begin(client)
    begin(client)
    full = client.post("/api/games", json={"env": "ice-slider", "level": 3000})
    assert full.status_code == 429 and "try again" in full.json()["problem"]
    address = f"/api/games/{game['id']}/moves"
    assert client.post(address, json={"actions": [4] * 4}).status_code == 200
    long = client.post(address, json={"actions": [4] * 2})
    assert long.status_code == 422 and "at most 5 moves" in long.json()["problem"]
    assert len(client.get(f"/api/games/{game['id']}").json()["actions"]) == 4


def test_a_full_queue_is_reported(make_client: MakeClient) -> None:
    client = make_client(waiting=-2)
    answer = client.get("/api/levels/ice-slider/3000")
    assert answer.status_code == 429 and "try again" in answer.json()["problem"]


def test_sockets_of_no_game_and_of_too_many(make_client: MakeClient) -> None:
    client = make_client(sockets=0)
    assert "no such game" in listen(make_client(), "/api/games/nobody/run")[0]["problem"]
    game = begin(client)
    assert "too many" in listen(client, f"/api/games/{game['id']}/race")[0]["problem"]


def test_ids_cannot_be_guessed(client: TestClient) -> None:
    ids = [begin(client)["id"] for _ in range(20)]
    assert len(set(ids)) == 20 and all(len(id) >= 22 for id in ids)
    shared = max(sum(a == b for a, b in zip(*pair, strict=True)) for pair in itertools.combinations(ids, 2))
    assert shared < 12

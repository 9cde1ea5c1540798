"""Levels that visitors draw or bring as pictures, noise before them, and what models read from them."""

from __future__ import annotations

import base64
import io
from typing import Any

import numpy as np
import pytest
from fastapi.testclient import TestClient
from fault_bombs import png
from PIL import Image

from pixelplan.puzzles import PUZZLES, get_level, make_puzzle
from pixelplan.puzzles.drawn_levels import Drawing, as_drawable, drawn_level
from pixelplan.types import InputError
from pixelplan.web.thinkers import Models
from tests.web.client import MakeClient, begin, listen


@pytest.fixture
def trained(make_client: MakeClient) -> TestClient:
    """A server with the shipped models."""
    return make_client(Models())


def as_text(frame: np.ndarray, side: int, kind: str = "PNG", **options: Any) -> str:
    """A frame as a picture of another size, in base64."""
    buffer = io.BytesIO()
    Image.fromarray(frame).resize((side, side), Image.Resampling.NEAREST).save(buffer, kind, **options)
    return base64.b64encode(buffer.getvalue()).decode()


@pytest.mark.parametrize("number", [0, 3000, 3001, 123456])
def test_every_level_can_be_drawn_again(name: str, number: int) -> None:
    puzzle = make_puzzle(name)
    level = get_level(puzzle, number)
    again = drawn_level(puzzle, str(as_drawable(puzzle).drawing(level)))
    for field in ("background", "patches", "corners", "successors", "positions", "goals", "starts"):
        np.testing.assert_array_equal(getattr(level, field), getattr(again, field), field)
    assert (level.start, level.goal) == (again.start, again.goal)


@pytest.mark.parametrize(
    ("name", "text", "sentence"),
    [
        ("ice-slider", "nothing", "there is no level 'nothing'"),
        ("ice-slider", f"0-1-{'0' * 63}", "63 cells; here it has 64"),
        ("ice-slider", f"0-1-{'2' * 64}", "here they are of 01"),
        ("ice-slider", f"0-64-{'0' * 64}", "goal of the drawn level is in cell 64"),
        ("ice-slider", f"0-1-1{'0' * 63}", "start of the drawn level is in cell 0"),
        ("digit-jump", f"5-5-{'1' * 64}", "the same cell"),
        ("procgen-maze", f"0-1-{'0' * 225}-9999999999", "no level 9999999999"),
    ],
)
def test_wrong_drawings_are_refused(name: str, text: str, sentence: str) -> None:
    with pytest.raises(InputError, match=sentence):
        drawn_level(make_puzzle(name), text)


def test_a_drawn_level_is_played_planned_and_raced(client: TestClient, name: str) -> None:
    puzzle = make_puzzle(name)
    drawing = as_drawable(puzzle).drawing(get_level(puzzle, 3001))
    cells = list(drawing.cells)
    spare = next(c for c, kind in enumerate(cells) if c not in (drawing.start, drawing.goal))
    cells[spare] = "1" if cells[spare] != "1" else "0" if name != "digit-jump" else "2"
    text = str(Drawing(drawing.start, drawing.goal, "".join(cells), drawing.floor))
    game = begin(client, name, text)
    assert game["level"] == text
    assert client.get(f"/api/levels/{name}/{text}").json()["drawing"] == text
    assert client.get(f"/api/frames/{name}/{text}/{game['state']}.png").status_code == 200
    plan = client.post(f"/api/games/{game['id']}/plan").json()
    assert plan["solves"] is (game["shortest"] is not None)
    if game["shortest"]:
        assert len(plan["actions"]) == game["shortest"] and plan["parts"] is None
    assert listen(client, f"/api/games/{game['id']}/race")[1]["done"]["solved"] is (game["shortest"] is not None)
    assert client.get(f"/api/games/{game['id']}/solution.png").status_code == 200


@pytest.mark.parametrize("env", ["ice-slider", "digit-jump"])
@pytest.mark.parametrize("quality", [None, 75, 40])
def test_a_picture_is_read_and_planned_from(trained: TestClient, env: str, quality: int | None) -> None:
    puzzle = make_puzzle(env)
    level = get_level(puzzle, 3004)
    kind = {"kind": "PNG"} if quality is None else {"kind": "JPEG", "quality": quality}
    answer = trained.post("/api/pictures", json={"env": env, "frame": as_text(level.frame(level.start), 384, **kind)})
    assert answer.status_code == 201, answer.text
    read = answer.json()
    assert read["drawing"] == str(as_drawable(puzzle).drawing(level)) and read["doubtful"] == []
    assert "scaled down from 384 × 384 to 64 × 64" in read["note"]
    game = begin(trained, env, read["level"])
    plan = trained.post(f"/api/games/{game['id']}/plan").json()
    assert plan["solves"] and len(plan["actions"]) == game["shortest"]
    seen = trained.get(f"/api/games/{game['id']}/reading").json()
    assert seen["right"] and all(move[-1] for move in seen["moves"])


def test_a_bomb_is_refused(trained: TestClient) -> None:
    """134 bytes that claim to be a picture of 50,000 × 50,000 pixels."""
    bomb = base64.b64encode(png(50_000, 50_000)).decode()
    answer = trained.post("/api/pictures", json={"env": "ice-slider", "frame": bomb})
    assert answer.status_code == 422 and "claims far too many pixels" in answer.json()["problem"]


def test_a_picture_of_something_else_is_refused(trained: TestClient) -> None:
    cat = np.random.default_rng(0).integers(0, 256, (64, 64, 3), np.uint8)
    answer = trained.post("/api/pictures", json={"env": "ice-slider", "frame": as_text(cat, 64)})
    assert answer.status_code == 422 and "look like nothing known" in answer.json()["problem"]
    answer = trained.post("/api/pictures", json={"env": "procgen-maze", "frame": as_text(cat, 64)})
    assert answer.status_code == 422 and "draw one instead" in answer.json()["problem"]
    answer = trained.post("/api/games", json={"env": "ice-slider", "level": f"picture-{'0' * 16}"})
    assert answer.status_code == 422 and "upload it again" in answer.json()["problem"]


def test_noise_is_put_before_a_level(trained: TestClient) -> None:
    game = begin(trained, "ice-slider", "3000~40")
    frame = trained.get(f"/api/frames/ice-slider/3000~40/{game['state']}.png").content
    plain = trained.get(f"/api/frames/ice-slider/3000/{game['state']}.png").content
    apart = np.array(Image.open(io.BytesIO(frame)), np.int16) - np.array(Image.open(io.BytesIO(plain)), np.int16)
    assert 20 < apart.std() < 45, "the brightest and darkest pixels are cut off"
    reading = trained.get(f"/api/games/{game['id']}/reading").json()
    assert reading["right"], "the shipped model sees through it"
    true_rules = begin(trained, "ice-slider", "3000~40", model="oracle")
    answer = trained.post(f"/api/games/{true_rules['id']}/plan")
    assert answer.status_code == 422 and "needs a trained model" in answer.json()["problem"]


def test_nodes_stand_for_true_states(trained: TestClient) -> None:
    game = begin(trained, "ice-slider", 3001)
    level = get_level(make_puzzle("ice-slider"), 3001)
    graph = trained.post(f"/api/games/{game['id']}/plan").json()["graph"]
    for node in range(1, len(graph["x"])):
        before = graph["states"][graph["parent"][node]]
        assert graph["states"][node] == level.successors[before, graph["action"][node]]
    assert all(graph["right"]) and len(graph["right"]) == len(graph["x"])


def test_models_can_be_chosen(trained: TestClient) -> None:
    puzzles = {puzzle["name"]: puzzle for puzzle in trained.get("/api/puzzles").json()}
    assert set(puzzles) == set(PUZZLES)
    names = [choice["name"] for choice in puzzles["ice-slider"]["models"]]
    assert names[0] == "" and names[-1] == "oracle"
    for name in names:
        game = begin(trained, "ice-slider", 3001, model=name)
        assert trained.post(f"/api/games/{game['id']}/plan").status_code == 200
    answer = trained.post("/api/games", json={"env": "ice-slider", "level": 3001, "model": "nobody"})
    assert answer.status_code == 422 and "no model 'nobody'" in answer.json()["problem"]


def test_many_levels_are_scored(client: TestClient) -> None:
    game = begin(client, "digit-jump", 3000)
    messages = listen(client, f"/api/games/{game['id']}/score?planner=one-shot&levels=5")
    assert [message["level"] for message in messages] == list(range(3000, 3005))
    assert all(message["solved"] and message["steps"] == message["shortest"] for message in messages)
    assert messages[-1]["successes"] == messages[-1]["played"] == 5
    low, high = messages[-1]["interval"]
    assert 0.5 < low < 0.6 and high == 1.0
    for query, sentence in (("planner=magic", "no planner"), ("levels=0", "1 to 200 can")):
        assert sentence in listen(client, f"/api/games/{game['id']}/score?{query}")[0]["problem"]
    drawn = begin(client, "ice-slider", f"0-63-{'0' * 64}")
    assert "no successors" in listen(client, f"/api/games/{drawn['id']}/score")[0]["problem"]

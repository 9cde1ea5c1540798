"""Goals on the page that are not one picture: whatever solves the level, parts of a picture, any of several."""

from __future__ import annotations

import base64
import io
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
import torch
from fastapi.testclient import TestClient
from PIL import Image

from pixelplan.puzzles import get_level, make_puzzle
from pixelplan.types import Goal
from tests.own_worlds import CELLS, SIDE, Corridor
from tests.web.client import MakeClient, begin, listen
from tests.web.corridor import CorridorModel, corridor_models
from tests.web.test_own_world import LEVEL, frame_of, start

UNSHOWN = "tests.web.test_goal_kinds:Unshown"
PUZZLE, NUMBER = "ice-slider", 3000


class Unshown(Corridor):
    """Says when it is solved, and shows no goal."""

    goal_frame = None  # type: ignore[assignment]


class Taught(CorridorModel):
    """A model with a goal test that knows the corridor's end, and which places show parts of a picture."""

    def goal_test(self, z: torch.Tensor) -> torch.Tensor:
        return (z.argmax(1) != CELLS - 1).float() * 2

    def matching(self, goal: Goal) -> torch.Tensor:
        assert goal.frames is not None and goal.masks is not None
        seen = goal.frames[:, SIDE, ::SIDE].any(2)  # [G,CELLS], whether a picture shows the agent in a cell
        visible = goal.masks[:, SIDE, ::SIDE]
        return torch.eye(CELLS)[((~visible | (seen == np.eye(CELLS, dtype=bool)[:, None])).all(2)).any(1)]


def picture(frame: np.ndarray, mask: np.ndarray | None = None) -> str:
    """A frame [H,W,3] as PNG in base64, transparent wherever a mask [H,W] is false."""
    alpha = np.full(frame.shape[:2], 255, np.uint8) if mask is None else np.uint8(255) * mask
    buffer = io.BytesIO()
    Image.fromarray(np.dstack([frame, alpha]), "RGBA").save(buffer, "PNG")
    return base64.b64encode(buffer.getvalue()).decode()


@pytest.fixture
def client(make_client: MakeClient) -> Iterator[TestClient]:
    """A page with a corridor that shows no goal, and a model that has a goal test."""
    with corridor_models(UNSHOWN, Taught()) as models:
        models.check()
        models.warm_up()
        yield make_client(models)


@pytest.mark.parametrize("planner", ["full", "one-shot", "image-search"])
def test_a_world_that_shows_no_goal_is_planned_to_what_solves_it(client: TestClient, planner: str) -> None:
    assert "goal test" in client.get("/api/puzzles").json()[0]["goal"]
    game = begin(client, "own", LEVEL)
    assert game["goal"] == {"state": None, "row": None, "column": None, "own": True, "moves": None, "note": ""}
    *messages, done = listen(client, f"/api/games/{game['id']}/run?planner={planner}")
    assert done["solved"] and done["steps"] >= CELLS - 1 - start().place
    if planner == "image-search":
        return
    plan = client.post(f"/api/games/{game['id']}/plan").json()
    assert plan["reached"] and plan["actions"] == messages[0]["plan"]["actions"] == [1] * done["steps"]
    doubts = plan["graph"]["distance"]
    assert [doubt < plan["threshold"] for doubt in doubts] == [node == plan["path"][-1] for node in range(len(doubts))]
    assert plan["goal"] == [plan["graph"][axis][plan["path"][-1]] for axis in "xy"], "the node that it is sure of"
    moved = client.post(f"/api/games/{game['id']}/moves", json={"actions": plan["actions"]}).json()
    assert moved["solved"]
    sheet = Image.open(io.BytesIO(client.get(f"/api/games/{game['id']}/solution.png").content))
    assert sheet.size[0] > 4 * (len(plan["actions"]) + 1) * CELLS * SIDE


def test_another_goal_and_back(client: TestClient) -> None:
    game = begin(client, "own", LEVEL, moves=[0])
    address = f"/api/games/{game['id']}"
    aimed = client.put(f"{address}/goal", json={"state": game["state"]}).json()
    assert aimed["solved"] and not aimed["goal"]["own"] and aimed["goal"]["state"] == game["state"]
    assert client.put(f"{address}/goal", json={}).json()["goal"] == game["goal"]


def test_a_model_without_a_goal_test_says_so(make_client: MakeClient) -> None:
    with corridor_models(UNSHOWN) as models:
        client = make_client(models)
        words = client.get("/api/puzzles").json()[0]["goal"]
        assert "this model has no goal test" in words and words.count(".") == 0, "one sentence"
        game = begin(client, "own", LEVEL)
        assert game["goal"]["own"] and game["goal"]["state"] is not None
        assert client.post(f"/api/games/{game['id']}/plan").json()["reached"]


def test_what_is_transparent_does_not_matter(client: TestClient) -> None:
    env = start()
    assert env.place == 3
    mask = np.zeros((4 * SIDE, CELLS * SIDE), bool)
    mask[:, 3 * SIDE :] = True  # the agent is not in the right half
    wish = {"frame": picture(env.draw(0), mask)}
    game = begin(client, "own", LEVEL)
    address = f"/api/games/{game['id']}"
    aimed = client.put(f"{address}/goal", json=wish).json()
    assert not aimed["solved"] and not aimed["goal"]["own"] and "grey" in aimed["goal"]["note"]
    shown = frame_of(client, aimed["goal"]["state"])
    assert (shown[~mask] == 128).all() and np.array_equal(shown[mask], env.draw(0)[mask])
    assert client.post(f"{address}/plan").json()["actions"] == [0]
    assert listen(client, f"{address}/run?planner=full")[-1]["steps"] == 1
    for moves in ([0], [0, 0], [0, 0, 0]):
        client.post(f"{address}/restart")
        assert client.post(f"{address}/moves", json={"actions": moves}).json()["solved"]
    assert not client.post(f"{address}/restart").json()["solved"]
    large = Image.open(io.BytesIO(base64.b64decode(wish["frame"]))).resize((3 * CELLS * SIDE, 12 * SIDE), 0)
    again = client.put(f"{address}/goal", json={"frame": picture(*split(np.array(large)))}).json()
    assert "scaled down" in again["note"] and again["goal"] == aimed["goal"]


def test_a_model_that_does_not_see_what_matters_finds_no_plan(make_client: MakeClient) -> None:
    env = start()
    mask = np.zeros((4 * SIDE, CELLS * SIDE), bool)
    mask[:, -SIDE:] = True  # the agent is in the last cell, and wherever it is now
    with corridor_models() as models:
        client = make_client(models)
        address = f"/api/games/{begin(client, 'own', LEVEL)['id']}"
        client.put(f"{address}/goal", json={"frame": picture(env.draw(CELLS - 1), mask)})
        plan = client.post(f"{address}/plan").json()
        assert not plan["reached"] and plan["actions"] == []
        assert listen(client, f"{address}/run?planner=full")[-1]["solved"]


def split(pixels: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Colours [H,W,3] and what is not transparent [H,W] of a picture [H,W,4]."""
    return pixels[..., :3], pixels[..., 3] > 127


def test_any_of_several_pictures(client: TestClient) -> None:
    env = start()
    game = begin(client, "own", LEVEL)
    address = f"/api/games/{game['id']}"
    wish = {"frame": [picture(env.draw(0)), picture(env.draw(CELLS - 2))]}
    aimed = client.put(f"{address}/goal", json=wish).json()
    assert "Any of 2 pictures" in aimed["goal"]["note"] and not aimed["solved"]
    assert client.post(f"{address}/plan").json()["actions"] == [1], "the nearer one"
    for moves in ([1], [0, 0, 0]):
        client.post(f"{address}/restart")
        assert client.post(f"{address}/moves", json={"actions": moves}).json()["solved"]


def test_goals_that_make_no_sense_are_refused(client: TestClient) -> None:
    env = start()
    game = begin(client, "own", LEVEL)
    address = f"/api/games/{game['id']}/goal"
    frame = env.draw(0)
    wishes: dict[str, Any] = {
        "no pixel of the goal frame matters": picture(frame, np.zeros(frame.shape[:2], bool)),
        "frame": [],
        "at most 8": [picture(frame)] * 9,
        "not from level": picture(255 - frame, np.ones(frame.shape[:2], bool)),
        "the same proportions": [picture(frame), picture(frame[:, :SIDE])],
    }
    for sentence, frames in wishes.items():
        answer = client.put(address, json={"frame": frames})
        assert answer.status_code == 422 and sentence in answer.json()["problem"], (sentence, answer.text)
    assert client.get(f"/api/games/{game['id']}").json() == game


def test_puzzles_take_them_too(make_client: MakeClient) -> None:
    """By the true rules: a masked picture stands for all states that show what matters in it."""
    client = make_client()
    level = get_level(make_puzzle(PUZZLE), NUMBER)
    game = begin(client, PUZZLE, NUMBER)
    address = f"/api/games/{game['id']}"
    rows = level.positions[:, 0]
    row = next(row for row in rows if row != rows[level.start] and (rows == row).sum() > 1)
    state = int(np.flatnonzero(rows == row)[0])
    cell = level.patches.shape[1]
    mask = np.ones(level.background.shape[:2], bool)
    mask[row * cell : (row + 1) * cell] = False  # the agent may be anywhere in its row
    aimed = client.put(f"{address}/goal", json={"frame": picture(level.frame(state), mask)}).json()
    assert f"Any of {(rows == row).sum()} states" in aimed["goal"]["note"] and not aimed["goal"]["own"]
    plan = client.post(f"{address}/plan").json()
    assert plan["reached"] and plan["solves"] and len(plan["actions"]) == aimed["shortest"]
    both = [picture(level.frame(state)), picture(level.frame(level.goal))]
    aimed = client.put(f"{address}/goal", json={"frame": both}).json()
    assert client.post(f"{address}/plan").json()["solves"] and not aimed["goal"]["own"]
    assert client.put(f"{address}/goal", json={}).json()["goal"] == game["goal"]

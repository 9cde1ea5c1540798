"""Games over the JSON interface: play, aim, plan, save."""

from __future__ import annotations

import base64
import io
from pathlib import Path

import numpy as np
import pytest
from fastapi.testclient import TestClient
from PIL import Image

from pixelplan.planning import one_shot
from pixelplan.planning.plan import Episode
from pixelplan.puzzles import PUZZLES, get_level, make_puzzle
from pixelplan.puzzles.oracle import Oracle
from pixelplan.reports.figures import episode_gif, solution_picture
from pixelplan.web import server
from pixelplan.web.board import TableBoard
from pixelplan.web.sessions import Game
from tests.web.client import begin


def test_page_and_its_parts_are_served_without_any_other_server(client: TestClient) -> None:
    page = client.get("/")
    assert page.status_code == 200 and "pixelplan" in page.text
    assert "default-src 'none'" in page.headers["content-security-policy"]
    for path in server.STATIC.iterdir():
        answer = client.get(f"/static/{path.name}")
        assert answer.status_code == 200
        text = answer.text.replace("http://www.w3.org/2000/svg", "")
        assert "http://" not in text and "https://" not in text, f"{path.name} names another server"
    assert client.get("/docs").status_code == client.get("/favicon.ico").status_code == 200
    assert set(client.get("/api/messages").json()) == {"plan", "step", "done", "lane", "score", "problem"}


def test_messages_are_documented() -> None:
    from pixelplan.web.messages import MESSAGES

    page = (Path(__file__).parents[2] / "docs" / "web.md").read_text()
    for message in MESSAGES:
        for field in message.model_fields:
            assert f"`{field}`" in page, f"docs/web.md does not mention {message.__name__}.{field}"


def test_every_puzzle_is_listed_with_its_model(client: TestClient) -> None:
    puzzles = client.get("/api/puzzles").json()
    assert [puzzle["name"] for puzzle in puzzles] == list(PUZZLES)
    assert all(puzzle["rules"] and not puzzle["trained"] and "oracle" in puzzle["note"] for puzzle in puzzles)


def test_play_to_the_goal(client: TestClient, name: str) -> None:
    level = get_level(make_puzzle(name), 3000)
    solution = level.shortest_path(level.start)
    assert solution
    game = begin(client, name)
    address = f"/api/games/{game['id']}"
    assert (game["solved"], game["dead_end"], game["shortest"]) == (False, False, len(solution))
    for action in solution:
        game = client.post(f"{address}/moves", json={"actions": [action]}).json()
    assert game["solved"] and game["actions"] == list(solution) and game["seen"][0] == level.start
    game = client.post(f"{address}/undo").json()
    assert not game["solved"] and game["actions"] == list(solution[:-1])
    game = client.post(f"{address}/restart").json()
    assert game["actions"] == [] and game["state"] == level.start
    assert client.get(address).json() == game
    assert client.delete(address).status_code == 204
    assert client.get(address).status_code == 404


def test_frames_are_the_environments(client: TestClient, name: str) -> None:
    level = get_level(make_puzzle(name), 3000)
    for state in (level.start, level.goal):
        answer = client.get(f"/api/frames/{name}/3000/{state}.png")
        assert answer.headers["content-type"] == "image/png"
        assert np.array_equal(np.array(Image.open(io.BytesIO(answer.content))), level.frame(state))


def test_a_dead_end_is_reported(client: TestClient) -> None:
    level = get_level(make_puzzle("ice-slider"), 3000)
    reachable = np.flatnonzero(level.reachable(level.start))
    dead = next(state for state in reachable.tolist() if level.shortest_path(state) is None)
    way = next_way(level.successors, level.start, dead)
    game = begin(client, moves=way)
    assert game["state"] == dead and game["dead_end"] and not game["solved"]


def next_way(successors: np.ndarray, start: int, end: int) -> list[int]:
    """Actions that lead from a state to another."""
    ways: dict[int, list[int]] = {start: []}
    queue = [start]
    while end not in ways:
        here = queue.pop(0)
        for action, there in enumerate(successors[here].tolist()):
            if there not in ways:
                ways[there] = [*ways[here], action]
                queue.append(there)
    return ways[end]


def test_one_game_never_touches_another(client: TestClient) -> None:
    first, second = begin(client), begin(client)
    assert first["id"] != second["id"]
    client.post(f"/api/games/{first['id']}/moves", json={"actions": [3, 1]})
    client.put(f"/api/games/{first['id']}/goal", json={"cell": {"row": 0, "column": 0}})
    assert client.get(f"/api/games/{second['id']}").json() == second


def test_plan_is_a_shortest_way_and_its_graph_is_whole(client: TestClient, name: str) -> None:
    game = begin(client, name)
    plan = client.post(f"/api/games/{game['id']}/plan").json()
    assert plan["reached"] and len(plan["actions"]) == game["shortest"]
    graph = plan["graph"]
    lengths = {len(graph[key]) for key in ("x", "y", "depth", "parent", "action", "distance", "seen", "successors")}
    assert lengths == {plan["nodes"]}
    assert graph["seen"][0] == game["state"] and graph["distance"][plan["path"][-1]] < plan["threshold"]
    for before, node in zip(plan["path"][:-1], plan["path"][1:], strict=True):
        assert graph["parent"][node] == before and graph["successors"][before][graph["action"][node]] == node
    moved = client.post(f"/api/games/{game['id']}/moves", json={"actions": plan["actions"]}).json()
    assert moved["solved"] and moved["way"] == plan["way"]


def test_any_cell_can_be_the_goal(client: TestClient, name: str) -> None:
    level = get_level(make_puzzle(name), 3000)
    reachable = level.reachable(level.start)
    reachable[level.goals] = False
    state = int(np.flatnonzero(reachable)[-1])
    row, column = level.positions[state].tolist()
    game = begin(client, name, goal={"row": row, "column": column})
    assert (game["goal"]["row"], game["goal"]["column"], game["goal"]["own"]) == (row, column, False)
    plan = client.post(f"/api/games/{game['id']}/plan").json()
    assert plan["reached"] and len(plan["actions"]) == game["shortest"]
    moves = {"actions": plan["actions"] or [4]}
    assert client.post(f"/api/games/{game['id']}/moves", json=moves).json()["solved"]
    assert client.put(f"/api/games/{game['id']}/goal", json={}).json()["goal"]["own"]


def test_any_frame_of_the_level_can_be_the_goal(client: TestClient) -> None:
    game = begin(client, moves=[3, 1])
    frame = client.get(f"/api/frames/ice-slider/3000/{game['states'][1]}.png").content
    goal = {"frame": base64.b64encode(frame).decode()}
    changed = client.put(f"/api/games/{game['id']}/goal", json=goal).json()
    assert changed["goal"]["state"] == game["states"][1] and not changed["goal"]["own"]


def picture(size: tuple[int, int]) -> str:
    buffer = io.BytesIO()
    Image.new("RGB", size).save(buffer, "PNG")
    return base64.b64encode(buffer.getvalue()).decode()


@pytest.mark.parametrize(
    ("frame", "sentence"),
    [
        ("§§§", "PNG or JPEG picture"),
        (base64.b64encode(b"GIF89a and more").decode(), "PNG or JPEG picture"),
        (picture((64, 64))[:-40] + "=" * 4, "PNG or JPEG picture"),
        (picture((32, 64)), "32 × 64 pixels"),
        (picture((3000, 3000)), "3000 × 3000 pixels"),
        (picture((64, 64)), "no state of level 3000"),
    ],
)
def test_wrong_frames_are_refused(client: TestClient, frame: str, sentence: str) -> None:
    game = begin(client)
    answer = client.put(f"/api/games/{game['id']}/goal", json={"frame": frame})
    assert answer.status_code == 422 and sentence in answer.json()["problem"]
    assert client.get(f"/api/games/{game['id']}").json() == game


def test_pictures_of_a_solution(client: TestClient, name: str) -> None:
    level = get_level(make_puzzle(name), 3000)
    game = begin(client, name, moves=list(level.shortest_path(level.start) or ()))
    for ending, frames in (("png", 1), ("gif", len(game["states"]))):
        answer = client.get(f"/api/games/{game['id']}/solution.{ending}")
        assert f"{name}-3000.{ending}" in answer.headers["content-disposition"]
        image = Image.open(io.BytesIO(answer.content))
        assert getattr(image, "n_frames", 1) == frames and image.size[0] >= 256
    path = f"/api/games/{game['id']}/solution"
    thought = Image.open(io.BytesIO(client.get(f"{path}.gif?planner=full").content))
    assert thought.size == (2 * image.size[0], image.size[1]), "the latent graph is beside the frames"
    assert thought.n_frames > frames, "and grows before the first step"
    assert client.get(f"{path}.png?planner=full").content == client.get(f"{path}.png").content  # it needed no replan
    answer = client.get(f"{path}.png?planner=full&since={len(game['actions']) + 1}")
    assert answer.status_code == 422 and "since move" in answer.json()["problem"]
    long = begin(client, name, moves=[4] * 200)
    assert client.get(f"/api/games/{long['id']}/solution.gif").status_code == 422


def test_plans_are_shown_as_far_as_the_game_followed_them() -> None:
    level = get_level(make_puzzle("ice-slider"), 3000)
    game = Game("id", "ice-slider", TableBoard(level, level.goal, level.number), [level.start])
    game.play([1, 3, 1, 2], most=100)
    plans = tuple(one_shot(Oracle(level), level.frame(level.start), level.frame(level.goal)) for _ in range(3))
    run = Episode((3, 1, 0), level.frames(np.zeros(4, int)), False, "steps", plans, planned_at=(0, 2, 3))
    shown = game.episode(1, run)  # its moves 3 and 1 were made, then another one
    assert shown.planned_at == (1, 3) and shown.plans == plans[:2] and shown.actions == (1, 3, 1, 2)
    assert game.before(1).actions == [1] and game.before(1).state == game.states[1]
    assert solution_picture(level, shown).tobytes() != solution_picture(level, game.episode()).tobytes()  # a circle
    with Image.open(io.BytesIO(episode_gif(shown))) as animation:
        assert animation.size[0] == 2 * animation.size[1]

"""A user's environment on the page: played, planned and saved as the puzzles are."""

from __future__ import annotations

import base64
import io
import threading
from collections.abc import Iterator

import numpy as np
import pytest
from fastapi.testclient import TestClient
from PIL import Image

from pixelplan.by_name.resolve import open_family
from pixelplan.puzzles import PUZZLES
from pixelplan.types import InputError
from pixelplan.web.explored_level import OwnWorld
from pixelplan.web.own_board import OwnBoard
from pixelplan.web.thinkers import Models
from pixelplan.worlds.gym_family import GymFamily
from tests.own_worlds import CELLS, SIDE, Corridor
from tests.web.client import MakeClient, begin, listen
from tests.web.corridor import corridor_models

CORRIDOR = "tests.own_worlds:corridor"
LEVEL = 1  # begins in the fourth of six places


@pytest.fixture
def client(make_client: MakeClient) -> Iterator[TestClient]:
    """A page with the corridor beside the puzzles."""
    with corridor_models() as models:
        models.check()
        models.warm_up()
        yield make_client(models)


def frame_of(client: TestClient, state: int, level: int = LEVEL) -> np.ndarray:
    """A state's frame as the page gets it."""
    answer = client.get(f"/api/frames/own/{level}/{state}.png")
    assert answer.status_code == 200, answer.text
    return np.array(Image.open(io.BytesIO(answer.content)))


def start() -> Corridor:
    """The corridor at the start of the level."""
    env = Corridor()
    env.reset(seed=LEVEL)
    return env


def test_it_stands_before_the_puzzles(client: TestClient) -> None:
    own_world, *puzzles = client.get("/api/puzzles").json()
    assert (own_world["name"], own_world["title"], own_world["model"], own_world["trained"]) == (
        "own",
        CORRIDOR,
        "corridor",
        True,
    )
    assert own_world["actions"] == ["0", "1"] and own_world["goal"] == "The level's own goal"
    assert [puzzle["name"] for puzzle in puzzles] == list(PUZZLES)
    assert puzzles[0]["actions"] == ["up", "right", "left", "down", "no-op"]
    assert begin(client)["shortest"], "the puzzles are there as ever"
    level = client.get(f"/api/levels/own/{LEVEL}").json()
    assert (level["pixels"], level["height"], level["cell"], level["places"]) == (CELLS * SIDE, 4 * SIDE, None, [])


def test_it_is_played_to_its_goal(client: TestClient) -> None:
    env = start()
    game = begin(client, "own", LEVEL)
    address = f"/api/games/{game['id']}"
    assert (game["solved"], game["dead_end"], game["shortest"], game["position"]) == (False, None, None, None)
    assert np.array_equal(frame_of(client, game["state"]), env.draw(env.place))
    assert np.array_equal(frame_of(client, game["goal"]["state"]), env.goal_frame()) and game["goal"]["own"]
    steps = CELLS - 1 - env.place
    for step in range(steps):
        game = client.post(f"{address}/moves", json={"actions": [1]}).json()
        assert np.array_equal(frame_of(client, game["state"]), env.draw(env.place + step + 1))
    assert game["solved"] and game["state"] == game["goal"]["state"] and game["way"] == []
    game = client.post(f"{address}/undo").json()
    assert not game["solved"] and len(game["seen"]) == steps
    game = client.post(f"{address}/restart").json()
    assert game["actions"] == [] and client.get(address).json() == game
    assert begin(client, "own", LEVEL, moves=[1, 0])["state"] == game["state"], "equal frames are one state"


@pytest.mark.parametrize("planner", ["full", "one-shot", "image-search"])
def test_planners_lead_to_its_goal(client: TestClient, planner: str) -> None:
    game = begin(client, "own", LEVEL, moves=[0])
    *messages, done = listen(client, f"/api/games/{game['id']}/run?planner={planner}")
    steps = [message for message in messages if message["type"] == "step"]
    assert done["solved"] and done["steps"] == len(steps) and steps[-1]["state"] == game["goal"]["state"]
    assert all(step["place"] is None for step in steps)
    if planner != "image-search":
        plan = messages[0]["plan"]
        assert plan["reached"] and plan["way"] == [] and set(plan["actions"]) == {1}
        assert client.post(f"/api/games/{game['id']}/plan").json()["actions"] == plan["actions"]
        assert plan["graph"]["seen"][0] == game["state"] and all(step["agrees"] for step in steps)


def test_race(client: TestClient) -> None:
    game = begin(client, "own", LEVEL)
    lanes = listen(client, f"/api/games/{game['id']}/race")
    assert all(lane["done"]["solved"] and lane["way"] == [] for lane in lanes)
    assert all(len(lane["states"]) == lane["done"]["steps"] + 1 for lane in lanes)


def test_any_state_can_be_the_goal(client: TestClient) -> None:
    """One that was seen, one of a shared address, and one that only a picture shows."""
    env = start()
    game = begin(client, "own", LEVEL, moves=[0] * CELLS)
    leftmost = client.get(f"/api/frames/own/{LEVEL}/{game['state']}.png").content
    address = f"/api/games/{game['id']}"
    goal = {"frame": base64.b64encode(leftmost).decode()}
    game = client.put(f"{address}/goal", json=goal).json()
    assert game["solved"] and not game["goal"]["own"] and game["goal"]["moves"] == [0] * env.place
    game = client.post(f"{address}/restart").json()
    assert client.post(f"{address}/plan").json()["actions"] == [0] * env.place
    shared = begin(client, "own", LEVEL, goal_moves=[0] * CELLS)
    assert shared["goal"] == game["goal"]
    assert client.put(f"{address}/goal", json={}).json()["goal"]["own"]
    buffer = io.BytesIO()
    Image.fromarray(env.draw(CELLS - 2)).save(buffer, "PNG")
    unseen = {"frame": base64.b64encode(buffer.getvalue()).decode()}
    game = client.put(f"{address}/goal", json=unseen).json()
    assert game["goal"]["moves"] is None and not game["goal"]["own"]
    plan = client.post(f"{address}/plan").json()
    game = client.post(f"{address}/moves", json={"actions": plan["actions"]}).json()
    assert game["solved"] and game["goal"]["moves"] == plan["actions"]


def test_what_it_does_not_have_is_refused(client: TestClient) -> None:
    wish = {"env": "own", "level": LEVEL}
    game = begin(client, **wish)
    address = f"/api/games/{game['id']}"
    foreign = io.BytesIO()
    Image.new("RGB", (CELLS * SIDE, 4 * SIDE), "white").save(foreign, "PNG")
    answers = {
        "no cells": client.put(f"{address}/goal", json={"cell": {"row": 0, "column": 0}}),
        "not from level": client.put(f"{address}/goal", json={"frame": base64.b64encode(foreign.getvalue()).decode()}),
        "there is no action 2": client.post(f"{address}/moves", json={"actions": [2]}),
        "actions are 0 to 1": client.post("/api/games", json={**wish, "moves": [255]}),
        "not both": client.post("/api/games", json={**wish, "goal": {"row": 0, "column": 0}, "goal_moves": []}),
        "has been seen in level": client.get(f"/api/frames/own/{LEVEL}/7.png"),
    }
    for sentence, answer in answers.items():
        assert answer.status_code == 422 and sentence in answer.json()["problem"], sentence
    assert client.get(address).json() == game


def test_its_moves_are_saved_in_their_proportions(client: TestClient) -> None:
    game = begin(client, "own", LEVEL, moves=[1, 1])
    path = f"/api/games/{game['id']}/solution"
    sheet = Image.open(io.BytesIO(client.get(f"{path}.png").content))
    assert sheet.size[0] > 4 * 4 * CELLS * SIDE, "start, two moves and the goal side by side"
    animation = Image.open(io.BytesIO(client.get(f"{path}.gif").content))
    assert animation.n_frames == 3
    pixels = np.array(animation.convert("RGB"))
    assert (pixels[0, 0] > 200).all() and (pixels[len(pixels) // 2, 5] < 50).all(), "wider than high, paper above"
    thought = Image.open(io.BytesIO(client.get(f"{path}.gif?planner=full").content))
    assert thought.size[0] == 2 * thought.size[1]


def test_a_world_without_goals_has_random_ones(make_client: MakeClient) -> None:
    with corridor_models("tests.own_worlds:goalless") as models:
        client = make_client(models)
        assert "random play" in client.get("/api/puzzles").json()[0]["goal"]
        game = begin(client, "own", LEVEL)
        assert game["goal"]["own"] and game["goal"]["state"] != game["state"]
        assert listen(client, f"/api/games/{game['id']}/run?planner=full")[-1]["solved"]


def test_a_page_without_one_knows_none(make_client: MakeClient) -> None:
    answer = make_client().post("/api/games", json={"env": "own", "level": LEVEL})
    assert answer.status_code == 422 and "no puzzle 'own'" in answer.json()["problem"]


def test_a_puzzle_can_be_asked_for_with_options(make_client: MakeClient) -> None:
    client = make_client(Models("oracle", open_family("digit-jump", {"size": 4})))
    assert [puzzle["name"] for puzzle in client.get("/api/puzzles").json()] == [
        "digit-jump",
        *(name for name in PUZZLES if name != "digit-jump"),
    ]
    assert len(client.get("/api/levels/digit-jump/3000").json()["places"]) == 16
    assert client.post(f"/api/games/{begin(client, 'digit-jump')['id']}/plan").json()["reached"]


class Moody(Corridor):
    """Falls over when it is led to the right end."""

    def moved(self, place: int, action: int) -> int:
        if super().moved(place, action) == CELLS - 1:
            raise RuntimeError("the robot\nis on fire")
        return super().moved(place, action)


def test_what_it_raises_is_a_sentence(make_client: MakeClient) -> None:
    with corridor_models("tests.web.test_own_world:Moody") as models:
        client = make_client(models)
        game = begin(client, "own", LEVEL)
        answer = client.post(f"/api/games/{game['id']}/moves", json={"actions": [1] * CELLS})
        assert answer.status_code == 422 and "RuntimeError: the robot is on fire" in answer.json()["problem"]
        assert client.get(f"/api/games/{game['id']}").json() == game, "no move was made"
        assert "on fire" in listen(client, f"/api/games/{game['id']}/run?planner=full")[-1]["problem"]
        assert client.post(f"/api/games/{game['id']}/moves", json={"actions": [0]}).status_code == 200


def test_states_are_limited(make_client: MakeClient) -> None:
    with corridor_models() as models:
        client = make_client(models, states=3)
        game = begin(client, "own", LEVEL)
        answer = client.post(f"/api/games/{game['id']}/moves", json={"actions": [0, 1] * CELLS + [1] * CELLS})
        assert answer.status_code == 422 and "3 states of level" in answer.json()["problem"]


def test_many_walk_one_world_at_once() -> None:
    """One environment, several threads and levels: each walk finds what it would find alone."""
    world = OwnWorld(open_family(CORRIDOR))
    walked: dict[int, list[int]] = {}

    def walk(level: int) -> None:
        board = OwnBoard.of(world.level(level, 100))
        random, state, places = np.random.default_rng(level), board.start, []
        for action in random.integers(2, size=50).tolist():
            state = board.after(state, action)
            places.append(int(board.frame(state)[SIDE, ::SIDE].sum(1).argmax()))
        walked[level] = places

    threads = [threading.Thread(target=walk, args=(level,)) for level in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    for level, places in walked.items():
        env = Corridor()
        env.reset(seed=level)
        alone = []
        for action in np.random.default_rng(level).integers(2, size=50).tolist():
            env.step(action)
            alone.append(env.place)
        assert places == alone


def test_a_world_that_changes_is_noticed_while_it_is_played() -> None:
    env = Corridor()
    board = OwnBoard.of(OwnWorld(GymFamily(env)).level(LEVEL, 100))
    right = board.after(board.start, 1)
    env.moved = lambda place, action: place  # type: ignore[method-assign]
    board.after(board.start, 0)  # so that the environment stands elsewhere
    with pytest.raises(InputError, match="not deterministic"):
        board.after(right, 0)

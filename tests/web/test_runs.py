"""Planners report over sockets: what they say is what happened."""

from __future__ import annotations

import dataclasses
from threading import Event
from typing import Any

import numpy as np
import pytest
import torch
from fastapi.testclient import TestClient
from pydantic import BaseModel

from pixelplan.planning import PLANNERS
from pixelplan.puzzles import get_level, make_puzzle
from pixelplan.puzzles.oracle import Oracle
from pixelplan.web.board import TableBoard
from pixelplan.web.limits import Limits
from pixelplan.web.messages import PlanMessage, StepMessage
from pixelplan.web.narrate import Run, Stopped
from pixelplan.web.sessions import Games
from tests.web.client import MakeClient, begin, listen


@pytest.mark.parametrize("planner", ["full", "one-shot"])
def test_run_leads_to_the_goal_and_leaves_the_game_alone(client: TestClient, name: str, planner: str) -> None:
    game = begin(client, name)
    plan, *steps, done = listen(client, f"/api/games/{game['id']}/run?planner={planner}")
    assert (plan["type"], done["type"], {step["type"] for step in steps}) == ("plan", "done", {"step"})
    assert done["solved"] and done["ended"] == "solved" and done["plans"] == 1 and done["steps"] == len(steps)
    assert plan["intent"] == "goal" and [step["action"] for step in steps] == plan["plan"]["actions"]
    assert all(step["agrees"] and step["distance"] < step["threshold"] for step in steps)
    assert client.get(f"/api/games/{game['id']}").json() == game
    actions = [step["action"] for step in steps]
    assert client.post(f"/api/games/{game['id']}/moves", json={"actions": actions}).json()["solved"]


def test_run_begins_where_the_game_stands(client: TestClient) -> None:
    game = begin(client, moves=[3])
    plan, *_, done = listen(client, f"/api/games/{game['id']}/run?planner=full")
    assert done["solved"] and plan["plan"]["way"][0] == game["way"][-1]


def test_image_search_is_reported_without_predictions(client: TestClient, name: str) -> None:
    game = begin(client, name)
    *steps, done = listen(client, f"/api/games/{game['id']}/run?planner=image-search")
    assert done["plans"] == 0 and len(steps) == done["steps"]
    assert all(step["predicted"] is None and step["distance"] is None for step in steps)


def test_a_race_reports_every_planners_path(client: TestClient, name: str) -> None:
    game = begin(client, name)
    lanes = listen(client, f"/api/games/{game['id']}/race")
    assert [lane["planner"] for lane in lanes] == list(PLANNERS)
    for lane in lanes:
        assert len(lane["states"]) == len(lane["way"]) == lane["done"]["steps"] + 1
        assert lane["states"][0] == game["state"]
    assert [lane["done"]["solved"] for lane in lanes[:2]] == [True, True]
    assert lanes[0]["done"]["steps"] == game["shortest"]


def test_unknown_planner_is_refused(client: TestClient) -> None:
    game = begin(client)
    (message,) = listen(client, f"/api/games/{game['id']}/run?planner=magic")
    assert message["type"] == "problem" and "full" in message["problem"]


def test_run_on_a_solved_game_is_over_at_once(client: TestClient) -> None:
    level = get_level(make_puzzle("ice-slider"), 3000)
    game = begin(client, moves=list(level.shortest_path(level.start) or ()))
    messages = listen(client, f"/api/games/{game['id']}/run?planner=full")
    assert messages[-1]["solved"] and messages[-1]["steps"] == 0


def test_time_is_limited(make_client: MakeClient) -> None:
    client = make_client(run_seconds=-1.0)
    game = begin(client)
    assert listen(client, f"/api/games/{game['id']}/run?planner=full")[-1]["ended"] == "time"
    assert {lane["done"]["ended"] for lane in listen(client, f"/api/games/{game['id']}/race")} == {"time"}


def test_graphs_beyond_the_limit_are_left_out(make_client: MakeClient) -> None:
    client = make_client(nodes_shown=3)
    game = begin(client)
    plan, *_ = listen(client, f"/api/games/{game['id']}/run?planner=full")
    assert plan["plan"]["graph"] is None and plan["plan"]["actions"]


def test_a_socket_dropped_in_the_middle_does_no_harm(client: TestClient) -> None:
    game = begin(client, level=3001)
    for _ in range(3):
        with client.websocket_connect(f"ws://localhost/api/games/{game['id']}/run?planner=full") as socket:
            assert socket.receive_json()["type"] == "plan"
    assert client.post(f"/api/games/{game['id']}/plan").json()["reached"]


class Liar:
    """The true rules except for one lie: it takes one transition for standing still."""

    noisy = False

    def __init__(self, oracle: Oracle, embedding: torch.Tensor, action: int) -> None:
        self.threshold, self._oracle, self._embedding, self._action = oracle.threshold, oracle, embedding, action

    def encode(self, frames: np.ndarray) -> torch.Tensor:
        return self._oracle.encode(frames)

    def context(self, frame: np.ndarray) -> Any:
        return None

    def step(self, z: torch.Tensor, context: Any) -> torch.Tensor:
        after = self._oracle.step(z, context).clone()
        after[(z == self._embedding).all(1), self._action] = self._wrong
        return after

    @property
    def _wrong(self) -> torch.Tensor:
        return self._goal

    def lie(self, goal: torch.Tensor) -> Liar:
        """Claim that the transition leads to the goal at once."""
        self._goal = goal
        return self


def a_run(stop: Event | None = None) -> tuple[Run, list[BaseModel]]:
    """The full planner with a model that thinks the first step up is the goal."""
    level = get_level(make_puzzle("digit-jump"), 3007)
    game = Games(Limits()).add("digit-jump", TableBoard(level, level.goal, level.number))
    oracle = Oracle(level)
    start, goal = oracle.encode(level.frames(np.array([level.start, level.goal])))
    messages: list[BaseModel] = []
    return Run(game, Liar(oracle, start, 0).lie(goal), Limits(), messages.append, stop), messages


def test_a_wrong_prediction_is_shown_and_memory_corrects_it() -> None:
    run, messages = a_run()
    done = run.execute("full")
    plans = [message for message in messages if isinstance(message, PlanMessage)]
    steps = [message for message in messages if isinstance(message, StepMessage)]
    assert done.solved and done.plans == len(plans) == 2
    assert plans[0].plan.actions == [0] and plans[1].step == 1
    assert not steps[0].agrees and steps[0].distance is not None and steps[0].distance > run.model.threshold
    assert all(step.agrees for step in steps[1:])
    assert plans[0].plan.graph is not None and plans[0].plan.graph.corrected == []
    assert plans[1].plan.graph is not None and plans[1].plan.graph.corrected == [(0, 0)]
    assert plans[1].plan.graph.successors[0][0] == 0, "the jump up leaves the board, so it stays"


def test_a_run_stops_when_the_visitor_has_left() -> None:
    stop = Event()
    run, messages = a_run(stop)
    stop.set()
    with pytest.raises(Stopped):
        run.execute("full")
    assert messages == []
    assert dataclasses.is_dataclass(run.limits)

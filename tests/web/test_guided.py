"""The page with a learned distance, and with what plans are worth."""

from __future__ import annotations

from pathlib import Path

import pytest
import torch

from pixelplan.by_name.evaluate import evaluate
from pixelplan.by_name.resolve import open_family
from pixelplan.distance.distance_config import NetworkConfig
from pixelplan.distance.learned_distance import save_distance
from pixelplan.distance.network import DistanceNetwork
from pixelplan.types import InputError
from pixelplan.web.searching import GUIDED
from pixelplan.web.thinkers import Models
from tests.web.client import MakeClient, begin

PUZZLE = "examples.sliding_puzzle:make"


def heuristic_in(folder: Path) -> Path:
    """A distance for the true rules of the 8-puzzle that knows nothing."""
    torch.manual_seed(0)
    network = DistanceNetwork(81, (3, 3, 9), 4, NetworkConfig(goal_width=4, goal_blocks=1, state_width=4, hidden=16))
    save_distance(network, folder, {"model": "oracle", "model_identity": f"the true rules of {PUZZLE}"})
    return folder


def test_plans_are_searched_best_first_and_say_how_sure_they_are(tmp_path: Path, make_client: MakeClient) -> None:
    heuristic, record = heuristic_in(tmp_path / "h"), tmp_path / "record.json"
    family = open_family(PUZZLE, {"size": 3, "steps": 4})
    evaluate(family, "0:20", planner="one-shot", model="oracle", heuristic=heuristic, config=GUIDED, out=record)
    models = Models("oracle", family, heuristic, record)
    models.check()
    models.warm_up()
    client = make_client(models)
    game = begin(client, "own", 100)
    plan = client.post(f"/api/games/{game['id']}/plan").json()
    assert plan["reached"] and 0.9 < plan["chance"] < 1
    without = make_client(Models("oracle", family))
    game = begin(without, "own", 100)
    assert without.post(f"/api/games/{game['id']}/plan").json()["chance"] is None


def test_they_are_for_an_own_environment(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="are for your own environment; name it with --env"):
        Models(heuristic=tmp_path)
    with pytest.raises(InputError, match="holds no heuristic"):
        Models("oracle", open_family(PUZZLE, {"size": 3}), tmp_path)

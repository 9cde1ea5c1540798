"""Which model thinks about which puzzle, and how the server starts."""

from __future__ import annotations

import asyncio
import logging
import socket
import sys
from pathlib import Path

import pytest

from pixelplan.by_name import open_model as evaluation_models
from pixelplan.by_name.resolve import open_family
from pixelplan.families.grid import ModelConfig
from pixelplan.model.checkpoint import save_model
from pixelplan.model.sizes import Sizes
from pixelplan.model.world_model import WorldModel
from pixelplan.puzzles import make_puzzle
from pixelplan.types import InputError
from pixelplan.web import launch, thinkers
from pixelplan.web.thinkers import Models
from tests.conftest import one_sentence, run_command
from tests.web.client import MakeClient, begin


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """An untrained model that says it was made for small DigitJump boards."""
    config = ModelConfig(dimensions=8, encoder_width=8, context_width=8)
    data = {"env": "digit-jump", "options": {"size": 4, "pixels": 32}}
    model = WorldModel(config, Sizes(32, 32, 5, 4, 4, 3), threshold=0.5)
    (tmp_path / "mine").mkdir()
    save_model(tmp_path / "mine", model, {"data": data})
    return tmp_path / "mine"


@pytest.fixture
def nothing_shipped(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """As if the package came without weights."""
    for module in (thinkers, evaluation_models):
        monkeypatch.setattr(module, "SHIPPED", tmp_path / "weights")


@pytest.mark.usefixtures("nothing_shipped")
def test_a_users_model_thinks_about_its_puzzle(folder: Path, make_client: MakeClient) -> None:
    client = make_client(Models(str(folder)))
    ice, digits, _ = client.get("/api/puzzles").json()
    assert digits["trained"] and digits["model"] == "mine", "visitors must not see the folder's path"
    assert not ice["trained"] and "No trained model is shipped" in ice["note"]
    game = begin(client, "digit-jump")
    assert client.get("/api/levels/digit-jump/3000").json()["pixels"] == 32
    plan = client.post(f"/api/games/{game['id']}/plan")
    assert plan.status_code == 200 and plan.json()["threshold"] == 0.5


def test_a_shipped_model_thinks_about_larger_boards(make_client: MakeClient) -> None:
    family = open_family(make_puzzle("ice-slider", size=12, pixels=96))
    client = make_client(Models(None, family))
    assert client.get("/api/puzzles").json()[0]["trained"]
    game = begin(client, "ice-slider")
    assert client.post(f"/api/games/{game['id']}/plan").json()["reached"]


@pytest.mark.usefixtures("nothing_shipped")
def test_without_shipped_models_the_true_rules_stand_in(make_client: MakeClient) -> None:
    client = make_client(Models())
    assert not any(puzzle["trained"] for puzzle in client.get("/api/puzzles").json())
    game = begin(client)
    assert client.post(f"/api/games/{game['id']}/plan").json()["reached"]


def test_shipped_models_are_used_if_there_are_any(make_client: MakeClient) -> None:
    for puzzle in make_client(Models()).get("/api/puzzles").json():
        shipped = (thinkers.SHIPPED / puzzle["name"]).is_dir()
        assert puzzle["trained"] == shipped and bool(puzzle["note"]) != shipped


def test_models_that_cannot_be_used_are_named(tmp_path: Path, folder: Path) -> None:
    with pytest.raises(InputError, match="nowhere"):
        Models(str(tmp_path / "nowhere")).check()
    with pytest.raises(InputError, match="not a model folder"):
        Models(str(tmp_path)).check()
    (folder / "weights.safetensors").write_bytes(b"broken")
    with pytest.raises(InputError, match="damaged"):
        Models(str(folder)).check()


def test_addresses_that_cannot_be_used_are_named() -> None:
    with pytest.raises(InputError, match="ports are"):
        launch.serve("oracle", "127.0.0.1", 70_000, False)
    with pytest.raises(InputError, match="cannot listen"):
        launch.serve("oracle", "203.0.113.1", 0, False)
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        with pytest.raises(InputError, match="in use"):
            launch.serve("oracle", "127.0.0.1", taken.getsockname()[1], False)


def test_missing_extra_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "uvicorn", None)
    with pytest.raises(InputError, match=r"pixelplan\[web\]"):
        launch.serve("oracle", "127.0.0.1", 0, False)


def test_command_says_what_is_wrong() -> None:
    assert "ports are" in one_sentence(run_command("web", "--port", "70000", "--no-open", code=2))


def test_a_request_cut_off_by_the_servers_end_is_no_fault() -> None:
    """Ctrl-C during a visitor's plan prints no traceback; a fault still does."""
    launch.configuration(Models("oracle"), "127.0.0.1")
    log, seen = logging.getLogger("uvicorn.error"), list[str]()
    handler = logging.Handler()
    handler.emit = lambda entry: seen.append(entry.getMessage())  # type: ignore[method-assign]
    log.addHandler(handler)
    for problem in (asyncio.CancelledError("the end"), ValueError("a fault")):
        log.error("Exception: %s", problem, exc_info=problem)
    log.removeHandler(handler)
    assert seen == ["Exception: a fault"]

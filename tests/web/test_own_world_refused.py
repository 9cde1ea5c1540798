"""Environments and models that the page cannot take: refused in a sentence before anything is served."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from pixelplan.by_name.resolve import open_family
from pixelplan.families.grid import ModelConfig
from pixelplan.model.checkpoint import save_model
from pixelplan.model.sizes import Sizes
from pixelplan.model.world_model import WorldModel
from pixelplan.types import InputError
from pixelplan.web.thinkers import Models
from tests.conftest import one_sentence, run_command
from tests.own_worlds import Corridor
from tests.web.corridor import corridor_models

CORRIDOR = "tests.own_worlds:corridor"


@pytest.mark.parametrize(
    ("make", "sentence"),
    [("flickering", "visual noise"), ("slippery", "not deterministic"), ("changing", "changed its actions")],
)
def test_worlds_that_do_not_fit_are_refused(make: str, sentence: str) -> None:
    with corridor_models(f"tests.own_worlds:{make}") as models, pytest.raises(InputError, match=sentence):
        models.check()


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """An untrained model of a world with three actions."""
    config = ModelConfig(dimensions=8, encoder_width=8, context_width=8)
    save_model(tmp_path, WorldModel(config, Sizes(32, 48, 3, 4, 6, 3), threshold=0.5), {"data": {"env": "elsewhere"}})
    return tmp_path


def test_command_says_what_is_wrong(folder: Path) -> None:
    """Before anything is served."""

    def refused(*arguments: Any) -> str:
        return one_sentence(run_command("web", "--no-open", "--port", "0", *arguments, code=2))

    assert "cannot be imported" in refused("--env", "nowhere.at_all:make", "--model", folder)
    assert "--model" in refused("--env", CORRIDOR)
    assert "knows 3 actions" in refused("--env", CORRIDOR, "--model", folder)
    assert "name the puzzle or environment" in refused("--option", "size=4")


def test_models_of_other_worlds_are_refused(folder: Path) -> None:
    family = open_family(CORRIDOR)
    for model, sentence in (
        ("oracle", "the oracle knows"),
        ("ice-slider", "was trained on ice-slider"),
        ("runs/nowhere", "there is no model"),
    ):
        with pytest.raises(InputError, match=sentence):
            Models(model, family)


def test_help_teaches_it() -> None:
    assert "pixelplan web --env examples.sokoban:make" in " ".join(run_command("web", "--help").stdout.split())


class Broken(Corridor):
    """Cannot even begin."""

    def reset(self, *, seed: int | None = None, options: dict | None = None) -> tuple[Any, dict]:
        raise RuntimeError("no batteries")


def test_an_environment_that_fails_at_once_is_named() -> None:
    with pytest.raises(InputError, match="Broken failed in reset of level 0: RuntimeError: no batteries"):
        open_family("tests.web.test_own_world_refused:Broken")

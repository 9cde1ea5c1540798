"""The seam: a planner that is added to PLANNERS is offered, with its settings, by the commands and by the page."""

from __future__ import annotations

import json
import subprocess
import sys
import textwrap
from importlib.util import find_spec
from pathlib import Path

import pytest

from pixelplan.planning import PLANNERS, FullConfig, ImageSearchConfig, OneShotConfig
from pixelplan.planning.planner import chosen_config, settings_of
from pixelplan.types import InputError
from tests.lazy_planner import PLANNER

ROOT = Path(__file__).parents[1]
ADDED = f"""{PLANNER}
import json

from pixelplan.planning import PLANNERS, Planner

PLANNERS["lazy"] = Planner(lazy, LazyConfig, "Lazy", "stops before the end")
"""


def run(script: str) -> str:
    """What a new process prints that adds the planner and then runs a script."""
    program = ADDED + textwrap.dedent(script)
    done = subprocess.run([sys.executable, "-c", program], cwd=ROOT, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_an_added_planner_has_its_choice_and_its_settings_on_the_command_line():
    shown = run("""
        from pixelplan.cli import main
        play = ["evaluate", "--env", "ice-slider", "--model", "oracle", "--levels", "0:3", "--json", "-"]
        for naps in ("0", "1"):
            main([*play, "--planner", "lazy", "--naps", naps])
        main(["solve", "--env", "ice-slider", "--level", "1", "--model", "oracle", "--planner", "lazy"])
    """).splitlines()
    eager, late = (json.loads(line) for line in shown[:2])
    assert eager["planner"] == "lazy" and eager["config"] == {"naps": 0} and eager["success"] == 1.0
    assert late["config"] == {"naps": 1} and late["success"] == 0.0
    assert "not solved" in shown[2]


@pytest.mark.skipif(not find_spec("fastapi"), reason="the page's extra is not installed")
def test_an_added_planner_is_on_the_page():
    """Its button, its lane in a race, its name in the interface's schema, and its runs."""
    shown = run("""
        from fastapi.testclient import TestClient
        from pixelplan.web.thinkers import Models
        from pixelplan.web.server import make_app
        from tests.web.client import listen
        with TestClient(make_app(Models("oracle")), base_url="http://localhost") as client:
            game = client.post("/api/games", json={"env": "ice-slider", "level": 3001}).json()
            print(json.dumps({
                "planners": client.get("/api/planners").json(),
                "schema": client.get("/openapi.json").json()["components"]["schemas"]["PlannerView"],
                "lanes": [lane["planner"] for lane in listen(client, f"/api/games/{game['id']}/race")],
                "run": listen(client, f"/api/games/{game['id']}/run?planner=lazy")[-1],
            }))
    """)
    printed = json.loads(shown)
    assert printed["planners"][-1] == {
        "name": "lazy",
        "title": "Lazy",
        "about": "stops before the end",
        "needs_model": True,
    }
    assert [planner["name"] for planner in printed["planners"]] == printed["lanes"] == [*PLANNERS, "lazy"]
    assert printed["schema"]["properties"]["name"]["enum"] == printed["lanes"]
    assert printed["run"]["type"] == "done" and printed["run"]["ended"] == "plan over"


def test_settings_reach_the_planner_that_has_them():
    settings = settings_of(PLANNERS.values())(step_limit=7, search=OneShotConfig(cutoff=9))
    config = {name: chosen_config(name, PLANNERS[name], settings) for name in ("full",)}
    assert config["full"] == FullConfig(OneShotConfig(cutoff=9), step_limit=7)
    only_steps = settings_of(PLANNERS.values())(step_limit=7)
    assert chosen_config("image-search", PLANNERS["image-search"], only_steps) == ImageSearchConfig(7)
    only_search = settings_of(PLANNERS.values())(search=OneShotConfig(cutoff=9))
    assert chosen_config("one-shot", PLANNERS["one-shot"], only_search) == OneShotConfig(cutoff=9)
    with pytest.raises(InputError, match="image-search has no setting cutoff; it has step-limit"):
        chosen_config("image-search", PLANNERS["image-search"], only_search)
    assert PLANNERS["one-shot"].settings(step_limit=7, cutoff=3) == OneShotConfig(cutoff=3)

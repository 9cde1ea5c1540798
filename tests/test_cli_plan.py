"""The commands evaluate and solve, as a user calls them."""

from __future__ import annotations

import json

import pytest
from PIL import Image

from pixelplan.planning import PLANNERS, FullConfig, OneShotConfig
from pixelplan.puzzles import get_level, make_puzzle
from tests.conftest import one_sentence, run_command


def test_evaluate_command(tmp_path):
    out = tmp_path / "record.json"
    shown = run_command("evaluate", "--env", "ice-slider", "--model", "oracle", "--levels", "0:5", "--json", out)
    assert "solved 5 of 5 levels, 1.000" in shown.stdout
    assert json.loads(out.read_text())["success"] == 1.0
    arguments = [
        "--env",
        "digit-jump",
        "--model",
        "oracle",
        "--levels",
        "0:4",
        "--planner",
        "one-shot",
        "--cutoff",
        "64",
    ]
    printed = json.loads(run_command("evaluate", *arguments, "--option", "size=6", "pixels=48", "--json", "-").stdout)
    assert printed["options"]["size"] == 6 and printed["config"]["cutoff"] == 64 and printed["success"] == 1.0


def test_solve_command(tmp_path):
    level = get_level(make_puzzle("ice-slider"), 2)
    Image.fromarray(level.frame(int(level.successors[level.start, 3]))).save(tmp_path / "goal.png")
    for out in ("way.png", "way.gif"):
        arguments = ["--env", "ice-slider", "--level", "2", "--model", "oracle", "--goal", tmp_path / "goal.png"]
        shown = run_command("solve", *arguments, "--out", tmp_path / out).stdout
        assert "level 2: solved after 1 steps (1 would do)" in shown and "moves: down" in shown
        with Image.open(tmp_path / out) as picture:
            assert picture.format == out[-3:].upper()


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["evaluate", "--env", "ice-slider", "--model", "no-such-model"], "no model 'no-such-model'"),
        (
            ["evaluate", "--env", "ice-slider", "--model", "oracle", "--json", "/no/such/folder/x.json"],
            "cannot be written",
        ),
        (
            ["solve", "--env", "ice-slider", "--level", "1", "--model", "oracle", "--out", "x.jpg"],
            "neither a PNG nor a GIF",
        ),
        (["solve", "--env", "ice-slider", "--level", "1", "--goal", "/no/such.png"], "/no/such.png does not exist"),
    ],
)
def test_commands_say_what_is_wrong(arguments, words):
    assert words in one_sentence(run_command(*arguments, code=2))


def test_a_setting_out_of_range_is_refused_by_the_command_line():
    shown = run_command("solve", "--env", "ice-slider", "--level", "1", "--model", "oracle", "--cutoff", "0", code=2)
    assert "cutoff is 0" in shown.stderr


def test_configs_are_what_the_planners_take():
    assert PLANNERS["full"].config() == FullConfig() and PLANNERS["one-shot"].config() == OneShotConfig()

"""Training a distance in rounds, its command, and what cannot be learned."""

from __future__ import annotations

import json
from dataclasses import replace

import numpy as np
import pytest
import torch
from PIL import Image

from examples.sliding_puzzle import SlidingPuzzle
from pixelplan.distance.distance_config import DistanceConfig
from pixelplan.distance.learned_distance import Guided, load_distance, save_distance
from pixelplan.distance.network import DistanceNetwork
from pixelplan.distance.rounds import train_distance
from pixelplan.planning import OneShotConfig, one_shot
from pixelplan.types import Goal, InputError
from tests.conftest import one_sentence, run_command
from tests.test_distance import SMALL
from tests.toy import ToyModel, frame_of


def test_it_learns_the_eight_puzzle(tmp_path):
    """After a few seconds it takes less than half of the nodes that breadth-first search takes."""
    world = SlidingPuzzle(size=3, steps=13)

    def open_level(number):
        return world.reset(seed=number)[0], Goal.of(world.goal_frame())

    config = DistanceConfig(
        rounds=1, searches=12, nodes=600, updates=120, batch=16, held_out_nodes=4000, network=replace(SMALL, hidden=64)
    )
    rounds = []
    distance = train_distance(
        world.oracle(), open_level, range(200), range(200, 204), tmp_path / "h", config, tell=rounds.append
    )
    assert [round_.number for round_ in rounds] == [0, 1] and [round_.nodes for round_ in rounds] == [0, 600]
    assert rounds[-1].held_out_solved == 1.0 and rounds[-1].held_out_actions > 0.5
    guided = Guided(world.oracle(), distance)
    blind, seeing = [], []
    for level in range(300, 310):
        frame, goal = open_level(level)
        best = OneShotConfig(frontier="best-first", weight=2, batch=8, node_limit=10_000)
        plan = one_shot(guided, frame, goal, best)
        state = world.board[None]
        for action in plan.actions:
            state = world.move(state, np.array([action]))
        assert plan.reached and world.solved(state)[0], "the plan holds by the true rules"
        seeing.append(plan.nodes)
        blind.append(one_shot(world.oracle(), frame, goal, OneShotConfig(node_limit=10_000, cutoff=10_000)).nodes)
    assert np.median(seeing) < np.median(blind) / 2


def test_levels_that_are_solved_already_do_no_harm(tmp_path):
    world = SlidingPuzzle(size=3)
    goal = world.draw(world.goal[None])[0]
    config = DistanceConfig(rounds=1, searches=2, nodes=50, updates=2, held_out_nodes=50, network=SMALL)
    rounds = []
    train_distance(
        world.oracle(), lambda level: (goal, Goal(goal[None])), [0, 1], [2], tmp_path / "h", config, tell=rounds.append
    )
    assert rounds[-1].solved == 1.0 and rounds[-1].held_out_nodes == 1


def test_training_goes_on_after_an_interruption_to_the_same_weights(tmp_path):
    world = SlidingPuzzle(size=3, steps=4)

    def open_level(number):
        return world.reset(seed=number)[0], Goal.of(world.goal_frame())

    class Cut(Exception):
        """It is cut off here."""

    def train(out, cut_after=None, resume=False, updates=3):
        def tell(round_):
            if round_.number == cut_after:
                raise Cut

        config = DistanceConfig(rounds=4, searches=3, nodes=50, updates=updates, held_out_nodes=50, network=SMALL)
        train_distance(world.oracle(), open_level, range(5), [6], tmp_path / out, config, None, resume, tell)
        about = json.loads((tmp_path / out / "heuristic.json").read_text())
        return about["weights_sha256"], [round_["number"] for round_ in about["rounds"]]

    whole = train("whole")
    assert whole[1] == [0, 1, 2, 3, 4]
    for rounds in ((0, 3), (2,), (4,)):
        for cut_after in rounds:
            with pytest.raises(Cut):
                train(f"cut-{rounds[0]}", cut_after, resume=True)
        assert train(f"cut-{rounds[0]}", resume=True) == whole
    assert sorted(path.name for path in (tmp_path / "cut-2").iterdir()) == ["heuristic.json", "weights.safetensors"]
    assert train("cut-2", resume=True) == whole, "what is finished stays"
    with pytest.raises(InputError, match="is not empty"):
        train("cut-2")
    with pytest.raises(Cut):
        train("other", 1)
    for out in ("other", "whole"):
        with pytest.raises(InputError, match="started with other settings"):
            train(out, resume=True, updates=4)


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"bits": 10**9}, "they must be whole numbers"),
        ({"layout": [3, 3, 8]}, "does not hold 81 bits"),
        ({"layout": "9"}, "they must be whole numbers"),
        ({"layout": [9, 9]}, "does not hold 81 bits"),
        ({"network": {"hidden": 10**9}}, "hidden is 1000000000"),
        ({"network": {"hidden": True}}, "hidden is True"),
        ({"network": None}, "it must give the sizes"),
        ({"bits": 2**20, "layout": None, "network": {"hidden": 4096}}, "which is the limit"),
        ({"format": 1}, "of this version"),
        ({"actions": None}, "and actions None; they must be whole numbers"),
    ],
)
def test_impossible_numbers_are_refused_before_networks_are_built(change, words, tmp_path):
    save_distance(DistanceNetwork(81, (3, 3, 9), 4, SMALL), tmp_path / "h", {})
    about = json.loads((tmp_path / "h" / "heuristic.json").read_text())
    del about["seal"]
    (tmp_path / "h" / "heuristic.json").write_text(json.dumps({**about, **change}))
    with pytest.raises(InputError, match=words):
        load_distance(tmp_path / "h")


def test_flips_in_weights_are_noticed(tmp_path):
    save_distance(DistanceNetwork(81, None, 4, SMALL), tmp_path / "h", {})
    path = tmp_path / "h" / "weights.safetensors"
    data = bytearray(path.read_bytes())
    data[-5] ^= 64
    path.write_bytes(data)
    with pytest.raises(InputError, match="the checksum of weights"):
        load_distance(tmp_path / "h")


BOXES = ["--env", "examples.sokoban_levels:make", "--model", "oracle"]
QUICK = ["--rounds", "1", "--searches", "3", "--nodes", "60", "--updates", "3", "--held-out-nodes", "60"]
QUICK += ["--hidden", "16", "--goal-blocks", "1"]


def test_the_command_and_what_it_wrote(tmp_path):
    out = tmp_path / "h"
    arguments = ["train-heuristic", *BOXES, "--levels", "0:4", "--held-out", "4:6", "--out", out, *QUICK]
    shown = run_command(*arguments).stdout
    assert "round 0, random play; held out:" in shown and "round 1, search of 60 nodes:" in shown
    play = [*BOXES, "--planner", "one-shot", "--frontier", "best-first", "--heuristic", out]
    record = json.loads(run_command("evaluate", *play, "--levels", "0:3", "--json", "-").stdout)
    assert record["heuristic"] == str(out) and record["config"]["frontier"] == "best-first"
    assert record["episodes"][0]["solved"]
    written = tmp_path / "record.json"
    run_command("evaluate", *play, "--levels", "0:2", "--json", written)
    network = load_distance(out)[0].network
    torch.nn.init.ones_(network.answer.weight)
    about = json.loads((out / "heuristic.json").read_text())
    save_distance(network, out, about)
    words = one_sentence(run_command("evaluate", *play, "--levels", "0:3", "--json", written, "--resume", code=2))
    assert "levels" in words
    words = one_sentence(run_command("evaluate", *play, "--levels", "0:2", "--json", written, "--resume", code=2))
    assert "with weights" in words, "it was trained again: an evaluation with the other one does not go on"
    assert "level 0: solved" in run_command("solve", *play, "--level", "0").stdout
    assert "solved 3 of 3" in run_command("evaluate", *play, "--levels", "0:3", "--workers", "2").stdout


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["--levels", "0:4", "--held-out", "3:5"], "none that is both"),
        (["--levels", "0:4", "--held-out", "30:35"], "has no level 34"),
        (["--model", "ice-slider"], "needs a model of its own"),
        (["--env", "ice-slider"], "needs no heuristic"),
        (["--threads", "0"], "threads is 0"),
    ],
)
def test_what_cannot_be_learned_is_one_sentence(arguments, words, tmp_path):
    usual = {"--env": BOXES[1], "--model": "oracle", "--levels": "0:4", "--held-out": "4:6"}
    usual.update(zip(arguments[::2], arguments[1::2], strict=True))
    arguments = [part for pair in usual.items() for part in pair]
    assert words in one_sentence(run_command("train-heuristic", *arguments, "--out", tmp_path / "h", code=2))
    assert not (tmp_path / "h").exists()


def test_heuristics_of_others_are_refused(tmp_path):
    save_distance(DistanceNetwork(81, None, 4, SMALL), tmp_path / "h", {"model": "m", "model_identity": "abc"})
    play = ["--levels", "0:2", "--heuristic", tmp_path / "h"]
    assert "add --frontier best-first" in one_sentence(run_command("evaluate", *BOXES, *play, code=2))
    play += ["--frontier", "best-first"]
    assert "trained for another model" in one_sentence(run_command("evaluate", *BOXES, *play, code=2))
    words = one_sentence(run_command("evaluate", "--env", "ice-slider", "--model", "oracle", *play, code=2))
    assert "needs none" in words
    picture = tmp_path / "now.png"
    Image.fromarray(np.zeros((64, 64, 3), np.uint8)).save(picture)
    pictures = ["--frame", picture, "--goal", picture, "--model", "ice-slider", *play[2:]]
    assert "trained for another model" in one_sentence(run_command("solve", *pictures, code=2))


def test_models_without_a_code_learn_no_distance(tmp_path):
    with pytest.raises(InputError, match="zeros and ones"):
        train_distance(ToyModel([[1], [0]]), lambda number: (frame_of(0), frame_of(1)), [0], [1], tmp_path / "h")


def test_more_nodes_than_memory_holds_are_refused():
    words = one_sentence(run_command("evaluate", *BOXES, "--levels", "0:2", "--node-limit", str(10**12), code=2))
    assert "GB of memory" in words and "nodes would fit" in words


def test_from_pixels_to_plans_by_the_commands(tmp_path, monkeypatch):
    """Random play, rules, a distance and plans that hold, all from frames."""
    monkeypatch.chdir(tmp_path)
    world = ("--env", "examples.sliding_puzzle:make", "--option", "size=3", "steps=6")
    run_command("collect", *world, "--levels", "0:30", "--out", "data")
    run_command("train", "--preset", "rules", "--data", "data", "--out", "model", "--threads", "1")
    few = ("--rounds", "1", "--searches", "4", "--nodes", "200", "--updates", "20", "--held-out-nodes", "200")
    run_command(
        "train-heuristic", *world, "--model", "model", "--levels", "0:30", "--held-out", "30:32", "--out", "h", *few
    )
    search = ("--frontier", "best-first", "--weight", "2", "--node-limit", "5000", "--heuristic", "h")
    run_command(
        "evaluate", *world, "--model", "model", "--levels", "40:45", "--planner", "one-shot", *search, "--json", "r"
    )
    record = json.loads((tmp_path / "r").read_text())
    assert record["success"] == 1.0 and all(episode["found"] and episode["nodes"] > 6 for episode in record["episodes"])

"""Evaluation: records, resuming, workers, goals, levels that raise, and what planners are not told."""

from __future__ import annotations

import dataclasses
import json

import gymnasium
import numpy as np
import pytest
import torch

import pixelplan
import pixelplan.puzzles.table_family as family_module
from pixelplan.by_name.evaluate import evaluate
from pixelplan.envs.blindfold import Blindfold
from pixelplan.evaluation.run import record
from pixelplan.families.grid import ModelConfig
from pixelplan.files import read_json
from pixelplan.model.checkpoint import save_model
from pixelplan.model.sizes import Sizes
from pixelplan.model.world_model import WorldModel
from pixelplan.planning import FullConfig, OneShotConfig
from pixelplan.puzzles import PlayOptions, PuzzleEnv, get_level, make_puzzle
from pixelplan.reports.summaries import summarise_evaluation
from pixelplan.types import InputError

KEYS = {"level", "solved", "steps", "shortest", "replans", "nodes", "seconds"}


def without_times(result):
    """What must not depend on workers, resuming or the machine's mood."""
    return [dataclasses.replace(episode, seconds=0.0) for episode in result.episodes]


def test_the_oracle_solves_every_puzzle_optimally(name):
    for planner in ("one-shot", "full"):
        result = evaluate(name, "0:10", planner=planner, model="oracle")
        assert result.success == 1.0 and result.optimal == 1.0 and result.interval[1] == 1.0


def test_random_goals_are_reached_too(name):
    result = evaluate(name, "0:10", model="oracle", goals="random", seed=3)
    assert result.success == 1.0 and result.optimal == 1.0
    again = evaluate(name, "5:10", model="oracle", goals="random", seed=3)
    assert without_times(again) == without_times(result)[5:]
    steps = [episode.steps for episode in result.episodes]
    assert steps != [
        episode.steps for episode in evaluate(name, "0:10", model="oracle", goals="random", seed=4).episodes
    ]
    assert min(steps) >= 1


def test_a_record_has_what_the_format_names(tmp_path):
    out = tmp_path / "record.json"
    result = evaluate("ice-slider", "3:6,8", model="oracle", out=out)
    written = read_json(out)
    assert written == json.loads(json.dumps(record(result)))
    assert written["levels"] == [[3, 6], [8, 9]] and [episode["level"] for episode in written["episodes"]] == [
        3,
        4,
        5,
        8,
    ]
    assert set(written["episodes"][0]) >= KEYS and "error" not in written["episodes"][0]
    assert written["env"] == "ice-slider" and written["planner"] == "full" and written["model"] == "oracle"
    assert written["step_limit"] == 256 and written["seed"] == 0 and written["goals"] == "level"
    assert set(written["machine"]) == {"processor", "cores", "python"} and written["threads"] == 1
    assert 0 < written["seconds_per_plan"] < 1
    assert list(tmp_path.iterdir()) == [out]
    assert evaluate("ice-slider", "0:2", planner="image-search").model is None
    assert record(evaluate("ice-slider", "0:2", model="oracle"))["levels"] == (0, 2)


def test_workers_change_nothing():
    one = evaluate("digit-jump", "0:6", planner="image-search", seed=7)
    two = evaluate("digit-jump", "0:6", planner="image-search", seed=7, workers=2)
    assert without_times(one) == without_times(two)


class Unplugged(Exception):
    pass


def test_an_interrupted_evaluation_is_resumed(tmp_path):
    out = tmp_path / "record.json"

    def unplug(done, total):
        if done == 3:
            raise Unplugged

    with pytest.raises(Unplugged):
        evaluate("ice-slider", "0:6", model="oracle", out=out, progress=unplug)
    journal = tmp_path / "record.json.unfinished"
    assert not out.exists() and len(json.loads(journal.read_text())["episodes"]) == 3
    with pytest.raises(InputError, match="--resume completes it"):
        evaluate("ice-slider", "0:6", model="oracle", out=out)
    with pytest.raises(InputError, match=r"with seed 0, not 1"):
        evaluate("ice-slider", "0:6", model="oracle", out=out, seed=1, resume=True)
    played = []
    resumed = evaluate(
        "ice-slider", "0:6", model="oracle", out=out, resume=True, progress=lambda done, total: played.append(done)
    )
    assert played == [4, 5, 6] and not journal.exists()
    assert without_times(resumed) == without_times(evaluate("ice-slider", "0:6", model="oracle"))
    finished = evaluate("ice-slider", "0:6", model="oracle", out=out, resume=True, progress=unplug)  # nothing is left
    assert finished.episodes == resumed.episodes
    out.write_text("[]")
    with pytest.raises(InputError, match="not a record"):
        evaluate("ice-slider", "0:6", model="oracle", out=out, resume=True)


def test_an_evaluation_resumes_with_the_same_weights_only(tmp_path):
    """A model that was trained again under its old name is another model."""
    out, model = tmp_path / "record.json", pixelplan.load("ice-slider")

    def judge(**options):
        return evaluate("ice-slider", "3000:3002", model=model, planner="one-shot", out=out, **options)

    whole = judge()
    assert judge(resume=True).episodes == whole.episodes and whole.weights is not None
    model.threshold *= 2
    with pytest.raises(InputError, match=f"with weights {whole.weights}, not"):
        judge(resume=True)
    older = {key: value for key, value in read_json(out).items() if key != "weights"}
    out.write_text(json.dumps(older))
    assert judge(resume=True).episodes == whole.episodes, "records from before weights were noted are found"
    older = read_json(out)
    del older["config"]["frontier"], older["config"]["weight"], older["heuristic"]
    out.write_text(json.dumps(older))
    assert judge(resume=True).episodes == whole.episodes, "so are those from before there were other frontiers"
    with pytest.raises(InputError, match="with config"):
        judge(resume=True, config=OneShotConfig(frontier="best-first"))


def test_a_level_that_raises_does_not_lose_the_others(monkeypatch, tmp_path):
    class Broken(PuzzleEnv):
        def step(self, action):
            if self.clone_state().level == 2:
                raise RuntimeError("the robot is on fire")
            return super().step(action)

    monkeypatch.setattr(family_module, "PuzzleEnv", Broken)
    out = tmp_path / "record.json"
    result = evaluate("ice-slider", "0:4", model="oracle", out=out)
    assert [episode.solved for episode in result.episodes] == [True, True, False, True]
    assert result.episodes[2].error == "RuntimeError: the robot is on fire" and result.success == 0.75
    assert json.loads(out.read_text())["episodes"][2]["error"].endswith("on fire")
    assert "raised: 1 levels, first 2" in summarise_evaluation(result)


def test_garbage_from_an_environment_is_named():
    class Garbage(PuzzleEnv):
        def step(self, action):
            frame, *rest = super().step(action)
            return frame[:10], *rest

    world = Blindfold(Garbage(make_puzzle("ice-slider"), PlayOptions(level=0)))
    world.reset()
    with pytest.raises(InputError, match=r"shape \(10, 64, 3\)"):
        world.step(0)


def test_the_blindfold_hides_the_truth():
    env = PuzzleEnv(make_puzzle("ice-slider"), PlayOptions(level=5))
    world = Blindfold(env)
    frame, solved = world.reset()
    assert frame.dtype == np.uint8 and solved is False and world.actions == 5
    frame[:] = 0
    assert world.reset()[0].any()  # a planner may change its copy of a frame
    for truth in (
        "info",
        "unwrapped",
        "env",
        "clone_state",
        "shortest_solution",
        "puzzle",
        "_level",
        "_env",
        "__dict__",
    ):
        assert not hasattr(world, truth)
    level = get_level(make_puzzle("ice-slider"), 5)
    answers = [world.step(action) for action in level.shortest_path(level.start)]
    assert (
        all(len(answer) == 2 for answer in answers)
        and [answer[1] for answer in answers].index(True) == len(answers) - 1
    )


def test_continuous_actions_are_refused():
    class Continuous(gymnasium.Env):
        action_space = gymnasium.spaces.Box(0, 1)

    with pytest.raises(InputError, match="Discrete"):
        Blindfold(Continuous())


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ({"planner": "clever"}, "no planner 'clever'"),
        ({"model": "nothing-there"}, "no model 'nothing-there'"),
        ({"levels": "7:3"}, "empty"),
        ({"goals": "some"}, "'level', 'random', 'solved'"),
        ({"workers": 0}, "workers is 0"),
        ({"resume": True}, "--json FILE"),
        ({"env": "chess"}, "no puzzle 'chess'"),
    ],
)
def test_bad_requests_are_one_sentence(arguments, words):
    settings = {"env": "ice-slider", "levels": "0:2", "model": "oracle", **arguments}
    with pytest.raises(InputError, match=words):
        evaluate(settings.pop("env"), settings.pop("levels"), **settings)


@pytest.fixture
def untrained(tmp_path):
    """A folder with a model of DigitJump that has learned nothing."""
    torch.manual_seed(0)
    model = WorldModel(
        ModelConfig(dimensions=16, encoder_width=8, context_width=16),
        Sizes(height=64, width=64, actions=5, rows=8, columns=8, reach=7),
        threshold=0.1,
    )
    folder = tmp_path / "untrained"
    folder.mkdir()
    save_model(folder, model, {"data": {"env": "digit-jump"}})
    return folder


@pytest.mark.parametrize("planner", ["one-shot", "full"])
def test_a_model_that_knows_nothing_ends_within_its_limits(untrained, planner):
    config = FullConfig(step_limit=10) if planner == "full" else None
    result = evaluate("digit-jump", "0:2", planner=planner, model=untrained, config=config)
    assert all(episode.error is None and episode.steps <= 256 for episode in result.episodes)
    assert result.model == str(untrained)


def test_a_model_of_another_puzzle_is_refused(untrained):
    with pytest.raises(InputError, match="was trained on digit-jump; ice-slider needs a model of its own"):
        evaluate("ice-slider", "0:2", model=untrained)
    with pytest.raises(InputError, match="with pixels/size=8; with pixels/size=4 it needs a model of its own"):
        evaluate(make_puzzle("digit-jump", size=16, pixels=64), "0:2", model=untrained)
    with pytest.raises(InputError, match="with look=glyphs"):  # as many pixels and cells, and another world
        evaluate(make_puzzle("digit-jump", look="colours"), "0:2", model=untrained)

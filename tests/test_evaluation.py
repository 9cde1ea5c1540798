"""Evaluation: records, resuming, workers, goals, levels that raise, and what planners are not told."""

from __future__ import annotations

import dataclasses
import json

import gymnasium
import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from PIL import Image

import pixelplan.envs.family as family_module
from pixelplan.envs import PlayOptions, PuzzleEnv, get_level, make_puzzle
from pixelplan.envs.goals import with_goal, with_goal_frame
from pixelplan.envs.named import open_family
from pixelplan.envs.oracle import Oracle
from pixelplan.evaluation.blindfold import Blindfold
from pixelplan.evaluation.figures import episode_gif, layout, solution_picture
from pixelplan.evaluation.levels import Task, play_level
from pixelplan.evaluation.run import evaluate, record
from pixelplan.evaluation.solve import solve, story
from pixelplan.evaluation.stats import share_optimal, summary, wilson
from pixelplan.model.checkpoint import save_model
from pixelplan.model.sizes import Sizes
from pixelplan.model.world_model import ModelConfig, WorldModel
from pixelplan.planning import PLANNERS, FullConfig, OneShotConfig
from pixelplan.types import InputError, LevelResult
from tests.conftest import one_sentence, run_command

KEYS = {"level", "solved", "steps", "shortest", "replans", "nodes", "seconds"}


def without_times(result):
    """What must not depend on workers, resuming or the machine's mood."""
    return [dataclasses.replace(one, seconds=0.0) for one in result.episodes]


def test_the_oracle_solves_every_puzzle_optimally(name):
    for planner in ("one-shot", "full"):
        result = evaluate(name, "0:10", planner=planner, model="oracle")
        assert result.success == 1.0 and result.optimal == 1.0 and result.interval[1] == 1.0


def test_random_goals_are_reached_too(name):
    result = evaluate(name, "0:10", model="oracle", goals="random", seed=3)
    assert result.success == 1.0 and result.optimal == 1.0
    again = evaluate(name, "5:10", model="oracle", goals="random", seed=3)
    assert without_times(again) == without_times(result)[5:]
    steps = [one.steps for one in result.episodes]
    assert steps != [one.steps for one in evaluate(name, "0:10", model="oracle", goals="random", seed=4).episodes]
    assert min(steps) >= 1


def test_a_record_has_what_the_format_names(tmp_path):
    out = tmp_path / "record.json"
    result = evaluate("ice-slider", "3:6,8", model="oracle", out=out)
    written = json.loads(out.read_text())
    assert written == json.loads(json.dumps(record(result)))
    assert written["levels"] == [[3, 6], [8, 9]] and [one["level"] for one in written["episodes"]] == [3, 4, 5, 8]
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


def test_a_cut_off_evaluation_is_resumed(tmp_path):
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


def test_a_level_that_raises_does_not_lose_the_others(monkeypatch, tmp_path):
    class Broken(PuzzleEnv):
        def step(self, action):
            if self.clone_state().level == 2:
                raise RuntimeError("the robot is on fire")
            return super().step(action)

    monkeypatch.setattr(family_module, "PuzzleEnv", Broken)
    out = tmp_path / "record.json"
    result = evaluate("ice-slider", "0:4", model="oracle", out=out)
    assert [one.solved for one in result.episodes] == [True, True, False, True]
    assert result.episodes[2].error == "RuntimeError: the robot is on fire" and result.success == 0.75
    assert json.loads(out.read_text())["episodes"][2]["error"].endswith("on fire")
    assert "raised: 1 levels, first 2" in summary(result)


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
    assert world.reset()[0].any()  # what a planner does to a frame stays its own affair
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
        ({"goals": "some"}, "'level' or 'random'"),
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
    assert all(one.error is None and one.steps <= 256 for one in result.episodes)
    assert result.model == str(untrained)


def test_a_model_of_another_puzzle_is_refused(untrained):
    with pytest.raises(InputError, match="was trained on digit-jump; ice-slider needs a model of its own"):
        evaluate("ice-slider", "0:2", model=untrained)
    with pytest.raises(InputError, match="shape"):
        evaluate(make_puzzle("digit-jump", size=4, pixels=32), "0:2", model=untrained)


def test_wilson_interval():
    assert wilson(0, 0) == (0.0, 1.0)
    assert wilson(0, 10)[0] == 0.0 and wilson(10, 10)[1] == 1.0
    np.testing.assert_allclose(wilson(95, 100), (0.8882, 0.9785), atol=1e-4)


@given(st.integers(1, 500).flatmap(lambda n: st.tuples(st.integers(0, n), st.just(n))))
def test_wilson_holds_the_rate(counts):
    successes, trials = counts
    low, high = wilson(successes, trials)
    assert 0 <= low <= successes / trials <= high <= 1


def test_optimal_is_a_share_of_the_solved():
    def row(solved, steps, shortest):
        return LevelResult(0, solved, steps, shortest, 0, 0, 0.0)

    assert share_optimal([row(True, 4, 4), row(True, 6, 4), row(False, 4, 4)]) == 0.5
    assert share_optimal([row(False, 4, 4)]) is None
    assert share_optimal([row(True, 4, None)]) is None


def test_a_random_goal_is_another_place_that_can_be_reached(name):
    for number in range(10):
        level = get_level(make_puzzle(name), number)
        other = with_goal(level, "random", seed=1)
        assert other.reachable(other.start)[other.goal] and other.goals[other.goal]
        assert (other.positions[other.goal] != other.positions[other.start]).any()


def test_any_frame_can_be_the_goal(name):
    level = get_level(make_puzzle(name), 1)
    state = int(level.successors[level.successors[level.start, 0], 1])
    found, episode = solve(name, 1, model="oracle", goal=level.frame(state))
    assert episode.solved and (found.level.positions[found.level.goal] == level.positions[state]).all()
    found, episode = solve(name, 1, model="oracle", goal=level.frame(level.start))
    assert episode.solved and episode.actions == ()


def test_a_goal_of_another_level_is_not_found():
    class Forgetful(Oracle):
        """Takes frames it does not know for a place of their own that nothing leads to."""

        def encode(self, frames):
            known = [frame.tobytes() in self._place_of_frame for frame in frames]
            unknown = -np.ones(len(self._embeddings), np.float32)
            embedded = [super(Forgetful, self).encode(frame[None])[0].numpy() if ok else unknown
                        for frame, ok in zip(frames, known, strict=True)]  # fmt: skip
            return torch.from_numpy(np.stack(embedded))

    level = get_level(make_puzzle("ice-slider"), 3)
    other = get_level(make_puzzle("ice-slider"), 4)
    frame = other.frame(other.goal)
    assert not with_goal_frame(level, frame).goals.any()
    for planner in PLANNERS:
        found, episode = solve("ice-slider", 3, planner=planner, model=Forgetful(level), goal=frame)
        assert not episode.solved and episode.ended in ("exhausted", "plan over")
        assert "not solved" in story(found, episode) and "no way exists" in story(found, episode)
    with pytest.raises(InputError, match="shows no state of level 3"):
        solve("ice-slider", 3, model="oracle", goal=frame)
    with pytest.raises(InputError, match="the goal frame is 32 × 32 pixels"):
        solve("ice-slider", 3, model="oracle", goal=frame[::2, ::2])


def test_one_shot_is_judged_where_its_plan_ends():
    level = get_level(make_puzzle("ice-slider"), 0)
    task = Task(open_family("ice-slider"), "one-shot", OneShotConfig(depth_limit=3))
    result = play_level(task, None, 0)
    assert not result.solved and result.ended == "plan over" and result.error is None
    assert result.shortest == len(level.shortest_path(level.start))


def test_pictures(tmp_path):
    challenge, episode = solve("ice-slider", 1, model="oracle")
    picture = solution_picture(challenge.level, episode)
    assert picture.size == (320, 320)
    frame = np.asarray(Image.fromarray(episode.frames[0]).resize(picture.size, Image.Resampling.NEAREST))
    assert (np.asarray(picture) != frame).any()
    (tmp_path / "episode.gif").write_bytes(episode_gif(episode))
    with Image.open(tmp_path / "episode.gif") as animation:
        assert animation.size == (640, 320)
        assert animation.n_frames > len(episode.actions)
    points = layout(episode.plans[0].graph)
    assert points.shape == (episode.plans[0].nodes, 2) and points.min() >= -1e-9 and points.max() <= 1 + 1e-9
    _, alone = solve("ice-slider", 1, planner="image-search")
    assert episode_gif(alone)


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

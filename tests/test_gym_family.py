"""A user's environment: recorded, judged and solved as the puzzles are, or refused in one sentence."""

from __future__ import annotations

import pickle
from pathlib import Path

import gymnasium
import numpy as np
import pytest
from PIL import Image

import pixelplan
from pixelplan.by_name.evaluate import evaluate
from pixelplan.by_name.resolve import open_family, recorded_family
from pixelplan.by_name.solve import solve
from pixelplan.envs.family import Family
from pixelplan.envs.frames import resize, to_frame, usual_size
from pixelplan.exchange.picture_files import read_frame
from pixelplan.reports.summaries import story
from pixelplan.types import InputError
from pixelplan.worlds.gym_family import GymFamily
from tests.conftest import one_sentence, run_command
from tests.own_worlds import CELLS, SIDE, Corridor, Goalless, Rendered

CORRIDOR = "tests.own_worlds:corridor"


def solved(env: object, levels: str = "0:4", **options: object) -> list[bool]:
    """Which levels GS on Images solves: it needs no model, and a corridor is small."""
    return [episode.solved for episode in evaluate(env, levels, planner="image-search", **options).episodes]


def test_what_is_recorded_is_what_the_environment_shows(tmp_path: Path) -> None:
    data = pixelplan.collect(CORRIDOR, "3:5,9", tmp_path / "data", episodes=3, steps=7, explore=False)
    assert data.manifest["env"] == CORRIDOR and data.manifest["actions"] == 2
    env = Corridor()
    for episode, actions, level in zip(data.episodes, data.actions, data.episode_level, strict=True):
        assert np.array_equal(env.reset(seed=int(level))[0], data.frames[episode[0]])
        for action, index in zip(actions, episode[1:], strict=True):
            assert np.array_equal(env.step(int(action))[0], data.frames[index])


@pytest.mark.parametrize(
    "handed", [CORRIDOR, Corridor, Corridor(), Rendered(render_mode="rgb_array"), GymFamily(Corridor())]
)
def test_an_environment_can_be_handed_over_in_many_ways(handed: object) -> None:
    assert solved(handed) == [True] * 4


def test_a_gymnasium_id_is_an_environment(tmp_path: Path) -> None:
    gymnasium.register("tests/Corridor-v0", entry_point="tests.own_worlds:Corridor", max_episode_steps=3)
    assert solved("tests/Corridor-v0") == [True] * 4  # without the limit of steps
    assert open_family("pixelplan/IceSlider-v0").name == "ice-slider"


def test_when_it_terminates_it_is_solved_and_stands_still() -> None:
    family = open_family(CORRIDOR, {"terminates": True})
    challenge = family.challenge(0)
    challenge.env.reset()
    for _ in range(CELLS):
        frame = challenge.env.step(1)[0]
    assert challenge.solved() and np.array_equal(frame, challenge.goal_frame)
    assert np.array_equal(challenge.env.step(0)[0], frame)
    assert solved(family) == [True] * 4


def test_goals_come_from_functions_frames_demonstrations_and_chance() -> None:
    family = GymFamily(Goalless(), goal=lambda env: env.draw(2), solved=lambda env: env.place == 2)
    assert solved(family) == [True] * 4
    family = GymFamily(
        Goalless(), goal=lambda env: env.draw(2)
    )  # it never says when it is solved: when the frame is seen
    assert solved(family) == [True] * 4
    with pytest.raises(InputError, match="no goal_frame"):
        evaluate(Goalless, "0:2", planner="image-search", goals="level")
    assert solved(Goalless, "0:6", goals="random") == [True] * 6
    challenge, episode = solve(Goalless, 1, planner="image-search", goal=(1, 1))
    assert episode.solved and "level 1: solved" in story(challenge, episode)
    wanted = challenge.goal_frame
    challenge, episode = solve(Goalless, 1, planner="image-search", goal=wanted)
    assert episode.solved and np.array_equal(episode.frames[-1], wanted)
    with pytest.raises(InputError, match="no action 7"):
        solve(Goalless, 1, planner="image-search", goal=(7,))


def test_a_wrappers_class_is_an_entry_point() -> None:
    gymnasium.register("tests/Wrapped-v0", entry_point="tests.own_worlds:Wrapped")
    first = [
        open_family(name).level(1).reset()[0] for name in (CORRIDOR, "tests.own_worlds:Wrapped", "tests/Wrapped-v0")
    ]
    assert np.array_equal(first[0], first[1]) and np.array_equal(first[0], first[2])


def test_a_world_of_one_level_has_many_random_goals() -> None:
    family = open_family(CORRIDOR, {"one_level": True})
    goals = {family.challenge(number, "random").goal_frame.tobytes() for number in range(12)}
    assert len(goals) > 2
    assert len({family.level(number).reset()[0].tobytes() for number in range(4)}) == 1


def test_a_goal_from_elsewhere_is_refused() -> None:
    family = open_family(CORRIDOR)
    with pytest.raises(InputError, match="is not from level 0"):
        family.challenge(0, np.full(family.shape, 255, np.uint8))
    with pytest.raises(InputError, match="16 × 16 pixels"):
        family.challenge(0, np.zeros((16, 16, 3), np.uint8))


def test_frames_of_any_size_are_brought_to_one() -> None:
    big = np.arange(200 * 300 * 3, dtype=np.uint32).astype(np.uint8).reshape(200, 300, 3)
    assert usual_size(200, 300) == (50, 75) and usual_size(608, 608) == (76, 76) and usual_size(350, 550) == (70, 110)
    assert usual_size(256, 256) == usual_size(211, 307) == usual_size(130, 2000) == (64, 64)
    assert resize(big, (64, 64)).shape == (64, 64, 3)
    assert usual_size(288, 288) == (96, 96) and usual_size(288, 288, 32) == usual_size(288, 288, 4) == (72, 72)
    assert usual_size(200, 200, 8) == (100, 100) and usual_size(350, 550, 32) == (70, 110)
    assert usual_size(8, 8) == (64, 64) and usual_size(48, 72) == (48, 72)
    small = big[:8, :8]
    assert np.array_equal(resize(small, (64, 64))[::8, ::8], small)
    assert to_frame(big[..., 0]).shape == (200, 300, 3) and to_frame(big.transpose(2, 0, 1)).shape == (200, 300, 3)
    assert np.array_equal(to_frame(np.dstack([big, big[..., :1]])), big)
    family = open_family(CORRIDOR, pixels=(16, 24))
    assert family.challenge(0).goal_frame.shape == family.level(0).reset()[0].shape == (16, 24, 3)
    assert family.fit((32, 48)).level(0).reset()[0].shape == (32, 48, 3)
    with pytest.raises(InputError, match="too small"):
        open_family(CORRIDOR, pixels=4)


def test_levels_play_on_other_processes() -> None:
    again: Family = pickle.loads(pickle.dumps(open_family(CORRIDOR, {"one_level": True})))
    assert again.name == CORRIDOR and solved(again, workers=2) == [True] * 4


def test_names_in_files_are_never_imported() -> None:
    assert recorded_family("tests.own_worlds:raises", {}) is None
    again = recorded_family(CORRIDOR, {"pixels": [16, 24]}, user_env=CORRIDOR)
    assert again is not None and again.shape == (16, 24, 3)


@pytest.mark.parametrize(
    ("env", "what"),
    [
        ("tests.own_worlds:continuous", "needs a Discrete action space"),
        ("tests.own_worlds:blind", "no images"),
        ("tests.own_worlds:stacked", "no images"),
        ("tests.own_worlds:slippery", "is not deterministic"),
        ("tests.own_worlds:raises", "cannot be made: RuntimeError: the robot is on fire"),
        ("tests.own_worlds:nothing", "must give a Gymnasium environment"),
        ("tests.own_worlds:absent", "has no 'absent'"),
        ("tests.nowhere:make", "cannot be imported"),
        ("Nowhere-v0", "package.module:function or a Gymnasium id"),
    ],
)
def test_what_does_not_fit_is_refused_before_anything_is_written(env: str, what: str, tmp_path: Path) -> None:
    with pytest.raises(InputError, match=what):
        pixelplan.collect(env, "0:2", tmp_path / "data")
    assert not (tmp_path / "data").exists()


def test_a_changed_number_of_actions_is_noticed() -> None:
    with pytest.raises(InputError, match="has changed its actions from Discrete"):
        solved("tests.own_worlds:changing")


def test_options_that_do_not_exist_are_named() -> None:
    with pytest.raises(InputError, match="cannot be made with options"):
        open_family(CORRIDOR, {"size": 3})
    with pytest.raises(InputError, match="draws its frames itself"):
        open_family("ice-slider", pixels=32)
    with pytest.raises(InputError, match="the oracle knows"):
        solve(CORRIDOR, 0, model="oracle")


def test_from_the_command_line(tmp_path: Path) -> None:
    """Every command, with a budget too small to learn anything, and a plan from picture to picture."""
    env = ["--env", CORRIDOR]
    run_command("collect", *env, "--levels", "0:12", "--episodes", "4", "--out", tmp_path / "data")
    train = ["train", "--data", tmp_path / "data", "--out", tmp_path / "model", "--preset", "tiny", "--updates", "5"]
    run_command(*train, "--on-policy", "1", "--on-policy-episodes", "1", *env)
    model = ["--model", tmp_path / "model"]
    done = run_command("evaluate", *env, "--levels", "100:103", *model, "--step-limit", "9", "--json", "-")
    assert '"env": "tests.own_worlds:corridor"' in done.stdout
    picture = tmp_path / "way.png"
    run_command(
        "solve", *env, "--level", "5", *model, "--demonstration", "1", "1", "--step-limit", "9", "--out", picture
    )
    assert read_frame(picture).shape[1] > 100
    corridor = Corridor()
    Image.fromarray(corridor.reset(seed=7)[0]).save(tmp_path / "now.png")
    Image.fromarray(corridor.goal_frame()).save(tmp_path / "wanted.png")
    pictures = ["--frame", tmp_path / "now.png", "--goal", tmp_path / "wanted.png"]
    assert "moves: " in run_command("solve", *pictures, *model).stdout
    part = np.dstack([corridor.goal_frame(), np.zeros((4 * SIDE, CELLS * SIDE), np.uint8)])
    part[:, -SIDE:, 3] = 255  # only the last cell matters
    Image.fromarray(part).save(tmp_path / "part.png")
    masked = run_command("solve", "--frame", tmp_path / "now.png", "--goal", tmp_path / "part.png", *model).stdout
    assert "a plan of 0 actions" not in masked
    assert "needs --goal and --model" in one_sentence(run_command("solve", *pictures, code=2))
    assert "Discrete" in one_sentence(
        run_command("collect", "--env", "tests.own_worlds:continuous", "--levels", "0", "--out", tmp_path / "x", code=2)
    )

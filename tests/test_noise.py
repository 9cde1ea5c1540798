"""Visual noise: pixels change, worlds do not, and `check_env` tells which is which."""

from __future__ import annotations

import dataclasses
import json
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import pixelplan
from pixelplan.by_name.resolve import open_family
from pixelplan.envs.noise_config import Noise
from pixelplan.types import InputError
from pixelplan.worlds.check_env import check_env
from pixelplan.worlds.noise import Noisy, NoisyFrames, Painter
from tests.conftest import one_sentence, run_command
from tests.own_worlds import Corridor

KINDS = [Noise(noise=10), Noise(background=60), Noise(flicker=0.3), Noise(distractor=1), Noise(10, 40, 0.2, 2)]


@pytest.mark.parametrize("noise", KINDS)
@pytest.mark.parametrize("env", ["ice-slider", "tests.own_worlds:corridor"])
def test_every_visit_looks_new_and_the_world_is_the_same(env: str, noise: Noise) -> None:
    quiet = open_family(env)
    one, other = (Noisy(quiet, noise).play(3, 4, 10, np.random.default_rng(5)) for _ in range(2))
    assert np.array_equal(one.frames, other.frames) and np.array_equal(one.actions, other.actions)  # runs reproduce
    assert len({frame.tobytes() for frame in one.frames}) > 0.9 * len(one.frames)
    clean = quiet.play(3, 4, 10, np.random.default_rng(5))
    assert np.array_equal(clean.actions, one.actions)
    shown = clean.frames[clean.episodes.ravel()].astype(int)
    assert np.median(np.abs(one.frames[one.episodes.ravel()] - shown)) < 80  # what is behind it can still be seen


@settings(max_examples=20, deadline=None)
@given(
    st.floats(0, 60), st.floats(0, 120), st.floats(0, 0.9), st.integers(0, 4), st.integers(3, 40), st.integers(3, 40)
)
def test_any_noise_on_any_frame_is_a_frame(
    noise: float, background: float, flicker: float, distractor: int, height: int, width: int
) -> None:
    painter = Painter(Noise(noise, background, flicker, distractor), np.random.default_rng(0))
    frame = np.random.default_rng(1).integers(0, 256, (height, width, 3), dtype=np.uint8)
    before = frame.copy()
    for _ in range(30):  # distractors come to the border and turn
        painted = painter.paint(frame)
        assert painted.shape == frame.shape and painted.dtype == np.uint8
    assert np.array_equal(frame, before)


def test_solved_is_judged_behind_the_noise() -> None:
    challenge = Noisy(open_family("tests.own_worlds:corridor"), Noise(20, distractor=1)).challenge(0)
    challenge.env.reset()
    for _ in range(6):
        frame = challenge.env.step(1)[0]
    assert challenge.solved() and not np.array_equal(frame, challenge.goal_frame)


def test_one_environment_can_be_wrapped() -> None:
    env = NoisyFrames(Corridor(), Noise(noise=10), np.random.default_rng(0))
    first, second = env.reset(seed=1)[0], env.reset(seed=1)[0]
    assert not np.array_equal(first, second) and env.observation_space.contains(first)


def test_records_say_so_and_bad_strengths_are_refused(tmp_path: Path) -> None:
    words = ["--env", "ice-slider", "--levels", "0:2", "--episodes", "2", "--steps", "5"]
    run_command("collect", *words, "--noise", "10", "--distractor", "1", "--out", tmp_path / "data")
    manifest = json.loads((tmp_path / "data" / "manifest.json").read_text())
    assert manifest["options"]["visual_noise"] == dataclasses.asdict(Noise(10, distractor=1))
    assert len(pixelplan.open_trajectories(tmp_path / "data").frames) == 2 * 2 * 6
    assert "only for puzzles without noise" in run_command("inspect", tmp_path / "data").stdout
    refused = run_command("collect", *words, "--flicker", "2", "--out", tmp_path / "other", code=2)
    assert "flicker" in one_sentence(refused)
    with pytest.raises(InputError, match="0 to 16"):
        Noise(distractor=99)


@pytest.mark.parametrize(
    ("world", "verdict"),
    [
        ("corridor", "deterministic"),
        ("flickering", "visual noise"),
        ("slippery", "nondeterministic"),
        ("secret", "deterministic"),
    ],
)
def test_noise_is_told_from_chance(world: str, verdict: str) -> None:
    check = check_env(open_family(f"tests.own_worlds:{world}"), [0, 1, 2])
    assert {finding.verdict for finding in check.determinism} == {verdict}
    marks = {finding.what: finding.mark for finding in check.findings}
    assert check.fits == (world in ("corridor", "flickering"))
    assert marks.get("whole state", "fits") == ("does not fit" if world == "secret" else "fits")


@pytest.mark.parametrize("noise", KINDS)
def test_noise_of_ours_is_told_from_chance(noise: Noise) -> None:
    check = check_env(Noisy(open_family("digit-jump"), noise), [0, 1])
    assert {replayed.verdict for replayed in check.determinism} == {"visual noise"}, check.determinism


def test_what_check_env_counts() -> None:
    check = check_env(open_family("tests.own_worlds:corridor", {"one_level": True}), [0, 1, 2], episodes=30)
    assert check.states_seen[-1] == 6 and check.hidden == 0 and check.farthest <= 5
    assert next(finding for finding in check.findings if finding.what == "levels").found.endswith(
        "a world of one level"
    )
    with pytest.raises(InputError, match="too few"):
        check_env(open_family("ice-slider"), [0], episodes=0)


def test_check_env_from_the_command_line(tmp_path: Path) -> None:
    report = tmp_path / "report.json"
    done = run_command("check-env", "--env", "tests.own_worlds:corridor", "--levels", "0:2", "--json", report)
    assert "determinism" in done.stdout and json.loads(report.read_text())["fits"]
    refused = run_command("check-env", "--env", "tests.own_worlds:slippery", "--levels", "0:2", "--json", "-", code=2)
    assert "does not fit (determinism)" in one_sentence(refused) and not json.loads(refused.stdout)["fits"]


def test_noise_that_training_was_not_told_of_is_noticed(tmp_path: Path) -> None:
    words = ["--env", "ice-slider", "--levels", "0:4", "--episodes", "2", "--steps", "6"]
    run_command("collect", *words, "--noise", "10", "--out", tmp_path / "noisy")
    run_command("collect", *words, "--out", tmp_path / "clean")
    train = ["--preset", "tiny", "--updates", "2"]
    refused = run_command("train", "--data", tmp_path / "noisy", "--out", tmp_path / "a", *train, code=2).stderr
    assert "train with --noisy if what changes is visual noise" in refused
    picture = ["--preset", "picture", "--updates", "2"]
    output = run_command("train", "--data", tmp_path / "noisy", "--out", tmp_path / "a", *picture).stderr
    assert "no two of the 56 recorded frames are alike" in output and "--noisy" in output
    for number, more in enumerate((["--data", tmp_path / "noisy", "--noisy"], ["--data", tmp_path / "clean"])):
        assert "no two" not in run_command("train", *more, "--out", tmp_path / f"b{number}", *train).stderr

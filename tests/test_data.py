"""Trajectory folders: what is recorded, how it is kept, and what damage is noticed."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import pixelplan
from pixelplan.data import collect as collect_module
from pixelplan.data.dataset import ARRAYS
from pixelplan.files import level_numbers, parse_levels, read_json, write_json
from pixelplan.puzzles import make_env
from pixelplan.types import InputError
from tests.conftest import one_sentence, run_command


def contents(folder: Path) -> dict[str, bytes]:
    """Every file of a folder."""
    return {path.name: path.read_bytes() for path in sorted(folder.iterdir())}


def test_what_is_recorded_is_what_the_environment_shows(name: str, tmp_path: Path) -> None:
    data = pixelplan.collect(name, "3:5,9", tmp_path / "data", episodes=4, steps=12, seed=7)
    assert np.unique(data.episode_level).tolist() == [3, 4, 9] and len(data.episodes) == 12
    env = make_env(name, terminate_on_goal=False)
    for episode, actions, level in zip(data.episodes, data.actions, data.episode_level, strict=True):
        frame, _ = env.reset(options={"level": int(level)})
        if name == "procgen-maze":  # random starts: look for the state that shows the first frame
            table = env.unwrapped._need_level()
            state = next(s for s in table.starts if np.array_equal(table.frame(s), data.frames[episode[0]]))
            frame = env.restore_state(type(env.clone_state())(int(level), int(state), 0, False))
        assert np.array_equal(frame, data.frames[episode[0]])
        for action, index in zip(actions, episode[1:], strict=True):
            assert np.array_equal(env.step(int(action))[0], data.frames[index])
            assert data.frame_level[index] == level


def test_frames_are_stored_once_and_levels_together(name: str, tmp_path: Path) -> None:
    data = pixelplan.collect(name, "0:12", tmp_path / "data")
    assert np.all(np.diff(data.frame_level) >= 0)
    for level in range(12):
        frames = data.frames[data.frame_level == level]
        assert len({frame.tobytes() for frame in frames}) == len(frames)


def test_actions_are_uniform(tmp_path: Path) -> None:
    data = pixelplan.collect("ice-slider", "0:30", tmp_path / "data")
    counts = np.bincount(data.actions.ravel(), minlength=5)
    assert counts.min() > 0.9 * counts.mean()


def test_a_level_depends_on_seed_and_number_only(tmp_path: Path) -> None:
    many = pixelplan.collect("digit-jump", "0:40", tmp_path / "many", episodes=3)
    one = pixelplan.collect("digit-jump", "37", tmp_path / "one", episodes=3)
    other = pixelplan.collect("digit-jump", "37", tmp_path / "other", episodes=3, seed=1)
    assert np.array_equal(many.actions[many.episode_level == 37], one.actions)
    assert not np.array_equal(other.actions, one.actions)


@pytest.mark.parametrize("stop_after", [1, 2, 3])
def test_resuming_writes_the_same_bytes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, stop_after: int) -> None:
    monkeypatch.setattr(collect_module, "LEVELS_AT_ONCE", 2)
    whole, broken = tmp_path / "whole", tmp_path / "broken"
    pixelplan.collect("digit-jump", "0:9", whole, episodes=2)

    class Stop(Exception):
        pass

    notes = 0

    def stop(done: int, total: int) -> None:
        nonlocal notes
        notes += 1
        if notes > stop_after:
            raise Stop

    with pytest.raises(Stop):
        pixelplan.collect("digit-jump", "0:9", broken, episodes=2, progress=stop)
    with (broken / "frames.npy").open("ab") as file:
        file.write(b"half a frame")
    with pytest.raises(InputError, match="unfinished"):
        pixelplan.open_trajectories(broken)
    with pytest.raises(InputError, match="--resume"):
        pixelplan.collect("digit-jump", "0:9", broken, episodes=2)
    pixelplan.collect("digit-jump", "0:9", broken, episodes=2, resume=True)
    assert contents(broken) == contents(whole)
    pixelplan.collect("digit-jump", "0:9", broken, episodes=2, resume=True)  # complete already: nothing to do
    assert contents(broken) == contents(whole)


def test_killed_at_random_moments(tmp_path: Path) -> None:
    """kill -9 again and again, then resume: the bytes of an undisturbed run."""
    whole, broken = tmp_path / "whole", tmp_path / "broken"
    arguments = ["--env", "digit-jump", "--levels", "0:700", "--episodes", "2", "--steps", "6"]
    pixelplan.collect("digit-jump", "0:700", whole, episodes=2, steps=6)
    random = np.random.default_rng(0)
    kills = 0
    for _ in range(4):
        command = [sys.executable, "-m", "pixelplan", "collect", *arguments, "--out", str(broken), "--resume"]
        process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        until = time.monotonic() + 20
        while not (broken / "unfinished.jsonl").exists() and process.poll() is None and time.monotonic() < until:
            time.sleep(0.005)
        time.sleep(float(random.uniform(0, 0.15)))
        process.send_signal(signal.SIGKILL)
        kills += process.wait() == -signal.SIGKILL
    assert kills
    run_command("collect", *arguments, "--out", broken, "--resume")
    assert contents(broken) == contents(whole)


def test_what_a_killed_writer_left_is_removed(tmp_path: Path) -> None:
    killed = subprocess.Popen([sys.executable, "-c", ""])
    killed.wait()
    left, running, foreign = (tmp_path / f".note.json.{end}" for end in (killed.pid, os.getppid(), "swp"))
    for path in (left, running, foreign):
        path.write_text("half")
    write_json(tmp_path / "note.json", {})
    assert {path.name for path in tmp_path.iterdir()} == {"note.json", running.name, foreign.name}


@pytest.fixture(scope="module")
def good(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A small complete data set; tests damage copies of it."""
    folder = tmp_path_factory.mktemp("data") / "good"
    pixelplan.collect("ice-slider", "0:3", folder, episodes=2)
    return folder


@pytest.mark.parametrize("name", ARRAYS)
@pytest.mark.parametrize("damage", ["truncated", "altered", "missing", "pickled"])
def test_damage_is_noticed(good: Path, tmp_path: Path, name: str, damage: str) -> None:
    folder = tmp_path / "data"
    shutil.copytree(good, folder)
    path = folder / f"{name}.npy"
    content = bytearray(path.read_bytes())
    if damage == "truncated":
        path.write_bytes(content[:-7])
    elif damage == "altered":
        content[-1] ^= 1
        path.write_bytes(content)
    elif damage == "missing":
        path.unlink()
    else:
        np.save(path, np.array([{"code": print}], dtype=object), allow_pickle=True)
    with pytest.raises(InputError, match=rf"{name}\.npy"):
        pixelplan.open_trajectories(folder)


def test_manifest_of_another_version(good: Path, tmp_path: Path) -> None:
    folder = tmp_path / "data"
    shutil.copytree(good, folder)
    manifest = read_json(folder / "manifest.json")
    write_json(folder / "manifest.json", {**manifest, "format": 99})
    with pytest.raises(InputError, match="format 99"):
        pixelplan.open_trajectories(folder)
    (folder / "manifest.json").write_text("{ not json")
    with pytest.raises(InputError, match="not JSON"):
        pixelplan.open_trajectories(folder)
    with pytest.raises(InputError, match="not a trajectory folder"):
        pixelplan.open_trajectories(tmp_path)


def test_an_occupied_folder_is_left_alone(good: Path, tmp_path: Path) -> None:
    (tmp_path / "notes.txt").write_text("mine")
    with pytest.raises(InputError, match="something else"):
        pixelplan.collect("ice-slider", "0:2", tmp_path)
    assert contents(tmp_path) == {"notes.txt": b"mine"}
    before = contents(good)
    with pytest.raises(InputError, match="already holds"):
        pixelplan.collect("ice-slider", "0:3", good, episodes=2)
    with pytest.raises(InputError, match="seed"):
        pixelplan.collect("ice-slider", "0:3", good, episodes=2, seed=5, resume=True)
    assert contents(good) == before


@pytest.mark.parametrize("text", ["", "5:5", "9:3", "-1:4", "a:b", "1:2:3", "0:5,3", "0:99999999999", "1,,2"])
def test_bad_level_ranges(text: str) -> None:
    with pytest.raises(InputError):
        parse_levels(text)


@given(st.lists(st.integers(0, 50), min_size=1, max_size=4, unique=True))
@settings(max_examples=30)
def test_level_ranges(starts: list[int]) -> None:
    ranges = [(100 * start, 100 * start + 1 + start) for start in starts]
    text = ",".join(f"{first}:{end}" for first, end in ranges)
    assert level_numbers(parse_levels(text)) == [number for first, end in ranges for number in range(first, end)]


def test_memory_is_bounded(tmp_path: Path) -> None:
    """Levels go to the disk as they come: ten times the levels do not take ten times the memory."""
    script = (
        "import resource, sys, pixelplan\n"
        "pixelplan.collect('digit-jump', sys.argv[1], sys.argv[2], episodes=10)\n"
        "print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss)\n"
    )

    def peak(levels: str) -> int:
        command = [sys.executable, "-c", script, levels, str(tmp_path / levels.replace(":", "-"))]
        return int(subprocess.run(command, capture_output=True, text=True, check=True).stdout)

    assert peak("0:1500") - peak("0:150") < 120_000  # KiB; the frames alone take 380 MiB


class TestCommands:
    def test_collect_inspect_levels(self, name: str, tmp_path: Path) -> None:
        folder = tmp_path / "data"
        result = run_command("collect", "--env", name, "--levels", "0:12", "--episodes", "3", "--out", folder)
        assert "720 steps" in result.stdout
        report = run_command("inspect", folder).stdout
        assert "coverage" in report and "12 (0:12)" in report
        assert (folder / "inspect.png").stat().st_size > 1000
        run_command("levels", "--env", name, "--levels", "0:7", "--out", tmp_path / "sheet.png")
        assert (tmp_path / "sheet.png").read_bytes().startswith(b"\x89PNG")

    def test_options_reach_the_puzzle(self, tmp_path: Path) -> None:
        options = ["--option", "size=4", "pixels=16", "minimum_length=3", "dead_ends=false"]
        run_command("collect", "--env", "ice-slider", *options, "--levels", "0:3", "--out", tmp_path / "data")
        data = pixelplan.open_trajectories(tmp_path / "data")
        assert data.frames.shape[1:] == (16, 16, 3) and data.manifest["options"]["dead_ends"] is False

    @pytest.mark.parametrize(
        "arguments,word",
        [
            (["--env", "chess", "--levels=0:3"], "chess"),
            (["--env", "ice-slider", "--levels=3:1"], "3:1"),
            (["--env", "ice-slider", "--levels=-3:1"], "range"),
            (["--env", "ice-slider", "--levels=0:3", "--option", "colour=red"], "colour"),
            (["--env", "ice-slider", "--levels=0:3", "--option", "size=big"], "size"),
            (["--env", "ice-slider", "--levels=0:3", "--episodes", "0"], "episodes"),
            (["--env", "ice-slider", "--levels=0:3", "--seed", "-1"], "seed"),
        ],
    )
    def test_bad_input_is_one_sentence(self, tmp_path: Path, arguments: list[str], word: str) -> None:
        out = tmp_path / "data"
        assert word in one_sentence(run_command("collect", *arguments, "--out", out, code=2))
        assert not out.exists()

    def test_damaged_data_is_one_sentence(self, good: Path, tmp_path: Path) -> None:
        shutil.copytree(good, tmp_path / "data")
        os.truncate(tmp_path / "data" / "actions.npy", 40)
        assert "actions.npy" in one_sentence(run_command("inspect", tmp_path / "data", code=2))
        assert "manifest" in one_sentence(run_command("inspect", tmp_path, code=2))

    def test_version_and_help(self) -> None:
        assert run_command("--version").stdout == f"pixelplan {pixelplan.__version__}\n"
        assert "collect" in run_command("--help").stdout
        assert "B excluded" in run_command("collect", "--help").stdout
        run_command("no-such-command", code=2)

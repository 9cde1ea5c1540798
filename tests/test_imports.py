"""Recordings that others made: every layout has the same steps, and what does not fit is one sentence."""

from __future__ import annotations

import csv
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from PIL import Image

from pixelplan.exchange.imports import import_trajectories, pieces
from pixelplan.types import InputError, Trajectories
from tests.conftest import one_sentence, run_command
from tests.own_worlds import Corridor

h5py = pytest.importorskip("h5py")


def recording(lengths: tuple[int, ...] = (6, 6, 6)) -> list[tuple[np.ndarray, np.ndarray]]:
    """Frames [n+1,H,W,3] and actions [n] of walks in a corridor, one for each level."""
    env, walks = Corridor(), []
    for level, length in enumerate(lengths):
        frames, actions = [env.reset(seed=level)[0]], np.random.default_rng(level).integers(2, size=length)
        frames += [env.step(int(action))[0] for action in actions]
        walks.append((np.stack(frames), actions))
    return walks


def steps_of(data: Trajectories) -> set[tuple[int, bytes, int, bytes]]:
    """The distinct steps: level, frame, action, frame."""
    steps = set()
    for row, actions, level in zip(data.episodes, data.actions, data.episode_level, strict=True):
        for before, action, after in zip(row[:-1], actions, row[1:], strict=True):
            steps.add((int(level), data.frames[before].tobytes(), int(action), data.frames[after].tobytes()))
    return steps


def expected(walks: list[tuple[np.ndarray, np.ndarray]]) -> set[tuple[int, bytes, int, bytes]]:
    return {
        (level, frames[step].tobytes(), int(action), frames[step + 1].tobytes())
        for level, (frames, actions) in enumerate(walks)
        for step, action in enumerate(actions)
    }


def write_npz(path: Path, walks: list) -> Path:
    np.savez(path, frames=np.stack([frames for frames, _ in walks]), actions=np.stack([taken for _, taken in walks]))
    return path


def write_steps(path: Path, walks: list) -> Path:
    np.savez(
        path,
        frames=np.concatenate([frames[:-1] for frames, _ in walks]),
        next_frames=np.concatenate([frames[1:] for frames, _ in walks]),
        actions=np.concatenate([actions for _, actions in walks]),
        levels=np.concatenate([np.full(len(actions), level) for level, (_, actions) in enumerate(walks)]),
    )
    return path


def write_hdf5(path: Path, walks: list) -> Path:
    with h5py.File(path, "w") as file:
        for level, (frames, actions) in enumerate(walks):
            group = file.create_group(f"episode_{level}")
            group.attrs["seed"] = level
            group["actions"] = actions
            group.create_group("observations")["image"] = frames
            group["observations"]["direction"] = np.zeros(len(frames))
    return path


def write_pictures(folder: Path, walks: list) -> Path:
    folder.mkdir()
    with (folder / "play.csv").open("w", newline="") as file:
        table = csv.writer(file)
        table.writerow(["episode", "level", "frame", "action"])
        for level, (frames, actions) in enumerate(walks):
            for step, frame in enumerate(frames):
                Image.fromarray(frame).save(folder / f"{level}-{step}.png")
                table.writerow(
                    [f"e{level}", level, f"{level}-{step}.png", actions[step] if step < len(actions) else ""]
                )
    return folder


WRITERS = {"a.npz": write_npz, "steps.npz": write_steps, "a.hdf5": write_hdf5, "pictures": write_pictures}


@pytest.mark.parametrize("name", WRITERS)
def test_every_layout_has_the_recorded_steps(name: str, tmp_path: Path) -> None:
    walks = recording()
    data = import_trajectories(WRITERS[name](tmp_path / name, walks), tmp_path / "data", action_names=("left", "right"))
    assert steps_of(data) == expected(walks)
    assert data.manifest["actions"] == 2 and data.manifest["levels"] == [[0, 3]]


@pytest.mark.parametrize("name", ["a.hdf5", "pictures", "steps.npz"])
def test_episodes_may_differ_in_length(name: str, tmp_path: Path) -> None:
    walks = recording((7, 45, 23))
    data = import_trajectories(WRITERS[name](tmp_path / name, walks), tmp_path / "data")
    assert steps_of(data) == expected(walks)


def test_the_length_of_pieces_is_a_setting(tmp_path: Path) -> None:
    walks = recording((7, 45, 23))
    data = import_trajectories(write_hdf5(tmp_path / "a.hdf5", walks), tmp_path / "data", steps=4)
    assert data.actions.shape[1] == data.manifest["steps"] == 4 and steps_of(data) == expected(walks)
    with pytest.raises(InputError, match="steps is 0"):
        import_trajectories(tmp_path / "a.hdf5", tmp_path / "none", steps=0)


@given(st.integers(1, 200), st.integers(1, 20))
def test_pieces_cover_a_recording(length: int, steps: int) -> None:
    steps = min(steps, length)
    covered = {first + step for first in pieces(length, steps) for step in range(steps)}
    assert covered == set(range(length))


def test_levels_are_episodes_or_one(tmp_path: Path) -> None:
    source = write_npz(tmp_path / "a.npz", recording())
    assert len(np.unique(import_trajectories(source, tmp_path / "each").episode_level)) == 3
    as_one_level = import_trajectories(source, tmp_path / "one", one_level=True, pixels=(16, 24))
    assert np.unique(as_one_level.episode_level).tolist() == [0] and as_one_level.frames.shape[1:] == (16, 24, 3)


def test_bad_recordings_are_one_sentence(tmp_path: Path) -> None:
    (frames, actions), *_ = walks = recording()
    cases = {
        "frames": ({"frames": frames[None, :-2], "actions": actions[None]}, r"frames are \[E,T\+1,H,W,3\]"),
        "steps": ({"frames": frames, "next_frames": frames[1:], "actions": actions}, "as many of each"),
        "none": ({"frames": frames[None]}, "it needs frames and actions"),
        "real": ({"frames": frames[None], "actions": actions[None] / 2}, "must be whole numbers"),
        "negative": ({"frames": frames[None], "actions": actions[None] - 1}, "numbered from 0"),
        "numbers": ({"frames": frames[None, ..., 0, 0].astype(float), "actions": actions[None]}, "frames are|no frame"),
        "empty": ({"frames": frames[None, :1], "actions": actions[None, :0]}, "holds no steps"),
        "levels": (
            {"frames": frames[None], "actions": actions[None], "levels": np.arange(3)},
            "one level for each row",
        ),
    }
    for name, (arrays, message) in cases.items():
        np.savez(tmp_path / f"{name}.npz", **arrays)
        with pytest.raises(InputError, match=message):
            import_trajectories(tmp_path / f"{name}.npz", tmp_path / "data")
    (tmp_path / "text.npz").write_text("no archive")
    with pytest.raises(InputError, match="cannot be read as an npz file"):
        import_trajectories(tmp_path / "text.npz", tmp_path / "data")
    (tmp_path / "text.hdf5").write_text("no HDF5")
    with pytest.raises(InputError, match="cannot be read as an HDF5 file"):
        import_trajectories(tmp_path / "text.hdf5", tmp_path / "data")
    folder = write_pictures(tmp_path / "pictures", walks)
    (folder / "1-3.png").unlink()
    with pytest.raises(InputError, match="which is not a file in"):
        import_trajectories(folder, tmp_path / "data")
    (folder / "play.csv").write_text("frame,action\n0-0.png,1\n0-1.png,1\n")
    with pytest.raises(InputError, match="every frame but the last"):
        import_trajectories(folder, tmp_path / "data")
    with pytest.raises(InputError, match="give a name for each"):
        import_trajectories(write_npz(tmp_path / "a.npz", walks), tmp_path / "data", action_names=("left",))
    assert not (tmp_path / "data").exists()


def test_from_the_command_line(tmp_path: Path) -> None:
    source = write_npz(tmp_path / "a.npz", recording())
    done = run_command("import", source, "--out", tmp_path / "data", "--action-names", "left", "right")
    assert "18 steps of imported" in done.stdout
    assert "already holds" in one_sentence(run_command("import", source, "--out", tmp_path / "data", code=2))
    assert "does not exist" in one_sentence(run_command("import", tmp_path / "b", "--out", tmp_path / "c", code=2))

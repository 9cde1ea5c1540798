"""Nothing lost: what is written survives damage, full disks, signals and other writers."""

from __future__ import annotations

import errno
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

import pixelplan
from pixelplan.cli import _how_to_go_on
from pixelplan.data import collect as collect_module
from pixelplan.data import dataset
from pixelplan.data.dataset import ARRAYS, TrajectoryWriter
from pixelplan.files import read_json
from pixelplan.types import InputError
from tests.conftest import one_sentence, run_command

SMALL = ("digit-jump", "0:7")


def contents(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in folder.iterdir()}


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A complete data set."""
    folder = tmp_path_factory.mktemp("whole") / "data"
    pixelplan.collect(*SMALL, folder, episodes=2, steps=4)
    return folder


@pytest.fixture
def unfinished(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The same, cut off after four levels, which are two parts of the journal."""
    monkeypatch.setattr(collect_module, "LEVELS_AT_ONCE", 2)
    monkeypatch.setattr(dataset, "SECONDS_BETWEEN_NOTES", 0.0)

    def stop(done: int, total: int) -> None:
        if done == 4:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        pixelplan.collect(*SMALL, tmp_path / "data", episodes=2, steps=4, progress=stop)
    return tmp_path / "data"


def resume(folder: Path) -> None:
    pixelplan.collect(*SMALL, folder, episodes=2, steps=4, resume=True)


@pytest.mark.parametrize("name", ARRAYS)
@pytest.mark.parametrize("damage", ["flipped", "cut", "emptied", "deleted"])
def test_damage_to_an_unfinished_data_set_is_played_again(
    whole: Path, unfinished: Path, name: str, damage: str, capsys: pytest.CaptureFixture[str]
) -> None:
    path = unfinished / f"{name}.npy"
    data = bytearray(path.read_bytes())
    if damage == "flipped":
        data[-1] ^= 4
        path.write_bytes(data)
    elif damage == "deleted":
        path.unlink()
    else:
        path.write_bytes(data[: len(data) - 9] if damage == "cut" else b"")
    resume(unfinished)
    assert f"{name}.npy has been damaged" in capsys.readouterr().err
    assert contents(unfinished) == contents(whole)


def test_a_damaged_journal_is_believed_up_to_the_damage(whole: Path, unfinished: Path) -> None:
    journal = unfinished / "unfinished.jsonl"
    lines = journal.read_bytes().splitlines(keepends=True)
    assert sum(b"levels_done" in line for line in lines) == 2
    journal.write_bytes(b"".join(lines[:-1]) + lines[-1].replace(b"4", b"6", 1))
    resume(unfinished)
    assert contents(unfinished) == contents(whole)


@pytest.mark.parametrize("left", [None, b"", b'{"requ'])
def test_what_was_begun_can_be_resumed_from_the_first_byte(whole: Path, tmp_path: Path, left: bytes | None) -> None:
    folder = tmp_path / "data"
    folder.mkdir()
    (folder / ".unfinished.jsonl.99999999").write_bytes(b"half")
    if left is not None:
        (folder / "unfinished.jsonl").write_bytes(left)
    resume(folder)
    (folder / ".unfinished.jsonl.99999999").unlink()
    assert contents(folder) == contents(whole)


def test_one_process_writes_at_a_time(unfinished: Path, whole: Path) -> None:
    request = {
        key: value for key, value in read_json(whole / "manifest.json").items() if key not in ("counts", "sha256")
    }
    with (
        TrajectoryWriter(unfinished, request, resume=True),
        pytest.raises(InputError, match=f"is being written by process {os.getpid()}"),
    ):
        resume(unfinished)
    resume(unfinished)
    assert contents(unfinished) == contents(whole)


def test_a_full_disk_is_one_sentence_that_names_the_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(descriptor: int) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    words = ["collect", "--env", "digit-jump", "--levels", "0:3", "--out", tmp_path / "data"]
    monkeypatch.setattr(os, "fsync", full)
    output = one_sentence(run_command(*words, code=2))
    assert "no space is left" in output and "unfinished.jsonl" in output and "--resume continues" in output
    monkeypatch.undo()
    run_command(*words, "--resume")


@pytest.mark.parametrize(("number", "word"), [(signal.SIGTERM, "terminated"), (signal.SIGINT, "interrupted")])
def test_signals_end_in_a_sentence_and_the_work_can_continue(tmp_path: Path, number: signal.Signals, word: str) -> None:
    words = ["collect", "--env", "digit-jump", "--levels", "0:3000", "--out", str(tmp_path / "data")]
    process = subprocess.Popen([sys.executable, "-m", "pixelplan", *words], stderr=subprocess.PIPE, text=True)
    while not (tmp_path / "data" / "unfinished.jsonl").exists() and process.poll() is None:
        time.sleep(0.01)
    process.send_signal(number)
    _, errors = process.communicate()
    assert process.returncode == 128 + number and f"pixelplan: {word}; " in errors and "Traceback" not in errors
    assert "--resume continues" in errors and not (tmp_path / "data" / "manifest.json").exists()


def test_ctrl_c_while_modules_are_imported_is_a_sentence(tmp_path: Path) -> None:
    (tmp_path / "slow_world.py").write_text("import time\nprint('here', flush=True)\ntime.sleep(60)\n")
    command = [sys.executable, "-m", "pixelplan", "check-env", "--env", "slow_world:make"]
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join([str(Path.cwd()), str(tmp_path)])}
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=environment)
    assert process.stdout is not None and process.stdout.readline() == "here\n"
    process.send_signal(signal.SIGINT)
    _, errors = process.communicate()
    assert process.returncode == 130 and errors.startswith("pixelplan: interrupted; ") and errors.count("\n") == 1


@pytest.mark.parametrize(
    ("words", "advice"),
    [
        (["baseline", "random", "--env", "ice-slider"], "start the same command again"),
        (["baseline", "ppo", "--env", "ice-slider"], "--resume continues"),
        (["train", "--data", "random"], "--resume continues"),
        (["inspect", "train"], "start the same command again"),
        ([], "start the same command again"),
    ],
)
def test_only_what_can_be_resumed_is_said_to_be(words, advice):
    assert advice in _how_to_go_on(words)

"""Trajectory folders: written part by part, resumable, opened memory-mapped.

A folder holds an npy file for each of the ARRAYS that has rows and, once it is complete, `manifest.json`. Until then
`unfinished.jsonl` (`journal.py`) has a line for each part of the levels: the rows and bytes of each file up to there,
and the part's checksums. A part is on disk before its line is. So a run that is killed at any moment and resumed
writes exactly the same bytes; if a part was damaged in the meantime, this is noticed and the part is played again.
"""

from __future__ import annotations

import hashlib
import io
import json
import os
import time
from collections.abc import Mapping
from pathlib import Path
from types import TracebackType
from typing import Any

import numpy as np

from pixelplan.data.arrays import map_array
from pixelplan.data.journal import Journal
from pixelplan.data.manifest import check_manifest
from pixelplan.files import check_format, checksum, left_by_writer, naming, notice, read_json, write_json
from pixelplan.types import InputError, Trajectories

FORMAT = 1
ARRAYS = {
    "frames": np.uint8,
    "frame_level": np.int64,
    "episodes": np.int32,
    "actions": np.uint8,
    "episode_level": np.int64,
    "solved": np.int8,
    "goals": np.uint8,
    "goal_level": np.int64,
}
ARRAYS_ADDED_LATER = ("solved", "goals", "goal_level")
"""Arrays that data sets from earlier versions lack."""
KEYS_ONLY_IF_TRUE = ("explore",)
"""Keys that a request has only if they are true."""
SECONDS_BETWEEN_NOTES = 1.0
"""How often finished levels are written down: the most that a kill costs, besides the level being played."""
DIMENSIONS = {"frames": 4, "episodes": 2, "actions": 2, "goals": 4}
"""The number of dimensions of each array that has more than one."""
MANIFEST, JOURNAL = "manifest.json", "unfinished.jsonl"


class TrajectoryWriter:
    """Appends levels to a trajectory folder. Until it is closed, no other writer can open the folder."""

    def __init__(self, folder: Path, request: Mapping[str, Any], resume: bool) -> None:
        """Begin or continue `folder`. `request` is everything that decides the data; to resume, it must be the same."""
        self.folder = folder
        self.request = json.loads(json.dumps({"format": FORMAT, **request}))
        self.levels_done = 0
        self._levels_noted, self._noted_at = 0, time.monotonic()
        self._rows = dict.fromkeys(ARRAYS, 0)
        self._bytes = dict.fromkeys(ARRAYS, 0)
        self._digests = {name: hashlib.sha256() for name in ARRAYS}
        self.complete = False
        self._journal: Journal | None = None
        if not self._is_complete(resume):
            self._check_contents()
            folder.mkdir(parents=True, exist_ok=True)
            self._journal = Journal(folder / JOURNAL)
            try:
                self._go_on(resume)
            except BaseException:
                self.close()
                raise

    def __enter__(self) -> TrajectoryWriter:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, problem: BaseException | None, trace: TracebackType | None
    ) -> None:
        try:
            if not self.complete and not isinstance(problem, OSError):
                self._note()
        finally:
            self.close()

    def close(self) -> None:
        """Let others write."""
        if self._journal is not None:
            self._journal.close()

    def _is_complete(self, resume: bool) -> bool:
        """Whether the folder is already complete; an InputError if it holds another data set."""
        if not (self.folder / MANIFEST).exists():
            return False
        if not resume:
            raise InputError(f"{self.folder} already holds a data set")
        self._check_request(read_json(self.folder / MANIFEST))
        (self.folder / JOURNAL).unlink(missing_ok=True)
        self.complete = True
        return True

    def _check_contents(self) -> None:
        """An InputError if the folder holds anything that was not left there by a writer."""
        if not self.folder.exists() or (self.folder / JOURNAL).exists():
            return
        if not self.folder.is_dir() or not all(map(left_by_writer, self.folder.iterdir())):
            raise InputError(f"{self.folder} already holds something else; choose an empty or new folder")

    def _go_on(self, resume: bool) -> None:
        """Continue from the journal, as far as the files agree with it."""
        assert self._journal is not None
        if self._is_complete(resume):  # another process has just finished it
            return
        requests = [line["request"] for line in self._journal.lines if "request" in line]
        if requests and not resume:
            raise InputError(f"{self.folder} already holds an unfinished data set; --resume completes it")
        if requests:
            self._check_request(requests[0])
        parts: list[dict[str, Any]] = []
        for line in self._journal.lines:
            parts = [part for part in parts if part["levels_done"] <= line.get("again", part["levels_done"])]
            parts += [line] if "rows" in line else []
        self._journal.take_over()
        if not requests:
            self._journal.add({"request": self.request})
        for part in parts:
            damaged = next((name for name in ARRAYS if not self._holds(name, part)), None)
            if damaged is not None:
                notice(
                    f"{self.folder / damaged}.npy has been damaged since it was written; everything after "
                    f"the first {self.levels_done} levels is recorded again"
                )
                self._journal.add({"again": self.levels_done})
                break
            self.levels_done, self._rows, self._bytes = part["levels_done"], part["rows"], part["bytes"]
        self._levels_noted = self.levels_done

    def _check_request(self, recorded: Any) -> None:
        """An InputError if the folder's request is not this one."""
        for key in (*self.request, *KEYS_ONLY_IF_TRUE):
            value = self.request.get(key)
            if not isinstance(recorded, dict) or recorded.get(key) != value:
                old = recorded.get(key) if isinstance(recorded, dict) else recorded
                raise InputError(f"{self.folder} holds a data set with {key} {old}, not {value}; it cannot be resumed")

    def _holds(self, name: str, part: Mapping[str, Any]) -> bool:
        """Whether a file still has the bytes of a part, following the bytes that have been checked."""
        if name not in part["bytes"]:
            return False
        if not part["bytes"][name]:
            return True
        left, digest = part["bytes"][name] - self._bytes[name], hashlib.sha256()
        try:
            with (self.folder / f"{name}.npy").open("rb") as file:
                file.seek(len(_header(name, (0,) * DIMENSIONS.get(name, 1))) + self._bytes[name])
                while left > 0 and (read := file.read(min(left, 2**20))):
                    digest.update(read)
                    left -= len(read)
        except FileNotFoundError:
            return False
        return left == 0 and digest.hexdigest() == part["sha256"][name]

    def append(self, levels: int, **arrays: np.ndarray) -> None:
        """Add the rows of this many finished levels to every array. Without `solved`, it is unknown what solves them;
        without `goals`, no goal is shown."""
        arrays.setdefault("solved", np.full(len(arrays["frame_level"]), -1))
        arrays.setdefault("goals", arrays["frames"][:0])
        arrays.setdefault("goal_level", arrays["frame_level"][:0])
        added = {name: np.ascontiguousarray(rows, ARRAYS[name]) for name, rows in arrays.items()}
        for name, rows in added.items():
            if not len(rows):
                continue
            path = self.folder / f"{name}.npy"
            header = _header(name, (0, *rows.shape[1:]))
            with naming(path), path.open("r+b" if path.exists() else "w+b") as file:
                if self._rows[name] == 0:
                    file.write(header)
                # Anything written after the journal's last line does not count: overwrite it.
                file.seek(len(header) + self._bytes[name])
                file.truncate()
                file.write(rows.data)
        for name, rows in added.items():
            self._digests[name].update(rows.data)
        self._rows = {name: count + len(added[name]) for name, count in self._rows.items()}
        self._bytes = {name: size + added[name].nbytes for name, size in self._bytes.items()}
        self.levels_done += levels
        if time.monotonic() - self._noted_at > SECONDS_BETWEEN_NOTES:
            self._note()

    @property
    def frames_written(self) -> int:
        """How many frames the folder holds."""
        return self._rows["frames"]

    def _note(self) -> None:
        """Flush all levels so far to disk, and note it in the journal."""
        if self._journal is None or self._levels_noted == self.levels_done:
            return
        for name in ARRAYS:
            if self._rows[name]:
                _flush(self.folder / f"{name}.npy")
        sums = {name: digest.hexdigest() for name, digest in self._digests.items()}
        self._digests = {name: hashlib.sha256() for name in ARRAYS}
        note = {"levels_done": self.levels_done, "rows": self._rows, "bytes": self._bytes, "sha256": sums}
        self._journal.add(note)
        self._levels_noted, self._noted_at = self.levels_done, time.monotonic()

    def finish(self, frame_shape: tuple[int, ...], steps: int) -> None:
        """Complete a folder with frames [H,W,3] and episodes of this many steps: final headers, checksums, and finally
        the manifest."""
        assert self._journal is not None
        shapes = {"frames": frame_shape, "episodes": (steps + 1,), "actions": (steps,), "goals": frame_shape}
        self._note()
        written = [name for name in ARRAYS if self._rows[name]]
        for name in written:
            path, header = self.folder / f"{name}.npy", _header(name, (self._rows[name], *shapes.get(name, ())))
            with naming(path), path.open("r+b") as file:
                file.write(header)
                file.truncate(len(header) + self._bytes[name])
            _flush(path)
        sums = {f"{name}.npy": checksum(self.folder / f"{name}.npy") for name in written}
        counts = {"frames": self._rows["frames"], "episodes": self._rows["episodes"], "levels": self.levels_done}
        write_json(self.folder / MANIFEST, {**self.request, "counts": counts, "sha256": sums})
        self._journal.remove()
        self.complete = True

    def give_up(self) -> None:
        """Remove everything that was written: it can never become a data set."""
        for name in ARRAYS:
            (self.folder / f"{name}.npy").unlink(missing_ok=True)
        self._levels_noted = self.levels_done
        if self._journal is not None:
            self._journal.remove()
        if not any(self.folder.iterdir()):
            self.folder.rmdir()


def _flush(path: Path) -> None:
    """Flush a written file to disk."""
    with naming(path), path.open("rb") as file:
        os.fsync(file.fileno())


def _header(name: str, shape: tuple[int, ...]) -> bytes:
    """The npy header of an array; numpy leaves room in it for the first axis to grow, so its length is constant."""
    buffer = io.BytesIO()
    description = {"descr": np.dtype(ARRAYS[name]).str, "fortran_order": False, "shape": shape}
    np.lib.format.write_array_header_1_0(buffer, description)
    return buffer.getvalue()


def open_trajectories(folder: str | Path, verify: bool = True) -> Trajectories:
    """The recorded play in a folder, its arrays memory-mapped and read-only.

    An InputError if the folder is not a data set, unfinished, from another version, or damaged.
    `verify=False` skips reading every byte to compare checksums (about a second per gigabyte).
    """
    folder = Path(folder)
    if not (folder / MANIFEST).exists():
        if (folder / JOURNAL).exists():
            raise InputError(f"{folder} is unfinished; run the same collect command with --resume to complete it")
        raise InputError(f"{folder} is not a trajectory folder: it has no {MANIFEST}")
    manifest = read_json(folder / MANIFEST)
    check_format(manifest, FORMAT, f"{folder} has data", "collect it again")
    check_manifest(manifest, folder / MANIFEST)
    stored = [name for name in ARRAYS if name not in ARRAYS_ADDED_LATER or f"{name}.npy" in manifest["sha256"]]
    arrays = {name: _open_array(folder / f"{name}.npy", manifest, verify) for name in stored}
    frames, episodes = len(arrays["frames"]), len(arrays["episodes"])
    if (
        {len(arrays["frame_level"]), len(arrays.get("solved", arrays["frame_level"]))} != {frames}
        or {len(arrays["actions"]), len(arrays["episode_level"])} != {episodes}
        or arrays["frames"].shape[3] != 3
        or arrays.get("goals", arrays["frames"]).shape[1:] != arrays["frames"].shape[1:]
        or len(arrays.get("goals", ())) != len(arrays.get("goal_level", ()))
        or arrays["episodes"].shape[1] != arrays["actions"].shape[1] + 1
        or (verify and not _within(arrays, manifest["actions"]))
    ):
        raise InputError(f"the arrays in {folder} do not fit together; collect it again")
    return Trajectories(**arrays, manifest=manifest)


def _within(arrays: Mapping[str, np.ndarray], action_count: int) -> bool:
    """Whether episodes name only frames and actions that exist."""
    episodes, actions = arrays["episodes"], arrays["actions"]
    return bool(episodes.min() >= 0 and episodes.max() < len(arrays["frames"]) and actions.max() < action_count)


def _open_array(path: Path, manifest: Mapping[str, Any], verify: bool) -> np.ndarray:
    array = map_array(path, ARRAYS[path.stem], DIMENSIONS.get(path.stem, 1))
    if verify and checksum(path) != manifest["sha256"].get(path.name):
        raise InputError(f"{path} is not the file that was written (its checksum differs); collect the data set again")
    return array

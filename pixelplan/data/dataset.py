"""Trajectory folders: written level by level, resumable, opened memory-mapped.

A folder holds five npy files and, once it is complete, `manifest.json`. Until then `unfinished.json` says how many rows
of each file are good, so that a run that was cut off at any moment goes on from there to the very same bytes.
"""

from __future__ import annotations

import io
import json
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from pixelplan.files import checksum, read_json, write_json
from pixelplan.types import InputError, Trajectories

FORMAT = 1
ARRAYS = {
    "frames": np.uint8,
    "frame_level": np.int64,
    "episodes": np.int32,
    "actions": np.uint8,
    "episode_level": np.int64,
}


class TrajectoryWriter:
    """Appends levels to a trajectory folder."""

    def __init__(self, folder: Path, request: Mapping[str, Any], resume: bool) -> None:
        """Begin or go on in `folder`. `request` is everything that decides the data; a resumed one must be equal."""
        self.folder = folder
        self.request = json.loads(json.dumps({"format": FORMAT, **request}))
        self.levels_done = 0
        self._rows = dict.fromkeys(ARRAYS, 0)
        self.complete = False
        self._check_folder(resume)
        folder.mkdir(parents=True, exist_ok=True)

    def _check_folder(self, resume: bool) -> None:
        journal, manifest = self.folder / "unfinished.json", self.folder / "manifest.json"
        if manifest.exists() or journal.exists():
            if not resume:
                state = "a data set" if manifest.exists() else "an unfinished data set; --resume completes it"
                raise InputError(f"{self.folder} already holds {state}")
            found = read_json(manifest if manifest.exists() else journal)
            for key, value in self.request.items():
                if found.get(key) != value:
                    raise InputError(
                        f"{self.folder} holds a data set with {key} {found.get(key)}, not {value}; it cannot be resumed"
                    )
            self.complete = manifest.exists()
            if self.complete:
                journal.unlink(missing_ok=True)
            else:
                self.levels_done, self._rows = found["levels_done"], found["rows"]
        elif self.folder.exists() and (not self.folder.is_dir() or any(self.folder.iterdir())):
            raise InputError(f"{self.folder} already holds something else; choose an empty or new folder")

    def append(self, **arrays: np.ndarray) -> None:
        """Add the rows of one or more finished levels to every array."""
        for name, rows in arrays.items():
            rows = np.ascontiguousarray(rows, ARRAYS[name])
            path = self.folder / f"{name}.npy"
            header = _header(name, (0, *rows.shape[1:]))
            with path.open("r+b" if path.exists() else "w+b") as file:
                if self._rows[name] == 0:
                    file.write(header)
                # What was written after the last note in the journal does not count: write over it.
                file.seek(len(header) + self._rows[name] * rows[0].nbytes)
                file.truncate()
                file.write(rows.data)
            self._rows[name] += len(rows)

    @property
    def frames_written(self) -> int:
        """How many frames the folder holds."""
        return self._rows["frames"]

    def note(self, levels_done: int) -> None:
        """Say in the journal that all levels up to here are written."""
        self.levels_done = levels_done
        write_json(self.folder / "unfinished.json", {**self.request, "levels_done": levels_done, "rows": self._rows})

    def finish(self, shapes: Mapping[str, tuple[int, ...]]) -> None:
        """Complete the folder: true headers for rows of the given shapes, checksums, and last the manifest."""
        for name in ARRAYS:
            with (self.folder / f"{name}.npy").open("r+b") as file:
                file.write(_header(name, (self._rows[name], *shapes[name])))
                file.flush()
                os.fsync(file.fileno())
        sums = {f"{name}.npy": checksum(self.folder / f"{name}.npy") for name in ARRAYS}
        counts = {"frames": self._rows["frames"], "episodes": self._rows["episodes"], "levels": self.levels_done}
        write_json(self.folder / "manifest.json", {**self.request, "counts": counts, "sha256": sums})
        (self.folder / "unfinished.json").unlink()
        self.complete = True


def _header(name: str, shape: tuple[int, ...]) -> bytes:
    """The npy header of an array; numpy leaves room in it for the first axis to grow, so its length is constant."""
    buffer = io.BytesIO()
    description = {"descr": np.dtype(ARRAYS[name]).str, "fortran_order": False, "shape": shape}
    np.lib.format.write_array_header_1_0(buffer, description)
    return buffer.getvalue()


def open_trajectories(folder: str | Path, verify: bool = True) -> Trajectories:
    """The recorded play in a folder, its arrays memory-mapped and read-only.

    An InputError says what is wrong with a folder that is no data set, unfinished, from another version, or damaged.
    `verify=False` saves reading every byte to compare checksums (about a second a gigabyte).
    """
    folder = Path(folder)
    if not (folder / "manifest.json").exists():
        if (folder / "unfinished.json").exists():
            raise InputError(f"{folder} is unfinished; run the same collect command with --resume to complete it")
        raise InputError(f"{folder} is no trajectory folder: it has no manifest.json")
    manifest = read_json(folder / "manifest.json")
    if not isinstance(manifest, dict) or manifest.get("format") != FORMAT:
        found = manifest.get("format") if isinstance(manifest, dict) else None
        raise InputError(f"{folder} has data format {found}; this version reads format {FORMAT}: collect it again")
    arrays = {name: _open_array(folder / f"{name}.npy", manifest, verify) for name in ARRAYS}
    frames, episodes = len(arrays["frames"]), len(arrays["episodes"])
    if len(arrays["frame_level"]) != frames or {len(arrays["actions"]), len(arrays["episode_level"])} != {episodes}:
        raise InputError(f"the arrays in {folder} do not fit together; collect it again")
    return Trajectories(**arrays, manifest=manifest)


def _open_array(path: Path, manifest: Mapping[str, Any], verify: bool) -> np.ndarray:
    if not path.exists():
        raise InputError(f"{path} is missing; collect the data set again")
    try:
        array = np.load(path, mmap_mode="r", allow_pickle=False)
    except (ValueError, EOFError, OSError) as problem:
        raise InputError(f"{path} is damaged ({problem}); collect the data set again") from None
    if array.dtype != ARRAYS[path.stem] or (verify and checksum(path) != manifest["sha256"].get(path.name)):
        raise InputError(f"{path} is not the file that was written (its checksum differs); collect the data set again")
    return array

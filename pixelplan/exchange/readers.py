"""Readers of other people's recordings. No recording can run code or take more memory than these limits allow."""

from __future__ import annotations

import csv
import math
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from pixelplan.envs.frames import LARGEST_PICTURE
from pixelplan.exchange.npz import unpack_npz
from pixelplan.exchange.picture_files import read_frame
from pixelplan.types import InputError

LARGEST_TABLE = 64 * 2**20
"""The most bytes of a CSV file, and of an episode's actions in HDF5."""
LARGEST_CHUNK = 256 * 2**20
"""The most bytes that HDF5 may unpack at once."""


@dataclass(frozen=True, eq=False)
class Recorded:
    """One recorded episode of n steps."""

    frame: Callable[[int], Any]
    """The picture before step 0 … n-1 and after the last, by its index 0 … n."""
    actions: np.ndarray
    """[n] int64."""
    level: int | None
    """None if the recording does not say."""


def read_npz(path: Path) -> list[Recorded]:
    """Episodes in an npz file.

    `frames` [E,T+1,H,W,3] with `actions` [E,T], or steps as `frames` [N,H,W,3], `actions` [N] and `next_frames`
    [N,H,W,3]. `levels` [E] or [N] is optional; steps without any are all of one level.
    """
    arrays = unpack_npz(path)
    missing = {"frames", "actions"} - set(arrays)
    if missing:
        raise InputError(f"{path} has arrays {', '.join(sorted(arrays))}; it needs frames and actions")
    frames, actions = arrays["frames"], _whole(arrays["actions"], path)
    after, levels = arrays.get("next_frames"), arrays.get("levels")
    if levels is not None:
        levels = _whole(levels, path)
        if levels.shape != actions.shape[:1]:
            raise InputError(
                f"{path} has levels {list(levels.shape)} for actions {list(actions.shape)}; give one level for each row"
            )
    if after is not None:
        if after.shape != frames.shape or actions.shape != frames.shape[:1]:
            raise InputError(
                f"{path} has frames {list(frames.shape)}, actions {list(actions.shape)} and next_frames "
                f"{list(after.shape)}; there must be as many of each"
            )
        numbers = np.zeros(len(actions), np.int64) if levels is None else levels
        return [
            Recorded([frames[row], after[row]].__getitem__, actions[row : row + 1], int(numbers[row]))
            for row in range(len(actions))
        ]
    if actions.ndim != 2 or frames.ndim < 4 or frames.shape[:2] != (actions.shape[0], actions.shape[1] + 1):
        raise InputError(
            f"{path} has frames {list(frames.shape)} and actions {list(actions.shape)}; frames are [E,T+1,H,W,3] and "
            "actions [E,T], or give next_frames as well"
        )
    return [
        Recorded(frames[row].__getitem__, actions[row], None if levels is None else int(levels[row]))
        for row in range(len(actions) if actions.size else 0)
    ]


def read_pictures(folder: Path) -> list[Recorded]:
    """Episodes as PNG files in a folder, and one CSV file in it.

    Its columns are frame, action and next_frame, with a row for each step; or frame, action and, optionally, episode,
    with a row for each frame in the order of play and no action after the last frame of an episode. A column level is
    optional.
    """
    tables = sorted(folder.glob("*.csv"))
    if len(tables) != 1:
        raise InputError(f"{folder} holds {len(tables)} CSV files; it needs one that names frames and actions")
    if tables[0].stat().st_size > LARGEST_TABLE:
        raise InputError(f"{tables[0]} has more than {LARGEST_TABLE // 2**20} MB; split the recording")
    try:
        with tables[0].open(newline="", encoding="utf-8-sig") as file:
            reader = csv.DictReader(file)
            columns = set(reader.fieldnames or ())
            rows = list(reader)
    except (UnicodeDecodeError, csv.Error) as problem:
        raise InputError(f"{tables[0]} cannot be read as a CSV file: {problem}") from None
    if not {"frame", "action"} <= columns:
        raise InputError(f"{tables[0]} has columns {', '.join(sorted(columns))}; it needs frame and action")

    def picture(row: dict[str, str], column: str) -> Path:
        path = folder / (row[column] or "")
        if (
            "\0" in str(path)
            or len(path.name.encode()) > 255
            or not path.is_file()
            or not path.resolve().is_relative_to(folder.resolve())
        ):
            raise InputError(f"{tables[0]} names the frame {str(row[column])[:80]!r}, which is not a file in {folder}")
        return path

    def level(row: dict[str, str]) -> int | None:
        return _number(row["level"], tables[0]) if row.get("level") else None

    if "next_frame" in columns:
        return [
            _pictures([picture(row, "frame"), picture(row, "next_frame")], [row["action"]], level(row) or 0, tables[0])
            for row in rows
        ]
    episodes: dict[str, list[dict[str, str]]] = {}
    for row in rows:
        episodes.setdefault(row.get("episode") or "", []).append(row)
    recorded = []
    for name, steps in episodes.items():
        actions = [row["action"] for row in steps]
        if len(steps) < 2 or not all(actions[:-1]) or actions[-1]:
            raise InputError(
                f"episode {name!r} in {tables[0]} has {len(steps)} frames and {sum(map(bool, actions))} actions; every "
                "frame but the last needs the action taken there"
            )
        recorded.append(_pictures([picture(row, "frame") for row in steps], actions[:-1], level(steps[0]), tables[0]))
    return recorded


def read_hdf5(path: Path) -> list[Recorded]:
    """Episodes in Minari's layout: groups episode_… with `observations` [T+1,H,W,3] and `actions` [T].

    If observations are a group, one of its members holds the images. An episode's seed, if it has one, is its level.
    """
    try:
        import h5py
    except ImportError:
        raise InputError("HDF5 files need h5py: pip install 'pixelplan[import]'") from None
    with _readable(path):
        file = h5py.File(path, "r")
        names = [name for name in file if name.startswith("episode_") and name.removeprefix("episode_").isdecimal()]
        if not names:
            raise InputError(f"{path} has no groups episode_0, episode_1 and so on, as Minari writes them")
        names.sort(key=lambda name: int(name.removeprefix("episode_")[:18]))
        recorded = [_episode(file[name], name, path) for name in names]
    return [episode for episode in recorded if len(episode.actions)]


@contextmanager
def _readable(path: Path) -> Iterator[None]:
    """Turn anything that a damaged HDF5 file raises into an InputError."""
    try:
        yield
    except InputError:
        raise
    except Exception as problem:
        words = " ".join(str(problem).split())
        raise InputError(f"{path} cannot be read as an HDF5 file: {words}") from None


def _episode(episode: Any, name: str, path: Path) -> Recorded:
    """One of Minari's episodes."""
    images, stored = _images(episode, path), episode["actions"]
    if math.prod(stored.shape) * stored.dtype.itemsize > LARGEST_TABLE:
        raise InputError(f"{name} in {path} claims {math.prod(stored.shape):,} actions, too many for an episode")
    actions = _whole(np.asarray(stored), path)
    if actions.ndim != 1 or len(images) != len(actions) + 1:
        raise InputError(
            f"{name} in {path} has {len(images)} frames and actions {list(actions.shape)}; it needs one more "
            "frame than actions, and actions that are single numbers"
        )
    seed = episode.attrs.get("seed")
    number = int(seed) if isinstance(seed, int | np.integer) else None

    def frame(index: int) -> Any:
        with _readable(path):
            return images[index]

    return Recorded(frame, actions, number)


def _images(episode: Any, path: Path) -> Any:
    """The data set of images [T+1,H,W,3] among an episode's observations."""
    observations = episode.get("observations")
    candidates = list(observations.values()) if hasattr(observations, "values") else [observations]
    for candidate in candidates:
        if getattr(candidate, "dtype", None) == np.uint8 and candidate.ndim in (3, 4):
            at_once = candidate.chunks or (1, *candidate.shape[1:])
            if max(candidate.shape[1:]) > LARGEST_PICTURE or math.prod(at_once) > LARGEST_CHUNK:
                raise InputError(
                    f"{episode.name} in {path} has images {list(candidate.shape)} in chunks {list(at_once)}; a side "
                    f"has at most {LARGEST_PICTURE} pixels, a chunk {LARGEST_CHUNK // 2**20} MB"
                )
            return candidate
    raise InputError(f"{episode.name} in {path} has no images among its observations; they must be uint8 [T+1,H,W,3]")


def _pictures(paths: list[Path], actions: list[str], level: int | None, table: Path) -> Recorded:
    taken = np.array([_number(action, table) for action in actions], np.int64)
    return Recorded(lambda index: read_frame(paths[index]), taken, level)


def _number(text: str, table: Path) -> int:
    try:
        number = int(text)
    except (TypeError, ValueError):
        number = 2**63
    if abs(number) >= 2**63:
        raise InputError(f"{table} has {str(text)[:40]!r} instead of a whole number")
    return number


def _whole(array: np.ndarray, path: Path) -> np.ndarray:
    """An array of whole numbers as int64; an InputError for any other."""
    if array.dtype.kind not in "iu":
        raise InputError(f"{path} has actions or levels of type {array.dtype}; they must be whole numbers")
    if array.dtype.itemsize == 8 and array.dtype.kind == "u" and array.size and array.max() >= 2**63:
        raise InputError(f"{path} has actions or levels of {array.max()}; they are far too large")
    return array.astype(np.int64)

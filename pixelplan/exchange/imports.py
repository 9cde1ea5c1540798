"""Import other people's recordings as a trajectory folder: npz arrays, PNG files with a CSV, and Minari's HDF5.

Each reader returns recorded episodes; all are written in the same way.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable
from pathlib import Path

import numpy as np

from pixelplan.data.dataset import TrajectoryWriter, open_trajectories
from pixelplan.envs.frames import LARGEST_PICTURE, DistinctFrames, resize, to_frame, usual_size
from pixelplan.exchange.readers import Recorded, read_hdf5, read_npz, read_pictures
from pixelplan.files import checksum
from pixelplan.types import MOST_ACTIONS, InputError, Trajectories

LARGEST_LEVEL = 2**29
"""The most bytes that the distinct frames of a level may take."""


def import_trajectories(
    source: str | Path,
    out: str | Path,
    *,
    name: str = "imported",
    pixels: tuple[int, int] | None = None,
    actions: int | None = None,
    action_names: tuple[str, ...] = (),
    one_level: bool = False,
    steps: int = 20,
    resume: bool = False,
    progress: Callable[[int, int], None] = lambda done, total: None,
) -> Trajectories:
    """Write the recording in a file or folder as a trajectory folder `out`, and open that.

    Levels are the recording's own. If it has none, every episode is its own level, or all are one (`one_level`).
    `actions` is the number of actions, by default one more than the highest seen. `pixels` (height, width) is the size
    of frames. Recordings longer than `steps` are cut into pieces of that many steps, which may overlap. A bad recording
    leaves nothing in `out`.
    """
    if steps < 1:
        raise InputError(f"steps is {steps}; it must be at least 1")
    recorded = read_recording(Path(source))
    count = _count_actions(recorded, actions)
    if action_names and len(action_names) != count:
        raise InputError(f"{len(action_names)} names are given for {count} actions; give a name for each")
    own_size = _picture_size(recorded)
    size = usual_size(*own_size) if pixels is None else pixels
    if not 8 <= min(size) <= max(size) <= LARGEST_PICTURE:
        raise InputError(f"frames cannot be {size[0]} × {size[1]} pixels; a side has 8 to {LARGEST_PICTURE}")
    steps = min(steps, min(len(episode.actions) for episode in recorded))
    levels: dict[int, list[Recorded]] = {}
    for number, episode in enumerate(recorded):
        usual = 0 if one_level else number
        levels.setdefault(usual if episode.level is None else episode.level, []).append(episode)
    request = {
        "env": name,
        "options": {"pixels": list(size)},
        "levels": _ranges(sorted(levels)),
        "steps": steps,
        "actions": count,
        "action_names": list(action_names) or [str(action) for action in range(count)],
        "random_start": False,
        "imported_from": Path(source).name,
        "source_sha256": _fingerprint(Path(source)),
    }
    with TrajectoryWriter(Path(out), request, resume) as writer:
        was_complete = writer.complete
        if not was_complete:
            try:
                for done, level in enumerate(sorted(levels)):
                    progress(done, len(levels))
                    if done >= writer.levels_done:
                        _append(writer, level, levels[level], own_size, size, steps)
            except InputError:
                writer.give_up()
                raise
            writer.finish((*size, 3), steps)
            progress(len(levels), len(levels))
    return open_trajectories(out, verify=was_complete)


def _fingerprint(source: Path) -> str:
    """The SHA-256 of a recording: of its file, or of all files of its folder."""
    if source.is_file():
        return checksum(source)
    files = sorted(path for path in source.rglob("*") if path.is_file())
    return hashlib.sha256("".join(f"{path.name}{checksum(path)}" for path in files).encode()).hexdigest()


def read_recording(source: Path) -> list[Recorded]:
    """The episodes recorded in a file or folder of any kind; an InputError if there are none."""
    if not source.exists():
        raise InputError(f"{source} does not exist")
    minari = source / "data" / "main_data.hdf5"
    if source.is_dir():
        recorded = read_hdf5(minari) if minari.exists() else read_pictures(source)
    elif source.suffix.lower() == ".npz":
        recorded = read_npz(source)
    elif source.suffix.lower() in (".hdf5", ".h5"):
        recorded = read_hdf5(source)
    else:
        raise InputError(f"{source} is neither .npz nor .hdf5 nor a folder of PNG files with a CSV of actions")
    if not recorded:
        raise InputError(f"{source} holds no steps; there is nothing to import")
    return recorded


def _count_actions(recorded: list[Recorded], wanted: int | None) -> int:
    highest = max(int(episode.actions.max()) for episode in recorded)
    lowest = min(int(episode.actions.min()) for episode in recorded)
    count = highest + 1 if wanted is None else wanted
    if lowest < 0 or highest >= count or not 0 < count <= MOST_ACTIONS:
        raise InputError(
            f"actions are {lowest} to {highest}; they must be numbered from 0 to below {min(count, MOST_ACTIONS)}"
        )
    return count


def _picture_size(recorded: list[Recorded]) -> tuple[int, int]:
    """Height and width of the first frame."""
    height, width = to_frame(recorded[0].frame(0)).shape[:2]
    return height, width


def _append(
    writer: TrajectoryWriter,
    level: int,
    recorded: list[Recorded],
    own_size: tuple[int, int],
    size: tuple[int, int],
    steps: int,
) -> None:
    """Write one level's episodes in this size, cut into pieces of this many steps; equal frames are written once."""
    seen = DistinctFrames()
    rows, actions = [], []
    for episode in recorded:
        numbers = []
        for index in range(len(episode.actions) + 1):
            picture = to_frame(episode.frame(index))
            if picture.shape[:2] != own_size:
                raise InputError(
                    f"frame {index} of an episode of level {level} is {picture.shape[1]} × {picture.shape[0]} pixels; "
                    f"the first one is {own_size[1]} × {own_size[0]}"
                )
            numbers.append(seen.add(resize(picture, size)))
            if len(seen) * size[0] * size[1] * 3 > LARGEST_LEVEL:
                raise InputError(
                    f"level {level} has more than {len(seen) - 1:,} distinct frames, which take more than "
                    f"{LARGEST_LEVEL // 2**20} MB; give smaller --pixels, or import its episodes as several levels"
                )
        for first in pieces(len(episode.actions), steps):
            rows.append(numbers[first : first + steps + 1])
            actions.append(episode.actions[first : first + steps])
    writer.append(
        1,
        frames=seen.stacked(),
        frame_level=np.full(len(seen), level),
        episodes=np.array(rows) + writer.frames_written,
        actions=np.stack(actions),
        episode_level=np.full(len(rows), level),
    )


def pieces(length: int, steps: int) -> list[int]:
    """Where the pieces of this many steps start that cover a recording; the last may overlap the one before."""
    begins = list(range(0, length - steps + 1, steps))
    return begins if begins[-1] + steps == length else [*begins, length - steps]


def _ranges(numbers: Iterable[int]) -> list[list[int]]:
    """Sorted numbers as ranges [first, end]."""
    ranges: list[list[int]] = []
    for number in numbers:
        if ranges and ranges[-1][1] == number:
            ranges[-1][1] += 1
        else:
            ranges.append([number, number + 1])
    return ranges

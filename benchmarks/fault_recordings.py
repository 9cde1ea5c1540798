"""Damaged recordings of others: npz, HDF5, and folders of PNG files with a CSV."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import numpy as np
from fault_commands import Command
from fault_inputs import Case, Wrong, damage_file, judged, one_of, well
from fault_shim import SLOWEST, run
from PIL import Image


def recordings(base: Path, commands: dict[str, Command]) -> Case:
    """npz files, HDF5 files, and folders of PNG files with a CSV, under `import`; nothing partial may be left."""
    base.mkdir(parents=True, exist_ok=True)
    commands["import"].inputs(base)
    with np.load(base / "recording.npz") as arrays:
        frames, actions = arrays["frames"][:2, :4], arrays["actions"][:2, :3]
    np.savez(base / "plain.npz", frames=frames, actions=actions, levels=np.array([3, 9]))
    _write_hdf5(base / "minari.hdf5", frames, actions)
    _write_folder(base / "folder", frames, actions)
    sources = ["recording.npz", "plain.npz", "minari.hdf5", "folder"]
    usual = {}
    for name in sources:
        well(run(["import", base / name, "--out", base / f"{name}-data"]))
        usual[name] = _arrays(base / f"{name}-data")

    def case(random: np.random.Generator, place: Path) -> str:
        name = sources[int(random.integers(len(sources)))]
        copy = place / name
        if (base / name).is_dir():
            shutil.copytree(base / name, copy)
            path = one_of(random, copy)
        else:
            path = Path(shutil.copy(base / name, copy))
        damage_file(random, path)
        done = run(["import", copy, "--out", place / "data"], seconds=SLOWEST)
        if done.code == 2 and (place / "data").exists():
            raise Wrong("a partial folder is left")
        same = done.code == 0 and _arrays(place / "data") == usual[name]
        return judged(done, same, path.suffix in (".csv", ".hdf5"))

    return case


def _arrays(folder: Path) -> Any:
    return json.loads((folder / "manifest.json").read_text())["sha256"]


def _write_hdf5(path: Path, frames: np.ndarray, actions: np.ndarray) -> None:
    import h5py

    with h5py.File(path, "w") as file:
        for number, (pictures, taken) in enumerate(zip(frames, actions, strict=True)):
            group = file.create_group(f"episode_{number}")
            group.create_dataset("observations", data=pictures, chunks=(1, *pictures.shape[1:]), compression="gzip")
            group.create_dataset("actions", data=taken)
            group.attrs["seed"] = number


def _write_folder(folder: Path, frames: np.ndarray, actions: np.ndarray) -> None:
    folder.mkdir()
    lines = ["frame,action,episode"]
    for episode, (pictures, taken) in enumerate(zip(frames, actions, strict=True)):
        for step, picture in enumerate(pictures):
            Image.fromarray(picture).save(folder / f"{episode}-{step}.png")
            lines.append(f"{episode}-{step}.png,{taken[step] if step < len(taken) else ''},{episode}")
    (folder / "steps.csv").write_text("\n".join(lines) + "\n")

"""Small files and short words that claim to be enormous."""

from __future__ import annotations

import io
import json
import shutil
import struct
import zipfile
import zlib
from collections.abc import Callable
from pathlib import Path

import numpy as np
from fault_commands import WORLD, Command, quick
from fault_inputs import Case, Wrong, well
from fault_shim import SLOWEST, run


def bombs(base: Path, commands: dict[str, Command]) -> Case:
    """Each must be refused in a sentence, at once, and without the memory that it asks for."""
    well(run(commands["train"].arguments(base), prepare=quick))
    well(run(commands["collect"].arguments(base), prepare=quick))
    Path(base / "small.png").write_bytes(png(16, 16))
    well(run(["solve", "--frame", base / "small.png", "--goal", base / "small.png", "--model", base / "model"]))
    makers: list[Callable[[np.random.Generator, Path], list[str | Path]]] = [
        _picture, _picture_folder, _text_chunk, _npz_header, _npz_zeros, _hdf5_actions, _hdf5_frames, _levels, _json,
        _tensors, _config, _array, _steps, _goal_test,
    ]  # fmt: skip

    def case(random: np.random.Generator, place: Path) -> str:
        make = makers[int(random.integers(len(makers)))]
        shutil.copytree(base / "model", place / "model")
        shutil.copytree(base / "data", place / "data")
        shutil.copy(base / "small.png", place / "small.png")
        done = run(make(random, place), seconds=SLOWEST)
        if done.fault is not None or done.code != 2 or done.sentence is None:
            raise Wrong(f"{make.__name__}: {done.fault or done.errors[:300] or 'taken'}")
        return "refused"

    return case


def _size(random: np.random.Generator) -> int:
    return int(10 ** random.uniform(4, 9))


def png(width: int, height: int, comment: bytes = b"") -> bytes:
    def chunk(kind: bytes, data: bytes) -> bytes:
        return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))

    header = struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0)
    pixels = zlib.compress(b"\0" * min(height * (1 + 3 * width), 100_000))
    text = chunk(b"zTXt", b"comment\0\0" + comment) if comment else b""
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", header) + text + chunk(b"IDAT", pixels) + chunk(b"IEND", b"")


def _solve(place: Path, picture: bytes) -> list[str | Path]:
    (place / "bomb.png").write_bytes(picture)
    return ["solve", "--frame", place / "bomb.png", "--goal", place / "small.png", "--model", place / "model"]


def _picture(random: np.random.Generator, place: Path) -> list[str | Path]:
    bomb = png(_size(random), _size(random))
    if random.random() < 0.5:
        return _solve(place, bomb)
    (place / "bomb.png").write_bytes(bomb)
    return ["solve", "--frame", place / "small.png", "--goal", place / "bomb.png", "--model", place / "model"]


def _text_chunk(random: np.random.Generator, place: Path) -> list[str | Path]:
    return _solve(place, png(_size(random), 16, zlib.compress(b"x" * 100_000_000)))


def _picture_folder(random: np.random.Generator, place: Path) -> list[str | Path]:
    folder = place / "folder"
    folder.mkdir()
    (folder / "a.png").write_bytes(png(16, 16))
    (folder / "b.png").write_bytes(png(_size(random), _size(random)))
    (folder / "steps.csv").write_text("frame,action,next_frame\na.png,0,b.png\n")
    return ["import", folder, "--out", place / "out"]


def _header(shape: tuple[int, ...]) -> bytes:
    buffer = io.BytesIO()
    np.lib.format.write_array_header_1_0(buffer, {"descr": "|u1", "fortran_order": False, "shape": shape})
    return buffer.getvalue()


def _npz_header(random: np.random.Generator, place: Path) -> list[str | Path]:
    with zipfile.ZipFile(place / "bomb.npz", "w") as archive:
        archive.writestr("frames.npy", _header((_size(random), _size(random), 64, 64, 3)) + b"\0" * 100)
        archive.writestr("actions.npy", _header((5, 5)) + b"\0" * 25)
    return ["import", place / "bomb.npz", "--out", place / "out"]


def _npz_zeros(random: np.random.Generator, place: Path) -> list[str | Path]:
    """A gigabyte and more of zeros, packed to a thousandth: what it claims is true."""
    megabytes = int(random.integers(1100, 1400))
    header = _header((megabytes, 1024, 1, 1024, 1))
    with zipfile.ZipFile(place / "bomb.npz", "w", zipfile.ZIP_DEFLATED, compresslevel=1) as archive:
        with archive.open("frames.npy", "w", force_zip64=True) as file:
            file.write(header)
            for _ in range(64):  # the rest is missing: it would only take time to write
                file.write(b"\0" * 2**20)
        archive.writestr("actions.npy", _header((5, 5)) + b"\0" * 25)
    return ["import", place / "bomb.npz", "--out", place / "out"]


def _hdf5(place: Path, frames: tuple[int, ...], actions: int, chunk: tuple[int, ...]) -> list[str | Path]:
    import h5py

    with h5py.File(place / "bomb.hdf5", "w") as file:
        group = file.create_group("episode_0")
        group.create_dataset("observations", frames, np.uint8, chunks=chunk)
        group.create_dataset("actions", (actions,), np.int64, chunks=(min(1024, actions),))
    return ["import", place / "bomb.hdf5", "--out", place / "out"]


def _hdf5_actions(random: np.random.Generator, place: Path) -> list[str | Path]:
    steps = 10_000 * _size(random)
    return _hdf5(place, (steps + 1, 64, 64, 3), steps, (1, 64, 64, 3))


def _hdf5_frames(random: np.random.Generator, place: Path) -> list[str | Path]:
    side = max(5000, _size(random))
    return _hdf5(place, (5, side, side, 3), 4, (1, 1000, 1000, 3))


def _levels(random: np.random.Generator, place: Path) -> list[str | Path]:
    end = int(random.integers(10**7, 2**31))
    if random.random() < 0.5:
        return ["evaluate", *WORLD, "--model", "oracle", "--levels", f"{random.integers(100)}:{end}"]
    return ["collect", *WORLD, "--levels", f"0:{end}", "--out", place / "out"]


def _steps(random: np.random.Generator, place: Path) -> list[str | Path]:
    return ["collect", *WORLD, "--levels", "0:2", "--episodes", str(10**6 + _size(random)), "--out", place / "out"]


def _json(random: np.random.Generator, place: Path) -> list[str | Path]:
    path = place / "model" / "config.json" if random.random() < 0.5 else place / "data" / "manifest.json"
    depth = min(_size(random), 10**6)
    path.write_text("[" * depth + "]" * depth if random.random() < 0.5 else '{"format": ' + "9" * depth + "}")
    return ["inspect", path.parent]


def _tensors(random: np.random.Generator, place: Path) -> list[str | Path]:
    config = json.loads((place / "model" / "config.json").read_text())
    del config["seal"], config["weights_sha256"]
    (place / "model" / "config.json").write_text(json.dumps(config))
    size = _size(random)
    header = json.dumps({"w": {"dtype": "F32", "shape": [size, size], "data_offsets": [0, 4 * size * size]}}).encode()
    (place / "model" / "weights.safetensors").write_bytes(struct.pack("<Q", len(header)) + header + b"\0" * 64)
    return _solve(place, png(16, 16))


def _config(random: np.random.Generator, place: Path) -> list[str | Path]:
    """Numbers of a config, one or several of them, far beyond what can be."""
    config = json.loads((place / "model" / "config.json").read_text())
    del config["seal"]
    numbers = [(part, key) for part in ("model", "sizes") for key, value in config[part].items() if type(value) is int]
    for index in random.permutation(len(numbers))[: random.integers(1, 4)]:
        part, key = numbers[index]
        config[part][key] = int(random.choice([-1, 0, 10**6, 10**7, 10**9, 10**18]))
    (place / "model" / "config.json").write_text(json.dumps(config))
    return _solve(place, png(16, 16))


def _goal_test(random: np.random.Generator, place: Path) -> list[str | Path]:
    """A goal test for embeddings far larger than the model's, as its config says or as its tensors do."""
    config = json.loads((place / "model" / "config.json").read_text())
    del config["seal"]
    size = _size(random)
    if random.random() < 0.5:
        config["goal_test"].update(rows=size, columns=_size(random))
    else:
        header = {"layers.0.weight": {"dtype": "F32", "shape": [32, size], "data_offsets": [0, 128 * size]}}
        words = json.dumps(header).encode()
        (place / "model" / "goal-test.safetensors").write_bytes(struct.pack("<Q", len(words)) + words + b"\0" * 64)
        config["goal_test"].update(reading="list", sha256=None)
    (place / "model" / "config.json").write_text(json.dumps(config))
    return ["solve", "--frame", place / "small.png", "--goals", "solved", "--model", place / "model"]


def _array(random: np.random.Generator, place: Path) -> list[str | Path]:
    (place / "data" / "frames.npy").write_bytes(_header((_size(random), _size(random), 16, 3)) + b"\0" * 1000)
    return ["inspect", place / "data"]

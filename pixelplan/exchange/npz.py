"""npz files from anywhere: no array takes more memory than the file may claim."""

from __future__ import annotations

import math
import zipfile
from pathlib import Path

import numpy as np

from pixelplan.data.arrays import read_header
from pixelplan.types import InputError

LARGEST_NPZ = 2**30
"""The most bytes that all arrays of an npz file may take, once unpacked."""


def unpack_npz(path: Path) -> dict[str, np.ndarray]:
    """All arrays of an npz file by name; an InputError if it cannot be read or would not fit into memory."""
    try:
        with zipfile.ZipFile(path) as archive:
            return _unpack(archive, path)
    except InputError:
        raise
    except Exception as problem:  # a damaged archive can raise anything
        raise InputError(f"{path} cannot be read as an npz file: {problem}") from None


def _unpack(archive: zipfile.ZipFile, path: Path) -> dict[str, np.ndarray]:
    arrays, left = {}, LARGEST_NPZ
    for member in archive.infolist():
        with archive.open(member) as file:
            shape, kind = read_header(file, f"{member.filename} in {path}")
            size = math.prod(shape) * kind.itemsize
            left -= size
            if left < 0:
                raise InputError(
                    f"{path} unpacks to more than {LARGEST_NPZ // 2**20} MB; split it, or write it as HDF5, which is "
                    "read frame by frame"
                )
            if size > member.file_size:
                raise InputError(f"{member.filename} in {path} claims {size} bytes and has {member.file_size}")
            data = bytearray()
            while len(data) < size and (read := file.read(min(size - len(data), 2**20))):
                data += read
            if len(data) < size or file.read(1):  # reading to the end lets zipfile compare checksums
                raise InputError(f"{member.filename} in {path} does not have the {size} bytes that it claims")
            arrays[member.filename.removesuffix(".npy")] = np.frombuffer(data, kind).reshape(shape)
    return arrays

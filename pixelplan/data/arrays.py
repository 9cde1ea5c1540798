"""npy arrays from anywhere: headers are read and checked before any memory is allocated for their claims."""

from __future__ import annotations

import math
import warnings
import zipfile
from pathlib import Path
from typing import IO, Any

import numpy as np

from pixelplan.types import InputError

LARGEST_NPZ = 2**30
"""The most bytes that all arrays of an npz file may take, once unpacked."""


def read_header(file: IO[bytes], what: str) -> tuple[tuple[int, ...], np.dtype[Any]]:
    """Shape and type of the npy array in a file, leaving the file at its data; an InputError if there is none."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("error")  # numpy warns about headers that Python 2 wrote, or seems to have written
            version = np.lib.format.read_magic(file)
            readers = {
                (1, 0): np.lib.format.read_array_header_1_0,
                (2, 0): np.lib.format.read_array_header_2_0,
            }
            shape, column_order, kind = readers[version](file)
    except Exception as problem:  # numpy parses a header as Python code: damage can raise anything
        raise InputError(f"{what} is damaged: its header cannot be read ({type(problem).__name__})") from None
    if kind.hasobject or kind.fields is not None or kind.itemsize == 0:
        raise InputError(f"{what} holds {kind}, not plain numbers")
    if column_order or any(length < 0 for length in shape):
        raise InputError(f"{what} has shape {shape} in column order; write it with numpy.ascontiguousarray")
    return shape, kind


def map_array(path: Path, kind: Any, dimensions: int) -> np.ndarray:
    """The array in an npy file, memory-mapped and read-only; an InputError if it is not as expected."""
    try:
        with path.open("rb") as file:
            shape, written = read_header(file, str(path))
            begin, size = file.tell(), path.stat().st_size
    except FileNotFoundError:
        raise InputError(f"{path} is missing; collect the data set again") from None
    if written != np.dtype(kind) or len(shape) != dimensions or begin + math.prod(shape) * written.itemsize != size:
        raise InputError(
            f"{path} is damaged: its {size} bytes are not {written} {list(shape)}; collect the data set again"
        )
    if math.prod(shape) == 0:
        raise InputError(f"{path} is empty; collect the data set again")
    return np.memmap(path, written, "r", begin, shape)


def read_npz(path: Path) -> dict[str, np.ndarray]:
    """All arrays of an npz file; an InputError if it cannot be read or would not fit into memory."""
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

"""npy arrays from anywhere: headers are read and checked before any memory is allocated for their claims."""

from __future__ import annotations

import math
import warnings
from pathlib import Path
from typing import IO, Any

import numpy as np

from pixelplan.types import InputError


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

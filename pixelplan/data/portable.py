"""Hand memory-mapped data to other processes by file name: pickling a memory map would copy its whole file."""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass
from typing import Any

import numpy as np

from pixelplan.types import Trajectories


@dataclass(frozen=True)
class MappedFile:
    """Where the bytes of a memory-mapped array are."""

    filename: str
    dtype: str
    shape: tuple[int, ...]
    offset: int


@dataclass(frozen=True, eq=False)
class PortableTrajectories:
    """A data set that can be sent to another process."""

    arrays: dict[str, np.ndarray | MappedFile]
    manifest: dict[str, Any]

    @classmethod
    def of(cls, data: Trajectories) -> PortableTrajectories:
        """The data set with each memory-mapped array replaced by the place of its bytes."""
        arrays = {part.name: getattr(data, part.name) for part in dataclasses.fields(data) if part.name != "manifest"}
        return cls({name: _place(array) for name, array in arrays.items() if array is not None}, dict(data.manifest))

    def open(self) -> Trajectories:
        """The data set, mapped again."""
        opened = {
            name: np.memmap(array.filename, array.dtype, "r", array.offset, array.shape)
            if isinstance(array, MappedFile)
            else array
            for name, array in self.arrays.items()
        }
        return Trajectories(**opened, manifest=self.manifest)


def _place(array: np.ndarray) -> np.ndarray | MappedFile:
    whole = isinstance(array, np.memmap) and array.base is not None and not isinstance(array.base, np.memmap)
    if not whole or array.size == 0:
        return np.asarray(array)
    return MappedFile(str(array.filename), array.dtype.str, array.shape, array.offset)  # type: ignore[attr-defined]

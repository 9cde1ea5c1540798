"""The journal of an unfinished data set: one line per part, and a lock for its only writer."""

from __future__ import annotations

import fcntl
import json
import os
from pathlib import Path
from typing import IO, Any

from pixelplan.files import naming, sealed, unsealed
from pixelplan.types import InputError


class Journal:
    """An append-only file of sealed JSON lines that belongs to one process at a time.

    The lock is released when its process ends, for whatever reason. An incomplete or damaged line does not count, nor
    does any line after it.
    """

    def __init__(self, path: Path) -> None:
        """Open or start the journal; an InputError if another process is writing it."""
        self.path = path
        self._file = _lock(path)
        self.lines: list[dict[str, Any]] = []
        """What has been noted so far."""
        self._end = 0
        for line in self._file:
            if (read := _parse(line, path)) is None:
                break
            self.lines.append(read)
            self._end += len(line)

    def take_over(self) -> None:
        """Continue from the lines that count: drop what follows, and note which process writes."""
        with naming(self.path):
            self._file.truncate(self._end)
        self.add({"process": os.getpid()})

    def add(self, line: dict[str, Any]) -> None:
        """Note something for good: it is on disk when this returns."""
        with naming(self.path):
            self._file.write(json.dumps(sealed(line)).encode() + b"\n")
            self._file.flush()
            os.fsync(self._file.fileno())
        self.lines.append(line)

    def close(self) -> None:
        """Let others write."""
        with naming(self.path):  # on a full disk, closing fails again
            self._file.close()

    def remove(self) -> None:
        """Remove the journal: the data set is complete, or abandoned."""
        self.path.unlink(missing_ok=True)
        self.close()


def _lock(path: Path) -> IO[bytes]:
    """The file, opened for this process alone."""
    while True:
        file = path.open("a+b")
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            file.seek(0)
            writers = [line["process"] for line in (_parse(raw, path) or {} for raw in file) if "process" in line]
            file.close()
            holder = f"process {writers[-1]}" if writers else "another process"
            raise InputError(f"{path.parent} is being written by {holder}; wait until it has finished") from None
        if path.exists() and os.path.samestat(os.fstat(file.fileno()), path.stat()):
            file.seek(0)
            return file
        file.close()  # its writer finished and removed it while we waited for the lock


def _parse(line: bytes, path: Path) -> dict[str, Any] | None:
    """A line as it was written; None if it is incomplete or damaged."""
    try:
        read = json.loads(line) if line.endswith(b"\n") else None
        return dict(unsealed(read, path)) if isinstance(read, dict) and "seal" in read else None
    except (ValueError, RecursionError, InputError):
        return None

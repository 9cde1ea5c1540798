"""One command in a forked process that counts every file operation; one of them is its last, or the first to fail.

It is forked because a fresh process would spend most of its time importing torch. A kill is `os._exit` in the middle
of an operation (half of a write is written): no `finally` runs, as with kill -9. On a full disk the operation and all
that follow fail with ENOSPC.
"""

from __future__ import annotations

import builtins
import errno
import io
import os
import resource
import select
import signal
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

KILLED = 137
LARGEST = 2 * 2**30
"""Bytes that a process may take: its data is limited to them."""
SLOWEST = 10
"""Seconds of processor time after which a command that is given bad input counts as hanging."""
PATIENCE = 12
"""How many times as many seconds it may take in all, because others use the machine, too."""
NEED_SPACE = ("open", "write", "truncate", "replace", "mkdir", "fsync")
"""Operations that fail on a full disk."""
Fault = Literal["kill", "full"]


@dataclass(frozen=True)
class Done:
    """How a command ended."""

    code: int
    """Its exit code, minus the signal's number if one ended it, or 124 if it took too long."""
    out: str
    errors: str
    seconds: float
    peak: int
    """The most bytes of memory that it took."""
    operations: int = 0
    """File operations in the watched folder, of those that the fault can hit."""

    @property
    def sentence(self) -> str | None:
        """The one sentence at the end of standard error, maybe behind a progress bar; None if there is none."""
        sentences = [line for line in self.errors.strip().splitlines() if line.startswith("pixelplan: ")]
        return sentences[0] if len(sentences) == 1 and self.errors.strip().endswith(sentences[0]) else None

    @property
    def fault(self) -> str | None:
        """A fault that no input may cause; None if there is none."""
        if self.code in (124, -signal.SIGXCPU, -signal.SIGKILL):
            return "took too long"
        if self.code not in (0, 2):
            return f"exit code {self.code}: {self.errors[-300:]}"
        if "Traceback" in self.errors:
            return f"a traceback: {self.errors[-300:]}"
        if self.peak > LARGEST:
            return f"{self.peak / 2**30:.1f} GB of memory"
        return None


class Shim:
    """Stands between Python and the files under a folder."""

    def __init__(self, root: Path, fault: Fault | None = None, at: int = 0) -> None:
        self.root, self.fault, self.at, self.count = str(root.resolve()), fault, at, 0
        self._real = {name: getattr(os, name) for name in ("replace", "rename", "unlink", "mkdir", "fsync", "rmdir")}
        self._open = io.open

    def install(self) -> None:
        """From now on, in this process."""
        builtins.open = io.open = self._opened  # type: ignore[assignment]
        for name in self._real:
            setattr(os, name, self._wrapped(name))

    def operation(self, name: str, torn: Callable[[], Any] = lambda: None, path: Any = None) -> None:
        """Count an operation and let it fail if its turn has come; `torn` does half of it."""
        if self.fault == "full" and name not in NEED_SPACE:
            return
        self.count += 1
        if self.fault == "kill" and self.count == self.at:
            torn()
            os._exit(KILLED)
        if self.fault == "full" and self.count >= self.at:
            torn()
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC), path)  # as the system does: writes name no file

    def watches(self, path: Any) -> bool:
        """Whether a path is in the watched folder."""
        return not isinstance(path, int) and os.path.abspath(os.fsdecode(path)).startswith(self.root)

    def _wrapped(self, name: str) -> Callable[..., Any]:
        real = self._real[name]

        def call(path: Any, *rest: Any, **named: Any) -> Any:
            place = os.readlink(f"/proc/self/fd/{path}") if name == "fsync" else path
            if named.get("dir_fd") is not None:  # as when a folder is removed with all that is in it
                place = os.path.join(os.readlink(f"/proc/self/fd/{named['dir_fd']}"), path)
            if self.watches(place):
                self.operation(name, path=None if name == "fsync" else os.fspath(path))
            return real(path, *rest, **named)

        return call

    def _opened(self, file: Any, mode: str = "r", buffering: int = -1, *rest: Any, **named: Any) -> Any:
        if not set(mode) & set("wax+") or not self.watches(file):
            return self._open(file, mode, buffering, *rest, **named)
        if not os.path.exists(file):
            self.operation("open", path=os.fspath(file))
        raw = _File(self, file, mode.replace("b", "").replace("t", ""))
        buffered: Any = io.BufferedRandom(raw) if "+" in mode else io.BufferedWriter(raw)
        return buffered if "b" in mode else io.TextIOWrapper(buffered, "utf-8")


class _File(io.FileIO):
    """A file under the shim."""

    def __init__(self, shim: Shim, path: Any, mode: str) -> None:
        super().__init__(path, mode)
        self._shim = shim

    def write(self, data: Any) -> int:
        self._shim.operation("write", lambda: super(_File, self).write(bytes(data)[: len(data) // 2]))
        return super().write(data) or 0

    def truncate(self, size: int | None = None) -> int:
        self._shim.operation("truncate")
        return super().truncate(size)


class Running:
    """A forked process that runs a function; the function returns an exit code."""

    def __init__(self, work: Callable[[], int], shim: Shim | None = None, seconds: int = 120) -> None:
        """It may take `seconds` of processor time."""
        self._began, self._seconds = time.monotonic(), seconds
        self._files = [tempfile.TemporaryFile() for _ in range(3)]  # noqa: SIM115 (closed when they are read)
        self._child = os.fork()
        if self._child == 0:
            _child(work, *(file.fileno() for file in self._files), shim, seconds)

    def wait(self, kill_after: float | None = None) -> Done:
        """How it ends; with `kill_after` it is killed after that many seconds, whatever it is doing."""
        waiting = os.pidfd_open(self._child)
        ended = bool(
            select.select([waiting], [], [], PATIENCE * self._seconds if kill_after is None else kill_after)[0]
        )
        os.close(waiting)
        if not ended:
            os.kill(self._child, signal.SIGKILL)
        _, status, usage = os.wait4(self._child, 0)
        for file in self._files:
            file.seek(0)
        out, errors, counts = (file.read().decode(errors="replace") for file in self._files)
        for file in self._files:
            file.close()
        code = os.waitstatus_to_exitcode(status) if ended or kill_after is not None else 124
        return Done(code, out, errors, time.monotonic() - self._began, usage.ru_maxrss * 1024, int(counts or 0))


def start(
    arguments: Sequence[str | Path],
    shim: Shim | None = None,
    prepare: Callable[[], None] = lambda: None,
    seconds: int = 120,
) -> Running:
    """`pixelplan` with these arguments in a forked process; `prepare` is called in it first."""
    return Running(lambda: _command(arguments, shim, prepare), shim, seconds)


def run(
    arguments: Sequence[str | Path],
    shim: Shim | None = None,
    prepare: Callable[[], None] = lambda: None,
    seconds: int = 120,
    kill_after: float | None = None,
) -> Done:
    """The same, and wait until it ends."""
    return start(arguments, shim, prepare, seconds).wait(kill_after)


def _command(arguments: Sequence[str | Path], shim: Shim | None, prepare: Callable[[], None]) -> int:
    from pixelplan.cli import main

    prepare()
    if shim is not None:
        shim.install()
    return main([str(argument) for argument in arguments])


def _child(work: Callable[[], int], out: int, errors: int, counts: int, shim: Shim | None, seconds: int) -> None:
    """The forked process: never returns."""
    code = 1
    try:
        os.dup2(out, 1)
        os.dup2(errors, 2)
        sys.stdout = io.TextIOWrapper(io.FileIO(1, "w", closefd=False), "utf-8", write_through=True)
        sys.stderr = io.TextIOWrapper(io.FileIO(2, "w", closefd=False), "utf-8", write_through=True)
        resource.setrlimit(resource.RLIMIT_DATA, (LARGEST, LARGEST))
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
        resource.setrlimit(resource.RLIMIT_CPU, (seconds, seconds))
        try:
            code = work()
        except SystemExit as end:
            code = end.code if isinstance(end.code, int) else int(end.code is not None)
        except BaseException:
            import traceback

            traceback.print_exc()
        sys.stdout.flush()
        sys.stderr.flush()
        os.write(counts, str(shim.count if shim is not None else 0).encode())
    finally:
        os._exit(code)

"""Call other people's code so that any failure becomes one sentence that says whose code it was, and where."""

from __future__ import annotations

import atexit
import os
import signal
import threading
import time
from types import FrameType, TracebackType
from typing import Any

from pixelplan.types import InputError

STEP_SECONDS = 60.0
"""How long one call of an environment may take, unless the user says otherwise."""


class EnvironmentFailed(InputError):
    """An environment raised an exception, took too long, or returned something invalid."""


class _TookTooLong(BaseException):
    """Raised inside other people's code; not an Exception, so that `except Exception` does not catch it."""


class guarded:
    """Anything that this `with` block raises becomes an EnvironmentFailed, and so does taking longer than `seconds`.

    `name` is the environment's name, and `what` the call, such as "step 3 of level 7". Ctrl-C still works. Blocks
    cannot be nested. (This is a class because a step in a small world takes a few microseconds, and a generator-based
    context manager would take as long.)
    """

    __slots__ = ("_limited", "_name", "_seconds", "_what")

    def __init__(self, name: str, what: str, seconds: float) -> None:
        self._name, self._what, self._seconds = name, what, seconds

    def __enter__(self) -> None:
        self._limited = threading.get_ident() == threading.main_thread().ident
        if self._limited:
            _clock.begin(self._seconds)

    def __exit__(
        self, kind: type[BaseException] | None, problem: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._limited:
            _clock.deadline = None
        if problem is not None and not isinstance(problem, KeyboardInterrupt):
            raise EnvironmentFailed(self._sentence(problem)) from problem

    def _sentence(self, problem: BaseException) -> str:
        """What happened, and where."""
        if isinstance(problem, _TookTooLong):
            return f"{self._name} took more than {self._seconds:g} s in {self._what}; --step-seconds gives it more time"
        reason = str(problem) if isinstance(problem, InputError) else describe(problem)
        return reason if self._name in reason else f"{self._name} failed in {self._what}: {reason}"


class _Clock:
    """Ends a block that takes too long, using an alarm signal that keeps ticking from one guarded block to the next.

    That way a block needs no system call. It works only in a process's main thread, and only once the interpreter runs
    again: a call into compiled code that never returns cannot be ended.
    """

    def __init__(self) -> None:
        self.deadline: float | None = None
        """When the current block must have ended; None outside a block."""
        self._tick = 0.0  # seconds; 0 while the clock is stopped
        self._idle = 0
        self._handler: Any = None

    def begin(self, seconds: float) -> None:
        """Start a block that may take this long."""
        if not 0 < self._tick <= seconds:
            if self._tick == 0:
                self._handler = signal.signal(signal.SIGALRM, self._ticked)
            self._tick = min(1.0, seconds / 4)
            signal.setitimer(signal.ITIMER_REAL, self._tick, self._tick)
        self._idle = 0
        self.deadline = time.monotonic() + seconds

    def _ticked(self, signum: int, frame: FrameType | None) -> None:
        if self.deadline is None:
            self._idle += 1
            if self._idle > 1:
                signal.setitimer(signal.ITIMER_REAL, 0)
                signal.signal(signal.SIGALRM, self._handler)
                self._tick = 0.0
        elif time.monotonic() > self.deadline:
            raise _TookTooLong  # and again with the next tick, in case it is caught

    def stop(self) -> None:
        """Stop ticking: when the interpreter shuts down, an unhandled tick would kill the process."""
        if self._tick > 0:
            signal.setitimer(signal.ITIMER_REAL, 0)


_clock = _Clock()
atexit.register(_clock.stop)
os.register_at_fork(after_in_child=_clock.__init__)  # type: ignore[misc]  # timers do not survive a fork


def describe(problem: BaseException) -> str:
    """An exception in one line."""
    try:
        words = " ".join(str(problem).split())[:300]
    except Exception:  # its own text may fail as well
        words = ""
    return f"{type(problem).__name__}: {words}" if words else type(problem).__name__

"""Other people's code, called so that whatever it does ends in one sentence that says whose it is and where."""

from __future__ import annotations

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType

from pixelplan.types import InputError

STEP_SECONDS = 60.0
"""How long one call of an environment may take, unless the user says otherwise."""


class EnvironmentFailed(InputError):
    """An environment raised something, took too long, or gave what no environment gives."""


class _TookTooLong(BaseException):
    """Raised inside other people's code, where `except Exception` shall not catch it."""


@contextmanager
def guarded(name: str, what: str, seconds: float | None = None) -> Iterator[None]:
    """Whatever is raised here, and taking more than so many seconds, becomes an EnvironmentFailed.

    `name` is the environment's, `what` the call, such as "step 3 of level 7". Ctrl-C stays what it is.
    """
    try:
        with _time_limit(seconds):
            yield
    except KeyboardInterrupt:
        raise
    except _TookTooLong as problem:
        raise EnvironmentFailed(
            f"{name} took more than {seconds:g} s in {what}; --step-seconds gives it more time"
        ) from problem
    except InputError as problem:
        said = str(problem)
        raise EnvironmentFailed(said if name in said else f"{name} failed in {what}: {said}") from problem
    except BaseException as problem:  # SystemExit, too: an environment shall not end the program
        raise EnvironmentFailed(f"{name} failed in {what}: {describe(problem)}") from problem


def describe(problem: BaseException) -> str:
    """An exception in a line."""
    try:
        words = " ".join(str(problem).split())[:300]
    except Exception:  # its own text may fail as well
        words = ""
    return f"{type(problem).__name__}: {words}" if words else type(problem).__name__


@contextmanager
def _time_limit(seconds: float | None) -> Iterator[None]:
    """Raise _TookTooLong in what takes longer, and again every second, in case it is caught.

    By the alarm signal, so only in a process's main thread, and only once the interpreter gets to it: a call into
    compiled code that never returns cannot be ended.
    """
    if seconds is None or threading.current_thread() is not threading.main_thread():
        yield
        return

    def expire(signum: int, frame: FrameType | None) -> None:
        raise _TookTooLong

    handler = signal.signal(signal.SIGALRM, expire)
    signal.setitimer(signal.ITIMER_REAL, seconds, 1.0)
    try:
        yield
    finally:
        try:
            signal.setitimer(signal.ITIMER_REAL, 0)
        finally:
            signal.signal(signal.SIGALRM, handler)

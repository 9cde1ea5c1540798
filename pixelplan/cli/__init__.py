"""The commands. Each module here adds its own to `app`; the library's functions do the work."""

from __future__ import annotations

import errno
import os
import signal
import sys
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from types import FrameType

VERBOSE = "--verbose"
RESUMABLE = ("collect", "train", "train-heuristic", "evaluate", "import", "ppo", "glamor", "dreamer")
"""Commands (and baselines) that have the option --resume."""


class _Stopped(KeyboardInterrupt):
    """The process was asked to end."""

    def __init__(self, signum: int) -> None:
        super().__init__(signum)
        self.signum = signum


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command and return its exit code: 0 for success, 2 with one sentence on standard error for bad input.

    Exit code 1 is a fault of this program. --verbose shows where an error came from.
    """
    arguments = list(sys.argv[1:] if arguments is None else arguments)
    verbose = VERBOSE in arguments
    arguments = [word for word in arguments if word != VERBOSE]
    with _signals(_how_to_go_on(arguments)):
        try:
            return _run(arguments)
        except KeyboardInterrupt as problem:
            return _end(problem.signum if isinstance(problem, _Stopped) else signal.SIGINT, _how_to_go_on(arguments))
        except BrokenPipeError:
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
            return 0
        except Exception as problem:
            if verbose:
                import traceback

                traceback.print_exc()
            code, sentence = _explain(problem, _how_to_go_on(arguments))
            print(f"pixelplan: {sentence}", file=sys.stderr)
            return code


def _run(arguments: list[str]) -> int:
    """Run one command; raises if anything goes wrong."""
    if arguments == ["--version"]:
        from pixelplan import __version__

        print(f"pixelplan {__version__}")
        return 0
    from pixelplan.cli.app import run  # imported late, so that --version and --help answer at once

    run(arguments)
    sys.stdout.flush()
    return 0


def _explain(problem: Exception, go_on: str) -> tuple[int, str]:
    """The exit code for what went wrong, and a sentence about it."""
    from pixelplan.types import InputError

    if isinstance(problem, InputError):
        return 2, str(problem)
    if isinstance(problem, OSError):
        if problem.errno in (errno.ENOSPC, errno.EDQUOT):
            return 2, f"no space is left on the disk for {problem.filename or 'the output'}; make room, {go_on}"
        return 2, str(problem)
    if isinstance(problem, MemoryError):
        return 2, "there is not enough memory for this; try a smaller request"
    words = " ".join(str(problem).split())[:300]
    return 1, f"a fault of pixelplan itself, {type(problem).__name__}: {words}; {VERBOSE} shows where, please report it"


def _how_to_go_on(arguments: list[str]) -> str:
    """How to continue an interrupted command."""
    words = [word for word in arguments if not word.startswith("-")]
    resumable = bool(words) and words[words[0] == "baseline" and len(words) > 1] in RESUMABLE
    return "and the same command with --resume continues" if resumable else "and start the same command again"


@contextmanager
def _signals(go_on: str) -> Iterator[None]:
    """Ctrl-C and SIGTERM raise _Stopped, so that open files are closed.

    While modules are being imported, nothing is open and compiled modules would swallow the exception, so the process
    just ends.
    """
    if threading.current_thread() is not threading.main_thread():
        yield
        return

    def stop(signum: int, frame: FrameType | None) -> None:
        while frame is not None:
            if frame.f_code.co_filename.startswith("<frozen importlib"):
                os._exit(_end(signum, go_on))
            frame = frame.f_back
        raise _Stopped(signum)

    before = {number: signal.signal(number, stop) for number in (signal.SIGINT, signal.SIGTERM)}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


def _end(signum: int, go_on: str) -> int:
    """Say that the command was stopped; returns the exit code that shells use for it."""
    word = "terminated" if signum == signal.SIGTERM else "interrupted"
    print(f"pixelplan: {word}; what is finished is kept, {go_on}", file=sys.stderr, flush=True)
    return 128 + signum

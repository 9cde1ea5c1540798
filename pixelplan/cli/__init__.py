"""The commands. Each module here adds its own to `app`; what they do is done by the library's functions."""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command; 0 when it did its work, 2 with one sentence on standard error for bad input."""
    from pixelplan.types import InputError  # imports wait for the call, so that --version and --help answer at once

    arguments = list(sys.argv[1:] if arguments is None else arguments)
    if arguments == ["--version"]:
        from pixelplan import __version__

        print(f"pixelplan {__version__}")
        return 0
    try:
        from pixelplan.cli.app import run

        run(arguments)
        sys.stdout.flush()
    except InputError as problem:
        print(f"pixelplan: {problem}", file=sys.stderr)
        return 2
    except KeyboardInterrupt:
        print(
            "pixelplan: interrupted; the same command with --resume goes on where there is such an option",
            file=sys.stderr,
        )
        return 130
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0
    except OSError as problem:
        print(f"pixelplan: {problem}", file=sys.stderr)
        return 2
    return 0

"""BASELINES: what the paper compares with, one file per algorithm. The method itself imports nothing from here."""

from __future__ import annotations

import contextlib
import importlib
import importlib.util
import io
import warnings

from pixelplan.types import InputError


def need_extra(module: str, extra: str, what: str) -> None:
    """Import a module of an extra; if it is missing, an InputError says which extra to install."""
    if importlib.util.find_spec(module) is None:
        raise InputError(f"{what} needs the extra {extra!r}; install it with: pip install 'pixelplan[{extra}]'")
    # These libraries import the old gym if it is installed, which prints that it is unmaintained, and warn about other
    # libraries: nothing that our users could act on.
    with contextlib.redirect_stderr(io.StringIO()), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        importlib.import_module(module)

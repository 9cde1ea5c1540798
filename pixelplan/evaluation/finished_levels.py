"""Finished levels, kept beside the record until it is complete."""

from __future__ import annotations

import dataclasses
import json
import math
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any, get_args, get_type_hints

from pixelplan.data.dataset import SECONDS_BETWEEN_NOTES
from pixelplan.evaluation.result import LevelResult
from pixelplan.files import read_json, write_json
from pixelplan.planning import PLANNERS
from pixelplan.types import InputError, values_before


class FinishedLevels:
    """The finished levels of one evaluation; written only if there will be a record."""

    def __init__(self, out: Path | None, request: Mapping[str, Any], resume: bool) -> None:
        """Start, or continue from the journal beside `out` if its request (all that decides results) is the same."""
        self.done: dict[int, LevelResult] = {}
        self._path = out and out.with_name(f"{out.name}.unfinished")
        self._request = json.loads(json.dumps(request))
        self._written = time.monotonic()
        if out is None or self._path is None:
            return
        if out.is_dir() or not out.absolute().parent.is_dir():
            raise InputError(f"{out} cannot be written; name a file in a folder that exists")
        if self._path.exists() and not resume:
            raise InputError(f"{self._path} holds an unfinished evaluation; --resume completes it, or delete it")
        left_over = self._path if self._path.exists() else out
        if resume and left_over.exists():
            self.done = self._read(left_over)

    def _read(self, path: Path) -> dict[int, LevelResult]:
        """The levels finished without an error in an earlier run's journal or record."""
        recorded = read_json(path)
        if not isinstance(recorded, dict) or "episodes" not in recorded:
            raise InputError(f"{path} is not a record of an evaluation; choose another file")
        recorded.setdefault("weights", self._request.get("weights"))  # older records do not have it
        recorded["config"] = _completed(recorded.get("config"), PLANNERS[self._request["planner"]].config)
        for key, value in self._request.items():
            if recorded.get(key) != value:
                raise InputError(f"{path} records an evaluation with {key} {recorded.get(key)}, not {value}")
        try:
            episodes = [LevelResult(**episode) for episode in recorded["episodes"]]
        except TypeError:
            raise InputError(f"{path} was written by another version; it cannot be resumed") from None
        if not all(map(_is_possible, episodes)):
            raise InputError(f"{path} is damaged: its levels contradict themselves; delete it and start again")
        return {result.level: result for result in episodes if result.error is None}

    def add(self, result: LevelResult) -> None:
        """Add a finished level, and write from time to time."""
        self.done[result.level] = result
        if time.monotonic() - self._written > SECONDS_BETWEEN_NOTES:
            self.write()

    def write(self) -> None:
        """Write all finished levels."""
        self._written = time.monotonic()
        if self._path is not None:
            episodes = [dataclasses.asdict(result) for result in self.done.values()]
            write_json(self._path, {**self._request, "episodes": episodes})

    def remove(self) -> None:
        """Remove the journal: the record is complete and holds all of it."""
        if self._path is not None:
            self._path.unlink(missing_ok=True)


def _completed(settings: Any, kind: Any) -> Any:
    """Recorded settings, completed by those that were added later, with the values they had before."""
    if not isinstance(settings, dict):
        return settings
    inner = {name: hint for name, hint in get_type_hints(kind).items() if dataclasses.is_dataclass(hint)}
    return {
        **values_before(kind),
        **{name: _completed(value, inner[name]) if name in inner else value for name, value in settings.items()},
    }


def _is_possible(result: LevelResult) -> bool:
    """Whether a level can have this result: each value has the right type, and no number is negative or infinite."""
    return all(
        _fits(getattr(result, name), get_args(hint) or (hint,)) for name, hint in get_type_hints(LevelResult).items()
    )


def _fits(value: Any, kinds: tuple[Any, ...]) -> bool:
    if isinstance(value, float) or type(value) is int:
        return (float in kinds or (int in kinds and type(value) is int)) and 0 <= value < math.inf
    return type(value) in kinds

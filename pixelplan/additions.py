"""Tables that rooms on top of the core add to, so that the core imports none of them."""

from __future__ import annotations

import importlib
from collections.abc import Iterator, Mapping
from typing import TypeVar

T = TypeVar("T")

_ANNOUNCED: dict[str, list[str]] = {}


def announce(table: str, module: str) -> None:
    """Name a module that adds to a table. It is imported when the table is first read, as some take seconds."""
    _ANNOUNCED.setdefault(table, []).append(module)


class Registry(Mapping[str, T]):
    """Things by name: the core's own, and those that announced modules add."""

    def __init__(self, table: str, entries: Mapping[str, T]) -> None:
        self._table, self._entries = table, dict(entries)

    def add(self, entries: Mapping[str, T]) -> None:
        """Add another room's things."""
        self._entries.update(entries)

    def _complete(self) -> dict[str, T]:
        while _ANNOUNCED.get(self._table):
            importlib.import_module(_ANNOUNCED[self._table].pop(0))
        return self._entries

    def __getitem__(self, name: str) -> T:
        return self._complete()[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._complete())

    def __len__(self) -> int:
        return len(self._complete())

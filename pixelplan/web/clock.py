"""How long a planner thinks, without the time of the world and of sending messages."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager


class Clock:
    """Runs from the start, except while it is stopped."""

    def __init__(self, now: Callable[[], float] = time.perf_counter) -> None:
        self._now = now
        self._began, self._stopped, self._lap = now(), 0.0, 0.0
        self._depth, self._since = 0, 0.0

    @property
    def seconds(self) -> float:
        """Thinking so far."""
        until = self._since if self._depth else self._now()
        return until - self._began - self._stopped

    def lap(self) -> float:
        """Thinking since the last lap."""
        before, self._lap = self._lap, self.seconds
        return self._lap - before

    @contextmanager
    def stopped(self) -> Iterator[None]:
        """Do not count this block; may be nested."""
        if not self._depth:
            self._since = self._now()
        self._depth += 1
        try:
            yield
        finally:
            self._depth -= 1
            if not self._depth:
                self._stopped += self._now() - self._since

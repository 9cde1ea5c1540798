"""Heavy work on few threads, so that the page answers while planners think."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from typing import TypeVar

from pixelplan.web.sessions import TooMany

Value = TypeVar("Value")


class Work:
    """Two threads and a short queue."""

    def __init__(self, waiting: int, threads: int = 2) -> None:
        self._pool = ThreadPoolExecutor(threads, thread_name_prefix="pixelplan")
        self._most, self._now = waiting + threads, 0
        self._lock = threading.Lock()

    async def do(self, task: Callable[[], Value]) -> Value:
        """What a task returns; TooMany if too many wait already."""
        with self._lock:
            if self._now >= self._most:
                raise TooMany("too many plans at once; try again in a few seconds")
            self._now += 1
        future = self._pool.submit(task)
        future.add_done_callback(self._finished)
        return await asyncio.wrap_future(future)

    def _finished(self, future: Future[Value]) -> None:
        with self._lock:
            self._now -= 1

    def close(self) -> None:
        """Drop all waiting tasks."""
        self._pool.shutdown(wait=False, cancel_futures=True)

"""A real browser on the page: Debian's chromium, driven by playwright."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any
from urllib.parse import parse_qs, urlsplit

import pytest
from playwright.sync_api import Browser, Page, expect, sync_playwright

from pixelplan.puzzles import get_level, make_puzzle

ARGUMENTS = [
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
]
CHROMIUM = shutil.which("chromium")
BROWSER = [
    pytest.mark.browser,
    pytest.mark.skipif(CHROMIUM is None, reason="chromium is not installed"),
    pytest.mark.filterwarnings("ignore::ResourceWarning"),  # playwright's own pipes
]
"""The marks of a module of such tests."""
KEYS = ("ArrowUp", "ArrowRight", "ArrowLeft", "ArrowDown")
expect.set_options(timeout=30_000)  # machines that are busy with other things are slow, not wrong


@contextmanager
def chromium() -> Iterator[Browser]:
    """A browser of its own."""
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=ARGUMENTS)
        yield browser
        browser.close()


class Visitor:
    """A visitor who notices errors and requests to other servers."""

    def __init__(self, browser: Browser, address: str, **context: Any) -> None:
        self.address = address
        self.context = browser.new_context(**{"viewport": {"width": 1280, "height": 900}, **context})
        self.page: Page = self.context.new_page()
        self.errors: list[str] = []
        self.page.on("console", lambda message: self.errors.append(message.text) if message.type == "error" else None)
        self.page.on("pageerror", lambda error: self.errors.append(str(error)))
        self.page.on("request", lambda request: None if self._ours(request.url) else self.errors.append(request.url))

    def _ours(self, url: str) -> bool:
        return url.startswith((self.address, "data:", "blob:"))

    def open(self, query: str = "", speed: int = 4) -> Page:
        """The page once it is ready, playing as fast as it can."""
        self.page.goto(f"{self.address}/{query}")
        self.page.wait_for_selector("html[data-ready]")
        self.page.locator("#speed").fill(str(speed))
        self.page.locator("#board").focus()  # on the slider, arrow keys would change the speed
        return self.page

    def leave(self) -> None:
        """Close the page, which must have had no errors."""
        self.context.close()
        assert self.errors == []


def solution(env: str, number: int) -> tuple[int, ...]:
    """The shortest solution."""
    level = get_level(make_puzzle(env), number)
    return level.shortest_path(level.start) or ()


def query_of(page: Page) -> dict[str, Any]:
    """The page's address."""
    return {key: values[0] for key, values in parse_qs(urlsplit(page.url).query).items()}


def point_at_cell(page: Page, cell: int, side: int = 8) -> tuple[float, float]:
    """The middle of a cell of the board on the screen."""
    page.locator("#board").scroll_into_view_if_needed()
    box = page.locator("#board").bounding_box()
    assert box is not None
    row, column = divmod(cell, side)
    return box["x"] + (column + 0.5) / side * box["width"], box["y"] + (row + 0.5) / side * box["height"]

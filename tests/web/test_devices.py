"""First visits, phones, themes, and a browser that stores nothing."""

from __future__ import annotations

from typing import Any

import pytest

pytest.importorskip("playwright", reason="the browser tests need playwright")

from playwright.sync_api import Browser, expect

from pixelplan.puzzles import get_level, make_puzzle
from pixelplan.puzzles.drawn_levels import as_drawable
from tests.web.browser import BROWSER, Visitor, point_at_cell

pytestmark = BROWSER


def test_the_first_minute_plays_by_itself_once(browser: Browser, address: str) -> None:
    visitor = Visitor(browser, address, reduced_motion="reduce")
    page = visitor.open("")
    expect(page.locator("#coach-words")).to_contain_text("these pixels")
    expect(page.locator("#facts")).to_contain_text("of thinking", timeout=60_000)
    expect(page.locator("#coach-words")).to_contain_text("Your turn", timeout=60_000)
    page.reload()
    page.wait_for_selector("html[data-ready]")
    page.wait_for_timeout(500)
    expect(page.locator("#coach")).to_be_hidden()
    page.locator("#facts").scroll_into_view_if_needed()
    visitor.leave()


def test_a_browser_that_keeps_nothing_shows_the_page_too(browser: Browser, address: str) -> None:
    visitor = Visitor(browser, address, reduced_motion="reduce")
    denied = "get() { throw new DOMException('no', 'SecurityError'); }"
    visitor.page.add_init_script(f"Object.defineProperty(window, 'localStorage', {{ {denied} }});")
    page = visitor.open("?env=ice-slider&level=3001")
    before = page.locator("html").get_attribute("data-theme")
    page.locator("#theme").click()
    assert page.locator("html").get_attribute("data-theme") != before
    page.locator("#coach-again").click()
    page.locator("#coach-again").click()
    expect(page.locator("#coach-words")).to_contain_text("these pixels")
    expect(page.locator("#coach-words")).to_contain_text("Your turn", timeout=60_000)
    expect(page.locator("#coach-skip")).to_have_text("Close")
    visitor.leave()


def test_the_theme_is_the_systems_until_one_is_chosen(browser: Browser, address: str) -> None:
    visitor = Visitor(browser, address, color_scheme="light")
    page = visitor.open("?env=ice-slider&level=3001")
    for system, choose, shown in (("light", False, "light"), ("dark", True, "light"), ("dark", False, "light")):
        page.emulate_media(color_scheme=system)
        page.reload()
        page.wait_for_selector("html[data-ready]")
        if choose:
            expect(page.locator("html")).to_have_attribute("data-theme", "dark")
            page.locator("#theme").click()
        expect(page.locator("html")).to_have_attribute("data-theme", shown)
    visitor.leave()


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_phones_draw_and_race(browser: Browser, address: str, theme: Any) -> None:
    visitor = Visitor(browser, address, viewport={"width": 390, "height": 844}, has_touch=True, color_scheme=theme)
    page = visitor.open("?env=ice-slider&level=3001")
    page.locator("#edit").tap()
    page.locator('#kinds [data-value="0"]').tap()
    puzzle = make_puzzle("ice-slider")
    rock = as_drawable(puzzle).drawing(get_level(puzzle, 3001)).cells.index("1")
    page.touchscreen.tap(*point_at_cell(page, rock))
    expect(page.locator("#level")).to_have_value("drawn")
    page.locator("#race").tap()
    expect(page.locator('[data-planner="full"] .verdict')).to_contain_text("after", timeout=60_000)
    assert page.evaluate("document.documentElement.scrollWidth") <= 390
    visitor.leave()

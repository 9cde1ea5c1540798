"""axe-core finds no serious problem on any view, in either theme, on desks and phones."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

pytest.importorskip("playwright", reason="the browser tests need playwright")

from playwright.sync_api import Browser, Page, expect

from tests.web.browser import BROWSER, Visitor
from tests.web.npm import fetch, read

pytestmark = BROWSER
PHONE: dict[str, Any] = {"viewport": {"width": 390, "height": 844}, "has_touch": True}
DESK: dict[str, Any] = {}


@pytest.fixture(scope="session")
def axe(tmp_path_factory: pytest.TempPathFactory) -> str:
    """The script."""
    return read(fetch("axe-core@4.14.0", tmp_path_factory.mktemp("axe")), "axe.min.js")


def plan(page: Page) -> None:
    """A plan with its verdict."""
    expect(page.locator("#why")).to_be_visible()


def run(page: Page) -> None:
    """A run that is over."""
    expect(page.locator("#facts")).to_contain_text("of thinking")


def race(page: Page) -> None:
    """A race that is over."""
    expect(page.locator('[data-planner="full"] .verdict')).to_contain_text("after")
    expect(page.locator('[data-planner="image-search"] .verdict')).to_contain_text("after")


def edit(page: Page) -> None:
    """The editor, and what the model reads."""
    page.locator("#edit").click()
    page.locator("#read").click()
    expect(page.locator("#notice")).to_be_visible()


def crop(page: Page) -> None:
    """The dialog for pictures."""
    page.locator("#bring").click()
    expect(page.locator("#crop")).to_be_visible()


def score(page: Page) -> None:
    """Many levels."""
    page.locator("#play-many").click()
    expect(page.locator('.score[data-planner="full"] .words')).to_contain_text("95 % interval")
    page.locator("#score-stop").click()


def coach(page: Page) -> None:
    """The first minute."""
    page.locator("#coach-again").click()
    expect(page.locator("#coach")).to_be_visible()


VIEWS: list[tuple[str, Callable[[Page], None]]] = [
    ("?env=ice-slider&level=3001&show=plan", plan),
    ("?env=ice-slider&level=3000&model=ice-slider-10-levels&show=plan", plan),
    ("?env=procgen-maze&level=3001&show=run", run),
    ("?env=digit-jump&level=3001&show=race", race),
    ("?env=digit-jump&level=3001", edit),
    ("?env=ice-slider&level=3001", crop),
    ("?env=digit-jump&level=3001", score),
    ("?env=ice-slider&level=3001", coach),
]


@pytest.mark.parametrize("theme", ["light", "dark"])
@pytest.mark.parametrize("device", [DESK, PHONE], ids=["desk", "phone"])
def test_no_serious_problem_on_any_view(
    browser: Browser, address: str, axe: str, theme: Any, device: dict[str, Any]
) -> None:
    for query, prepare in VIEWS:
        visitor = Visitor(browser, address, color_scheme=theme, reduced_motion="reduce", bypass_csp=True, **device)
        page = visitor.open(query)
        prepare(page)
        page.evaluate(axe)
        report = page.evaluate("() => axe.run(document, { resultTypes: ['violations'] })")
        assert report["testEngine"]["name"] == "axe-core"
        serious = [
            f"{violation['id']}: {node['target']} {node['failureSummary']}"
            for violation in report["violations"]
            if violation["impact"] in ("serious", "critical")
            for node in violation["nodes"]
        ]
        assert serious == [], f"{prepare.__name__}, {query}"
        visitor.context.close()

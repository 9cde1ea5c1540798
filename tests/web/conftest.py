"""The tests of the page run only if its extra is installed."""

from __future__ import annotations

from collections.abc import Iterator
from importlib.util import find_spec
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from playwright.sync_api import Browser

    from tests.web.browser import Visitor

if all(find_spec(name) for name in ("fastapi", "uvicorn", "websockets", "httpx2")):
    from tests.web.client import client, make_client  # noqa: F401
else:
    collect_ignore_glob = ["*.py"]


@pytest.fixture(scope="session")
def browser() -> Iterator[Browser]:
    """One browser for all."""
    from tests.web.browser import chromium

    with chromium() as browser:
        yield browser


@pytest.fixture(scope="session")
def address() -> Iterator[str]:
    """A server with the shipped models, or the true rules if none is shipped."""
    from pixelplan.web.thinkers import Models
    from tests.web.client import running

    models = Models()
    models.warm_up()
    with running(models) as address:
        yield address


@pytest.fixture
def visitor(browser: Browser, address: str) -> Iterator[Visitor]:
    """A visitor who must see no error and no other server."""
    from tests.web.browser import Visitor

    visitor = Visitor(browser, address)
    yield visitor
    visitor.leave()

"""The page's pictures in docs/web, taken in a real browser: `python -m docs.make_screenshots [NAME…]`."""

from __future__ import annotations

import functools
import http.server
import io
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from PIL import Image
from playwright.sync_api import Browser, Page

from pixelplan.puzzles import get_level, make_puzzle
from pixelplan.web.folder import write_folder
from pixelplan.web.thinkers import Models
from tests.web.browser import KEYS, Visitor, chromium, solution
from tests.web.client import running

HERE = Path(__file__).parent / "web"
DESK = {"width": 1280, "height": 860}
TALL = {"width": 1280, "height": 1220}
PHONE = {"width": 390, "height": 844}


def plan(page: Page) -> None:
    """Wait for a plan and its verdict."""
    page.wait_for_selector("#why >> text=goal", timeout=60_000)


def failure(page: Page) -> None:
    """Why a plan fails."""
    plan(page)
    lowest = "document.getElementById('why').scrollIntoView({ block: 'end' })"
    page.evaluate(f"() => innerWidth < 600 ? {lowest} : scrollTo(0, 0)")


def run(page: Page) -> None:
    """Wait for the end of a run."""
    page.wait_for_selector("#facts >> text=after", timeout=60_000)


def race(page: Page) -> None:
    """Race, and solve the level as well."""
    page.locator("#race").click()
    for action in solution("ice-slider", 3002):
        page.keyboard.press(KEYS[action])
    page.wait_for_selector("#card:not([hidden])", timeout=60_000)
    page.locator("#race-panel").scroll_into_view_if_needed()
    page.evaluate("() => document.getElementById('race-panel').scrollIntoView()")


def edit(page: Page) -> None:
    """Make a level harder in the editor, and plan in it."""
    page.locator("#edit").click()
    page.locator("#harder").click()
    page.wait_for_selector("#notice >> text=shortest")
    page.locator("#plan").click()
    plan(page)
    tools = "document.getElementById('editor').scrollIntoView({ block: 'end' })"
    page.evaluate(f"() => innerWidth < 600 ? {tools} : scrollTo(0, 0)")


def picture(page: Page) -> None:
    """Bring a picture of a level and show what the model reads."""
    level = get_level(make_puzzle("ice-slider"), 3004)
    buffer = io.BytesIO()
    Image.fromarray(level.frame(level.start)).resize((320, 320)).save(buffer, "JPEG", quality=60)
    page.locator("#bring").click()
    page.locator("#crop-file").set_input_files({"name": "a.jpg", "mimeType": "image/jpeg", "buffer": buffer.getvalue()})
    page.locator("#crop-read").click()
    page.wait_for_selector("#notice >> text=true rules")
    page.evaluate("() => scrollTo(0, 0)")


def crop(page: Page) -> None:
    """The dialog in which a picture is cropped."""
    level = get_level(make_puzzle("ice-slider"), 3004)
    whole = Image.new("RGB", (640, 400), (52, 60, 78))
    whole.paste(Image.fromarray(level.frame(level.start)).resize((320, 320), Image.Resampling.NEAREST), (160, 40))
    buffer = io.BytesIO()
    whole.save(buffer, "PNG")
    page.locator("#bring").click()
    page.locator("#crop-file").set_input_files({"name": "a.png", "mimeType": "image/png", "buffer": buffer.getvalue()})
    page.locator("#crop-size").fill("320")


def imagine(page: Page) -> None:
    """A node, and the frame that it stands for."""
    plan(page)
    page.locator("#graph").focus()
    for _ in range(6):
        page.keyboard.press("ArrowRight")
    page.wait_for_selector("#tip canvas")
    small = "document.getElementById('graph').scrollIntoView({ block: 'center' })"
    page.evaluate(f"() => innerWidth < 600 ? {small} : scrollTo(0, 0)")


def score(page: Page) -> None:
    """Some of a hundred levels."""
    page.locator("#play-many").click()
    enough = "() => [...document.querySelectorAll('.score')].every((row) => Number(row.dataset.played) >= 30)"
    page.wait_for_function(enough, timeout=120_000)
    page.locator("#score-stop").click()
    page.evaluate("() => document.getElementById('score-panel').scrollIntoView()")


Picture = tuple[str, str, dict[str, int], Callable[[Page], None]]
PICTURES: dict[str, Picture] = {
    "plan-light": ("?env=ice-slider&level=3002&show=plan", "light", DESK, plan),
    "run-dark": ("?env=digit-jump&level=3007&show=run", "dark", DESK, run),
    "maze-light": ("?env=procgen-maze&level=3005&show=plan", "light", DESK, plan),
    "race-dark": ("?env=ice-slider&level=3002", "dark", DESK, race),
    "race-phone": ("?env=ice-slider&level=3002", "light", PHONE, race),
    "edit-light": ("?env=digit-jump&level=3002", "light", DESK, edit),
    "edit-phone": ("?env=ice-slider&level=3002", "dark", PHONE, edit),
    "picture-dark": ("?env=ice-slider&level=3000", "dark", DESK, picture),
    "crop-light": ("?env=ice-slider&level=3000", "light", DESK, crop),
    "crop-phone": ("?env=ice-slider&level=3000", "dark", PHONE, crop),
    "imagine-light": ("?env=ice-slider&level=3002&show=plan", "light", DESK, imagine),
    "imagine-phone": ("?env=procgen-maze&level=3005&show=plan", "dark", PHONE, imagine),
    "failure-dark": ("?env=ice-slider&level=3004&model=ice-slider-10-levels&show=plan", "dark", TALL, failure),
    "failure-phone": ("?env=ice-slider&level=3004&model=ice-slider-10-levels&show=plan", "light", PHONE, failure),
    "score-light": ("?env=digit-jump&level=3000", "light", DESK, score),
    "phone": ("?env=ice-slider&level=3002&show=plan", "light", PHONE, plan),
}


STATIC: dict[str, Picture] = {
    "static-light": ("?env=digit-jump&level=3007&show=run", "light", DESK, run),
    "static-phone": ("?env=ice-slider&level=3004&show=plan", "dark", PHONE, plan),
}
"""Of the page without a server."""


@contextmanager
def plain_server() -> Iterator[str]:
    """The address of the page as a folder on a plain file server."""
    with tempfile.TemporaryDirectory() as temporary:
        write_folder(Path(temporary) / "page")
        handler = functools.partial(http.server.SimpleHTTPRequestHandler, directory=f"{temporary}/page")
        server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler)
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_address[1]}"
        server.shutdown()


def main() -> None:
    """Take and write them, or those named; each under 300 KB."""
    HERE.mkdir(exist_ok=True)
    for pictures, serve in ((PICTURES, lambda: running(Models())), (STATIC, plain_server)):
        wanted = {name: how for name, how in pictures.items() if not sys.argv[1:] or name in sys.argv[1:]}
        if wanted:
            with serve() as address, chromium() as browser:
                take(browser, address, wanted)


def take(browser: Browser, address: str, pictures: dict[str, Picture]) -> None:
    """Take pictures of a page."""
    for name, (query, theme, size, prepare) in pictures.items():
        visitor = Visitor(browser, address, viewport=size, color_scheme=theme, has_touch=size is PHONE)
        page = visitor.open(query)
        prepare(page)
        time.sleep(0.6)
        image = Image.open(io.BytesIO(page.screenshot(full_page=name == "phone")))
        image.convert("RGB").save(HERE / f"{name}.png", optimize=True)  # a palette would make colours alike
        print(name, (HERE / f"{name}.png").stat().st_size, visitor.errors)
        visitor.context.close()


if __name__ == "__main__":
    main()

"""The page's pictures in docs/web, taken in a real browser: `python -m docs.make_screenshots [MODEL]`."""

from __future__ import annotations

import io
import sys
import time
from pathlib import Path

from PIL import Image

from pixelplan.web.models import Models
from tests.web.browser import Visitor, chromium
from tests.web.client import running

HERE = Path(__file__).parent / "web"
DESK = {"width": 1280, "height": 860}
PHONE = {"width": 390, "height": 844}
PICTURES = (
    ("plan-light", "?env=ice-slider&level=3002&show=plan", "light", DESK),
    ("run-dark", "?env=digit-jump&level=3007&show=run", "dark", DESK),
    ("maze-light", "?env=procgen-maze&level=3005&show=plan", "light", DESK),
    ("race-dark", "?env=procgen-maze&level=3005&show=race", "dark", DESK),
    ("phone", "?env=ice-slider&level=3002&show=plan", "light", PHONE),
)


def main() -> None:
    """Take and write all of them, each under 300 KB."""
    HERE.mkdir(exist_ok=True)
    model = sys.argv[1] if len(sys.argv) > 1 else None
    with running(Models(model)) as address, chromium() as browser:
        for name, query, theme, size in PICTURES:
            visitor = Visitor(browser, address, viewport=size, color_scheme=theme)
            page = visitor.open(query)
            waits = {"plan": "#facts >> text=ms.", "run": "#facts >> text=after", "race": ".lane.winner"}
            page.wait_for_selector(waits[query.split("show=")[1]], timeout=60_000)
            if "race" in name:
                page.wait_for_function(
                    "[...document.querySelectorAll('.verdict')].every(v => v.textContent.includes('after'))"
                )
                page.locator("#race-panel").scroll_into_view_if_needed()
            time.sleep(0.5)
            image = Image.open(io.BytesIO(page.screenshot(full_page="phone" in name)))
            image.convert("RGB").save(HERE / f"{name}.png", optimize=True)
            print(name, (HERE / f"{name}.png").stat().st_size, visitor.errors)
            visitor.context.close()


if __name__ == "__main__":
    main()

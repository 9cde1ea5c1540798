"""How soon the page appears on a slow network, and how fast it plans in the browser alone.

    python -m benchmarks.web_budget [--runtime FILE.tgz] [--json results/benchmark-web-budget.json]

Measured in Chromium: the first view, from the request to the level on the board, at 1 MB/s, of the page with a server
and of the page as a folder (`pixelplan web --static`) on a plain file server; the folder's size; and the time of a plan
in the folder's page. Needs the extras web, browser and onnx, chromium, and npm unless the runtime is given.
"""

from __future__ import annotations

import argparse
import functools
import http.server
import statistics
import sys
import tempfile
import threading
from pathlib import Path
from typing import Any

from playwright.sync_api import Browser

from pixelplan.files import write_json
from pixelplan.machine import describe_machine
from pixelplan.web.folder import write_folder
from pixelplan.web.thinkers import Models
from tests.web.browser import Visitor, chromium
from tests.web.client import running

RATE, LATENCY = 1_000_000, 20
"""Bytes per second, and milliseconds to the server and back."""
PLAN = """async (env) => {
    const { begin, plan } = await import("./static/api.js");
    const times = [];
    for (let level = 3000; level < 3021; level++) {
        const game = await begin({ env, level });
        times.push((await plan(game.id)).seconds * 1000);
    }
    return times.slice(1);
}"""


class Quiet(http.server.SimpleHTTPRequestHandler):
    """A plain file server that logs nothing."""

    protocol_version = "HTTP/1.1"

    def log_message(self, format: str, *values: Any) -> None:
        """Nothing."""


def first_view(browser: Browser, address: str) -> float:
    """Milliseconds until the level is on the board, the median of five visits with an empty cache."""
    times = []
    for _ in range(5):
        visitor = Visitor(browser, address)
        session = visitor.context.new_cdp_session(visitor.page)
        session.send("Network.enable")
        conditions = {"offline": False, "latency": LATENCY, "downloadThroughput": RATE, "uploadThroughput": RATE}
        session.send("Network.emulateNetworkConditions", conditions)
        visitor.page.goto(f"{address}/?env=ice-slider&level=3000")
        visitor.page.wait_for_selector("html[data-ready]")
        visitor.page.wait_for_function("() => document.querySelector('#board canvas').width === 64")
        times.append(visitor.page.evaluate("() => performance.now()"))
        visitor.context.close()
    return statistics.median(times)


def main() -> int:
    """Measure, print and optionally record."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--runtime", type=Path, help="the npm package onnxruntime-web as a file")
    parser.add_argument("--json", type=Path)
    options = parser.parse_args()
    models = Models()
    models.warm_up()
    with tempfile.TemporaryDirectory() as temporary, chromium() as browser:
        folder = Path(temporary) / "page"
        write_folder(folder, runtime=options.runtime)
        size = sum(path.stat().st_size for path in folder.rglob("*") if path.is_file())
        with running(models) as address:
            served = first_view(browser, address)
        server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), functools.partial(Quiet, directory=str(folder)))
        server.daemon_threads = True
        threading.Thread(target=server.serve_forever, daemon=True).start()
        address = f"http://127.0.0.1:{server.server_address[1]}"
        alone = first_view(browser, address)
        visitor = Visitor(browser, address)
        page = visitor.open("?env=ice-slider&level=3000")
        plans = {env: page.evaluate(PLAN, env) for env in ("ice-slider", "digit-jump", "procgen-maze")}
        visitor.context.close()
        server.shutdown()
    print(f"first view at {RATE / 1e6:.0f} MB/s: {served:.0f} ms with a server, {alone:.0f} ms as a folder")
    print(f"the folder: {size / 1e6:.1f} MB")
    for env, times in plans.items():
        print(f"a plan in the browser, {env}: median {statistics.median(times):.0f} ms, worst {max(times):.0f} ms")
    if options.json:
        record = {
            "command": "python -m benchmarks.web_budget",
            **describe_machine(),
            "bytes_a_second": RATE,
            "latency_ms": LATENCY,
            "first_view_ms": {"server": round(served), "folder": round(alone)},
            "folder_bytes": size,
            "plan_ms": {
                env: {"median": round(statistics.median(times), 1), "worst": round(max(times), 1)}
                for env, times in plans.items()
            },
        }
        write_json(options.json, record)
    return int(max(served, alone) > 2000 or size > 20e6 or statistics.median(plans["ice-slider"]) > 100)


if __name__ == "__main__":
    sys.exit(main())

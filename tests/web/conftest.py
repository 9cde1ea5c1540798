"""The tests of the page run where its extra is installed."""

from __future__ import annotations

from importlib.util import find_spec

if all(find_spec(name) for name in ("fastapi", "uvicorn", "websockets", "httpx2")):
    from tests.web.client import client, make_client  # noqa: F401
else:
    collect_ignore_glob = ["*.py"]

"""The gate in front of the application: who may send requests, from where, and how large."""

from __future__ import annotations

import ipaddress
import json
from collections.abc import Awaitable, Callable, Iterable, MutableMapping
from typing import Any
from urllib.parse import urlsplit

Message = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[Message]]
Send = Callable[[Message], Awaitable[None]]
Application = Callable[[Message, Receive, Send], Awaitable[None]]

POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data: blob:; connect-src 'self';"
    " base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
)
HEADERS = (
    (b"content-security-policy", POLICY.encode()),
    (b"x-content-type-options", b"nosniff"),
    (b"referrer-policy", b"no-referrer"),
    (b"cross-origin-resource-policy", b"same-origin"),
)


class Guard:
    """Refuses foreign hosts, foreign origins and giant bodies; adds headers that keep browsers on this server.

    A page of another site can make a visitor's browser send requests to this machine. Its Origin gives it away or, if
    its own name points here (DNS rebinding), its Host does. Bare addresses belong to no site.
    """

    def __init__(self, application: Application, names: Iterable[str], body_bytes: int) -> None:
        self._application = application
        self._names = {"localhost", *(name.lower() for name in names)}
        self._body_bytes = body_bytes

    async def __call__(self, scope: Message, receive: Receive, send: Send) -> None:
        """Handle one request or socket."""
        if scope["type"] == "lifespan":
            return await self._application(scope, receive, send)
        headers = {key.decode("latin-1").lower(): value.decode("latin-1") for key, value in scope["headers"]}
        problem = self._problem(headers)
        if problem:
            return await _refuse(scope, receive, send, 403, problem)
        too_large = f"the body is larger than {self._body_bytes} bytes"
        length = headers.get("content-length", "0")
        if not (length.isascii() and length.isdigit()) or int(length) > self._body_bytes:
            return await _refuse(scope, receive, send, 413, too_large)
        if scope["type"] == "websocket":
            return await self._application(scope, receive, send)
        body = b""
        while True:  # bodies are small enough to be read whole first
            message = await receive()
            if message["type"] == "http.disconnect":
                return None
            body += message.get("body") or b""
            if len(body) > self._body_bytes:
                return await _refuse(scope, receive, send, 413, too_large)
            if not message.get("more_body"):
                break
        whole = iter([{"type": "http.request", "body": body, "more_body": False}])

        async def again() -> Message:
            return next(whole, None) or await receive()

        async def dressed(message: Message) -> None:
            if message["type"] == "http.response.start":
                message["headers"] = [*message.get("headers", []), *HEADERS]
            await send(message)

        return await self._application(scope, again, dressed)

    def _problem(self, headers: dict[str, str]) -> str | None:
        """Why a request is not for us, None if it is."""
        host = headers.get("host", "")
        if not self._is_ours(_host_name(host)):
            return f"{host[:80]!a} is not a name of this server; use localhost, or start it with --host and that name"
        origin = headers.get("origin")
        if origin is not None and urlsplit_safe(origin) != host.lower():
            return f"pages of {origin[:80]!a} may not use this server"
        return None

    def _is_ours(self, name: str) -> bool:
        try:
            ipaddress.ip_address(name)
        except ValueError:
            return name in self._names
        return True


def urlsplit_safe(origin: str) -> str | None:
    """Host and port of an origin, None if it has none."""
    try:
        return urlsplit(origin).netloc.lower() or None
    except ValueError:
        return None


def _host_name(host: str) -> str:
    """A Host header without its port and brackets, lower case."""
    if host.startswith("["):
        return host[1:].partition("]")[0]
    return host.partition(":")[0].lower()


async def _refuse(scope: Message, receive: Receive, send: Send, status: int, problem: str) -> None:
    """Answer with a status and one sentence; a socket is closed before it opens."""
    if scope["type"] == "websocket":
        await receive()
        await send({"type": "websocket.close", "code": 1008, "reason": problem[:120]})
        return
    headers = [(b"content-type", b"application/json"), (b"connection", b"close"), *HEADERS]
    await send({"type": "http.response.start", "status": status, "headers": headers})
    await send({"type": "http.response.body", "body": json.dumps({"problem": problem}).encode()})

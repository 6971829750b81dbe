"""The outermost layer of every request: its id, the headers of every answer, and the last net for errors."""

import logging
import re
import time
import traceback
import uuid
from collections import Counter
from typing import Any

from fastapi import Request
from starlette.datastructures import Headers, MutableHeaders
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from leasehold import tracing
from leasehold.http.problems import Problem, answer
from leasehold.log import bind, emit

_REQUEST_ID = re.compile(r"[A-Za-z0-9._-]{1,64}")
TRACEPARENT = re.compile(r"00-(?!0{32})([0-9a-f]{32})-(?!0{16})[0-9a-f]{16}-[0-9a-f]{2}")
#: Headers of every answer.
ALWAYS = {
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
    "Referrer-Policy": "no-referrer",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Content-Security-Policy": "default-src 'none'; frame-ancestors 'none'",
    "Cache-Control": "no-store",
}


class Edge:
    """ASGI middleware without a buffer, so that streams flow. ``answered`` counts answers by status."""

    def __init__(self, app: ASGIApp, answered: Counter[int]) -> None:
        self._app = app
        self._answered = answered

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        headers = Headers(scope=scope)
        given = _traceparent(headers)
        with tracing.span(scope["method"], "server", parent=given, http__request__method=scope["method"]) as span:
            await self._answer(scope, receive, send, headers, tracing.traceparent() or given, span)

    async def _answer(
        self, scope: Scope, receive: Receive, send: Send, headers: Headers, traceparent: str | None, span: tracing.Span
    ) -> None:
        state = scope.setdefault("state", {})
        state["request_id"] = _request_id(headers)
        state["traceparent"] = traceparent
        began = time.monotonic()
        status: int | None = None

        async def send_dressed(message: Message) -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                status = message["status"]
                self._answered[message["status"]] += 1
                _dress(message, state)
            await send(message)

        trace_id = traceparent[3:35] if traceparent else None
        with bind(request_id=state["request_id"], trace_id=trace_id):
            try:
                await self._app(scope, receive, send_dressed)
            except Exception as problem:
                emit("request failed", level=logging.ERROR, path=scope["path"], problem=_words(problem))
                if status is None:
                    fault = Problem("internal", "something failed here; the request id finds it in the log")
                    await answer(Request(scope), fault)(scope, receive, send_dressed)
            finally:
                if "room" in state:
                    state["room"].release()
            _tell(span, scope, status)
            took = round((time.monotonic() - began) * 1000, 1)
            emit(
                "request",
                level=logging.DEBUG,
                method=scope["method"],
                path=scope["path"],
                status=status,
                duration_ms=took,
            )


def _tell(span: tracing.Span, scope: Scope, status: int | None) -> None:
    """The route's own path: that of the request has ids, and may have secrets."""
    route = getattr(scope.get("route"), "path", None)
    span.set("http.response.status_code", status)
    if route:
        span.set("http.route", route)
        span.rename(f"{scope['method']} {route}")
    if status is None or status >= 500:
        span.fail("server error")


def _dress(message: Message, state: dict[str, Any]) -> None:
    headers = MutableHeaders(scope=message)
    headers["X-Request-Id"] = state["request_id"]
    for name, value in (ALWAYS | state.get("headers", {})).items():
        headers.setdefault(name, value)


def _request_id(headers: Headers) -> str:
    given = headers.get("x-request-id", "")
    return given if _REQUEST_ID.fullmatch(given) else uuid.uuid4().hex


def _traceparent(headers: Headers) -> str | None:
    given = headers.get("traceparent", "")
    return given if TRACEPARENT.fullmatch(given) else None


def _words(problem: BaseException) -> str:
    return "".join(traceback.format_exception(problem))

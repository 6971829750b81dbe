"""What a connection may bring before it is a request: so many bytes and headers, in so much time.

The server's own HTTP protocol has no such bounds and lets another one be set in its place; this one adds them. A body
is bounded where it is read (``body.py``).
"""

import asyncio
import uuid
from collections import Counter
from typing import Any, ClassVar

from uvicorn.protocols.http.httptools_impl import STATUS_LINE, HttpToolsProtocol

from leasehold.http.middleware import ALWAYS
from leasehold.http.problems import CODES, MEDIA_TYPE, text_without_request

#: Of a request: the bytes of all headers, how many there are, and the bytes of the URL.
MOST_HEADER_BYTES = 16 * 1024
MOST_HEADERS = 100
MOST_URL_BYTES = 8 * 1024
#: Beside the name and the value of a header.
_BETWEEN = len(": \r\n")
#: Bytes that are parsed at a time: a bound is looked at after each.
_PIECE = 16 * 1024
#: For this long a caller that was refused may go on sending: who is cut off while sending does not read the answer.
_LINGER_SECONDS = 2.0
_HINTS = {
    "url_too_long": f"a URL has at most {MOST_URL_BYTES} bytes",
    "headers_too_large": f"a request has at most {MOST_HEADERS} headers of {MOST_HEADER_BYTES} bytes together",
    "request_timeout": "send the whole request at once",
}


class _TooMuch(Exception):
    """Ends the parser; the connection knows the code."""


class Connection(HttpToolsProtocol):
    """A connection whose requests have a bound."""

    seconds: ClassVar[float]
    answered: ClassVar[Counter[int]]

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        super().connection_made(transport)  # type: ignore[arg-type]
        self._in_head = True  # what comes next belongs to a request's line and headers, or to none yet
        self._has_begun = False
        self._unfinished = 0  # bytes that were parsed since the request began
        self._size = self._count = 0  # of its headers
        self._wrong: str | None = None  # the code of the refusal that ends the parser
        self._is_refused = False
        self._waiting = b""  # bytes that come after requests that wait for their turn
        self._deadline: asyncio.TimerHandle | None = None
        self._set_deadline()

    def connection_lost(self, exc: Exception | None) -> None:
        self._clear_deadline()
        super().connection_lost(exc)

    def data_received(self, data: bytes) -> None:
        """Parse piece by piece, and not far ahead of the request that is being answered."""
        data, at = self._waiting + data, 0
        while at < len(data) and not self._is_over and not self.pipeline:
            self._parse(data[at : at + _PIECE])
            at += _PIECE
        self._waiting = b"" if self._is_over else data[at:]

    def on_message_begin(self) -> None:
        super().on_message_begin()
        self._has_begun = True
        self._unfinished = self._size = self._count = 0

    def on_url(self, url: bytes) -> None:
        super().on_url(url)
        if len(self.url) > MOST_URL_BYTES:
            self._stop("url_too_long")

    def on_header(self, name: bytes, value: bytes) -> None:
        self._count += 1
        self._size += len(name) + len(value) + _BETWEEN
        if self._count > MOST_HEADERS or self._size > MOST_HEADER_BYTES:
            self._stop("headers_too_large")
        if self._in_head:  # else they follow the body, and nobody here reads them
            super().on_header(name, value)

    def on_headers_complete(self) -> None:
        self._in_head = False
        self._clear_deadline()
        super().on_headers_complete()

    def on_message_complete(self) -> None:
        self._in_head, self._has_begun, self._unfinished = True, False, 0
        self._clear_deadline()
        super().on_message_complete()

    def on_response_complete(self) -> None:
        super().on_response_complete()
        if self._is_over:
            return
        if not self._in_head:  # a body that nobody read may still end
            self._set_deadline()
        if self._waiting and not self.pipeline:
            self.loop.call_soon(self.data_received, b"")

    def send_400_response(self, msg: str) -> None:
        """Whatever the parser stopped at."""
        self._refuse(self._wrong or "bad_request")

    @property
    def _is_over(self) -> bool:
        return self._is_refused or self.transport.is_closing()

    @property
    def _is_answering(self) -> bool:
        return self.cycle is not None and not self.cycle.response_complete

    def _parse(self, piece: bytes) -> None:
        if self._in_head:
            self._unfinished += len(piece)
            if self._deadline is None:
                self._set_deadline()
        super().data_received(piece)
        if self._in_head and not self._is_over:
            # The parser keeps a header to itself until it has all of it.
            if self._unfinished > MOST_URL_BYTES + MOST_HEADER_BYTES:
                self._refuse("headers_too_large")
            elif self._has_begun and self._deadline is None:
                self._set_deadline()

    def _stop(self, code: str) -> None:
        self._wrong = code
        raise _TooMuch(code)

    def _set_deadline(self) -> None:
        self._deadline = self.loop.call_later(self.seconds, self._pass_deadline)

    def _clear_deadline(self) -> None:
        if self._deadline is not None:
            self._deadline.cancel()
            self._deadline = None

    def _pass_deadline(self) -> None:
        self._deadline = None
        if self._is_over:
            return
        if self._is_answering:  # it is we who take long
            self._set_deadline()
        elif self._in_head and self._has_begun:
            self._refuse("request_timeout")
        else:
            self.transport.close()

    def _refuse(self, code: str) -> None:
        self._is_refused = True
        self._clear_deadline()
        if self._is_answering:
            if self._in_head or self.cycle.response_started:  # a second answer would be taken for part of the first
                self.transport.close()
                return
            self.cycle.disconnected = True  # whoever reads the body learns that it has no end
            self.cycle.message_event.set()
        self.transport.write(self._refusal(code))
        self.answered[CODES[code][0]] += 1
        self.flow.resume_reading()
        self.transport.write_eof()
        self._deadline = self.loop.call_later(_LINGER_SECONDS, self.transport.close)

    def _refusal(self, code: str) -> bytes:
        request_id = uuid.uuid4().hex
        body = text_without_request(code, request_id=request_id, hint=_HINTS.get(code))
        headers: dict[str, Any] = {
            **ALWAYS,
            "Content-Type": MEDIA_TYPE,
            "Content-Length": len(body),
            "Connection": "close",
            "X-Request-Id": request_id,
        }
        lines = [f"{name}: {value}\r\n".encode() for name, value in headers.items()]
        lines += [b"%b: %b\r\n" % header for header in self.server_state.default_headers]
        return b"".join([STATUS_LINE[CODES[code][0]], *lines, b"\r\n", body])


def connection(*, seconds: float, answered: Counter[int]) -> type[asyncio.Protocol]:
    """The protocol of a server: so long for what comes before a body, and where its answers are counted."""
    return type("Connection", (Connection,), {"seconds": seconds, "answered": answered})

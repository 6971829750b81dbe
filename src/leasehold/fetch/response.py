"""What comes back: an answer whose body is still to be read, and one that has been read."""

import json
import re
from collections.abc import AsyncIterator
from contextlib import aclosing
from dataclasses import dataclass, field
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from hashlib import sha256
from typing import TYPE_CHECKING, Any

from leasehold.errors import BadResponse, FetchTooLarge
from leasehold.fetch.decompress import Decoder

if TYPE_CHECKING:
    import httpcore2

    from leasehold.fetch.limits import Exchange
    from leasehold.fetch.redirects import Ask

Headers = tuple[tuple[str, str], ...]
_LENGTH = re.compile(r"[0-9]{1,18}")
_SECONDS = re.compile(r"[0-9]{1,9}")


@dataclass(frozen=True, slots=True, kw_only=True)
class Hop:
    """A redirect that was followed."""

    url: str
    status: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Timings:
    """Seconds from the start, redirects included."""

    head: float
    total: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Fetched:
    """A whole answer. ``headers`` have lower-case names, in their order; ``sha256`` is that of the decoded body."""

    status: int
    headers: Headers
    body: bytes = field(repr=False)
    url: str
    hops: tuple[Hop, ...]
    timings: Timings
    truncated: bool
    sha256: str

    def header(self, name: str) -> str | None:
        return joined(self.headers, name)

    @property
    def not_modified(self) -> bool:
        return self.status == 304

    @property
    def etag(self) -> str | None:
        """For the next time: ``get(url, etag=…)``."""
        return self.header("etag")

    @property
    def last_modified(self) -> str | None:
        return self.header("last-modified")

    @property
    def text(self) -> str:
        """The body in the charset that its header names, else UTF-8; what does not decode is replaced."""
        charset = _charset(self.header("content-type"))
        try:
            return self.body.decode(charset, "replace")
        except (LookupError, ValueError):
            return self.body.decode("utf-8", "replace")

    def json(self) -> Any:
        try:
            return json.loads(self.body)
        except (ValueError, RecursionError):
            raise BadResponse(f"the body of {self.url} is not JSON") from None


def joined(headers: Headers, name: str) -> str | None:
    """The values of a header; several are joined by commas."""
    values = [value for key, value in headers if key == name.lower()]
    return ", ".join(values) if values else None


def _charset(content_type: str | None) -> str:
    from email.message import Message  # half a standard library, for the few who read text

    message = Message()
    message["content-type"] = content_type or ""
    return message.get_content_charset("utf-8")


class Answer:
    """The head of an answer; ``chunks`` reads the body, once."""

    def __init__(self, response: "httpcore2.Response", *, ask: "Ask", hops: list[Hop], exchange: "Exchange") -> None:
        self.status = response.status
        self.headers: Headers = tuple((k.decode("latin-1").lower(), v.decode("latin-1")) for k, v in response.headers)
        self.url = str(ask.url)
        self.hops = tuple(hops)
        self.head_seconds = exchange.seconds
        self.truncated = False
        self._response, self._ask, self._exchange = response, ask, exchange

    def header(self, name: str) -> str | None:
        return joined(self.headers, name)

    def chunks(self, *, truncate: bool = False) -> AsyncIterator[bytes]:
        """The decoded body in pieces. Above the limit of the request it is cut, or FetchTooLarge is raised."""
        return self._decoded(self._raw(), truncate=truncate)

    async def read(self, *, truncate: bool = False) -> bytes:
        """The same as a whole."""
        return await self._exchange.step(self._ask.url, self._joined(truncate=truncate))

    async def _joined(self, *, truncate: bool) -> bytes:
        async with aclosing(self._response.aiter_stream()) as stream:
            return b"".join([piece async for piece in self._decoded(stream, truncate=truncate)])

    async def _decoded(self, stream: AsyncIterator[bytes], *, truncate: bool) -> AsyncIterator[bytes]:
        decoder = Decoder(self._codings())
        left = self._exchange.max_bytes
        if not truncate and decoder.is_identity and self._announced() > left:
            raise self._too_large()
        async for raw in stream:
            for piece in decoder.feed(raw):
                if len(piece) > left:
                    if not truncate:
                        raise self._too_large()
                    self.truncated = True
                    yield piece[:left]
                    return
                left -= len(piece)
                yield piece
        decoder.end()

    @property
    def _has_body(self) -> bool:
        return self._ask.method != "HEAD" and self.status not in (204, 304)

    def _codings(self) -> list[str]:
        return [value for name, value in self.headers if name == "content-encoding"] if self._has_body else []

    def _announced(self) -> int:
        length = self.header("content-length") or ""
        return int(length) if self._has_body and _LENGTH.fullmatch(length) else 0

    def _too_large(self) -> FetchTooLarge:
        return FetchTooLarge(
            f"the body has more than {self._exchange.max_bytes} bytes",
            hint="raise max_bytes, or LEASEHOLD_FETCH_MAX_BYTES for all",
        )

    async def _raw(self) -> AsyncIterator[bytes]:
        stream = self._response.aiter_stream()
        try:
            while True:
                piece = await self._exchange.step(self._ask.url, anext(stream, None))
                if piece is None:
                    return
                yield piece
        finally:
            await stream.aclose()


async def read_whole(answer: Answer, exchange: "Exchange", *, truncate: bool) -> Fetched:
    body = await answer.read(truncate=truncate)
    return Fetched(
        status=answer.status,
        headers=answer.headers,
        body=body,
        url=answer.url,
        hops=answer.hops,
        timings=Timings(head=answer.head_seconds, total=exchange.seconds),
        truncated=answer.truncated,
        sha256=sha256(body).hexdigest(),
    )


def retry_after(fetched: Fetched) -> float | None:
    """Seconds from now as the header Retry-After gives them, as a number or a date."""
    value = (fetched.header("retry-after") or "").strip()
    if _SECONDS.fullmatch(value):
        return float(value)
    try:
        at = parsedate_to_datetime(value)
    except ValueError:
        return None
    return max(0.0, ((at if at.tzinfo else at.replace(tzinfo=UTC)) - datetime.now(UTC)).total_seconds())

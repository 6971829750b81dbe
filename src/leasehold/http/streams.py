"""Live events of a job or a flow as server-sent events: ``state``, ``patch``, ``end``, ``reset``.

The id of a message is the number of the newest event that the reader then knows, so ``Last-Event-ID`` says
exactly where to go on: nothing is lost and nothing comes twice. The end has an id of its own, or a reader whose
connection breaks after the last event would seem to have seen the end.
"""

import asyncio
from collections.abc import AsyncGenerator, AsyncIterator
from contextlib import AsyncExitStack, ExitStack
from dataclasses import dataclass
from typing import Annotated, Any, NamedTuple, Self
from uuid import UUID

from fastapi import Header, Query, Request, Response
from starlette.types import Receive, Scope, Send

from leasehold.engine import jobs, progress
from leasehold.http.auth import Caller
from leasehold.http.responses import encode
from leasehold.http.services import Services
from leasehold.http.stream_poller import News
from leasehold.http.stream_subjects import JOB, Stateful, Subject
from leasehold.http.subscription import Follower
from leasehold.job import Event

PING_SECONDS = 15.0
RETRY = b"retry: 2000\n\n"
PING = b": ping\n\n"
#: A reader that takes nothing for so long is gone, or might as well be.
SLOW_SECONDS = 30.0
_PAGE = 1000
#: What a route that answers with either says of it.
PAGE_OR_STREAM: dict[int | str, dict[str, Any]] = {
    200: {"content": {"text/event-stream": {"schema": {"type": "string"}}}, "description": "A page, or a stream"},
    204: {"description": "The stream had ended: the browser need not come back"},
}
LastId = Annotated[str | None, Header(description="Go on after this message; browsers send it.")]
LastIdQuery = Annotated[
    str | None, Query(alias="last_event_id", max_length=2000, description="The same, where no header can be sent.")
]
Ticket = Annotated[str | None, Query(max_length=100, description="Instead of a key, once.")]


class Position(NamedTuple):
    """How far the reader of a stream is. As text it is the id of a message: ``7``, and of the end ``7-end``."""

    seq: int
    has_ended: bool = False

    @classmethod
    def parse(cls, last_event_id: str | None) -> Self | None:
        """The position that the id names, or None: then the reader starts with the state."""
        number, dash, word = (last_event_id or "").strip().partition("-")
        if not (number.isascii() and number.isdecimal() and len(number) < 16 and dash + word in ("", "-end")):
            return None
        return cls(int(number), bool(word))

    def __str__(self) -> str:
        return f"{self.seq}-end" if self.has_ended else str(self.seq)


def is_wanted(request: Request) -> bool:
    return "text/event-stream" in request.headers.get("accept", "")


async def open_stream(
    services: Services,
    caller: Caller,
    subject_id: UUID,
    last_event_id: str | None,
    *,
    subject: Subject[Any] = JOB,
    only: str | None = None,
) -> Response:
    """The stream, or 204 for whoever has seen the end; of all events, or of one type alone."""
    await subject.own(services.db, caller.tenant, subject_id)  # only what is the tenant's own is followed
    async with AsyncExitStack() as stack:
        # It follows before it looks: what happens in between is then in both, and its number tells.
        follower = stack.enter_context(services.hub.follow(caller.tenant, subject_id, subject))
        head = await services.hub.begin(caller.tenant, subject_id)
        last = Position.parse(last_event_id)
        if head.ended and last == Position(head.seq, has_ended=True):
            return Response(None, 204)
        after = last.seq if last else None
        found = await subject.get(services.db, caller.tenant, subject_id)
        missed = (
            None if after is None or after > head.seq else await _missed(services, caller, subject_id, after, head.seq)
        )
        chunks = _chunks(follower, subject, found, head, after, missed, only)
        return EventStream(chunks, stack.pop_all())
    raise AssertionError("unreachable")


class EventStream(Response):
    """Sends what comes until the reader leaves, is too slow, or has seen the end."""

    media_type = "text/event-stream"

    def __init__(self, chunks: AsyncIterator[bytes], following: AsyncExitStack) -> None:
        super().__init__(headers={"Cache-Control": "no-store", "X-Accel-Buffering": "no"})
        del self.headers["content-length"]
        self._chunks = chunks
        self._following = following

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        async with self._following:
            await send({"type": "http.response.start", "status": 200, "headers": self.raw_headers})
            sending = asyncio.create_task(self._send(send))
            leaving = asyncio.create_task(_left(receive))
            try:
                await asyncio.wait({sending, leaving}, return_when=asyncio.FIRST_COMPLETED)
            finally:
                for task in (sending, leaving):
                    task.cancel()
                await asyncio.gather(sending, leaving, return_exceptions=True)

    async def _send(self, send: Send) -> None:
        async for chunk in self._chunks:
            async with asyncio.timeout(SLOW_SECONDS):
                await send({"type": "http.response.body", "body": chunk, "more_body": True})
        await send({"type": "http.response.body", "body": b"", "more_body": False})


@dataclass(frozen=True, slots=True, kw_only=True)
class Message:
    """One of a stream. Whoever comes back names the id of the last one they saw."""

    event: str
    id: int | str
    data: dict[str, Any]


def open_other(services: Services, tenant: UUID, messages: AsyncGenerator[Message, None]) -> Response:
    """A stream of messages that are not of the hub: counted, pinged and let go when the server stops like all."""
    with ExitStack() as stack:
        stack.enter_context(services.hub.counted(tenant))
        following = AsyncExitStack()
        following.push_async_callback(messages.aclose)
        following.callback(stack.pop_all().close)
        return EventStream(_written(services, messages), following)
    raise AssertionError("unreachable")


async def _written(services: Services, messages: AsyncGenerator[Message, None]) -> AsyncIterator[bytes]:
    yield RETRY
    closing = asyncio.create_task(services.hub.closed())
    coming: asyncio.Future[Message | None] | None = None
    try:
        while True:
            coming = coming or asyncio.ensure_future(anext(messages, None))
            either: set[asyncio.Future[Any]] = {coming, closing}
            done, _ = await asyncio.wait(either, timeout=PING_SECONDS, return_when=asyncio.FIRST_COMPLETED)
            if coming in done:
                if (one := coming.result()) is None:
                    return
                coming = None
                yield message(one.event, one.id, one.data)
            elif closing in done:
                return
            else:
                yield PING
    finally:
        tasks = [task for task in (coming, closing) if task]
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)


async def _left(receive: Receive) -> None:
    while (await receive())["type"] != "http.disconnect":
        pass


async def _missed(services: Services, caller: Caller, subject_id: UUID, after: int, head: int) -> list[Event] | None:
    """What happened between two numbers, or None where some of it is not kept any more."""
    found: list[Event] = []
    while after < head:
        some = await jobs.events_since(services.db, caller.tenant, subject_id, after, _PAGE)
        if [event.seq for event in some] != list(range(after + 1, after + 1 + len(some))) or not some:
            return None
        found += some
        after = some[-1].seq
    return found


async def _chunks(
    follower: Follower[News],
    subject: Subject[Any],
    found: Stateful,
    head: progress.Head,
    after: int | None,
    missed: list[Event] | None,
    only: str | None,
) -> AsyncIterator[bytes]:
    sent = head.seq
    yield RETRY
    if missed is None:
        if after is not None:
            yield message("reset", head.seq, {"reason": "the events after the last one seen are not kept"})
        yield message("state", head.seq, found, as_=subject.shown)
    else:
        for event in missed:
            if only in (None, event.type):
                yield message("patch", event.seq, event)
            sent = event.seq
    # The head decides, not what was found: that was read a moment later, and may have ended with events not yet told.
    if head.ended and sent == head.seq:
        yield _end(sent, found, subject)
        return
    while True:
        try:
            news = await follower.next(PING_SECONDS)
        except TimeoutError:
            yield PING
            continue
        if news is None:
            return
        if news.event and news.seq > sent:
            sent = news.seq
            if only in (None, news.event.type):
                yield message("patch", sent, news.event)
        if news.ended and news.seq >= sent:
            yield _end(news.seq, news.ended, subject)
            return


def message(event: str, position: int | str, data: object, *, as_: Any = None) -> bytes:
    return f"id: {position}\nevent: {event}\ndata: ".encode() + encode(data, as_) + b"\n\n"


def _end(seq: int, ended: Stateful, subject: Subject[Any]) -> bytes:
    return message("end", str(Position(seq, has_ended=True)), ended, as_=subject.shown)

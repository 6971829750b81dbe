"""``/v1/events`` and ``/v1/logs``: what happens to all jobs of a tenant, as pages and as live streams."""

import base64
import struct
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import AsyncExitStack
from datetime import UTC, datetime, timedelta
from functools import partial
from typing import Annotated, Any
from uuid import UUID

from fastapi import Query, Request, Response

from leasehold.engine import jobs
from leasehold.engine.progress import Fact
from leasehold.features.activity.poller import Feed, Patch
from leasehold.features.activity.schemas import Overview
from leasehold.features.flows.store import Flows
from leasehold.http import streams
from leasehold.http.auth import Caller, SignedIn
from leasehold.http.responses import answer, plain
from leasehold.http.route import needs, router
from leasehold.http.services import Services, services_of
from leasehold.http.subscription import Follower
from leasehold.http.types import Id, Listing, Moment, Page
from leasehold.job import LogLine

routes = router("events")
_READ = needs("jobs:read", tickets=True)
#: The newest jobs and flows that a stream begins with.
_NEWEST = 100
#: A cursor: microseconds, job and number of a log line.
_PLACE = struct.Struct(">Q16sI")
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_LATEST = 253_402_214_400_000_000  # of the year 9999
_EITHER: dict[int | str, dict[str, Any]] = {200: streams.PAGE_OR_STREAM[200]}  # the stream of a tenant has no end

Limit = Annotated[int, Query(ge=1, le=200)]
Groups = Annotated[
    str | None,
    Query(
        pattern=r"^[a-z][a-z0-9_]*(\.[a-z][a-z0-9_]*)*(,[a-z][a-z0-9_]*(\.[a-z][a-z0-9_]*)*)*$",
        max_length=1000,
        description="Only of these kinds or packs, by commas: `postings.crawl,monitors`.",
    ),
]
# 38 characters of base64 for 28 bytes: the last one has two bits only.
LogCursor = Annotated[
    str | None, Query(pattern="^[A-Za-z0-9_-]{37}[AQgw]$", description="next_cursor of the page before.")
]


@routes.get(
    "/v1/events",
    operation_id="events.all",
    summary="The newest jobs and flows, and with `Accept: text/event-stream` all that happens to any of the tenant's",
    response_model=Overview,
    responses=_EITHER,
    openapi_extra=_READ,
)
async def all_events(
    request: Request,
    caller: SignedIn,
    last_event_id: streams.LastId = None,
    last_event_id_query: streams.LastIdQuery = None,
    ticket: streams.Ticket = None,
) -> Response:
    services = services_of(request)

    async def state() -> Overview:
        newest = await jobs.list_jobs_briefly(services.db, caller.tenant, {}, limit=_NEWEST)
        flows = await Flows(services.db, caller.tenant, lambda: None).list(limit=_NEWEST)
        return Overview(data=newest, flows=list(flows))

    if streams.is_wanted(request):
        return await _open(services, caller, last_event_id or last_event_id_query, state=state, show=_facts)
    return answer(await state())


@routes.get(
    "/v1/logs",
    operation_id="logs.list",
    summary="Log lines of all jobs, newest first, or with `Accept: text/event-stream` as they come",
    response_model=Page[LogLine],
    responses=_EITHER,
    openapi_extra=_READ,
)
async def list_logs(
    request: Request,
    caller: SignedIn,
    groups: Groups = None,
    since: Moment | None = None,
    limit: Limit = 100,
    cursor: LogCursor = None,
    last_event_id: streams.LastId = None,
    last_event_id_query: streams.LastIdQuery = None,
    ticket: streams.Ticket = None,
) -> Response:
    services, chosen = services_of(request), groups.split(",") if groups else None
    read = partial(jobs.list_logs, services.db, caller.tenant, groups=chosen, since=since, before=_place(cursor))
    found = await read(limit=limit + 1)
    if streams.is_wanted(request):
        told: set[tuple[UUID, int]] = set()  # a line that comes while the stream begins may be in its state too

        async def state() -> Listing[LogLine]:
            lines = [*reversed(await read(limit=limit))]
            told.update((line.job_id, line.seq) for line in lines)
            return Listing(data=lines)

        def show(facts: Sequence[Fact]) -> list[dict[str, Any]]:
            return _lines([fact for fact in facts if (fact.job_id, fact.seq) not in told], chosen)

        return await _open(services, caller, last_event_id or last_event_id_query, state=state, show=show)
    more = len(found) > limit
    cursor = _cursor(found[limit - 1]) if more else None
    return answer(Page(data=found[:limit], next_cursor=cursor, has_more=more), as_=Page[LogLine])


@routes.get(
    "/v1/jobs/{job_id}/logs",
    operation_id="jobs.logs",
    summary="Log lines of a job, oldest first, or with `Accept: text/event-stream` until its end",
    response_model=Page[LogLine],
    responses=streams.PAGE_OR_STREAM,
    openapi_extra=_READ,
)
async def job_logs(
    request: Request,
    caller: SignedIn,
    job_id: Id,
    after: Annotated[int, Query(ge=0, le=2_000_000_000, description="Only lines after this number.")] = 0,
    limit: Limit = 100,
    last_event_id: streams.LastId = None,
    last_event_id_query: streams.LastIdQuery = None,
    ticket: streams.Ticket = None,
) -> Response:
    services = services_of(request)
    if streams.is_wanted(request):
        last = last_event_id or last_event_id_query or str(after)
        return await streams.open_stream(services, caller, job_id, last, only="log")
    found = await jobs.job_logs(services.db, caller.tenant, job_id, after, limit + 1)
    more = len(found) > limit
    cursor = str(found[limit - 1].seq) if more else None
    return answer(Page(data=found[:limit], next_cursor=cursor, has_more=more), as_=Page[LogLine])


async def _open(
    services: Services,
    caller: Caller,
    last_event_id: str | None,
    *,
    state: Callable[[], Awaitable[object]],
    show: Callable[[Sequence[Fact]], list[dict[str, Any]]],
) -> Response:
    """A stream of what is new for the tenant. It follows before it reads the state: nothing is lost in between."""
    async with AsyncExitStack() as stack:
        stack.enter_context(services.hub.counted(caller.tenant))
        feed = services.part(Feed)
        follower, since = await stack.enter_async_context(feed.follow(caller.tenant))
        missed = await feed.missed(caller.tenant, last_event_id, since) if last_event_id else None
        chunks = _chunks(follower, since, state, show, missed=missed, resumes=bool(last_event_id))
        return streams.EventStream(chunks, stack.pop_all())
    raise AssertionError("unreachable")


async def _chunks(
    follower: Follower[Patch],
    since: str,
    state: Callable[[], Awaitable[object]],
    show: Callable[[Sequence[Fact]], list[dict[str, Any]]],
    *,
    missed: Sequence[Fact] | None,
    resumes: bool,
) -> AsyncIterator[bytes]:
    yield streams.RETRY
    if missed is None:
        if resumes:
            yield streams.message("reset", since, {"reason": "what happened after the last message cannot be told"})
        yield streams.message("state", since, await state())
    elif shown := show(missed):
        yield streams.message("patch", since, {"data": shown})
    while True:
        try:
            patch = await follower.next(streams.PING_SECONDS)
        except TimeoutError:
            yield streams.PING
            continue
        if patch is None:
            return
        if patch.facts is None:
            yield streams.message("reset", patch.snapshot, {"reason": "too much happened at once to be told"})
            yield streams.message("state", patch.snapshot, await state())
        elif shown := show(patch.facts):
            yield streams.message("patch", patch.snapshot, {"data": shown})


def _facts(facts: Sequence[Fact]) -> list[dict[str, Any]]:
    return [plain(fact, without=frozenset({"tenant_id"})) for fact in facts]


def _lines(facts: Sequence[Fact], groups: Sequence[str] | None) -> list[dict[str, Any]]:
    return [_line(fact) for fact in facts if fact.type == "log" and _is_of(fact.kind, groups)]


def _line(fact: Fact) -> dict[str, Any]:
    data = dict(fact.data or {})
    level = data.pop("level", "info")
    shown = {"job_id": fact.job_id, "kind": fact.kind, "seq": fact.seq, "at": fact.at}
    return shown | {"level": level, "message": fact.message, "fields": data}


def _is_of(kind: str, groups: Sequence[str] | None) -> bool:
    return groups is None or kind in groups or kind.partition(".")[0] in groups


def _cursor(line: LogLine) -> str:
    micros = (line.at - _EPOCH) // timedelta(microseconds=1)
    return base64.urlsafe_b64encode(_PLACE.pack(micros, line.job_id.bytes, line.seq)).decode().rstrip("=")


def _place(cursor: str | None) -> tuple[datetime, UUID, int] | None:
    """Whatever a cursor holds is a place, if perhaps one that no line has."""
    if cursor is None:
        return None
    micros, job_id, seq = _PLACE.unpack(base64.urlsafe_b64decode(cursor + "=="))
    return _EPOCH + timedelta(microseconds=min(micros, _LATEST)), UUID(bytes=job_id), min(seq, 2**31 - 1)

"""``/v1/jobs``."""

import json
import re
from collections.abc import Sequence
from dataclasses import replace
from typing import Annotated, Any, NamedTuple
from uuid import UUID

from fastapi import Header, Query, Request, Response

from leasehold import json_codec
from leasehold.database.actor import ActorTransaction
from leasehold.database.database import Database
from leasehold.engine import jobs
from leasehold.errors import BadInput, Conflict, LeaseholdError, NotFound, QuotaExceeded, TooLarge
from leasehold.features.jobs import store_bulk
from leasehold.features.jobs.model import Selected
from leasehold.features.jobs.schemas import (
    ActMade,
    ActOnRequest,
    ActRequest,
    BatchMade,
    BatchRequest,
    Explanation,
    JobMade,
    JobRefused,
    JobRequest,
    RescheduleRequest,
    RetryRequest,
)
from leasehold.http import streams as stream
from leasehold.http.auth import Caller, SignedIn
from leasehold.http.idempotency import IdempotencyKey, once
from leasehold.http.problems import Problem, of_error
from leasehold.http.request_body import is_quick, off_loop, release_room
from leasehold.http.responses import (
    Answer,
    IfMatch,
    answer,
    decode_cursor,
    page,
    plain,
    read_json,
    refuse_changed,
    tagged,
)
from leasehold.http.route import needs, router
from leasehold.http.services import Services, services_of
from leasehold.http.types import CancelRequest, Cursor, Events, Id, JobMoved, Kind, Listing, Moment, Name, Page
from leasehold.job import Attempt, Enqueued, Job, JobSummary, State
from leasehold.json_codec import plain_options
from leasehold.redact import MASK

routes = router("jobs")
READ = needs("jobs:read")
WRITE = needs("jobs:write")
WRITE_LARGE = needs("jobs:write", large=True)
_WAIT = re.compile(r"(?:^|[,;\s])wait\s*=\s*(\d{1,9})(?:$|[,;\s])", re.IGNORECASE)
_LONGEST_WAIT = 60


class _Asked(NamedTuple):
    """A job as it was asked for, for the database."""

    kind: str
    payload: str | LeaseholdError  # JSON, or why it is none that can be kept
    options: dict[str, Any]
    key: str | None
    force: bool

    @property
    def text(self) -> str:
        if isinstance(self.payload, str):
            return self.payload
        raise self.payload


Limit = Annotated[int, Query(ge=1, le=200)]
Prefer = Annotated[
    str | None,
    Header(description="`wait=20` (RFC 7240): answer when the job has ended, or after so many seconds, at most 60."),
]


@routes.post(
    "/v1/jobs",
    operation_id="jobs.create",
    summary="Ask for a job",
    status_code=202,
    response_model=JobMade,
    responses={200: {"model": JobMade, "description": "The key's job was there, or `Prefer: wait` saw the end"}},
    openapi_extra=WRITE_LARGE,
)
async def create(
    request: Request, caller: SignedIn, body: JobRequest, idempotency_key: IdempotencyKey = None, prefer: Prefer = None
) -> Response:
    services = services_of(request)
    response = await _create(request, caller, body, idempotency_key)
    body.payload = None  # the wait may be long
    release_room(request)
    return await _waited(services, caller, response, prefer)


@routes.post(
    "/v1/jobs:batch",
    operation_id="jobs.create_batch",
    summary="Ask for up to 1000 jobs: all or none, or with `atomic=false` each by itself",
    response_model=BatchMade,
    openapi_extra=WRITE_LARGE,
)
async def create_batch(
    request: Request,
    caller: SignedIn,
    body: BatchRequest,
    atomic: Annotated[bool, Query(description="`false`: what can be made is made; the others say why not.")] = True,
    idempotency_key: IdempotencyKey = None,
) -> Response:
    enqueue = _enqueue_within if atomic else _enqueue_each

    trace, in_turns = request.state.traceparent, not is_quick(request)
    asked = await off_loop(request, lambda: [_asked(job, trace, in_turns=in_turns) for job in body.jobs])

    async def operate(scope: ActorTransaction) -> Answer:
        made = await enqueue(services_of(request), scope, caller, asked)
        return Answer(status=200, value=BatchMade(data=list(made)))

    response = await once(request, caller, idempotency_key, operate)
    services_of(request).backend.announce()
    return response


@routes.get(
    "/v1/jobs",
    operation_id="jobs.list",
    summary="The newest jobs first, without payloads and results",
    response_model=Page[JobSummary],
    openapi_extra=READ,
)
async def list_(
    request: Request,
    caller: SignedIn,
    state: State | None = None,
    kind: Kind | None = None,
    queue: Name | None = None,
    tag: Annotated[str | None, Query(min_length=1, max_length=100)] = None,
    key: Annotated[str | None, Query(min_length=1, max_length=255)] = None,
    created_after: Moment | None = None,
    created_before: Moment | None = None,
    limit: Limit = 50,
    cursor: Cursor | None = None,
) -> Response:
    filters = {
        "state": state,
        "kind": kind,
        "queue": queue,
        "tag": tag,
        "key": key,
        "created_after": created_after,
        "created_before": created_before,
    }
    found = await jobs.list_jobs_briefly(
        services_of(request).db, caller.tenant, plain_options(filters), before=decode_cursor(cursor), limit=limit + 1
    )
    return page(request, found, limit=limit, last="job_id", of=JobSummary)


@routes.get("/v1/jobs/{job_id}", operation_id="jobs.get", summary="One job", response_model=Job, openapi_extra=READ)
async def get(request: Request, caller: SignedIn, job_id: Id) -> Response:
    return tagged(request, _visible(caller, await _get(request, caller, job_id)))


@routes.get(
    "/v1/jobs/{job_id}/result",
    operation_id="jobs.result",
    summary="The result of a job that succeeded, as its handler gave it",
    response_model=Any,
    openapi_extra=READ,
)
async def result(request: Request, caller: SignedIn, job_id: Id) -> Response:
    job = await _get(request, caller, job_id)
    if job.state is not State.SUCCEEDED:
        raise Problem("no_result", f"job {job_id} is {job.state}, and only a job that succeeded has a result")
    return tagged(request, job.result if caller.sees_payloads else MASK)


@routes.get(
    "/v1/jobs/{job_id}/attempts",
    operation_id="jobs.attempts",
    summary="The attempts of a job that have ended, oldest first",
    response_model=Listing[Attempt],
    openapi_extra=READ,
)
async def attempts(request: Request, caller: SignedIn, job_id: Id) -> Response:
    await _get(request, caller, job_id)
    found = await jobs.list_attempts(services_of(request).db, caller.tenant, job_id)
    return tagged(request, Listing(data=found), as_=Listing[Attempt])


@routes.get(
    "/v1/jobs/{job_id}/explain",
    operation_id="jobs.explain",
    summary="Why is this job not running?",
    response_model=Explanation,
    openapi_extra=READ,
)
async def explain(request: Request, caller: SignedIn, job_id: Id) -> Response:
    job = await _get(request, caller, job_id)
    reasons = await jobs.explain(services_of(request).db, caller.tenant, job_id)
    return answer(Explanation(state=job.state, reasons=reasons))


@routes.get(
    "/v1/jobs/{job_id}/events",
    operation_id="jobs.events",
    summary="The events of a job: a page of JSON, or a live stream with `Accept: text/event-stream`",
    response_model=Events,
    responses=stream.PAGE_OR_STREAM,
    openapi_extra=needs("jobs:read", tickets=True),
)
async def events(
    request: Request,
    caller: SignedIn,
    job_id: Id,
    after: Annotated[int, Query(ge=0, le=2_000_000_000, description="Only events after this number.")] = 0,
    limit: Limit = 100,
    last_event_id: stream.LastId = None,
    last_event_id_query: stream.LastIdQuery = None,
    ticket: stream.Ticket = None,
) -> Response:
    if stream.is_wanted(request):
        return await stream.open_stream(services_of(request), caller, job_id, last_event_id or last_event_id_query)
    await _get(request, caller, job_id)
    found = await jobs.events_since(services_of(request).db, caller.tenant, job_id, after, limit + 1)
    data, more = found[:limit], len(found) > limit
    return answer(Events(data=data, next_after=data[-1].seq if data else after, has_more=more))


@routes.post(
    "/v1/jobs/{job_id}/cancel",
    operation_id="jobs.cancel",
    summary="Cancel a job; one that runs is asked to stop",
    response_model=JobMoved,
    responses={202: {"model": JobMoved, "description": "It runs, and is asked to stop"}},
    openapi_extra=WRITE,
)
async def cancel(
    request: Request,
    caller: SignedIn,
    job_id: Id,
    body: CancelRequest | None = None,
    if_match: IfMatch = None,
    idempotency_key: IdempotencyKey = None,
) -> Response:
    async def operate(scope: ActorTransaction) -> Answer:
        await _check_unchanged(scope, caller, job_id, if_match)
        became = await jobs.cancel(scope, caller.tenant, job_id, body.reason if body else None)
        if became == "requested":  # it runs, or waits for other steps of its flow
            state = (await jobs.get_job(scope, caller.tenant, job_id)).state
            return _moved(job_id, state, status=202, cancel_requested=True)
        if became != State.CANCELED:
            raise Problem("conflict", f"job {job_id} is {became} already")
        return _moved(job_id, State.CANCELED)

    return await once(request, caller, idempotency_key, operate)


@routes.post(
    "/v1/jobs/{job_id}/retry",
    operation_id="jobs.retry",
    summary="Give a failed, dead or canceled job a new budget of attempts",
    response_model=JobMoved,
    openapi_extra=WRITE,
)
async def retry(
    request: Request,
    caller: SignedIn,
    job_id: Id,
    body: RetryRequest | None = None,
    if_match: IfMatch = None,
    idempotency_key: IdempotencyKey = None,
) -> Response:
    async def operate(scope: ActorTransaction) -> Answer:
        await _check_unchanged(scope, caller, job_id, if_match)
        return _moved(job_id, await jobs.retry(scope, caller.tenant, job_id, body.run_at if body else None))

    return await once(request, caller, idempotency_key, operate)


@routes.post(
    "/v1/jobs/{job_id}/reschedule",
    operation_id="jobs.reschedule",
    summary="Move a job that waits to another time; one that has ended is retried then",
    response_model=JobMoved,
    openapi_extra=WRITE,
)
async def reschedule(
    request: Request,
    caller: SignedIn,
    job_id: Id,
    body: RescheduleRequest,
    if_match: IfMatch = None,
    idempotency_key: IdempotencyKey = None,
) -> Response:
    async def operate(scope: ActorTransaction) -> Answer:
        await _check_unchanged(scope, caller, job_id, if_match)
        return _moved(job_id, await jobs.reschedule(scope, caller.tenant, job_id, body.run_at))

    return await once(request, caller, idempotency_key, operate)


@routes.post(
    "/v1/jobs:act",
    operation_id="jobs.act",
    summary="Retry, cancel or delete every job that fits a filter now: the job that does it",
    description="With `dry_run` the jobs are only selected and counted; `selections.act` acts on those and no others.",
    status_code=202,
    response_model=ActMade,
    responses={200: {"model": Selected, "description": "Selected and counted; nothing is done"}},
    openapi_extra=WRITE,
)
async def act(request: Request, caller: SignedIn, body: ActRequest, idempotency_key: IdempotencyKey = None) -> Response:
    filters = plain_options(body.filter.model_dump(exclude_none=True))
    if body.dry_run:
        [selection] = await store_bulk.select_jobs(services_of(request).db, caller.tenant, body.action, filters)
        return answer(selection, as_=Selected)

    async def operate(scope: ActorTransaction) -> Answer:
        [selection] = await store_bulk.select_jobs(scope, caller.tenant, body.action, filters)
        return _begun(*await store_bulk.begin(scope, caller.tenant, selection.selection_id, body.reason))

    response = await once(request, caller, idempotency_key, operate)
    services_of(request).backend.announce()
    return response


@routes.post(
    "/v1/selections/{selection_id}/act",
    operation_id="selections.act",
    summary="Retry, cancel or delete the jobs that were selected, and no others: the job that does it",
    status_code=202,
    response_model=ActMade,
    responses={200: {"model": ActMade, "description": "It was asked for before: the job that does it"}},
    openapi_extra=WRITE,
)
async def act_on_selection(
    request: Request,
    caller: SignedIn,
    selection_id: Id,
    body: ActOnRequest | None = None,
    idempotency_key: IdempotencyKey = None,
) -> Response:
    async def operate(scope: ActorTransaction) -> Answer:
        reason = body.reason if body else None
        return _begun(*await store_bulk.begin(scope, caller.tenant, selection_id, reason))

    response = await once(request, caller, idempotency_key, operate)
    services_of(request).backend.announce()
    return response


def _visible(caller: Caller, job: Job) -> Job:
    if caller.sees_payloads:
        return job
    return replace(job, payload=MASK, result=None if job.result is None else MASK)


async def _check_unchanged(scope: ActorTransaction, caller: Caller, job_id: UUID, if_match: str | None) -> None:
    if if_match is not None:
        await jobs.lock_job(scope, caller.tenant, job_id)
        refuse_changed(if_match, await jobs.get_job(scope, caller.tenant, job_id, read_json))


async def _get(request: Request, caller: Caller, job_id: UUID) -> Job:
    return await jobs.get_job(services_of(request).db, caller.tenant, job_id, read_json)


def _asked(job: JobRequest, trace: str | None, *, in_turns: bool) -> _Asked:
    try:
        text: str | LeaseholdError = json_codec.encode(job.payload, in_turns=in_turns)
    except (BadInput, TooLarge) as problem:
        text = problem
    options = job.model_dump(exclude={"kind", "payload", "key", "force"}, exclude_none=True)
    if trace is not None:
        options.setdefault("traceparent", trace)
    return _Asked(job.kind, text, plain_options(options), job.key, bool(job.force))


async def _create(request: Request, caller: Caller, body: JobRequest, idempotency_key: str | None) -> Response:
    services = services_of(request)
    job = await off_loop(request, _asked, body, request.state.traceparent, in_turns=not is_quick(request))
    if idempotency_key is None:
        [made] = await _enqueue(services, caller, job)
        return _made(made).response()

    async def operate(scope: ActorTransaction) -> Answer:
        return _made((await _enqueue_within(services, scope, caller, [job]))[0])

    response = await once(request, caller, idempotency_key, operate)
    services.backend.announce(body.queue)
    return response


async def _enqueue(services: Services, caller: Caller, job: _Asked) -> list[Enqueued]:
    keys = None if job.key is None else [job.key]
    await _require_kinds(services, services.db, caller, [job])
    return await services.backend.enqueue(caller.tenant, job.kind, [job.text], job.options, keys)


async def _enqueue_within(
    services: Services, scope: ActorTransaction, caller: Caller, asked: Sequence[_Asked]
) -> list[Enqueued]:
    """One call for all jobs of one kind with the same options, in one order for everybody: keys are locked."""
    await _require_kinds(services, scope, caller, asked)
    groups: dict[tuple[str, str], list[int]] = {}
    for place, job in enumerate(asked):
        text = json_codec.encode(job.options, what="options")
        groups.setdefault((job.kind, text), []).append(place)
    made: dict[int, Enqueued] = {}
    for (kind, _), places in sorted(groups.items()):
        payloads = [asked[place].text for place in places]
        keys = [asked[place].key for place in places]
        given = keys if any(keys) else None
        options = asked[places[0]].options
        found = await jobs.enqueue(scope, caller.tenant, kind, payloads, options, keys=given)
        made |= dict(zip(places, found, strict=True))
    return [made[place] for place in range(len(asked))]


async def _require_kinds(services: Services, db: Database, caller: Caller, asked: Sequence[_Asked]) -> None:
    await services.require_kinds(db, caller.tenant, [job.kind for job in asked if not job.force])


async def _enqueue_each(
    services: Services, scope: ActorTransaction, caller: Caller, asked: Sequence[_Asked]
) -> Sequence[Enqueued | JobRefused]:
    """What can be made, and why not the rest. In one order for everybody: keys are locked."""
    places = sorted(range(len(asked)), key=lambda place: (asked[place].kind, asked[place].key or ""))
    made = await _enqueue_some(services, scope, caller, [asked[place] for place in places])
    by_place = dict(zip(places, made, strict=True))
    return [by_place[place] for place in range(len(asked))]


async def _enqueue_some(
    services: Services, scope: ActorTransaction, caller: Caller, asked: Sequence[_Asked]
) -> Sequence[Enqueued | JobRefused]:
    """All at once if that goes, else half by half: a few bad ones among a thousand do not cost a thousand calls."""
    try:
        async with scope.connection.transaction():  # a savepoint
            return await _enqueue_within(services, scope, caller, asked)
    except (BadInput, Conflict, NotFound, QuotaExceeded, TooLarge) as problem:
        if len(asked) == 1:
            refusal = of_error(problem)
            detail, hint = str(refusal.detail), refusal.hint
            return [JobRefused(status=refusal.status_code, code=refusal.code, detail=detail, hint=hint)]
    half = len(asked) // 2
    first = await _enqueue_some(services, scope, caller, asked[:half])
    return [*first, *await _enqueue_some(services, scope, caller, asked[half:])]


def _made(job: Enqueued) -> Answer:
    at = f"/v1/jobs/{job.job_id}"
    headers = {"Location": at, "Link": f'<{at}/events>; rel="monitor"'}
    return Answer(status=202 if job.created else 200, value=job, headers=headers)


def _begun(job: Enqueued, count: int) -> Answer:
    return replace(_made(job), value=ActMade(**plain(job), count=count))


def _moved(job_id: UUID, state: State, *, status: int = 200, cancel_requested: bool = False) -> Answer:
    return Answer(status=status, value=JobMoved(job_id=job_id, state=state, cancel_requested=cancel_requested))


async def _waited(services: Services, caller: Caller, response: Response, prefer: str | None) -> Response:
    """The same answer, or with the whole job in it once the job has ended."""
    asked = _WAIT.search(prefer or "")
    if asked is None:
        return response
    seconds = min(int(asked[1]), _LONGEST_WAIT)
    made = json.loads(bytes(response.body))
    kept = ("location", "link", "idempotent-replayed")
    headers = {name: value for name, value in response.headers.items() if name in kept}
    headers["Preference-Applied"] = f"wait={seconds}"
    job = await services.hub.wait(caller.tenant, UUID(made["job_id"]), seconds)
    if job is None:
        return answer(made, status=response.status_code, headers=headers)
    return answer(JobMade(job.job_id, job.state, made["created"], job), headers=headers)

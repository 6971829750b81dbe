"""``/v1/flows`` and ``/v1/approvals``."""

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import replace
from typing import Annotated, Any

from fastapi import Query, Request, Response

from leasehold import json_codec
from leasehold.database.actor import ActorTransaction
from leasehold.database.database import Database
from leasehold.engine import jobs
from leasehold.features.flows import store as engine
from leasehold.features.flows.model import Approval, Flow, FlowInfo, FlowState, Step, StepInfo
from leasehold.features.flows.schemas import (
    DecisionRequest,
    FlowMade,
    FlowMoved,
    FlowRequest,
    SignalRequest,
    SignalSent,
)
from leasehold.http import streams as stream
from leasehold.http.auth import Caller, SignedIn
from leasehold.http.idempotency import IdempotencyKey, once
from leasehold.http.request_body import is_quick, off_loop
from leasehold.http.responses import Answer, answer, decode_cursor, page, tagged
from leasehold.http.route import needs, router
from leasehold.http.services import services_of
from leasehold.http.stream_subjects import Subject
from leasehold.http.types import CancelRequest, Cursor, Events, Id, JobMoved, Name, Page
from leasehold.job import State
from leasehold.json_codec import plain_options
from leasehold.redact import MASK

routes = router("flows")
READ = needs("jobs:read")
WRITE = needs("jobs:write")
WRITE_LARGE = needs("jobs:write", large=True)

#: What the stream of a flow follows. Whose it is, is answered without a count of its steps.
FLOW = Subject(
    word="flow",
    heads=engine.flow_heads,
    own=lambda db, tenant, flow_id: engine.Flows(db, tenant, lambda: None).get(flow_id, counted=False),
    get=lambda db, tenant, flow_id: engine.Flows(db, tenant, lambda: None).get(flow_id),
    shown=FlowInfo,
)

Limit = Annotated[int, Query(ge=1, le=200)]


@routes.post(
    "/v1/flows",
    operation_id="flows.create",
    summary="Start a flow: all its steps, or none",
    status_code=202,
    response_model=FlowMade,
    openapi_extra=WRITE_LARGE,
)
async def create(
    request: Request, caller: SignedIn, body: FlowRequest, idempotency_key: IdempotencyKey = None
) -> Response:
    flow = await off_loop(request, _flow, body, request.state.traceparent, in_turns=not is_quick(request))
    if not body.force:
        services = services_of(request)
        await services.require_kinds(services.db, caller.tenant, {step.kind for step in body.steps})

    async def operate(flows: engine.Flows) -> Answer:
        flow_id = await flows.start(flow, prepare=_as_encoded)
        state = (await flows.get(flow_id, counted=False)).state  # a flow without steps, or with joins alone, has ended
        at = f"/v1/flows/{flow_id}"
        headers = {"Location": at, "Link": f'<{at}/events>; rel="monitor"'}
        return Answer(status=202, value=FlowMade(flow_id=flow_id, state=state), headers=headers)

    return await _acted(request, caller, idempotency_key, operate)


@routes.get(
    "/v1/flows",
    operation_id="flows.list",
    summary="The newest flows first, without counts",
    response_model=Page[FlowInfo],
    openapi_extra=READ,
)
async def list_(
    request: Request,
    caller: SignedIn,
    state: FlowState | None = None,
    name: Name | None = None,
    limit: Limit = 50,
    cursor: Cursor | None = None,
) -> Response:
    found = await _flows(request, caller).list(state=state, name=name, before=decode_cursor(cursor), limit=limit + 1)
    return page(request, found, limit=limit, last="flow_id", of=FlowInfo)


@routes.get(
    "/v1/flows/{flow_id}",
    operation_id="flows.get",
    summary="One flow, with how many of its steps are in which state",
    response_model=FlowInfo,
    openapi_extra=READ,
)
async def get(request: Request, caller: SignedIn, flow_id: Id) -> Response:
    return tagged(request, await _flows(request, caller).get(flow_id))


@routes.get(
    "/v1/flows/{flow_id}/steps",
    operation_id="flows.steps",
    summary="The steps of a flow and what they wait for, in the order they were written",
    response_model=Page[StepInfo],
    openapi_extra=READ,
)
async def steps(
    request: Request, caller: SignedIn, flow_id: Id, limit: Limit = 100, cursor: Cursor | None = None
) -> Response:
    found = await _flows(request, caller).steps(flow_id, after=decode_cursor(cursor), limit=limit + 1)
    return page(request, found, limit=limit, last="job_id", of=StepInfo)


@routes.get(
    "/v1/flows/{flow_id}/events",
    operation_id="flows.events",
    summary="The events of a flow: a page of JSON, or a live stream with `Accept: text/event-stream`",
    response_model=Events,
    responses=stream.PAGE_OR_STREAM,
    openapi_extra=needs("jobs:read", tickets=True),
)
async def events(
    request: Request,
    caller: SignedIn,
    flow_id: Id,
    after: Annotated[int, Query(ge=0, le=2_000_000_000, description="Only events after this number.")] = 0,
    limit: Limit = 100,
    last_event_id: stream.LastId = None,
    last_event_id_query: stream.LastIdQuery = None,
    ticket: stream.Ticket = None,
) -> Response:
    if stream.is_wanted(request):
        last = last_event_id or last_event_id_query
        return await stream.open_stream(services_of(request), caller, flow_id, last, subject=FLOW)
    await _flows(request, caller).get(flow_id, counted=False)
    found = await jobs.events_since(services_of(request).db, caller.tenant, flow_id, after, limit + 1)
    data, more = found[:limit], len(found) > limit
    return answer(Events(data=data, next_after=data[-1].seq if data else after, has_more=more))


@routes.post(
    "/v1/flows/{flow_id}/cancel",
    operation_id="flows.cancel",
    summary="Cancel a flow: what has not started never will, what runs is asked to end",
    response_model=FlowMoved,
    responses={202: {"model": FlowMoved, "description": "Something still runs, and is asked to end"}},
    openapi_extra=WRITE,
)
async def cancel(
    request: Request,
    caller: SignedIn,
    flow_id: Id,
    body: CancelRequest | None = None,
    idempotency_key: IdempotencyKey = None,
) -> Response:
    async def operate(flows: engine.Flows) -> Answer:
        became = await flows.cancel(flow_id, body.reason if body else None)
        requested = became == "requested"
        value = FlowMoved(flow_id=flow_id, state="running" if became == "requested" else became, stopping=requested)
        return Answer(status=202 if requested else 200, value=value)

    return await _acted(request, caller, idempotency_key, operate)


@routes.post(
    "/v1/flows/{flow_id}/retry",
    operation_id="flows.retry",
    summary="Go on with a flow that failed or was canceled; steps that succeeded are kept",
    response_model=FlowMoved,
    openapi_extra=WRITE,
)
async def retry(request: Request, caller: SignedIn, flow_id: Id, idempotency_key: IdempotencyKey = None) -> Response:
    async def operate(flows: engine.Flows) -> Answer:
        await flows.retry(flow_id)
        state = (await flows.get(flow_id, counted=False)).state
        return Answer(status=200, value=FlowMoved(flow_id=flow_id, state=state, stopping=False))

    return await _acted(request, caller, idempotency_key, operate)


@routes.post(
    "/v1/flows/{flow_id}/signal",
    operation_id="flows.signal",
    summary="Send a signal to a step of a flow; kept until one waits for it",
    response_model=SignalSent,
    openapi_extra=WRITE,
)
async def signal(
    request: Request, caller: SignedIn, flow_id: Id, body: SignalRequest, idempotency_key: IdempotencyKey = None
) -> Response:
    async def operate(flows: engine.Flows) -> Answer:
        await flows.get(flow_id, counted=False)
        taken = await flows.send_signal(body.signal, body.key or flow_id, body.payload)
        return Answer(status=200, value=SignalSent(signal=body.signal, key=body.key or str(flow_id), taken=taken))

    return await _acted(request, caller, idempotency_key, operate)


@routes.get(
    "/v1/approvals",
    operation_id="approvals.list",
    summary="What waits for a person, the oldest first",
    response_model=Page[Approval],
    openapi_extra=READ,
)
async def approvals(request: Request, caller: SignedIn, limit: Limit = 50, cursor: Cursor | None = None) -> Response:
    found = await _flows(request, caller).approvals(after=decode_cursor(cursor), limit=limit + 1)
    visible = found if caller.sees_payloads else [replace(one, payload=MASK) for one in found]
    return page(request, visible, limit=limit, last="job_id", of=Approval)


@routes.post(
    "/v1/approvals/{job_id}/approve",
    operation_id="approvals.approve",
    summary="Approve: the step succeeds and its flow goes on",
    response_model=JobMoved,
    openapi_extra=WRITE,
)
async def approve(
    request: Request,
    caller: SignedIn,
    job_id: Id,
    body: DecisionRequest | None = None,
    idempotency_key: IdempotencyKey = None,
) -> Response:
    async def operate(flows: engine.Flows) -> Answer:
        await flows.approve(job_id, body.note if body else None)
        return Answer(status=200, value=JobMoved(job_id=job_id, state=State.SUCCEEDED))

    return await _acted(request, caller, idempotency_key, operate)


@routes.post(
    "/v1/approvals/{job_id}/reject",
    operation_id="approvals.reject",
    summary="Reject: the step fails, and what waits for it decides what becomes of the flow",
    response_model=JobMoved,
    openapi_extra=WRITE,
)
async def reject(
    request: Request,
    caller: SignedIn,
    job_id: Id,
    body: DecisionRequest | None = None,
    idempotency_key: IdempotencyKey = None,
) -> Response:
    async def operate(flows: engine.Flows) -> Answer:
        await flows.reject(job_id, body.note if body else None)
        return Answer(status=200, value=JobMoved(job_id=job_id, state=State.FAILED))

    return await _acted(request, caller, idempotency_key, operate)


async def _acted(
    request: Request, caller: Caller, key: str | None, act: Callable[[engine.Flows], Awaitable[Answer]]
) -> Response:
    """In one transaction, once for each Idempotency-Key; workers are woken when it is committed."""

    async def operate(scope: ActorTransaction) -> Answer:
        return await act(_flows(request, caller, scope))

    response = await once(request, caller, key, operate)
    services_of(request).backend.announce()
    return response


def _flows(request: Request, caller: Caller, db: Database | None = None) -> engine.Flows:
    return engine.Flows(db or services_of(request).db, caller.tenant, lambda: None)


def _flow(body: FlowRequest, trace: str | None, *, in_turns: bool) -> Flow:
    flow = Flow(body.name, deadline=body.deadline or body.deadline_s)
    for asked in body.steps:
        step = Step(
            kind=asked.kind,
            payload=json_codec.encode({} if asked.payload is None else asked.payload, in_turns=in_turns),
            name=asked.name,
            on_failure=asked.on_failure,
            options={"traceparent": trace, **(asked.options.model_dump(exclude_none=True) if asked.options else {})},
            wait=plain_options(asked.wait.model_dump(exclude_none=True)) if asked.wait else None,
        )
        flow.include(step, after=asked.after)
    return flow


def _as_encoded(kind: str, text: str, options: Mapping[str, Any]) -> tuple[str, dict[str, Any]]:
    """Of a step whose payload is JSON text already."""
    return text, plain_options(options)

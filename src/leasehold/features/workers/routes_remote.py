"""``/v1/workers/…``: how a worker without a database claims jobs, beats for them and says how they ended.

The key decides whose jobs: a tenant's key is granted jobs of that tenant alone, one of the installation those of all.
"""

import random
import time
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from fastapi import Request, Response

from leasehold import json_codec
from leasehold.errors import BadInput, LeaseLost, TooLarge
from leasehold.features.workers import store as remote
from leasehold.features.workers.long_poll import Ready, Waiting
from leasehold.features.workers.schemas import (
    Beaten,
    BeatRequest,
    ClaimRequest,
    EndedIn,
    ErrorIn,
    Extended,
    ExtendRequest,
    FinishRequest,
    Grants,
    Items,
    ProgressReport,
    Registered,
    RegisterRequest,
    SayRequest,
    Stopped,
)
from leasehold.features.workers.store import Key
from leasehold.http.auth import Caller, SignedIn
from leasehold.http.problems import Problem
from leasehold.http.request_body import is_quick, off_loop
from leasehold.http.responses import JSON, answer, encode, plain
from leasehold.http.route import needs, router
from leasehold.http.services import Services, services_of
from leasehold.http.types import Id
from leasehold.job import AttemptOutcome, ClaimedJob
from leasehold.program.log_fields import log_fields
from leasehold.program.outcomes import storable
from leasehold.redact import redact

routes = router("workers")
_WORK = needs("work", "operator")
_WORK_LARGE = needs("work", "operator", large=True)
#: A claim that waits looks this often whether or not it is woken; and where wake-ups reach the server.
_POLL_SECONDS = 1.0
_HEARING_POLL_SECONDS = (10.0, 30.0)
_LARGEST = 2**63 - 1


@dataclass(frozen=True, slots=True, kw_only=True)
class Item:
    """What became of one item of a request."""

    token: str
    status: int = 200
    code: str = "accepted"
    detail: str | None = None


@routes.post(
    "/v1/workers",
    operation_id="workers.register",
    summary="Register a remote worker",
    status_code=201,
    response_model=Registered,
    openapi_extra=_WORK,
)
async def register(request: Request, caller: SignedIn, body: RegisterRequest) -> Response:
    worker = await remote.register(
        _key(request, caller),
        name=body.name,
        version=body.version,
        queues=body.queues,
        kinds=sorted(set(body.kinds)),
        slots=body.slots,
        lease_s=body.lease_s,
    )
    return answer({"worker_id": worker, "lease_s": body.lease_s, "beat_s": body.lease_s / 3}, status=201)


@routes.post(
    "/v1/workers/{worker_id}/claim",
    operation_id="workers.claim",
    summary="Claim jobs, or wait for some",
    response_model=Grants,
    openapi_extra=_WORK,
)
async def claim(request: Request, caller: SignedIn, worker_id: Id, body: ClaimRequest) -> Response:
    services, key = services_of(request), _key(request, caller)
    held = [_number(token) for token in body.held]
    until = time.monotonic() + body.wait_s
    with services.part(Ready).waiting(worker_id, body.queues) as waiting:
        while True:
            grants = await remote.claim(key, worker_id, body.queues, body.n, held=held)
            left = until - time.monotonic()
            if grants or left <= 0 or waiting.over:
                break
            if not await _woken(request, waiting, min(left, random.uniform(*_HEARING_POLL_SECONDS))):
                break
    if grants:
        services.news.notify()
    return Response(b'{"data":[' + b",".join(map(_grant, grants)) + b"]}", media_type=JSON)


async def _woken(request: Request, waiting: Waiting, seconds: float) -> bool:
    """Wait until it is time to look again. False when nobody would read the grants: their jobs would wait."""
    hub, until = services_of(request).hub, time.monotonic() + seconds
    while (left := until - time.monotonic()) > 0:
        woken = await waiting.wait(min(left, _POLL_SECONDS))
        if await request.is_disconnected():
            return False
        if woken or not hub.listens:
            break
    return True


@routes.post(
    "/v1/workers/{worker_id}/beat",
    operation_id="workers.beat",
    summary="Say that the worker is alive; hear which attempts to stop",
    response_model=Beaten,
    openapi_extra=_WORK,
)
async def beat(request: Request, caller: SignedIn, worker_id: Id, body: BeatRequest) -> Response:
    beaten = await remote.beat(_key(request, caller), worker_id, [_number(token) for token in body.held])
    return answer({"cancel": [*map(str, beaten.cancel)], "lost": [*map(str, beaten.lost)]})


@routes.post(
    "/v1/workers/{worker_id}/finish",
    operation_id="workers.finish",
    summary="Say how attempts ended; each is accepted or refused by itself",
    response_model=Items,
    openapi_extra=_WORK_LARGE,
)
async def finish(request: Request, caller: SignedIn, worker_id: Id, body: FinishRequest) -> Response:
    _refuse_twice([one.token for one in body.ended])
    fit, unfit = await off_loop(request, _sorted_out, body.ended, in_turns=not is_quick(request))
    jobs = [one.job_id for one in body.ended if one.token not in unfit]
    verdicts = await remote.finish(_key(request, caller), worker_id, jobs, fit)
    services_of(request).news.notify()
    return answer({"data": [_item(one.token, unfit.get(one.token), verdicts) for one in body.ended]})


@routes.post(
    "/v1/workers/{worker_id}/events",
    operation_id="workers.say",
    summary="Store progress and log lines of running attempts",
    response_model=Items,
    openapi_extra=_WORK_LARGE,
)
async def say(request: Request, caller: SignedIn, worker_id: Id, body: SayRequest) -> Response:
    key = _key(request, caller)
    items = [await _said(key, worker_id, one, await off_loop(request, _line, one)) for one in body.said]
    services_of(request).news.notify()
    return answer({"data": items})


@routes.post(
    "/v1/workers/{worker_id}/extend",
    operation_id="workers.extend",
    summary="Move the hard timeout of a running attempt",
    response_model=Extended,
    openapi_extra=_WORK,
)
async def extend(request: Request, caller: SignedIn, worker_id: Id, body: ExtendRequest) -> Response:
    deadline = await remote.extend(_key(request, caller), worker_id, _number(body.token), body.seconds)
    return answer({"deadline": deadline})


@routes.post(
    "/v1/workers/{worker_id}/stop",
    operation_id="workers.stop",
    summary="Leave in good order: what the worker still holds goes back, uncounted",
    response_model=Stopped,
    openapi_extra=_WORK,
)
async def stop(request: Request, caller: SignedIn, worker_id: Id) -> Response:
    released = await remote.end(_key(request, caller), worker_id)
    services_of(request).backend.announce()
    return answer({"released": released})


def _key(request: Request, caller: Caller) -> Key:
    services: Services = services_of(request)
    db = services.operator if caller.tenant_id is None else services.db
    return Key(db=db, key_id=caller.key_id, tenant=caller.tenant_id)


def _number(token: str) -> int:
    """The token's number; what is above all tokens is nobody's, as the largest one."""
    return min(int(token), _LARGEST)


def _grant(grant: ClaimedJob) -> bytes:
    """The payload goes through as PostgreSQL wrote it: nothing is read here that only the handler wants to read."""
    head = encode(plain(grant, without=frozenset({"payload"})) | {"token": str(grant.token)})
    return head[:-1] + b',"payload":' + grant.payload.encode() + b"}"


def _sorted_out(reports: Sequence[EndedIn], *, in_turns: bool) -> tuple[list[AttemptOutcome], dict[str, str]]:
    """What can be kept, and why not the rest, by token."""
    fit: list[AttemptOutcome] = []
    unfit: dict[str, str] = {}
    for one in reports:
        try:
            fit.append(_ended(one, in_turns=in_turns))
        except (BadInput, TooLarge) as problem:
            unfit[one.token] = str(problem)
    return fit, unfit


def _ended(one: EndedIn, *, in_turns: bool) -> AttemptOutcome:
    succeeded = one.outcome == "succeeded" and one.result is not None
    return AttemptOutcome(
        token=_number(one.token),
        outcome=one.outcome,
        result=json_codec.encode(one.result, what="result", in_turns=in_turns) if succeeded else None,
        error=None if one.error is None or one.outcome == "succeeded" else _error(one.error),
        delay_s=one.delay_s,
    )


def _error(error: ErrorIn) -> str:
    """As an exception of our own workers is kept: see ``outcomes.describe``."""
    told: dict[str, Any] = {"type": storable(error.type), "message": storable(redact(error.message))[:4000]}
    if error.traceback:
        told["traceback"] = storable(redact(error.traceback))[-6000:]
    if error.gate_after_s is not None:
        told["gate_after_s"] = error.gate_after_s
    return json_codec.encode(told, what="error")


def _item(token: str, unfit: str | None, verdicts: dict[int, str]) -> Item:
    if unfit is not None:
        return Item(token=token, status=422, code="invalid", detail=unfit)
    verdict = verdicts[_number(token)]
    return _lease_lost(token) if verdict == "lost" else Item(token=token, code=verdict)


def _lease_lost(token: str) -> Item:
    detail = "the lease was taken, or never was this worker's: nothing was written"
    return Item(token=token, status=409, code="lease_lost", detail=detail)


def _line(one: ProgressReport) -> tuple[str | None, str | None]:
    """Its message and its fields, redacted."""
    message = None if one.message is None else storable(redact(one.message))[:4000]
    return message, log_fields(one.level, one.fields, ()) if one.type == "log" else None


async def _said(key: Key, worker: UUID, one: ProgressReport, line: tuple[str | None, str | None]) -> Item:
    message, data = line
    progress = one.progress if one.type == "progress" else None
    try:
        token = _number(one.token)
        await remote.append_event(key, worker, token, one.type, message=message, progress=progress, data=data)
    except LeaseLost:
        return _lease_lost(one.token)
    return Item(token=one.token)


def _refuse_twice(tokens: Sequence[str]) -> None:
    token, times = Counter(tokens).most_common(1)[0]
    if times > 1:
        raise Problem("invalid", f"the token {token} stands twice in this request")

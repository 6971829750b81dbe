"""``Idempotency-Key``: the same request again gets the same answer, and nothing is done twice."""

import hashlib
from collections.abc import Awaitable, Callable
from typing import Annotated

from fastapi import Header, Request, Response

from leasehold.database.actor import ActorTransaction
from leasehold.http.auth import Caller
from leasehold.http.idempotency_store import Stored, begin_request, end_request
from leasehold.http.problems import Problem
from leasehold.http.responses import JSON, Answer, encode
from leasehold.http.services import services_of

IdempotencyKey = Annotated[
    str | None,
    Header(
        min_length=1,
        max_length=255,
        description="The same key with the same request within 24 hours gives the first answer again.",
    ),
]


async def once(
    request: Request, caller: Caller, key: str | None, operate: Callable[[ActorTransaction], Awaitable[Answer]]
) -> Response:
    """Operate in one transaction; with a key its answer is kept there too. What fails is undone, and not kept."""
    async with ActorTransaction.open(services_of(request).db, tenant=caller.tenant, actor=caller.actor) as scope:
        return await once_within(scope, request, caller, key, lambda: operate(scope))


async def once_within(
    scope: ActorTransaction, request: Request, caller: Caller, key: str | None, operate: Callable[[], Awaitable[Answer]]
) -> Response:
    """The same in a transaction that is open already."""
    if key is None:
        return (await operate()).response()
    if stored := await begin_request(scope, caller.tenant, key, _fingerprint(request)):
        return _replay(stored)
    answer = await operate()
    await end_request(scope, caller.tenant, key, _kept(answer))
    return answer.response()


def refuse_key(request: Request) -> None:
    """For answers that hold a secret: they are not kept, so they cannot be given again."""
    if "idempotency-key" in request.headers:
        raise Problem("bad_request", "this answer holds a secret and is not kept: send no Idempotency-Key")


def _fingerprint(request: Request) -> bytes:
    asked = "\0".join((request.method, request.url.path, request.url.query))
    return hashlib.sha256(asked.encode() + b"\0" + getattr(request.state, "body_digest", b"")).digest()


def _kept(answer: Answer) -> Stored:
    return Stored(status=answer.status, headers=dict(answer.headers), answer=encode(answer.value).decode())


def _replay(stored: Stored) -> Response:
    headers = stored.headers | {"Idempotent-Replayed": "true"}
    return Response(stored.answer, stored.status, headers, media_type=JSON)

"""``/v1/gates``: the tenant's rate limits and circuit breakers."""

from typing import Annotated

from fastapi import Query, Request, Response

from leasehold.database.actor import ActorDatabase
from leasehold.features.limits import store as engine
from leasehold.features.limits.model import Gate
from leasehold.features.limits.schemas import GateHold, GateName, GateRule
from leasehold.http.auth import Caller, SignedIn
from leasehold.http.responses import answer, page_by_name
from leasehold.http.route import needs, router
from leasehold.http.services import services_of
from leasehold.http.types import Page

routes = router("gates")
READ = needs("jobs:read")
WRITE = needs("jobs:write")

Limit = Annotated[int, Query(ge=1, le=200)]


@routes.get(
    "/v1/gates",
    operation_id="gates.list",
    summary="The rules, and the gates that have let a job through, by name",
    response_model=Page[Gate],
    openapi_extra=READ,
)
async def list_(request: Request, caller: SignedIn, limit: Limit = 50, cursor: GateName | None = None) -> Response:
    found = await engine.Gates(services_of(request).db, caller.tenant).list(after=cursor or "", limit=limit + 1)
    return page_by_name(request, found, limit=limit, of=Gate, name="gate")


@routes.get(
    "/v1/gates/{gate}",
    operation_id="gates.get",
    summary="How a gate stands",
    response_model=Gate,
    openapi_extra=READ,
)
async def get(request: Request, caller: SignedIn, gate: GateName) -> Response:
    return answer(await _gates(request, caller).get(gate))


@routes.put(
    "/v1/gates/{gate}",
    operation_id="gates.set",
    summary="Set the rule of a gate or of a class of gates, in the place of the one that it has",
    response_model=Gate,
    openapi_extra=WRITE,
)
async def set_(request: Request, caller: SignedIn, gate: GateName, body: GateRule) -> Response:
    gates = _gates(request, caller)
    await gates.set(gate, **body.model_dump())
    return answer(await gates.get(gate))


@routes.delete(
    "/v1/gates/{gate}",
    operation_id="gates.remove",
    summary="Remove a rule; who waits for it may go",
    status_code=204,
    response_class=Response,
    openapi_extra=WRITE,
)
async def remove(request: Request, caller: SignedIn, gate: GateName) -> Response:
    await _gates(request, caller).remove(gate)
    return Response(None, 204)


@routes.post(
    "/v1/gates/{gate}/hold",
    operation_id="gates.hold",
    summary="Let nobody pass a gate for a while",
    response_model=Gate,
    openapi_extra=WRITE,
)
async def hold(request: Request, caller: SignedIn, gate: GateName, body: GateHold) -> Response:
    gates = _gates(request, caller)
    await gates.hold(gate, body.seconds)
    return answer(await gates.get(gate))


@routes.post(
    "/v1/gates/{gate}/reset",
    operation_id="gates.reset",
    summary="Close the breaker of a gate and end what holds it; its rate goes on",
    response_model=Gate,
    openapi_extra=WRITE,
)
async def reset(request: Request, caller: SignedIn, gate: GateName) -> Response:
    gates = _gates(request, caller)
    await gates.reset(gate)
    return answer(await gates.get(gate))


def _gates(request: Request, caller: Caller) -> engine.Gates:
    return engine.Gates(ActorDatabase(services_of(request).db, caller.actor), caller.tenant)

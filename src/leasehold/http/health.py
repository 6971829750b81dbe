"""``/healthz``, ``/readyz``, ``/metrics``."""

import asyncio
import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

from fastapi import Request, Response

from leasehold.database import migrate, sql_files
from leasehold.database.database import Database
from leasehold.engine.metrics import collect_metrics, process_metrics
from leasehold.errors import LeaseholdError
from leasehold.http.auth import sign_in
from leasehold.http.client_address import is_from_here
from leasehold.http.responses import answer
from leasehold.http.route import router
from leasehold.http.services import Services, services_of
from leasehold.metrics import CONTENT_TYPE, Sample, exposition

#: Whoever asks has little patience, and the answer is no by then.
_READY_SECONDS = 1.0

routes = router("health")


@dataclass(frozen=True, slots=True, kw_only=True)
class Health:
    status: Literal["ok"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Readiness:
    status: Literal["ready", "not ready"]
    database: bool
    pending_files: int | None


@routes.get("/healthz", operation_id="health.alive", summary="Is the process alive?", response_model=Health)
async def healthz() -> Response:
    return answer(Health(status="ok"))


@routes.get(
    "/readyz",
    operation_id="health.ready",
    summary="Can it serve: is the database there, with the schema of this program?",
    response_model=Readiness,
    responses={503: {"model": Readiness, "description": "Not ready"}},
)
async def readyz(request: Request) -> Response:
    try:
        async with asyncio.timeout(_READY_SECONDS):
            pending = len(await pending_files(services_of(request).probe))
    except (LeaseholdError, TimeoutError):
        return answer(Readiness(status="not ready", database=False, pending_files=None), status=503)
    if pending:
        return answer(Readiness(status="not ready", database=True, pending_files=pending), status=503)
    return answer(Readiness(status="ready", database=True, pending_files=0))


@routes.get(
    "/metrics",
    operation_id="health.metrics",
    summary="Numbers for Prometheus; for a key with the scope metrics or operator, or from this machine",
    response_class=Response,
    responses={200: {"content": {"text/plain": {"schema": {"type": "string"}}}, "description": "Exposition format"}},
)
async def metrics(request: Request) -> Response:
    services = services_of(request)
    if not is_from_here(request):
        await sign_in(request, frozenset({"operator", "metrics"}), tickets=False)
    text = exposition([*await collect_metrics(services.operator), *_of_process(services)])
    return Response(text, media_type=CONTENT_TYPE)


def _of_process(services: Services) -> Iterator[Sample]:
    yield Sample("http_streams", {}, services.hub.streams)
    for status, count in sorted(services.answered.items()):
        yield Sample("http_answers_total", {"status": str(status)}, count)
    pools = {"api": services.db} | ({"operator": services.operator_db} if services.operator_db else {})
    if services.replica:
        pools["replica"] = services.replica.copy
        if math.isfinite(stale_s := services.replica.staleness()):  # it has answered once
            yield Sample("replica_staleness_seconds", {}, stale_s)
    yield from process_metrics(services.lag, pools)


async def pending_files(db: Database) -> list[str]:
    """The files that this program has and the database lacks; none where the database is of a later release."""
    [found] = await db.call("list_schema_files")
    return [] if (found["release"] or 0) > sql_files.RELEASE else migrate.pending_files(found["files"])

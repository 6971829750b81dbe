"""``/healthz``, ``/readyz``, ``/metrics``."""

import asyncio
import math
from collections.abc import Iterator

from fastapi import Request, Response

from leasehold.api.answers import answer
from leasehold.api.auth import sign_in
from leasehold.api.here import is_from_here
from leasehold.api.models import Health, Readiness
from leasehold.api.route import router
from leasehold.api.services import Services, services_of
from leasehold.engine import watch
from leasehold.errors import LeaseholdError
from leasehold.metrics import CONTENT_TYPE, Sample, exposition

#: Whoever asks has little patience, and the answer is no by then.
_READY_SECONDS = 1.0

routes = router("health")


@routes.get("/healthz", operation_id="health.alive", summary="Is the process alive?", response_model=Health)
async def healthz() -> Response:
    return answer({"status": "ok"})


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
            pending = len(await watch.pending_files(services_of(request).probe))
    except (LeaseholdError, TimeoutError):
        return answer({"status": "not ready", "database": False, "pending_files": None}, status=503)
    if pending:
        return answer({"status": "not ready", "database": True, "pending_files": pending}, status=503)
    return answer({"status": "ready", "database": True, "pending_files": 0})


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
    text = exposition([*await watch.metrics(services.operator), *_of_process(services)])
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
    yield from watch.process_metrics(services.lag, pools)

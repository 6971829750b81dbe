"""``/healthz``, ``/readyz``, ``/metrics``."""

import ipaddress
from collections.abc import Iterable, Iterator

from fastapi import Request, Response

from leasehold.api.answers import answer
from leasehold.api.auth import client_address, sign_in
from leasehold.api.models import Health, Readiness
from leasehold.api.route import router
from leasehold.api.services import Services, services_of
from leasehold.engine import watch
from leasehold.errors import LeaseholdError

routes = router("health")
_METRICS = "text/plain; version=0.0.4; charset=utf-8"
_HELP = {
    "jobs": "Jobs that have not ended, counted up to 10000 in each queue and state.",
    "queue_paused": "Whether a queue is paused.",
    "workers": "Workers that are alive.",
    "worker_slots": "Attempts that all workers together can run at once.",
    "http_streams": "Streams and waiting requests that are open in this process.",
    "http_answers_total": "Answers of this process by status.",
}


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
        pending = len(await watch.pending_files(services_of(request).db))
    except LeaseholdError:
        return answer({"status": "not ready", "database": False, "pending_files": None}, status=503)
    if pending:
        return answer({"status": "not ready", "database": True, "pending_files": pending}, status=503)
    return answer({"status": "ready", "database": True, "pending_files": 0})


@routes.get(
    "/metrics",
    operation_id="health.metrics",
    summary="Numbers for Prometheus; for an operator's key, or from this machine",
    response_class=Response,
    responses={200: {"content": {"text/plain": {"schema": {"type": "string"}}}, "description": "Exposition format"}},
)
async def metrics(request: Request) -> Response:
    services = services_of(request)
    if not _is_from_here(request, services):
        await sign_in(request, frozenset({"operator"}), tickets=False)
    lines = _exposition([*_of_database(await watch.gauges(services.operator)), *_of_process(services)])
    return Response("\n".join(lines) + "\n", media_type=_METRICS)


def _is_from_here(request: Request, services: Services) -> bool:
    """A proxy on this machine passes strangers on: what it passed on does not come from here."""
    passed_on = "forwarded" in request.headers or "x-forwarded-for" in request.headers
    return services.loopback and not passed_on and is_loopback(client_address(request))


def is_loopback(host: str) -> bool:
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"


Sample = tuple[str, dict[str, str], float]


def _of_database(gauges: Iterable[watch.Gauge]) -> Iterator[Sample]:
    for gauge in gauges:
        labels = {"queue": gauge.queue, "state": gauge.state}
        yield gauge.gauge, {name: value for name, value in labels.items() if value}, gauge.value


def _of_process(services: Services) -> Iterator[Sample]:
    yield "http_streams", {}, services.hub.streams
    for status, count in sorted(services.answered.items()):
        yield "http_answers_total", {"status": str(status)}, count


def _exposition(samples: list[Sample]) -> Iterator[str]:
    for name in dict.fromkeys(name for name, _, _ in samples):
        yield f"# HELP leasehold_{name} {_HELP[name]}"
        yield f"# TYPE leasehold_{name} {'counter' if name.endswith('_total') else 'gauge'}"
        for other, labels, value in samples:
            if other == name:
                inside = ",".join(f'{label}="{text}"' for label, text in labels.items())
                yield f"leasehold_{name}{{{inside}}} {value:g}" if inside else f"leasehold_{name} {value:g}"

"""``/v1/workers``."""

from fastapi import Request, Response

from leasehold.engine import leases
from leasehold.http.auth import SignedIn
from leasehold.http.responses import answer_all
from leasehold.http.route import needs, router
from leasehold.http.services import services_of
from leasehold.http.types import Listing
from leasehold.job import WorkerInfo

routes = router("workers")


@routes.get(
    "/v1/workers",
    operation_id="workers.list",
    summary="Workers that are alive, and those that ended within the last hour",
    response_model=Listing[WorkerInfo],
    openapi_extra=needs("operator"),
)
async def list_(request: Request, caller: SignedIn) -> Response:
    return answer_all(await leases.list_workers(services_of(request).operator), of=WorkerInfo)

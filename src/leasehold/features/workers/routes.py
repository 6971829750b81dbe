"""``/v1/workers``."""

from fastapi import Request, Response

from leasehold.api.answers import answer
from leasehold.api.auth import SignedIn
from leasehold.api.models import Workers
from leasehold.api.route import needs, router
from leasehold.api.services import services_of
from leasehold.engine import workers

routes = router("workers")


@routes.get(
    "/v1/workers",
    operation_id="workers.list",
    summary="Workers that are alive, and those that ended within the last hour",
    response_model=Workers,
    openapi_extra=needs("operator"),
)
async def list_(request: Request, caller: SignedIn) -> Response:
    return answer({"data": await workers.list_workers(services_of(request).operator)})

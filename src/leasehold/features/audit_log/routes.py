"""``/v1/audit``: who did what."""

from typing import Annotated

from fastapi import Query, Request, Response

from leasehold.api.answers import decode_cursor, page
from leasehold.api.auth import SignedIn
from leasehold.api.models import AuditLog, Cursor
from leasehold.api.route import needs, router
from leasehold.api.services import services_of
from leasehold.engine import watch

routes = router("audit")


@routes.get(
    "/v1/audit",
    operation_id="audit.list",
    summary="The newest entries of the audit log: the tenant's own, or all for the operator",
    response_model=AuditLog,
    openapi_extra=needs("admin", "operator"),
)
async def list_(
    request: Request,
    caller: SignedIn,
    limit: Annotated[int, Query(ge=1, le=200)] = 50,
    cursor: Cursor | None = None,
) -> Response:
    services = services_of(request)
    db = services.operator if caller.tenant_id is None else services.db
    found = await watch.list_audit(db, caller.tenant_id, before=decode_cursor(cursor), limit=limit + 1)
    return page(request, found, limit=limit, last="audit_id")

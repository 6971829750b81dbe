"""``/v1/audit``: who did what."""

from typing import Annotated

from fastapi import Query, Request, Response

from leasehold.engine.audit import Audit, list_audit
from leasehold.http.auth import SignedIn
from leasehold.http.responses import decode_cursor, page
from leasehold.http.route import needs, router
from leasehold.http.services import services_of
from leasehold.http.types import Cursor, Page

routes = router("audit")


@routes.get(
    "/v1/audit",
    operation_id="audit.list",
    summary="The newest entries of the audit log: the tenant's own, or all for the operator",
    response_model=Page[Audit],
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
    found = await list_audit(db, caller.tenant_id, before=decode_cursor(cursor), limit=limit + 1)
    return page(request, found, limit=limit, last="audit_id", of=Audit)

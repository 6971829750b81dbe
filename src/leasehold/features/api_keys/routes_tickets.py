"""``/v1/tickets``: a browser's EventSource cannot send a key, so its server gets it a ticket for one stream."""

import secrets

from fastapi import Request, Response

from leasehold.features.api_keys.schemas import TicketMade, TicketRequest
from leasehold.http.auth import SignedIn
from leasehold.http.idempotency import refuse_key
from leasehold.http.responses import answer
from leasehold.http.route import needs, router
from leasehold.http.services import services_of
from leasehold.tokens import ticket_digest

routes = router("tickets")


@routes.post(
    "/v1/tickets",
    operation_id="tickets.create",
    summary="A ticket that opens one stream, of a job, of a flow or of the tenant, once, within a minute",
    status_code=201,
    response_model=TicketMade,
    openapi_extra=needs("jobs:read"),
)
async def create(request: Request, caller: SignedIn, body: TicketRequest) -> Response:
    refuse_key(request)
    ticket = f"lht_{secrets.token_urlsafe(32)}"
    whose = {"job_id": body.job_id, "flow_id": body.flow_id}
    db, digest = services_of(request).db, ticket_digest(ticket)
    ends = await caller.create_ticket(db, digest, **whose)
    return answer(TicketMade(ticket=ticket, **whose, expires_at=ends), status=201)

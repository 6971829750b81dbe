"""Who calls: a key in ``Authorization: Bearer`` or ``X-API-Key``, or a ticket for one stream."""

import hashlib
from dataclasses import dataclass
from typing import Annotated
from uuid import UUID

from fastapi import Depends, Request

from leasehold import keys
from leasehold.api.limits import refuse_if_spent
from leasehold.api.problems import Problem
from leasehold.api.services import Services, services_of
from leasehold.engine import keys as engine
from leasehold.engine.keys import Holder

#: What a key may be for. The first three are a tenant's; a key of the installation has the last, and only that.
SCOPES = {
    "jobs:read": "look at the tenant's jobs, webhooks and deliveries",
    "jobs:write": "create, cancel, retry and reschedule the tenant's jobs",
    "admin": "the tenant's keys, secrets, webhooks and audit log",
    "operator": "the installation: tenants, queues, workers, all keys and the whole audit log",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Caller:
    """Whoever a request comes from. ``tenant_id`` is None for the operator."""

    key_id: str
    tenant_id: UUID | None
    scopes: frozenset[str]

    @property
    def actor(self) -> str:
        """As the audit log names it."""
        return f"key:{self.key_id}"

    @property
    def tenant(self) -> UUID:
        assert self.tenant_id is not None, "only the operator has no tenant, and no route of a tenant lets it in"
        return self.tenant_id


async def sign_in(request: Request, wanted: frozenset[str], *, tickets: bool) -> Caller:
    """The caller, if any of the wanted scopes is theirs."""
    services = services_of(request)
    address = client_address(request)
    refuse_if_spent(services.ip_refusals.look(address), left=1)
    if tickets and "ticket" in request.query_params and _credentials(request) is None:
        holder = await _by_ticket(request, services)
    else:
        holder = await _by_key(request, services)
    if holder is None:
        services.ip_refusals.take(address)
        raise _unauthenticated("the key is not valid, or not any more")
    allowance = services.key_requests.take(holder.key_id)
    request.state.headers = allowance.headers
    refuse_if_spent(allowance)
    if not wanted & holder.scopes:
        needed = " or ".join(sorted(wanted))
        raise Problem("forbidden", f"this needs a key with the scope {needed}")
    return Caller(key_id=holder.key_id, tenant_id=holder.tenant_id, scopes=holder.scopes)


async def _caller(request: Request) -> Caller:
    caller: Caller = request.state.caller
    return caller


#: The caller that the route let in.
SignedIn = Annotated[Caller, Depends(_caller)]


def client_address(request: Request) -> str:
    return request.client.host if request.client else "unknown"


def ticket_digest(ticket: str) -> bytes:
    return hashlib.sha256(ticket.encode("utf-8", "backslashreplace")).digest()


async def _by_key(request: Request, services: Services) -> Holder | None:
    text = _credentials(request)
    if text is None:
        raise _unauthenticated("there is no key: send it as `Authorization: Bearer <key>` or `X-API-Key: <key>`")
    key = keys.parse(text)
    if key is None or key.env != services.settings.key_env:
        return None
    return await engine.sign_in(services.db, key, services.peppers)


async def _by_ticket(request: Request, services: Services) -> Holder | None:
    taken = await engine.take_ticket(services.db, ticket_digest(request.query_params["ticket"]))
    if taken is None:
        return None
    holder, job_id = taken
    return holder if request.path_params.get("job_id") == str(job_id) else None


def _credentials(request: Request) -> str | None:
    scheme, _, rest = request.headers.get("authorization", "").partition(" ")
    if scheme.lower() == "bearer":
        return rest.strip()
    return request.headers.get("x-api-key")


def _unauthenticated(detail: str) -> Problem:
    return Problem("unauthenticated", detail, headers={"WWW-Authenticate": 'Bearer realm="leasehold"'})

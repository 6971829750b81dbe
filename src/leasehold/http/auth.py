"""Who calls: each feature that knows callers, by keys, tickets or sessions, looks whether it knows this one."""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from datetime import datetime
from functools import cache
from typing import Annotated
from uuid import UUID

from fastapi import Depends, Request

from leasehold.database.database import Database
from leasehold.feature import load_all
from leasehold.http.browsers import CSRF_HEADER, refuse_forged
from leasehold.http.client_address import client_address
from leasehold.http.problems import Problem
from leasehold.http.rate_limits import refuse_if_spent
from leasehold.http.services import SAFE_METHODS, Services, services_of

#: What a caller may be let in for. A tenant's key has some of the first four; a key of the installation has
#: ``operator`` or ``metrics``, and only that. The others are people's.
SCOPES = {
    "jobs:read": "look at the tenant's jobs, webhooks and deliveries",
    "jobs:write": "create, cancel, retry and reschedule the tenant's jobs",
    "work": "run the tenant's jobs of the queues that the key names, as a remote worker",
    "admin": "the tenant's keys, secrets, webhooks and audit log",
    "operator": "the installation: tenants, queues, workers, all keys and the whole audit log",
    "metrics": "the metrics of the installation, for a scraper",
    "members": "the tenant's people and invitations; no key has it",
    "session": "what belongs to whoever is signed in; no key has it",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class TenantName:
    tenant_id: UUID
    name: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Profile:
    """How pages call a visitor, and the tenants that they can choose from."""

    name: str
    memberships: tuple[TenantName, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Caller:
    """Who sends a request: a program with a key. ``tenant_id`` is None for the operator.

    A feature that knows other callers, such as people, derives from it.
    """

    key_id: str  # of the key or the session
    tenant_id: UUID | None
    scopes: frozenset[str]
    csrf_token: str | None = field(default=None, repr=False)  # of a browser's session

    @property
    def actor(self) -> str:
        """As the audit log names it."""
        return f"key:{self.key_id}"

    @property
    def sees_payloads(self) -> bool:
        return True

    @property
    def tenant(self) -> UUID:
        assert self.tenant_id is not None, "a caller without a tenant has none of its scopes"
        return self.tenant_id

    async def create_ticket(
        self, db: Database, digest: bytes, *, job_id: UUID | None, flow_id: UUID | None
    ) -> datetime:
        """Keep a ticket for one stream on behalf of this caller; when it ends."""
        raise Problem("forbidden", "tickets are made by a key or a session")

    async def profile(self, services: Services) -> Profile:
        """For pages: asked for once a page."""
        return Profile(name=f"key {self.key_id[:6]}…")

    def lacks(self, wanted: frozenset[str]) -> Problem:
        """The refusal of a caller who has none of the scopes."""
        return Problem("forbidden", f"this needs a key with the scope {' or '.join(sorted(wanted))}")


class Refused(Problem):
    """Credentials that were never valid, or are so no longer: they may be guesses, so they are counted."""

    def __init__(self, detail: str) -> None:
        super().__init__("unauthenticated", detail, headers=_CHALLENGE)


def is_for(request: Request, job_id: UUID | None, flow_id: UUID | None) -> bool:
    """Whether a ticket for a job, a flow or (neither) the tenant opens the stream of this address."""
    wanted = {"job_id": job_id, "flow_id": flow_id}
    return all(request.path_params.get(name) == (value and str(value)) for name, value in wanted.items())


Authenticate = Callable[[Request, Services, bool], Awaitable[Caller | None]]
_CHALLENGE = {"WWW-Authenticate": 'Bearer realm="leasehold"'}


async def sign_in(request: Request, wanted: frozenset[str], *, tickets: bool = False) -> Caller:
    """The caller, if any of the wanted scopes is theirs. A browser's request that changes something proves itself."""
    caller = await identify(request, tickets=tickets)
    if caller.csrf_token and request.method not in SAFE_METHODS:
        refuse_forged(request, caller.csrf_token, request.headers.get(CSRF_HEADER))
    if not wanted & caller.scopes:
        raise caller.lacks(wanted)
    return caller


async def identify(request: Request, *, tickets: bool = False) -> Caller:
    """The caller, with whatever scopes."""
    services = services_of(request)
    address = client_address(request)
    try:
        async with services.addresses.checking(address):
            caller = await _caller_of(request, services, tickets=tickets)
    except Refused:
        services.addresses.count_refusal(address)
        raise
    except Problem:
        services.addresses.count_request(address)
        raise
    allowance = services.key_requests.take(caller.key_id)
    request.state.headers = allowance.headers
    refuse_if_spent(allowance)
    return caller


async def signed_in(request: Request) -> Caller:
    caller: Caller = request.state.caller
    return caller


#: The caller that the route let in.
SignedIn = Annotated[Caller, Depends(signed_in)]


def credentials(request: Request) -> str | None:
    """The key or token that a request names itself; it wins over what a browser adds to it."""
    scheme, _, rest = request.headers.get("authorization", "").partition(" ")
    if scheme.lower() == "bearer":
        return rest.strip()
    return request.headers.get("x-api-key")


def unauthenticated(detail: str) -> Problem:
    return Problem("unauthenticated", detail, headers=_CHALLENGE)


async def _caller_of(request: Request, services: Services, *, tickets: bool) -> Caller:
    for authenticate in _authenticators():
        if (caller := await authenticate(request, services, tickets)) is not None:
            return caller
    if credentials(request) is not None or (tickets and "ticket" in request.query_params):
        raise Refused("the key is not valid, or not any more")
    raise unauthenticated("there is no key: send it as `Authorization: Bearer <key>` or `X-API-Key: <key>`")


@cache
def _authenticators() -> tuple[Authenticate, ...]:
    """In the order of the features: a key wins over a ticket, and both over a cookie."""
    return tuple(load_all("authenticate"))

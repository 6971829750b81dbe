"""Who calls: a key in ``Authorization: Bearer`` or ``X-API-Key``, a person by JWT or cookie, or a ticket."""

import hashlib
from dataclasses import dataclass, field
from typing import Annotated
from uuid import UUID

from fastapi import Depends, Request

from leasehold import tokens as keys
from leasehold.features.api_keys import store as engine
from leasehold.features.api_keys.model import Holder
from leasehold.features.people import store as people
from leasehold.features.people.browser_session import CSRF_HEADER, csrf_token, has_cookie, refuse_forged, session_token
from leasehold.features.people.jwt import read_token
from leasehold.features.people.model import Session
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
#: What people are let in for in a tenant, by their role there.
ROLES = {
    "viewer": frozenset({"jobs:read"}),
    "member": frozenset({"jobs:read", "jobs:write"}),
    "admin": frozenset({"jobs:read", "jobs:write", "admin"}),
    "owner": frozenset({"jobs:read", "jobs:write", "admin", "members"}),
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Caller:
    """Whoever a request comes from. ``tenant_id`` is None for the operator, and for a person who chose no tenant."""

    key_id: str  # of the key or the session
    tenant_id: UUID | None
    scopes: frozenset[str]
    session: Session | None = None
    csrf_token: str | None = field(default=None, repr=False)  # of a browser's session

    @property
    def actor(self) -> str:
        """As the audit log names it."""
        if self.session is None:
            return f"key:{self.key_id}"
        return f"person:{self.session.person_id}" if self.session.person_id else f"session:{self.key_id}"

    @property
    def sees_payloads(self) -> bool:
        """A viewer sees how the work goes, not what it is about."""
        return self.session is None or self.session.role != "viewer"

    @property
    def tenant(self) -> UUID:
        assert self.tenant_id is not None, "whoever has no tenant has none of its scopes"
        return self.tenant_id


async def sign_in(request: Request, wanted: frozenset[str], *, tickets: bool = False) -> Caller:
    """The caller, if any of the wanted scopes is theirs. A browser's request that changes something proves itself."""
    caller = await identify(request, tickets=tickets)
    if caller.csrf_token and request.method not in SAFE_METHODS:
        refuse_forged(request, caller.csrf_token, request.headers.get(CSRF_HEADER))
    if not wanted & caller.scopes:
        raise _forbidden(caller, wanted)
    return caller


async def identify(request: Request, *, tickets: bool = False) -> Caller:
    """The caller, whatever they may do."""
    services = services_of(request)
    address = client_address(request)
    try:
        async with services.addresses.checking(address):
            caller = await _caller_of(request, services, tickets=tickets)
    except Problem:
        services.addresses.count_request(address)
        raise
    if caller is None:
        services.addresses.count_refusal(address)
        raise unauthenticated("the key is not valid, or not any more")
    allowance = services.key_requests.take(caller.key_id)
    request.state.headers = allowance.headers
    refuse_if_spent(allowance)
    return caller


async def signed_in(request: Request) -> Caller:
    caller: Caller = request.state.caller
    return caller


#: The caller that the route let in.
SignedIn = Annotated[Caller, Depends(signed_in)]


def ticket_digest(ticket: str) -> bytes:
    return hashlib.sha256(ticket.encode("utf-8", "backslashreplace")).digest()


def unauthenticated(detail: str) -> Problem:
    return Problem("unauthenticated", detail, headers={"WWW-Authenticate": 'Bearer realm="leasehold"'})


async def _caller_of(request: Request, services: Services, *, tickets: bool) -> Caller | None:
    """What a request says itself wins over what a browser adds to it."""
    if (text := _credentials(request)) is not None:
        return await _by_key(text, services)
    if tickets and "ticket" in request.query_params:
        return await _by_ticket(request, services)
    if has_cookie(request):
        return await _by_cookie(request, services)
    raise unauthenticated("there is no key: send it as `Authorization: Bearer <key>` or `X-API-Key: <key>`")


async def _by_key(text: str, services: Services) -> Caller | None:
    if text.count(".") == 2:  # no key has a dot
        return await _by_token(text, services)
    key = keys.parse(text)
    if key is None or key.env != services.settings.key_env:
        return None
    return _of_holder(await engine.sign_in(services.db, key, services.peppers))


async def _by_token(text: str, services: Services) -> Caller:
    named = read_token(services.peppers, services.settings.key_env, text)
    session = await people.find_token_session(services.db, named.session_id, named.person_id) if named else None
    if session is None:  # not counted: every token is over after a while, and nobody guesses one
        raise unauthenticated("the token is not valid, or not any more: POST /v1/auth/refresh")
    return of_session(session)


async def _by_ticket(request: Request, services: Services) -> Caller | None:
    taken = await engine.take_ticket(services.db, ticket_digest(request.query_params["ticket"]))
    if taken is None:
        return None
    wanted = {"job_id": taken.job_id, "flow_id": taken.flow_id}
    fits = all(request.path_params.get(name) == (value and str(value)) for name, value in wanted.items())
    return _of_holder(taken.holder) if fits else None


async def _by_cookie(request: Request, services: Services) -> Caller:
    token = session_token(request)
    session = await people.find_session(services.db, token, services.peppers) if token else None
    if token is None or session is None:  # not counted: a page that is left open asks again and again
        raise unauthenticated("the session is over: sign in again")
    return of_session(session, csrf_token=csrf_token(services, token, session.pepper_id))


def of_session(session: Session, *, csrf_token: str | None = None) -> Caller:
    scopes = {"session", *ROLES.get(session.role or "", ()), *(["operator"] if session.is_operator else ())}
    return Caller(
        key_id=session.session_id,
        tenant_id=session.tenant_id,
        scopes=frozenset(scopes),
        session=session,
        csrf_token=csrf_token,
    )


def _of_holder(holder: Holder | None) -> Caller | None:
    if holder is None:
        return None
    return Caller(key_id=holder.key_id, tenant_id=holder.tenant_id, scopes=holder.scopes)


def _credentials(request: Request) -> str | None:
    scheme, _, rest = request.headers.get("authorization", "").partition(" ")
    if scheme.lower() == "bearer":
        return rest.strip()
    return request.headers.get("x-api-key")


def _forbidden(caller: Caller, wanted: frozenset[str]) -> Problem:
    needed = " or ".join(sorted(wanted))
    if caller.session is None:
        return Problem("forbidden", f"this needs a key with the scope {needed}")
    if caller.tenant_id is None and not wanted <= {"operator"}:
        return Problem("forbidden", "this is a tenant's: choose one first", hint="PUT /v1/me/tenant")
    return Problem("forbidden", f"this needs a role with the scope {needed}")

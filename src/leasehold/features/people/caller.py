"""Who is signed in: a person by a cookie or a token, or the operator by a login link."""

from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from fastapi import Request

from leasehold.database.database import Database
from leasehold.features.people import store as people
from leasehold.features.people.browser_session import csrf_token, has_cookie, session_token
from leasehold.features.people.jwt import read_token
from leasehold.features.people.model import Session
from leasehold.http.auth import (
    Caller,
    Profile,
    Refused,
    TenantName,
    credentials,
    is_for,
    unauthenticated,
)
from leasehold.http.problems import Problem
from leasehold.http.services import Services
from leasehold.tokens import ticket_digest

#: What people are let in for in a tenant, by their role there.
ROLES = {
    "viewer": frozenset({"jobs:read"}),
    "member": frozenset({"jobs:read", "jobs:write"}),
    "admin": frozenset({"jobs:read", "jobs:write", "admin"}),
    "owner": frozenset({"jobs:read", "jobs:write", "admin", "members"}),
}


@dataclass(frozen=True, slots=True, kw_only=True)
class SignedInPerson(Caller):
    """A caller with a session. ``tenant_id`` is None for a person who chose no tenant, too."""

    session: Session

    @property
    def actor(self) -> str:
        person = self.session.person_id
        return f"person:{person}" if person else f"session:{self.key_id}"

    @property
    def sees_payloads(self) -> bool:
        """A viewer sees how the work goes, not what it is about."""
        return self.session.role != "viewer"

    async def profile(self, services: Services) -> Profile:
        if self.session.person_id is None:
            return Profile(name="Operator")
        person = await people.get_person(services.db, self.session.person_id)
        name = person.name or person.email
        if self.session.is_operator:
            return Profile(name=name)
        found = await people.list_memberships(services.db, self.session.person_id)
        places = tuple(TenantName(tenant_id=one.tenant_id, name=one.name) for one in found)
        return Profile(name=name, memberships=places)

    async def create_ticket(
        self, db: Database, digest: bytes, *, job_id: UUID | None, flow_id: UUID | None
    ) -> datetime:
        stream = {"job_id": job_id, "flow_id": flow_id}
        return await people.create_ticket(db, self.tenant, digest, self.key_id, **stream)

    def lacks(self, wanted: frozenset[str]) -> Problem:
        if self.tenant_id is None and not wanted <= {"operator"}:
            detail = "this is a tenant's: choose one first"
            return Problem("forbidden", detail, hint="PUT /v1/me/tenant")
        return Problem("forbidden", f"this needs a role with the scope {' or '.join(sorted(wanted))}")


async def authenticate(request: Request, services: Services, tickets: bool) -> Caller | None:
    """Sessions that are over are not counted as guesses: each token ends, and open pages ask again."""
    if (text := credentials(request)) is not None:
        return await _by_token(text, services) if text.count(".") == 2 else None
    if tickets and "ticket" in request.query_params:
        return await _by_ticket(request, services)
    return await _by_cookie(request, services) if has_cookie(request) else None


async def _by_token(text: str, services: Services) -> Caller:
    named = read_token(services.peppers, services.settings.key_env, text)
    session = await people.find_token_session(services.db, named.session_id, named.person_id) if named else None
    if session is None:
        raise unauthenticated("the token is not valid, or not any more: POST /v1/auth/refresh")
    return _caller(session)


async def _by_ticket(request: Request, services: Services) -> Caller | None:
    """Who opens one stream by it may do nothing else."""
    digest = ticket_digest(request.query_params["ticket"])
    taken = await people.take_ticket(services.db, digest)
    if taken is None:
        return None
    if not is_for(request, taken.job_id, taken.flow_id):
        raise Refused("the ticket is for another stream")
    return Caller(key_id=taken.session_id, tenant_id=taken.tenant_id, scopes=frozenset({"jobs:read"}))


async def _by_cookie(request: Request, services: Services) -> Caller:
    token = session_token(request)
    session = await people.find_session(services.db, token, services.peppers) if token else None
    if token is None or session is None:
        raise unauthenticated("the session is over: sign in again")
    return _caller(session, csrf_token=csrf_token(services, token, session.pepper_id))


def _caller(session: Session, *, csrf_token: str | None = None) -> SignedInPerson:
    scopes = {"session", *ROLES.get(session.role or "", ()), *(["operator"] if session.is_operator else ())}
    return SignedInPerson(
        key_id=session.session_id,
        tenant_id=session.tenant_id,
        scopes=frozenset(scopes),
        session=session,
        csrf_token=csrf_token,
    )

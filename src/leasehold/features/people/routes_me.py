"""``/v1/me``: whoever is signed in, the tenant they act in, and their sessions."""

import json
from typing import Annotated
from uuid import UUID

from fastapi import Path, Request, Response

from leasehold import payload
from leasehold.api.answers import answer, plain
from leasehold.api.auth import Caller, SignedIn
from leasehold.api.models import Me, PersonSettings, Sessions, TenantChoice
from leasehold.api.problems import Problem
from leasehold.api.route import needs, router
from leasehold.api.services import Services, services_of
from leasehold.api.sessions import clear_cookie
from leasehold.engine import people
from leasehold.engine.people import Person, Session
from leasehold.engine.scope import Scope
from leasehold.schedules import zone_of

routes = router("me")
_SESSION = needs("session")
SessionId = Annotated[str, Path(pattern="^[0-9A-Za-z]{22}$")]


@routes.get(
    "/v1/me",
    operation_id="me.get",
    summary="Who is signed in, in which tenant, and what they may do there",
    response_model=Me,
    openapi_extra=_SESSION,
)
async def get(request: Request, caller: SignedIn) -> Response:
    return answer(await _me(services_of(request), caller))


@routes.put(
    "/v1/me/tenant",
    operation_id="me.choose_tenant",
    summary="Act in this tenant from now on; null is the installation, for operators",
    status_code=204,
    response_class=Response,
    openapi_extra=_SESSION,
)
async def choose_tenant(request: Request, caller: SignedIn, body: TenantChoice) -> Response:
    async with Scope.open(services_of(request).db, tenant=None, actor=caller.actor) as scope:
        await people.choose_tenant(scope, caller.key_id, body.tenant)
    return Response(None, 204)


@routes.get(
    "/v1/me/settings",
    operation_id="me.get_settings",
    summary="One's own settings",
    response_model=PersonSettings,
    openapi_extra=_SESSION,
)
async def get_settings(request: Request, caller: SignedIn) -> Response:
    person = await people.get_person(services_of(request).db, _person(caller))
    return answer(json.loads(person.settings))


@routes.put(
    "/v1/me/settings",
    operation_id="me.put_settings",
    summary="Replace one's own settings; what is left out is as at the beginning",
    response_model=PersonSettings,
    openapi_extra=_SESSION,
)
async def put_settings(request: Request, caller: SignedIn, body: PersonSettings) -> Response:
    zone_of(body.time_zone)
    async with Scope.open(services_of(request).db, tenant=None, actor=caller.actor) as scope:
        await people.put_settings(scope, _person(caller), payload.encode(body.model_dump(), what="settings"))
    return answer(body.model_dump())


@routes.get(
    "/v1/me/sessions",
    operation_id="me.list_sessions",
    summary="One's own live sessions, newest first",
    response_model=Sessions,
    openapi_extra=_SESSION,
)
async def list_sessions(request: Request, caller: SignedIn) -> Response:
    return answer({"data": await people.list_sessions(services_of(request).db, session_of(caller).person_id)})


@routes.delete(
    "/v1/me/sessions/{session_id}",
    operation_id="me.revoke_session",
    summary="End one of one's own sessions: every process refuses it from its next request on",
    status_code=204,
    response_class=Response,
    openapi_extra=_SESSION,
)
async def revoke_session(request: Request, caller: SignedIn, session_id: SessionId) -> Response:
    if not await end_session(services_of(request), caller, session_id):
        raise Problem("not_found", "there is no such session of yours")
    response = Response(None, 204)
    if session_id == caller.key_id and caller.csrf_token:
        clear_cookie(request, response)
    return response


async def end_session(services: Services, caller: Caller, session_id: str) -> bool:
    """Whether there was such a session of the caller's."""
    async with Scope.open(services.db, tenant=None, actor=caller.actor) as scope:
        return await people.revoke_session(scope, session_id, session_of(caller).person_id)


def _person(caller: Caller) -> UUID:
    person = session_of(caller).person_id
    if person is None:
        raise Problem("not_found", "the operator of a login link is no person, and has no settings")
    return person


def session_of(caller: Caller) -> Session:
    assert caller.session is not None, "the scope session is a session's"
    return caller.session


async def _me(services: Services, caller: Caller) -> dict[str, object]:
    session = session_of(caller)
    person = session.person_id
    return {
        "person": shown(await people.get_person(services.db, person)) if person else None,
        "session_id": session.session_id,
        "tenant_id": caller.tenant_id,
        "role": session.role,
        "is_operator": session.is_operator,
        "scopes": sorted(caller.scopes),
        "tenants": await people.list_memberships(services.db, person) if person else [],
        "csrf_token": caller.csrf_token,
    }


def shown(person: Person) -> dict[str, object]:
    return plain(person, without=frozenset({"issuer", "subject", "settings"}))

"""``/v1/me``: whoever is signed in, the tenant they act in, and their sessions."""

import json
from typing import Annotated
from uuid import UUID

from fastapi import Path, Request, Response

from leasehold import json_codec
from leasehold.database.actor import ActorTransaction
from leasehold.features.people import store as people
from leasehold.features.people.browser_session import clear_session_cookie
from leasehold.features.people.caller import SignedInPerson
from leasehold.features.people.model import Session, SessionInfo
from leasehold.features.people.schemas import Me, PersonSettings, TenantChoice
from leasehold.http.auth import Caller, SignedIn
from leasehold.http.problems import Problem
from leasehold.http.responses import answer, answer_all
from leasehold.http.route import needs, router
from leasehold.http.services import Services, services_of
from leasehold.http.types import Listing
from leasehold.time_zones import zone_of

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
    async with ActorTransaction.open(services_of(request).db, tenant=None, actor=caller.actor) as scope:
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
    async with ActorTransaction.open(services_of(request).db, tenant=None, actor=caller.actor) as scope:
        await people.put_settings(scope, _person(caller), json_codec.encode(body.model_dump(), what="settings"))
    return answer(body.model_dump())


@routes.get(
    "/v1/me/sessions",
    operation_id="me.list_sessions",
    summary="One's own live sessions, newest first",
    response_model=Listing[SessionInfo],
    openapi_extra=_SESSION,
)
async def list_sessions(request: Request, caller: SignedIn) -> Response:
    found = await people.list_sessions(services_of(request).db, session_of(caller).person_id)
    return answer_all(found, of=SessionInfo)


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
        clear_session_cookie(request, response)
    return response


async def end_session(services: Services, caller: Caller, session_id: str) -> bool:
    """Whether there was such a session of the caller's."""
    async with ActorTransaction.open(services.db, tenant=None, actor=caller.actor) as scope:
        return await people.revoke_session(scope, session_id, session_of(caller).person_id)


def _person(caller: Caller) -> UUID:
    person = session_of(caller).person_id
    if person is None:
        raise Problem("not_found", "the operator of a login link is no person, and has no settings")
    return person


def session_of(caller: Caller) -> Session:
    assert isinstance(caller, SignedInPerson), "the scope session is a session's"
    return caller.session


async def _me(services: Services, caller: Caller) -> Me:
    session = session_of(caller)
    person = session.person_id
    return Me(
        person=await people.get_person(services.db, person) if person else None,
        session_id=session.session_id,
        tenant_id=caller.tenant_id,
        role=session.role,
        is_operator=session.is_operator,
        scopes=sorted(caller.scopes),
        tenants=await people.list_memberships(services.db, person) if person else [],
        csrf_token=caller.csrf_token,
    )

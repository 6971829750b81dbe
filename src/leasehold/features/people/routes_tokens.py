"""``/v1/auth``: programs that act for a person get a short-lived JWT, and a session that renews it and can be ended."""

from uuid import UUID

from fastapi import Request, Response

from leasehold import tokens as keys
from leasehold.database.actor import ActorDatabase
from leasehold.errors import NotFound
from leasehold.features.people import jwt
from leasehold.features.people import store as people
from leasehold.features.people.browser_session import clear_session_cookie
from leasehold.features.people.jwt import Named
from leasehold.features.people.routes_me import end_session
from leasehold.features.people.schemas import IdToken, RefreshToken, Tokens
from leasehold.features.people.sign_in import SignIns, admit, issuer_of, refusing
from leasehold.features.people.store import REFRESH
from leasehold.http.auth import SignedIn, unauthenticated
from leasehold.http.idempotency import refuse_key
from leasehold.http.responses import answer
from leasehold.http.route import needs, router
from leasehold.http.services import Services, services_of
from leasehold.tokens import Key

routes = router("auth")


@routes.post(
    "/v1/auth/google",
    operation_id="auth.google",
    summary="Tokens for the ID token that a sign-in button gave to a front end: Google's, or of the issuer that is set",
    response_model=Tokens,
)
async def google(request: Request, body: IdToken) -> Response:
    refuse_key(request)
    services = services_of(request)
    session = keys.make(REFRESH)
    async with refusing(request, services.part(SignIns).limits):
        who = await issuer_of(services).verified(body.id_token, nonce=body.nonce)
        person = await admit(services, who, session)
    if body.tenant is not None:
        await _choose(services, session, person.person_id, body.tenant)
    return _tokens(services, session, person.person_id)


@routes.post(
    "/v1/auth/refresh",
    operation_id="auth.refresh",
    summary="The next tokens; a refresh token that comes a second time ends its session",
    response_model=Tokens,
)
async def refresh(request: Request, body: RefreshToken) -> Response:
    refuse_key(request)
    services = services_of(request)
    token = keys.parse(body.refresh_token)
    async with refusing(request, services.addresses):
        if token is None or token.env != REFRESH:
            raise unauthenticated("this is no refresh token")
        renewed = await people.renew_session(services.db, token, services.peppers)
        if renewed is None:
            raise unauthenticated("the session is over: sign in again")
    return _tokens(services, *renewed)


@routes.post(
    "/v1/auth/logout",
    operation_id="auth.logout",
    summary="End the session that this request came with",
    status_code=204,
    response_class=Response,
    openapi_extra=needs("session"),
)
async def logout(request: Request, caller: SignedIn) -> Response:
    await end_session(services_of(request), caller, caller.key_id)
    response = Response(None, 204)
    if caller.csrf_token:
        clear_session_cookie(request, response)
    return response


async def _choose(services: Services, session: Key, person: UUID, tenant: str) -> None:
    db = ActorDatabase(services.db, f"person:{person}")
    try:
        await people.choose_tenant(db, session.key_id, tenant)
    except NotFound:  # nobody will ever have this session's token
        await people.revoke_session(db, session.key_id, person)
        raise


def _tokens(services: Services, session: Key, person: UUID) -> Response:
    named = Named(session_id=session.key_id, person_id=person)
    return answer(
        Tokens(
            access_token=jwt.make_token(services.peppers, services.settings.key_env, named),
            token_type="Bearer",
            expires_in=jwt.LIFE_SECONDS,
            refresh_token=session.text,
        )
    )

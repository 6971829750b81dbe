"""``/login``: how a person's browser gets a session. Pages without scripts, so that nothing is loaded from anywhere."""

import hmac
import secrets
from html import escape
from typing import Annotated

from fastapi import Query, Request, Response

from leasehold import tokens as keys
from leasehold.features.people import store as people
from leasehold.features.people.browser_session import (
    clear_login_cookie,
    login_secret,
    session_seconds,
    set_login_cookie,
    set_session_cookie,
)
from leasehold.features.people.oidc import Trip
from leasehold.features.people.sign_in import SignIns, admit, issuer_of, refusing
from leasehold.http.browsers import go_where_asked, is_local, own_origin
from leasehold.http.client_address import client_address, is_from_here
from leasehold.http.problems import CODES, Problem
from leasehold.http.route import ANY_QUERY, router
from leasehold.http.services import services_of

_CALLBACK = "/login/callback"
_CSP = "default-src 'none'; style-src 'self'; frame-ancestors 'none'; base-uri 'none'; form-action 'none'"
_AGAIN = 'Begin again at <a href="/login">sign in</a>.'

routes = router("login")


@routes.get("/login", include_in_schema=False)
async def login(request: Request, token: Annotated[str | None, Query(max_length=200)] = None) -> Response:
    if token is not None:
        return await _by_link(request, token)
    ways = ["On the machine of the server, <code>leasehold people link</code> prints a link that signs you in."]
    if issuer := services_of(request).part(SignIns).issuer:
        ways.insert(0, f'<a href="/login/oidc">Sign in with {escape(issuer.name)}</a>')
    return page(200, "Sign in", ways)


@routes.get("/login/oidc", include_in_schema=False)
async def begin(request: Request) -> Response:
    """To the issuer's own pages; the cookie remembers that it was this browser."""
    secret = secrets.token_urlsafe(32)
    try:
        async with refusing(request, services_of(request).part(SignIns).limits):
            url = await issuer_of(services_of(request)).authorization_url(Trip(secret), _redirect_uri(request))
    except Problem as problem:
        return _refused(problem)
    response = Response(None, 303, {"Location": url})
    set_login_cookie(request, response, secret)
    return response


@routes.get(_CALLBACK, include_in_schema=False, openapi_extra={ANY_QUERY: True})
async def come_back(
    request: Request,
    code: Annotated[str, Query(max_length=4096)] = "",
    state: Annotated[str, Query(max_length=512)] = "",
    iss: Annotated[str | None, Query(max_length=512)] = None,
    error: Annotated[str | None, Query(max_length=512)] = None,
) -> Response:
    """From the issuer's pages: what it says of the person, checked, becomes a session."""
    try:
        response = await _vouched_for(request, code=code, state=state, iss=iss, error=error)
    except Problem as problem:
        response = _refused(problem)
    clear_login_cookie(request, response)
    return response


async def _vouched_for(request: Request, *, code: str, state: str, iss: str | None, error: str | None) -> Response:
    services = services_of(request)
    issuer = issuer_of(services)
    trip = Trip(login_secret(request) or secrets.token_urlsafe(32))
    async with refusing(request, services.part(SignIns).limits):
        if not hmac.compare_digest(trip.state.encode(), state.encode("utf-8", "backslashreplace")):
            raise Problem("forbidden", "this sign-in was not begun by this browser, or too long ago")
        if iss not in (None, issuer.url):
            raise Problem("forbidden", "another issuer answered than was asked")
        if error is not None or not code:
            raise Problem("forbidden", f"{issuer.name} did not sign you in")
        who = await issuer.redeem(code, trip, _redirect_uri(request))
        session = keys.make(people.BROWSER)
        # Where nobody but this machine is served, whoever signs in first runs it; elsewhere that could be anybody.
        await admit(services, who, session, first=is_local(request))
    response = go_where_asked(request)
    set_session_cookie(request, response, session)
    return response


async def _by_link(request: Request, text: str) -> Response:
    """The link is for the person at this machine: whoever comes from elsewhere is refused, and it stays good."""
    services = services_of(request)
    address = client_address(request)
    if not is_from_here(request):
        return page(403, "Not from here", ["A login link works on the machine of the server only."])
    link = keys.parse(text)
    session = keys.make(people.BROWSER)
    seconds = session_seconds(services)
    is_good = False
    if link is not None and link.env == people.LINK:
        async with services.addresses.checking(address):
            is_good = await people.take_login_link(services.db, link, session, services.peppers, seconds=seconds)
    if not is_good:
        services.addresses.count_refusal(address)
        again = "It works once, and for ten minutes. <code>leasehold people link</code> prints another."
        return page(403, "This link is used up", [again])
    response = go_where_asked(request)
    set_session_cookie(request, response, session)
    return response


def page(status: int, heading: str, paragraphs: list[str]) -> Response:
    """A page of a few words; the paragraphs are HTML."""
    text = "".join(f"<p>{paragraph}</p>" for paragraph in paragraphs)
    return Response(
        '<!doctype html><html lang="en"><head><meta charset="utf-8">'
        f"<title>{escape(heading)} · Leasehold</title>"
        '<meta name="viewport" content="width=device-width"><link rel="stylesheet" href="/docs.css"></head>'
        f"<body><h1>{escape(heading)}</h1>{text}</body></html>",
        status,
        {"Content-Security-Policy": _CSP},
        media_type="text/html",
    )


def _refused(problem: Problem) -> Response:
    words = [f"{text[0].upper()}{escape(text[1:])}." for text in (problem.detail, problem.hint) if text]
    return page(CODES[problem.code][0], "You are not signed in", [*words, _AGAIN])


def _redirect_uri(request: Request) -> str:
    return own_origin(request) + _CALLBACK

"""Sessions in browsers: the cookie, and what keeps other sites from using it."""

import hmac
import re
from urllib.parse import quote, unquote, urlsplit

from fastapi import Request, Response

from leasehold import tokens as keys
from leasehold.features.people.store import BROWSER
from leasehold.fetch.public_addresses import is_loopback
from leasehold.http.client_address import is_from_here
from leasehold.http.problems import Problem
from leasehold.http.services import Services, services_of
from leasehold.tokens import Key

#: Where the token against forged requests stands; it is in ``GET /v1/me``.
CSRF_HEADER = "X-CSRF-Token"
_SESSION, _LOGIN, _ASKED = "session", "login", "asked"
_LOGIN_SECONDS = 600
_LONGEST_ASKED = 1000
_PORT = re.compile(r":([0-9]{1,5})$")


def session_token(request: Request) -> Key | None:
    """The token of the cookie, if there is one that can be."""
    token = keys.parse(request.cookies.get(_name(request, _SESSION), ""))
    return token if token and token.env == BROWSER else None


def has_cookie(request: Request) -> bool:
    return _name(request, _SESSION) in request.cookies


def set_cookie(request: Request, response: Response, token: Key) -> None:
    services = services_of(request)
    response.set_cookie(
        _name(request, _SESSION),
        token.text,
        max_age=round(session_seconds(services)),
        path="/",
        secure=not is_local(request),
        httponly=True,
        samesite="lax",
    )


def clear_cookie(request: Request, response: Response) -> None:
    _clear(request, response, _SESSION)


def login_secret(request: Request) -> str | None:
    return request.cookies.get(_name(request, _LOGIN))


def set_login_cookie(request: Request, response: Response, secret: str) -> None:
    """Until the browser comes back from the issuer."""
    response.set_cookie(
        _name(request, _LOGIN),
        secret,
        max_age=_LOGIN_SECONDS,
        path="/",
        secure=not is_local(request),
        httponly=True,
        samesite="lax",
    )


def clear_login_cookie(request: Request, response: Response) -> None:
    _clear(request, response, _LOGIN)


def remember_asked(request: Request, response: Response) -> None:
    """The page that somebody asked for before they signed in."""
    asked = request.url.path + (f"?{request.url.query}" if request.url.query else "")
    if len(asked) <= _LONGEST_ASKED:
        response.set_cookie(
            _name(request, _ASKED),
            quote(asked, safe=""),
            max_age=_LOGIN_SECONDS,
            path="/",
            secure=not is_local(request),
            httponly=True,
            samesite="lax",
        )


def go_where_asked(request: Request) -> Response:
    """To that page, or to the first one."""
    asked = unquote(request.cookies.get(_name(request, _ASKED), ""))
    response = Response(None, 303, {"Location": own_path(asked)})
    _clear(request, response, _ASKED)
    return response


def own_path(text: str) -> str:
    """A path of ours as it is, and the first page for whatever a browser might take for another site's."""
    is_own = text.startswith("/") and not text.startswith(("//", "/\\")) and text.isascii() and text.isprintable()
    return text if is_own else "/"


def session_seconds(services: Services) -> float:
    return services.settings.session_hours * 3600


def csrf_token(services: Services, token: Key, pepper_id: str) -> str:
    """Made from the cookie's secret, so a page of another site cannot know it and nothing more is kept."""
    return services.peppers.derived(token, pepper_id, "csrf")


def refuse_forged(request: Request, expected: str, given: str | None) -> None:
    """Refuse what another site's page made this browser send: it has a foreign Origin, and no token."""
    if not _is_same_origin(request):
        raise Problem("forged", "the request does not come from a page of this server")
    if given is None or not hmac.compare_digest(expected.encode(), given.encode("utf-8", "surrogateescape")):
        raise Problem("forged", f"{CSRF_HEADER} is missing or not this session's", hint="`csrf_token` of GET /v1/me")


def own_origin(request: Request) -> str:
    """As people see this server."""
    said = services_of(request).settings.public_url
    return said or f"{request.url.scheme}://{request.headers.get('host', '')}"


def is_local(request: Request) -> bool:
    """Whether it is this machine's own business: only then may a cookie travel in the clear."""
    try:
        own = urlsplit(own_origin(request))
    except ValueError:  # no browser sends such a Host
        return False
    return own.scheme == "http" and is_from_here(request) and is_loopback(own.hostname or "")


def _is_same_origin(request: Request) -> bool:
    """By both headers that a browser sends and no page can set; without any of them it is nobody's browser."""
    site, origin = request.headers.get("sec-fetch-site"), request.headers.get("origin")
    if site not in (None, "same-origin"):
        return False
    if origin in (None, "null"):  # a form of a page whose Referrer-Policy is no-referrer says null
        return site == "same-origin"
    return origin == own_origin(request)


def _clear(request: Request, response: Response, what: str) -> None:
    secure = not is_local(request)
    response.delete_cookie(_name(request, what), path="/", secure=secure, httponly=True, samesite="lax")


def _name(request: Request, what: str) -> str:
    """On loopback with the port: cookies of one machine's servers share a jar."""
    if is_local(request):
        port = _PORT.search(own_origin(request))
        return f"leasehold_{what}_{port[1] if port else 80}"
    return f"__Host-leasehold_{what}"

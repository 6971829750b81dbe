"""Browsers: under which address they see this server, what keeps other sites from using them, and cookies."""

import hmac
import re
from urllib.parse import quote, unquote, urlsplit

from fastapi import Request, Response

from leasehold.fetch.public_addresses import is_loopback
from leasehold.http.client_address import is_from_here
from leasehold.http.problems import Problem
from leasehold.http.services import services_of

#: Where the token against forged requests stands; it is in ``GET /v1/me``.
CSRF_HEADER = "X-CSRF-Token"
_ASKED = "asked"
_ASKED_SECONDS = 600
_LONGEST_ASKED = 1000
_PORT = re.compile(r":([0-9]{1,5})$")


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


def remember_asked(request: Request, response: Response) -> None:
    """The page that somebody asked for before they signed in."""
    asked = request.url.path + (f"?{request.url.query}" if request.url.query else "")
    if len(asked) <= _LONGEST_ASKED:
        response.set_cookie(
            cookie_name(request, _ASKED),
            quote(asked, safe=""),
            max_age=_ASKED_SECONDS,
            path="/",
            secure=not is_local(request),
            httponly=True,
            samesite="lax",
        )


def go_where_asked(request: Request) -> Response:
    """To that page, or to the first one."""
    asked = unquote(request.cookies.get(cookie_name(request, _ASKED), ""))
    response = Response(None, 303, {"Location": own_path(asked)})
    clear_cookie(request, response, _ASKED)
    return response


def own_path(text: str) -> str:
    """A path of ours as it is, and the first page for whatever a browser might take for another site's."""
    is_own = text.startswith("/") and not text.startswith(("//", "/\\")) and text.isascii() and text.isprintable()
    return text if is_own else "/"


def _is_same_origin(request: Request) -> bool:
    """By both headers that a browser sends and no page can set; without any of them it is nobody's browser."""
    site, origin = request.headers.get("sec-fetch-site"), request.headers.get("origin")
    if site not in (None, "same-origin"):
        return False
    if origin in (None, "null"):  # a form of a page whose Referrer-Policy is no-referrer says null
        return site == "same-origin"
    return origin == own_origin(request)


def clear_cookie(request: Request, response: Response, what: str) -> None:
    secure = not is_local(request)
    response.delete_cookie(cookie_name(request, what), path="/", secure=secure, httponly=True, samesite="lax")


def cookie_name(request: Request, what: str) -> str:
    """On loopback with the port: cookies of one machine's servers share a jar."""
    if is_local(request):
        port = _PORT.search(own_origin(request))
        return f"leasehold_{what}_{port[1] if port else 80}"
    return f"__Host-leasehold_{what}"

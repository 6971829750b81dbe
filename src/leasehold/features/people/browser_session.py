"""Sessions in browsers: their cookies, and the token of their forms."""

from fastapi import Request, Response

from leasehold import tokens as keys
from leasehold.features.people.store import BROWSER
from leasehold.http.browsers import clear_cookie, cookie_name, is_local
from leasehold.http.services import Services, services_of
from leasehold.tokens import Key

_SESSION, _LOGIN = "session", "login"
_LOGIN_SECONDS = 600


def session_token(request: Request) -> Key | None:
    """The token of the cookie, if there is one that can be."""
    token = keys.parse(request.cookies.get(cookie_name(request, _SESSION), ""))
    return token if token and token.env == BROWSER else None


def has_cookie(request: Request) -> bool:
    return cookie_name(request, _SESSION) in request.cookies


def set_session_cookie(request: Request, response: Response, token: Key) -> None:
    services = services_of(request)
    response.set_cookie(
        cookie_name(request, _SESSION),
        token.text,
        max_age=round(session_seconds(services)),
        path="/",
        secure=not is_local(request),
        httponly=True,
        samesite="lax",
    )


def clear_session_cookie(request: Request, response: Response) -> None:
    clear_cookie(request, response, _SESSION)


def login_secret(request: Request) -> str | None:
    return request.cookies.get(cookie_name(request, _LOGIN))


def set_login_cookie(request: Request, response: Response, secret: str) -> None:
    """Until the browser comes back from the issuer."""
    response.set_cookie(
        cookie_name(request, _LOGIN),
        secret,
        max_age=_LOGIN_SECONDS,
        path="/",
        secure=not is_local(request),
        httponly=True,
        samesite="lax",
    )


def clear_login_cookie(request: Request, response: Response) -> None:
    clear_cookie(request, response, _LOGIN)


def session_seconds(services: Services) -> float:
    return services.settings.session_hours * 3600


def csrf_token(services: Services, token: Key, pepper_id: str) -> str:
    """Made from the cookie's secret, so a page of another site cannot know it and nothing more is kept."""
    return services.peppers.derived(token, pepper_id, "csrf")

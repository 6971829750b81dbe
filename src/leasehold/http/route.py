"""What every route does before its own work: limit, sign in, check the parameters. The body is read after that."""

from collections import Counter
from collections.abc import Callable, Coroutine, Mapping, Sequence, Set
from functools import cache
from types import UnionType
from typing import Annotated, Any, Union, get_args, get_origin

from fastapi import APIRouter, Request, Response
from fastapi.routing import APIRoute
from pydantic import TypeAdapter

from leasehold.http.auth import sign_in
from leasehold.http.client_address import client_address
from leasehold.http.problems import Problem
from leasehold.http.request_body import MOST_BYTES, StrictRequest
from leasehold.http.services import read_elsewhere, remember_write, say_age, services_of

SCOPES = "x-leasehold-scopes"
TICKETS = "x-leasehold-tickets"
ANYBODY = "x-leasehold-anybody"
LARGE = "x-leasehold-large-body"
ANY_QUERY = "x-leasehold-any-query"  # others lead here, and add what they like


def needs(*scopes: str, tickets: bool = False, large: bool = False) -> dict[str, Any]:
    """What stands in the document of a route: one of these scopes lets a key in. With ``large``, its body may have
    ``LEASEHOLD_MAX_BODY_BYTES``, and what is done with it is done by ``off_loop``."""
    return {SCOPES: list(scopes)} | ({TICKETS: True} if tickets else {}) | ({LARGE: True} if large else {})


def anybody() -> dict[str, Any]:
    """What stands in the document of a pack's route that needs no key. It gets a ``Stranger``, and no tenant."""
    return {ANYBODY: True}


class Route(APIRoute):
    def get_route_handler(self) -> Callable[[Request], Coroutine[Any, Any, Response]]:
        answer = super().get_route_handler()
        extra = self.openapi_extra or {}
        scopes = frozenset(extra.get(SCOPES, ()))
        tickets, any_query = bool(extra.get(TICKETS)), bool(extra.get(ANY_QUERY))
        known = {field.alias: _takes_several(field.field_info.annotation) for field in self.dependant.query_params}
        lists = "GET" in (self.methods or ()) and (self.operation_id or "").endswith(".list")
        large = bool(extra.get(LARGE))
        conditional = "if-match" in {field.alias for field in self.dependant.header_params}

        @cache
        def adapter() -> TypeAdapter[Any] | None:
            """As the framework reads the body; made when a body first needs it."""
            about = self.body_field.field_info if self.body_field else None
            if about is None:
                return None
            type_: Any = Annotated[about.annotation, about]
            return TypeAdapter(type_)

        def strict(request: Request) -> StrictRequest:
            most = services_of(request).settings.max_body_bytes
            return StrictRequest(
                request.scope, request.receive, most=most if large else min(most, MOST_BYTES), adapter=adapter
            )

        async def handle(request: Request) -> Response:
            if scopes:
                request.state.caller = await sign_in(request, scopes, tickets=tickets)
            else:
                services_of(request).addresses.count_request(client_address(request))
            if not any_query:
                _check_query(request, known)
            if not conditional:
                _refuse_if_match(request)
            if not scopes:
                return await answer(strict(request))
            tenant = request.state.caller.tenant_id
            if lists:
                read_elsewhere(request, tenant)
            try:
                response = await answer(strict(request))
            finally:
                remember_write(request, tenant)
            say_age(request, response)
            return response

        return handle


def router(tag: str) -> APIRouter:
    return APIRouter(tags=[tag], route_class=Route, redirect_slashes=False)


def _refuse_if_match(request: Request) -> None:
    """A condition that is not looked at must not seem to have held."""
    if "if-match" in request.headers:
        raise Problem("bad_parameter", "If-Match is not supported here", hint="send the request without it")


def _takes_several(annotation: Any) -> bool:
    """Whether a parameter of this type is a list in the document."""
    origin = get_origin(annotation)
    if origin is Annotated:
        return _takes_several(get_args(annotation)[0])
    if origin in (Union, UnionType):
        return any(_takes_several(one) for one in get_args(annotation))
    plain = origin or annotation
    return isinstance(plain, type) and issubclass(plain, Sequence | Set) and not issubclass(plain, str | bytes)


def _check_query(request: Request, known: Mapping[str, bool]) -> None:
    """Refuse unknown parameters, so that a typing error in a filter does not list everything, and values that would be
    ignored. ``known``: the parameters of the route, and whether each takes several values."""
    names = Counter(name for name, _ in request.query_params.multi_items())
    for name, count in names.items():
        if name not in known:
            allowed = ", ".join(sorted(known)) or "none"
            raise Problem(
                "bad_parameter",
                "there is no such parameter here",
                hint=f"known parameters: {allowed}",
                errors=[{"pointer": name, "detail": "unknown", "code": "unknown"}],
            )
        if count > 1 and not known[name]:
            raise Problem(
                "bad_parameter",
                f"the parameter {name} is given {count} times and takes one value",
                hint="send it once",
                errors=[{"pointer": name, "detail": "given more than once", "code": "repeated"}],
            )

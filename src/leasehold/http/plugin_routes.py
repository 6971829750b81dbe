"""The routes of packs, and what is asked of them: an address of the pack's own, and a key unless they say otherwise."""

from collections.abc import Iterable

from fastapi import APIRouter
from fastapi.dependencies.models import Dependant

from leasehold.errors import LeaseholdError
from leasehold.http.auth import signed_in
from leasehold.http.route import ANYBODY, SCOPES, Route
from leasehold.plugins.discovery import InstalledFeature


def routes_of(found: InstalledFeature, taken: Iterable[APIRouter]) -> list[APIRouter]:
    """The routers that a pack names. One that does not fit, or whose address is taken, is refused with its path."""
    ours = [route.path for other in taken for route in other.routes if isinstance(route, Route)]
    for address in (f"/v1/{found.feature.name}", *found.feature.addresses):
        if any(_is_under(path, address) for path in ours):
            raise _refused(found, address, "is taken already")
    routers = [found.load("routes", part, APIRouter) for part in found.feature.routes]
    for route in (route for router in routers for route in router.routes):
        if not isinstance(route, Route):
            raise _refused(found, str(getattr(route, "path", route)), "is not made by leasehold.web.routes()")
        _check(found, route)
    return routers


def _check(found: InstalledFeature, route: Route) -> None:
    extra = route.openapi_extra or {}
    scopes, anybody = set(extra.get(SCOPES, ())), bool(extra.get(ANYBODY))
    if not _is_under(route.path, f"/v1/{found.feature.name}"):
        if not any(_is_under(route.path, own) for own in found.feature.addresses):
            raise _refused(found, route.path, f"lies outside /v1/{found.feature.name}")
        if not anybody or route.methods != {"GET"}:
            raise _refused(found, route.path, "is a page: it takes GET alone, and needs web.anybody()")
    if anybody and (scopes or _wants_caller(route.dependant)):
        raise _refused(found, route.path, "is for anybody, and cannot ask whose key it is")
    if not anybody and (not scopes or "operator" in scopes):
        raise _refused(found, route.path, 'lets in keys that have no tenant: say openapi_extra=web.needs("jobs:read")')


def _wants_caller(dependant: Dependant) -> bool:
    return dependant.call is signed_in or any(_wants_caller(child) for child in dependant.dependencies)


def _is_under(path: str, address: str) -> bool:
    return path == address or path.startswith((f"{address}/", f"{address}:"))


def _refused(found: InstalledFeature, path: str, why: str) -> LeaseholdError:
    return LeaseholdError(f"{found}: the route {path} {why}")

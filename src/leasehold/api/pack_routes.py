"""The routes of packs, and what is asked of them: under the pack's own name, and nobody is let in without a key."""

from collections.abc import Iterable
from importlib import import_module

from fastapi import APIRouter

from leasehold.api.route import SCOPES, Route
from leasehold.errors import LeaseholdError
from leasehold.packs import Found


def routes_of(found: Found, taken: Iterable[APIRouter]) -> APIRouter:
    """The router that the pack names; a route that does not fit, or whose name is taken, is refused with its path."""
    router = _load(found)
    if any(_is_own(route.path, found.pack.name) for ours in taken for route in ours.routes if isinstance(route, Route)):
        raise _refused(found, f"/v1/{found.pack.name}", "is taken already")
    for route in router.routes:
        if not isinstance(route, Route):
            raise _refused(found, str(getattr(route, "path", route)), "is not made by leasehold.web.routes()")
        if not _is_own(route.path, found.pack.name):
            raise _refused(found, route.path, f"lies outside /v1/{found.pack.name}")
        scopes = set((route.openapi_extra or {}).get(SCOPES, ()))
        if not scopes or "operator" in scopes:
            raise _refused(
                found, route.path, 'lets in keys that have no tenant: say openapi_extra=web.needs("jobs:read")'
            )
    return router


def _is_own(path: str, pack: str) -> bool:
    return path == f"/v1/{pack}" or path.startswith((f"/v1/{pack}/", f"/v1/{pack}:"))


def _load(found: Found) -> APIRouter:
    module, _, name = (found.pack.routes or "").partition(":")
    try:
        router = getattr(import_module(module), name)
    except Exception as problem:
        raise LeaseholdError(
            f"{found}: its routes {found.pack.routes} cannot be loaded: {type(problem).__name__}: {problem}",
            hint=f"repair or uninstall {found.distribution}, or leave the pack out with LEASEHOLD_PACKS",
        ) from problem
    if not isinstance(router, APIRouter):
        raise LeaseholdError(
            f"{found}: {found.pack.routes} is a {type(router).__name__}, not made by leasehold.web.routes()"
        )
    return router


def _refused(found: Found, path: str, why: str) -> LeaseholdError:
    return LeaseholdError(f"{found}: the route {path} {why}")

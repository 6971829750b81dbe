"""The HTTP API: routes that turn a request into one call of the engine. No SQL here, no pages but its own document."""

from collections.abc import Iterable
from types import FunctionType

from fastapi import FastAPI
from fastapi.exceptions import RequestValidationError
from starlette.exceptions import HTTPException
from starlette.middleware.cors import CORSMiddleware

from leasehold.api import (
    audit,
    deliveries,
    docs,
    flows,
    gates,
    health,
    jobs,
    keys,
    login,
    me,
    members,
    pauses,
    problems,
    queues,
    remote,
    reports,
    schedules,
    secrets,
    streams,
    tenants,
    tickets,
    tokens,
    webhooks,
    workers,
)
from leasehold.api.edge import Edge
from leasehold.api.hosts import Hosts
from leasehold.api.pack_routes import routes_of
from leasehold.api.route import Route
from leasehold.api.services import STALE_SECONDS, Services, open_services
from leasehold.errors import LeaseholdError
from leasehold.packs import Found

__all__ = ["Services", "bare_app", "create_app", "open_services"]

_MODULES = (
    jobs,
    flows,
    streams,
    schedules,
    gates,
    queues,
    pauses,
    workers,
    remote,
    tenants,
    keys,
    me,
    members,
    login,
    tokens,
    tickets,
    secrets,
    webhooks,
    deliveries,
    reports,
    audit,
    health,
    docs,
)


def create_app(services: Services, packs: Iterable[Found] = ()) -> FastAPI:
    """The application for open services: ``async with open_services(settings, loopback=True) as services``."""
    packs = list(packs)
    app = bare_app(packs)
    app.state.services = services
    public = [one.load("public_hosts", one.pack.public_hosts, FunctionType) for one in packs if one.pack.public_hosts]
    app.add_middleware(Hosts, services=services, public=public, routes=app.state.routes)
    app.add_middleware(Edge, answered=services.answered)
    if origins := services.settings.cors_origins:
        app.add_middleware(
            CORSMiddleware,
            allow_origins=[origin.strip() for origin in origins.split(",")],
            allow_methods=["GET", "POST", "PUT", "PATCH", "DELETE"],
            allow_headers=["Authorization", "X-API-Key", "Idempotency-Key", "Prefer", "Last-Event-ID", "Content-Type"],
            expose_headers=[
                "Location",
                "Link",
                "ETag",
                "RateLimit",
                "RateLimit-Policy",
                "Retry-After",
                "X-Request-Id",
                STALE_SECONDS,
            ],
        )
    return app


def bare_app(packs: Iterable[Found] = ()) -> FastAPI:
    """The routes alone: enough for the OpenAPI document."""
    app = FastAPI(docs_url=None, redoc_url=None, openapi_url=None, redirect_slashes=False)
    routers = [module.routes for module in _MODULES]
    for found in packs:
        if found.pack.routes:
            routers.append(routes_of(found, taken=routers))
    for router in routers:
        app.router.routes.extend(router.routes)  # include_router would build each route a second time

    routes = [route for router in routers for route in router.routes if isinstance(route, Route)]

    def methods_of(path: str) -> list[str]:
        """The methods that an address has; the framework would name those of one route only."""
        return sorted({method for route in routes if route.path_regex.match(path) for method in route.methods or ()})

    app.state.routes = routes
    app.state.methods = methods_of
    app.add_exception_handler(HTTPException, problems.on_http)
    app.add_exception_handler(RequestValidationError, problems.on_validation)
    app.add_exception_handler(LeaseholdError, problems.on_leasehold)
    return app

"""The HTTP API: routes that turn a request into one call of the engine. No SQL here, no pages but its own document."""

from collections.abc import Iterable
from types import FunctionType

from fastapi import FastAPI
from fastapi.exceptions import RequestValidationError
from starlette.exceptions import HTTPException
from starlette.middleware.cors import CORSMiddleware

from leasehold.errors import LeaseholdError
from leasehold.feature import load_all
from leasehold.http import docs_page, health, problems
from leasehold.http.allowed_hosts import Hosts
from leasehold.http.middleware import Edge
from leasehold.http.plugin_routes import routes_of
from leasehold.http.route import Route
from leasehold.http.services import STALE_SECONDS, Services, open_services
from leasehold.plugins.discovery import InstalledFeature

__all__ = ["Services", "bare_app", "create_app", "open_services"]


def create_app(services: Services, packs: Iterable[InstalledFeature] = ()) -> FastAPI:
    """The application for open services: ``async with open_services(settings, loopback=True) as services``."""
    packs = list(packs)
    app = bare_app(packs)
    app.state.services = services
    public = [one.load("public_hosts", part, FunctionType) for one in packs if (part := one.feature.public_hosts)]
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


def bare_app(packs: Iterable[InstalledFeature] = ()) -> FastAPI:
    """The routes alone: enough for the OpenAPI document."""
    app = FastAPI(docs_url=None, redoc_url=None, openapi_url=None, redirect_slashes=False)
    routers = [*load_all("routes"), health.routes, docs_page.routes]
    for found in packs:
        routers += routes_of(found, taken=routers)
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

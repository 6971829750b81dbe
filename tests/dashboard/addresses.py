"""The addresses of the dashboard, with those of packs."""

import pytest
from starlette.routing import Route

from leasehold.dashboard import app as dashboard
from leasehold.http.app import bare_app
from tests.dashboard.pack_world import packs

#: Says which forms a test sends through a page, by their routes.
does = pytest.mark.does


def routes() -> list[Route]:
    """All of them, streams too."""
    app = bare_app()
    api = list(app.router.routes)
    dashboard.mount(app, packs())
    return [route for route in app.router.routes if isinstance(route, Route) and route not in api]


def actions() -> list[Route]:
    """Where forms are sent to."""
    return [route for route in routes() if "POST" in (route.methods or ())]


def action_of(path: str) -> str:
    """The route of a form that was sent to this address."""
    return next((route.path for route in _ACTIONS if route.path_regex.match(path)), path)


_ACTIONS = actions()

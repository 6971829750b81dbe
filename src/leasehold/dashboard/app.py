"""The dashboard: pages over the same engine and the same row security as the HTTP API. HTML is made here, no SQL."""

from collections.abc import Iterable
from functools import partial
from importlib.resources.abc import Traversable
from urllib.parse import quote
from zoneinfo import available_timezones

from fastapi import FastAPI
from jinja2 import ChoiceLoader, Environment, FunctionLoader, StrictUndefined
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import RedirectResponse, Response
from starlette.routing import Route

from leasehold.dashboard import assets, filters
from leasehold.dashboard.page import HEADERS, Look, Page, Pages, Renderer, routes_of
from leasehold.dashboard.plugin_pages import pages_of, template_folders
from leasehold.feature import load_all
from leasehold.http.browsers import own_path
from leasehold.http.problems import Problem, on_http
from leasehold.plugins.discovery import InstalledFeature

_YEAR = 365 * 24 * 3600
#: Addresses that belong to the API or to no page.
_NOT_PAGES = ["/v1", "/live", "/assets", "/docs", "/login", "/healthz", "/readyz", "/metrics"]

own = Pages()


def mount(app: FastAPI, packs: Iterable[InstalledFeature] = ()) -> None:
    """Put the pages beside the routes of the API."""
    parts: list[Pages] = [*load_all("pages"), own]
    taken = [*_NOT_PAGES, *(page.path for part in parts for page in part.routes)]
    for found in packs:
        if of_pack := pages_of(found, taken):
            parts += of_pack
            taken.append(f"/{found.feature.name}")
    navigation = [part.entry for part in parts if part.entry]
    routes = [route for part in parts for route in routes_of(part, Renderer(environment(part.templates), navigation))]
    app.router.routes.extend([*assets.routes, *routes, Route("/favicon.ico", _icon)])
    app.add_exception_handler(HTTPException, partial(_nothing_here, Renderer(environment(), navigation)))


async def _nothing_here(renderer: Renderer, request: Request, problem: Exception) -> Response:
    """A browser that asks for an address that is none gets a page; everybody else what the API says."""
    is_absent = isinstance(problem, HTTPException) and not isinstance(problem, Problem) and problem.status_code == 404
    if is_absent and "text/html" in request.headers.get("accept", "") and not request.url.path.startswith("/v1/"):
        return renderer.problem(request, Problem("not_found", "there is no such page"))
    return await on_http(request, problem)


@own.post("/theme")
async def theme(look: Look) -> Response:
    response = RedirectResponse(own_path(look.said("back")), 303, HEADERS)
    chosen = look.said("theme")
    if chosen in ("light", "dark", "system"):
        response.set_cookie("leasehold_theme", chosen, max_age=_YEAR, httponly=True, samesite="lax", path="/")
    return response


@own.get("/zone")
async def zones(look: Look) -> Page:
    return look.show(
        "time_zone.html", own_tenant=True, zones=sorted(available_timezones()), back=own_path(look.query("back"))
    )


@own.post("/zone")
async def zone(look: Look) -> Response:
    """The zone in which times are written."""
    chosen = look.said("zone")
    if chosen not in available_timezones():
        raise Problem("invalid", "there is no such time zone", hint="Europe/Berlin, for one")
    response = RedirectResponse(own_path(look.said("back")), 303, HEADERS)
    response.set_cookie("leasehold_zone", quote(chosen), max_age=_YEAR, httponly=True, samesite="lax", path="/")
    return response


async def _icon(_: object) -> Response:
    return RedirectResponse(assets.address("icon.svg"), 308)


def environment(more: Traversable | None = None) -> Environment:
    """Our templates, then those of a pack, which extend them."""
    folders = [*template_folders(), *([more] if more else [])]
    loader = ChoiceLoader([FunctionLoader(partial(_read, folder)) for folder in folders])
    made = Environment(loader=loader, autoescape=True, undefined=StrictUndefined, trim_blocks=True)
    made.filters.update(
        ago=filters.ago,
        brief=filters.brief,
        count=filters.count,
        exact=filters.exact,
        plural=filters.plural,
        pretty=filters.pretty,
        short=filters.short,
        span=filters.span,
        tree=filters.tree,
    )
    made.globals["asset"] = assets.address
    made.globals["parts"] = made.get_template("macros.html").module
    return made


def _read(folder: Traversable, name: str) -> str | None:
    file = folder / name
    return file.read_text() if file.is_file() else None

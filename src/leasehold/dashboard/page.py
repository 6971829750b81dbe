"""What a page is: a function that looks and says which template shows it. Sign-in, CSRF, errors and live updates are
done here, once for all pages."""

import asyncio
import html
import json
import shlex
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from importlib.resources.abc import Traversable
from typing import Any
from urllib.parse import parse_qsl, quote, unquote, urlencode
from uuid import UUID
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from jinja2 import Environment
from starlette.datastructures import ImmutableMultiDict
from starlette.requests import Request
from starlette.responses import RedirectResponse, Response, StreamingResponse
from starlette.routing import Route

from leasehold.dashboard.filters import ZONE
from leasehold.dashboard.sign_in import Visitor, signed_in
from leasehold.dashboard.viewer import NoTenant, Viewer, viewer_of
from leasehold.engine.tenants import DEFAULT, SYSTEM
from leasehold.errors import LeaseholdError, Unreachable
from leasehold.http.browsers import refuse_forged, remember_asked
from leasehold.http.problems import Problem, of_error
from leasehold.http.request_body import read_body
from leasehold.http.services import (
    SAFE_METHODS,
    Services,
    carry_write,
    read_elsewhere,
    remember_write,
    say_age,
    services_of,
)
from leasehold.program.access import Access

CSP = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; "
    "form-action 'self'; base-uri 'none'; frame-ancestors 'none'"
)
HEADERS = {"Content-Security-Policy": CSP, "Referrer-Policy": "same-origin", "Vary": "Cookie"}
#: Between two looks of a live page.
LIVE_SECONDS = 2.0
_PING_SECONDS = 15.0
#: Then a live page comes back and is signed in anew: a session that was ended does not go on looking.
_STREAM_SECONDS = 300.0
_SAID = "leasehold_said"
_MOST_FORM = 512 * 1024
_MOST_FIELDS = 2000

Form = ImmutableMultiDict[str, str]


@dataclass(frozen=True, slots=True, kw_only=True)
class Page:
    """What to show. Blocks of the template that are called ``live_…`` are kept up to date."""

    template: str
    values: Mapping[str, Any] = field(default_factory=dict)
    status: int = 200


@dataclass(frozen=True, slots=True, kw_only=True)
class Look:
    """One request for a page: who looks, and what was asked for."""

    request: Request
    viewer: Viewer
    visitor: Visitor
    form: Form = field(default_factory=lambda: Form([]))

    @property
    def services(self) -> Services:
        return self.viewer.services

    @property
    def tenant(self) -> Access:
        """For packs: the tenant's jobs (``look.tenant.client``) and rows (``look.tenant.transaction()``)."""
        return Access(self.services.backend, self.viewer.one_tenant, self.viewer.caller.actor)

    @property
    def zone(self) -> ZoneInfo:
        """The zone in which whoever looks wants to read times."""
        return zone_of(self.request)

    def query(self, name: str) -> str:
        return self.request.query_params.get(name, "").strip()

    def said(self, name: str) -> str:
        """A field of the form that was sent."""
        return self.form.get(name, "").strip()

    def path_id(self, name: str) -> UUID:
        return as_id(str(self.request.path_params[name]))

    def url(self, path: str, **query: Any) -> str:
        """A link that keeps the chosen tenant."""
        kept = {"tenant": self.viewer.tenant_name} if self.viewer.tenant_name else {}
        wanted = {name: str(value) for name, value in (query | kept).items() if value not in (None, "")}
        return f"{path}?{urlencode(wanted)}" if wanted else path

    def link(self, address: str) -> str:
        """The same for an address that has a query already."""
        if not self.viewer.tenant_name:
            return address
        return f"{address}{'&' if '?' in address else '?'}{urlencode({'tenant': self.viewer.tenant_name})}"

    def command(self, line: str, owner: UUID | None = None) -> str:
        """A command of ours to be copied; it names the tenant of the page, or the owner of what is shown."""
        known = {one.tenant_id: one.name for one in self.viewer.tenants}
        known |= {one.tenant_id: one.name for one in self.visitor.memberships}
        tenant = owner or self.viewer.tenant
        if self.viewer.is_operator and set(known.values()) <= {DEFAULT, SYSTEM}:
            return line
        others = sorted(set(known.values()) - {SYSTEM}, key=lambda name: (name != DEFAULT, name))
        name = str(known.get(tenant, tenant)) if tenant else others[0]
        return f"{line} --tenant {shlex.quote(name)}"

    def show(self, template: str, **values: Any) -> Page:
        return Page(template=template, values=values)

    def confirm(
        self,
        asked: str,
        *,
        action: str,
        back: str,
        button: str,
        words: str = "",
        sample: Sequence[str] = (),
        inputs: Sequence[tuple[str, str]] = (),
        required: Sequence[str] = (),
        fields: Sequence[tuple[str, object]] = (),
        danger: bool = False,
        nothing: bool = False,
    ) -> Page:
        """Ask before it is done; the form goes to ``action``. With ``nothing`` to do, it cannot be sent."""
        return Page(
            template="confirm.html",
            values={
                "own_tenant": True,
                "asked": asked,
                "action": action,
                "back": back,
                "button": button,
                "words": words,
                "sample": sample,
                "inputs": inputs,
                "required": required,
                "fields": fields,
                "danger": danger,
                "nothing": nothing,
            },
        )

    def go(self, url: str, said: str) -> Response:
        """To another page, which says what was done."""
        response = RedirectResponse(url, 303, HEADERS)
        response.set_cookie(_SAID, quote(said), max_age=60, httponly=True, samesite="lax", path="/")
        return response


Handler = Callable[[Look], Awaitable[Page | Response]]


def as_id(text: str) -> UUID:
    try:
        return UUID(text)
    except ValueError:
        raise Problem("not_found", "there is no such page") from None


@dataclass(frozen=True, slots=True, kw_only=True)
class NavigationEntry:
    path: str
    title: str
    key: str | None = None  # one letter that leads there
    scopes: frozenset[str] = frozenset()
    head: str | None = None  # stands above it


@dataclass(frozen=True, slots=True, kw_only=True)
class PageRoute:
    method: str
    path: str
    scopes: frozenset[str]  # one of them lets a person in
    live: bool
    handler: Handler


@dataclass(slots=True)
class Pages:
    """Pages of one part of the dashboard: ``pages.get("/queues", "operator")`` decorates the function that looks."""

    entry: NavigationEntry | None = None
    templates: Traversable | None = None  # where its templates are, if not with ours
    routes: list[PageRoute] = field(default_factory=list)

    def get(self, path: str, *scopes: str, live: bool = False) -> Callable[[Handler], Handler]:
        """A page. ``live``: its template has blocks that are called ``live_…``, and they are kept up to date."""
        return self._add("GET", path, scopes, live=live)

    def post(self, path: str, *scopes: str) -> Callable[[Handler], Handler]:
        """What a form of a page does."""
        return self._add("POST", path, scopes, live=False)

    def _add(self, method: str, path: str, scopes: tuple[str, ...], *, live: bool) -> Callable[[Handler], Handler]:
        def add(handler: Handler) -> Handler:
            route = PageRoute(method=method, path=path, scopes=frozenset(scopes), live=live, handler=handler)
            self.routes.append(route)
            return handler

        return add


class Renderer:
    """Turns pages into answers, with the templates of one set of pages."""

    def __init__(self, environment: Environment, navigation: list[NavigationEntry]) -> None:
        self._environment = environment
        self._navigation = navigation

    def whole(self, look: Look, page: Page) -> Response:
        told = unquote(look.request.cookies.get(_SAID, ""))
        text = self._environment.get_template(page.template).render(self.values(look, page) | {"told": told})
        response = Response(text, page.status, HEADERS, media_type="text/html")
        if told:
            response.delete_cookie(_SAID, path="/")
        return response

    def blocks(self, look: Look, page: Page) -> dict[str, str]:
        template = self._environment.get_template(page.template)
        context = template.new_context(self.values(look, page))
        return {name: "".join(block(context)) for name, block in template.blocks.items() if name.startswith("live_")}

    def problem(self, request: Request, problem: Problem) -> Response:
        values = {
            "problem": problem,
            "theme": theme_of(request),
            "viewer": None,
            "path": request.url.path,
            "request_id": getattr(request.state, "request_id", ""),
        }
        text = self._environment.get_template("problem.html").render(values)
        return Response(text, problem.status_code, {**HEADERS, **(problem.headers or {})}, media_type="text/html")

    def values(self, look: Look, page: Page) -> dict[str, Any]:
        path = look.request.url.path.removeprefix("/live")
        zone = zone_of(look.request)
        ZONE.set(zone)  # for the filters, which macros call without a context
        query = urlencode([pair for pair in look.request.query_params.multi_items() if pair[0] != "tenant"])
        shown = [one for one in self._navigation if any(map(look.viewer.may, one.scopes)) or not one.scopes]
        return {
            "live": False,
            "own_tenant": False,
            "look": look,
            "viewer": look.viewer,
            "visitor": look.visitor,
            "csrf": look.visitor.csrf,
            "url": look.url,
            "path": path,
            "query": query,
            "navigation": [one for one in shown if look.viewer.is_operator or "operator" not in one.scopes],
            "theme": theme_of(look.request),
            "zone": zone.key,
            "live_url": f"/live{path}" + (f"?{look.request.url.query}" if look.request.url.query else ""),
            **page.values,
        }


def theme_of(request: Request) -> str:
    chosen = request.cookies.get("leasehold_theme", "")
    return chosen if chosen in ("light", "dark") else "system"


def zone_of(request: Request) -> ZoneInfo:
    """The zone in which this browser wants to read times."""
    try:
        return ZoneInfo(unquote(request.cookies.get("leasehold_zone", "")) or "UTC")
    except (ZoneInfoNotFoundError, ValueError, OSError):
        return ZoneInfo("UTC")


def routes_of(pages: Pages, renderer: Renderer) -> list[Route]:
    made = []
    for page in pages.routes:
        made.append(Route(page.path, _answers(page, renderer), methods=[page.method]))
        if page.live:
            stream = Route(f"/live{page.path}", _streams(page, renderer))
            stream.methods = {"GET"}  # not HEAD, to which a stream would have no end
            made.append(stream)
    return made


def _answers(page: PageRoute, renderer: Renderer) -> Callable[[Request], Awaitable[Response]]:
    async def answer(request: Request) -> Response:
        try:
            look = await _look(request)
            try:
                response = await _answer(look, page, renderer)
            finally:
                remember_write(request, look.viewer.caller.tenant_id)
            carry_write(request, response)
            say_age(request, response)
            return response
        except Problem as problem:
            return _refusal(request, problem, renderer)
        except LeaseholdError as problem:
            return _refusal(request, of_error(problem), renderer)

    return answer


async def _answer(look: Look, page: PageRoute, renderer: Renderer) -> Response:
    try:
        look.viewer.needs_one_of(page.scopes)
        found = await page.handler(look)
    except NoTenant:
        if look.request.method not in SAFE_METHODS:
            raise
        found = look.show("choose_tenant.html")  # the page that was asked for, once one is chosen
    return found if isinstance(found, Response) else renderer.whole(look, found)


def _refusal(request: Request, problem: Problem, renderer: Renderer) -> Response:
    is_stream = request.url.path.startswith("/live/")
    has_login = bool(request.app.state.methods("/login"))  # a page of people's
    if problem.code == "unauthenticated" and request.method in SAFE_METHODS and not is_stream and has_login:
        response = RedirectResponse("/login", 303, HEADERS)
        remember_asked(request, response)
        return response
    return renderer.problem(request, problem)


async def _look(request: Request) -> Look:
    visitor = await signed_in(request)
    if request.method in SAFE_METHODS:
        read_elsewhere(request, visitor.caller.tenant_id)
    viewer = await viewer_of(services_of(request), visitor, request.query_params.get("tenant"))
    if request.method in SAFE_METHODS:
        return Look(request=request, viewer=viewer, visitor=visitor)
    return Look(request=request, viewer=viewer, visitor=visitor, form=await checked_form(request, visitor))


async def checked_form(request: Request, visitor: Visitor) -> Form:
    """The form, if a page of ours sent it."""
    form = await read_form(request)
    if visitor.csrf:
        refuse_forged(request, visitor.csrf, form.get("csrf"))
    return form


async def read_form(request: Request) -> Form:
    """Fields as browsers send them unless files are among them."""
    body = await read_body(request, _MOST_FORM)
    try:
        return Form(parse_qsl(body.decode(), keep_blank_values=True, max_num_fields=_MOST_FIELDS))
    except ValueError:
        raise Problem("bad_request", "this is not a form") from None


def _streams(page: PageRoute, renderer: Renderer) -> Callable[[Request], Awaitable[Response]]:
    async def stream(request: Request) -> Response:
        try:
            look = await _look(request)
            look.viewer.needs_one_of(page.scopes)
            first = await page.handler(look)
        except Problem as problem:
            return _refusal(request, problem, renderer)
        except LeaseholdError as problem:
            return _refusal(request, of_error(problem), renderer)
        if isinstance(first, Response):
            return first
        sent = renderer.blocks(look, first)
        chunks = _chunks(look, page.handler, renderer, sent)
        return StreamingResponse(chunks, headers={**HEADERS, "X-Accel-Buffering": "no"}, media_type="text/event-stream")

    return stream


async def _chunks(look: Look, handler: Handler, renderer: Renderer, sent: dict[str, str]) -> AsyncIterator[bytes]:
    """What changed since the page was sent, a block at a time; the first message has all of them, for the page may be
    older than this stream."""
    yield _message(sent)
    silent = 0.0
    until = asyncio.get_running_loop().time() + _STREAM_SECONDS
    while not look.services.hub.is_closed and asyncio.get_running_loop().time() < until:
        await asyncio.sleep(LIVE_SECONDS)
        try:
            page = await handler(look)
        except Unreachable:
            continue  # the page stays as it was
        except (Problem, LeaseholdError):
            return
        assert isinstance(page, Page)
        now = renderer.blocks(look, page)
        changed = {name: text for name, text in now.items() if sent.get(name) != text}
        sent = now
        silent = 0.0 if changed else silent + LIVE_SECONDS
        if changed:
            yield _message(changed)
        elif silent >= _PING_SECONDS:
            silent = 0.0
            yield b": ping\n\n"


def _message(blocks: Mapping[str, str]) -> bytes:
    parts = "".join(
        f'<hx-partial hx-target="#{html.escape(name)}" hx-swap="innerMorph">{text}</hx-partial>'
        for name, text in blocks.items()
    )
    lines = "".join(f"data: {line}\n" for line in parts.splitlines())
    return f"{lines}\n".encode()


def as_json(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))

"""For packs: routes of their own on the HTTP API, and pages on the dashboard; limits, sign-in and errors are ours.

    routes = web.routes("notes")

    @routes.get("/v1/notes", summary="All notes", openapi_extra=web.needs("jobs:read"))
    async def list_notes(tenant: web.Tenant) -> dict[str, list[str]]:
        async with tenant.transaction() as tx:
            return {"data": [row["text"] for row in await tx.fetch("select text from leasehold_notes.note")]}

A pack names them, ``Feature(routes=("routes:routes",))``: only the server imports them, and refuses those that lie
outside ``/v1/<pack>``, or that let anybody in without saying so (``web.anybody()``, ``web.Stranger``).

    pages = web.pages("notes", title="Notes", templates="acme_notes")

    @pages.get("/notes", "jobs:read")
    async def notes(look: web.Look) -> web.Page:
        async with look.tenant.transaction() as tx:
            return look.show("notes.html", notes=await tx.fetch("select text from leasehold_notes.note"))

A route may answer with a live stream. Each message has an id; a browser that comes back sends the last one it saw:

    @routes.get("/v1/notes/events", summary="Notes as they come", openapi_extra=web.needs("jobs:read"))
    async def events(tenant: web.Tenant, last_event_id: web.LastEventId = None) -> web.Response:
        return web.stream(tenant, follow(tenant, last_event_id))  # an async generator of web.Message

It counts as one of the tenant's streams, is pinged while it is quiet, dropped when its reader takes nothing, and let go
when the server stops.

``Feature(pages=("pages:pages",))`` gives them an entry in the navigation. Their templates are in the folder
``templates`` of the package and extend ``base.html``.
"""

from collections.abc import AsyncGenerator, Awaitable, Callable
from importlib.resources import files
from typing import Annotated

from fastapi import Depends, Request, Response

from leasehold.dashboard.filters import changes
from leasehold.dashboard.page import Look, NavigationEntry, Page, Pages
from leasehold.http.allowed_hosts import public_host
from leasehold.http.auth import Caller, SignedIn
from leasehold.http.idempotency import IdempotencyKey, once_within
from leasehold.http.problems import Problem
from leasehold.http.request_body import beside, off_loop, read_body, refuse_many_values
from leasehold.http.responses import Answer, answer, answer_all, tagged
from leasehold.http.route import anybody, needs
from leasehold.http.route import router as routes
from leasehold.http.services import services_of
from leasehold.http.streams import LastId as LastEventId
from leasehold.http.streams import Message, Position, open_other
from leasehold.http.types import Listing
from leasehold.program.access import Access
from leasehold.program.access import Stranger as _Stranger
from leasehold.program.transaction import ReadOnlyTransaction, Transaction

__all__ = [
    "Answer",
    "Caller",
    "IdempotencyKey",
    "LastEventId",
    "Listing",
    "Look",
    "Message",
    "Page",
    "Pages",
    "Position",
    "Problem",
    "ReadOnlyTransaction",
    "Request",
    "Response",
    "Stranger",
    "Tenant",
    "Transaction",
    "answer",
    "answer_all",
    "anybody",
    "beside",
    "changes",
    "needs",
    "off_loop",
    "pages",
    "public_host",
    "read_body",
    "refuse_many_values",
    "routes",
    "stream",
    "tagged",
]


class _Tenant(Access):
    def __init__(self, request: Request, caller: Caller) -> None:
        super().__init__(services_of(request).backend, caller.tenant, caller.actor)
        self.caller = caller
        self.request = request

    async def once(self, key: str | None, operate: Callable[[Transaction], Awaitable[Answer]]) -> Response:
        """Operate in one transaction; with an Idempotency-Key its answer is kept there, for the same request again."""
        async with self.transaction() as tx:
            return await once_within(tx.db, self.request, self.caller, key, lambda: operate(tx))


async def _tenant(request: Request, caller: SignedIn) -> _Tenant:
    return _Tenant(request, caller)


def stream(tenant: _Tenant, messages: AsyncGenerator[Message, None]) -> Response:
    """What the generator gives, as server-sent events; 429 where the tenant has too many streams already."""
    return open_other(services_of(tenant.request), tenant.caller.tenant, messages)


#: The tenant of the key: ``tenant.client`` has its jobs, ``tenant.transaction()`` its rows.
Tenant = Annotated[_Tenant, Depends(_tenant)]


async def _stranger(request: Request) -> _Stranger:
    return _Stranger(services_of(request).backend)


#: For routes that say ``web.anybody()``: ``stranger.transaction()`` can call what the pack grants, and nothing else.
Stranger = Annotated[_Stranger, Depends(_stranger)]


def pages(pack: str, *, title: str | None = None, templates: str) -> Pages:
    """Pages of a pack, below ``/<pack>``; ``templates`` names the package that has a folder of them.

    The title stands in the navigation. Further pages of the same pack have none.
    """
    entry = (
        NavigationEntry(path=f"/{pack}", title=title, scopes=frozenset({"jobs:read"}), head="Packs") if title else None
    )
    return Pages(entry, files(templates) / "templates")

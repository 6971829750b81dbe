"""For packs: routes of their own on the HTTP API. Limits, sign-in, tenants, answers and errors are the API's.

    routes = web.routes("notes")

    @routes.get("/v1/notes", summary="All notes", openapi_extra=web.needs("jobs:read"))
    async def list_notes(tenant: web.Tenant) -> dict[str, list[str]]:
        async with tenant.transaction() as tx:
            return {"data": [row["text"] for row in await tx.fetch("select text from leasehold_notes.note")]}

A pack names them, ``Pack(routes="acme_notes.routes:routes")``: only the server imports them, and refuses those that lie
outside ``/v1/<pack>`` or let anybody in.
"""

from collections.abc import Awaitable, Callable
from typing import Annotated

from fastapi import Depends, Request, Response

from leasehold.access import Access, Transaction
from leasehold.api.answers import Answer, answer, tagged
from leasehold.api.auth import Caller, SignedIn
from leasehold.api.idempotency import IdempotencyKey, once_within
from leasehold.api.problems import Problem
from leasehold.api.route import needs
from leasehold.api.route import router as routes
from leasehold.api.services import services_of

__all__ = [
    "Answer",
    "Caller",
    "IdempotencyKey",
    "Problem",
    "Request",
    "Response",
    "Tenant",
    "Transaction",
    "answer",
    "needs",
    "routes",
    "tagged",
]


class _Tenant(Access):
    def __init__(self, request: Request, caller: Caller) -> None:
        super().__init__(services_of(request).backend, caller.tenant, caller.actor)
        self.caller = caller
        self._request = request

    async def once(self, key: str | None, operate: Callable[[Transaction], Awaitable[Answer]]) -> Response:
        """Operate in one transaction; with an Idempotency-Key its answer is kept there, for the same request again."""
        async with self.transaction() as tx:
            return await once_within(tx.scope, self._request, self.caller, key, lambda: operate(tx))


async def _tenant(request: Request, caller: SignedIn) -> _Tenant:
    return _Tenant(request, caller)


#: The tenant of the key: ``tenant.client`` has its jobs, ``tenant.transaction()`` its rows.
Tenant = Annotated[_Tenant, Depends(_tenant)]

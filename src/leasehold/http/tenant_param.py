"""Whose things a request is about: the caller's tenant's, or of the one that an operator names."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Annotated
from uuid import UUID

from fastapi import Query, Request

from leasehold.database.actor import ActorTransaction
from leasehold.engine import tenants
from leasehold.http.auth import Caller
from leasehold.http.problems import Problem
from leasehold.http.services import services_of

Tenant = Annotated[
    str | None, Query(min_length=1, max_length=100, description="Name or id; only the operator says it.")
]


@asynccontextmanager
async def owner_scope(
    request: Request, caller: Caller, tenant: str | None
) -> AsyncIterator[tuple[ActorTransaction, UUID | None]]:
    """A transaction for the caller's own tenant, or for the one that the operator names; None is the installation."""
    services = services_of(request)
    if caller.tenant_id is not None:
        if tenant is not None:
            raise Problem("forbidden", "only the operator's keys name a tenant: this one has its own")
        async with ActorTransaction.open(services.db, tenant=caller.tenant_id, actor=caller.actor) as scope:
            yield scope, caller.tenant_id
        return
    db = services.operator
    owner = None if tenant is None else await tenants.find_tenant(db, tenant)
    async with ActorTransaction.open(db, tenant=owner, actor=caller.actor) as scope:
        yield scope, owner

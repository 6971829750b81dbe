"""One tenant's things, changed by a person at a shell: the audit log names the person."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from uuid import UUID

    from leasehold.database.actor import ActorTransaction
    from leasehold.database.database import Database
    from leasehold.settings import Settings


@asynccontextmanager
async def tenant_scope(settings: "Settings") -> "AsyncIterator[tuple[ActorTransaction, UUID]]":
    """One transaction as the operator, for the tenant of the settings."""
    async with shell_scope(settings) as (scope, owner):
        assert owner is not None
        yield scope, owner


@asynccontextmanager
async def shell_scope(settings: "Settings | None") -> "AsyncIterator[tuple[ActorTransaction, UUID | None]]":
    """The same; without settings for the installation, and no tenant."""
    from getpass import getuser

    from leasehold.database.actor import ActorTransaction
    from leasehold.engine import tenants

    async with operator() as db:
        owner = await tenants.find_tenant(db, settings.tenant) if settings else None
        async with ActorTransaction.open(db, tenant=owner, actor=f"cli:{getuser()}") as scope:
            yield scope, owner


def operator() -> "Database":
    """The database as the operator."""
    from leasehold.database.connect import target
    from leasehold.database.database import Database, Role
    from leasehold.settings import Settings

    return Database(target(Settings.from_env(), Role.OPERATOR), connections=1)

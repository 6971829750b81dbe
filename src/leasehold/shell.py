"""For packs: commands of their own, ``leasehold <pack> …``. ``Feature(commands={"notes": "commands:app"})`` names them.

``app`` is a ``typer.Typer``. It is imported when somebody calls it, so keep heavy imports inside the commands:

    @app.command()
    @shell.command
    async def count(tenant: shell.TenantOption = None) -> None:
        async with shell.tenant(tenant) as access, access.transaction() as tx:
            print(await tx.fetchval("select count(*) from leasehold_notes.note"))
"""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING

from leasehold.cli.options import Json
from leasehold.cli.options import Tenant as TenantOption
from leasehold.cli.output import command, print_json, print_table, say

if TYPE_CHECKING:
    from leasehold.program.access import Access

__all__ = ["Json", "TenantOption", "command", "print_json", "print_table", "say", "tenant"]


@asynccontextmanager
async def tenant(name: str | None = None) -> "AsyncIterator[Access]":
    """The database, opened for one tenant: by default that of ``LEASEHOLD_TENANT``. The audit log names the person."""
    from getpass import getuser

    from leasehold.program.access import Access
    from leasehold.program.client import Backend
    from leasehold.settings import Settings

    async with Backend(Settings.from_env(tenant=name)) as backend:
        client = await backend.client()
        yield Access(client.backend, client.tenant_id, f"cli:{getuser()}")

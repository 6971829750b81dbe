"""`leasehold tenants …`."""

from typing import Annotated

import typer

from leasehold.cli.options import Json
from leasehold.cli.output import command, print_json, print_table, say
from leasehold.cli.tenant_scope import operator

app = typer.Typer(help="Customers: make them, list them, set their limits.", no_args_is_help=True)


@app.command()
@command
async def create(name: str, json: Json = False) -> None:
    """Make a tenant, unless it is there; prints its id."""
    from leasehold.engine import tenants

    async with operator() as db:
        tenant_id = await tenants.create_tenant(db, name)
    if json:
        print_json({"tenant_id": tenant_id, "name": name})
    else:
        print(tenant_id)
        say(f"use it with --tenant {name} or LEASEHOLD_TENANT={name}")


@app.command("list")
@command
async def list_(json: Json = False) -> None:
    """All tenants by name."""
    from leasehold.engine import tenants

    async with operator() as db:
        found = await tenants.list_tenants(db)
    if json:
        print_json(found)
    else:
        print_table(
            ["name", "tenant_id", "weight", "max running", "max queued"],
            [(t.name, t.tenant_id, f"{t.weight:g}", t.max_running, t.max_queued) for t in found],
        )


@app.command("set")
@command
async def set_(
    name: str,
    weight: Annotated[float | None, typer.Option(help="Its share among tenants that wait; 1 is usual.")] = None,
    max_running: Annotated[int | None, typer.Option(help="Jobs that may run at once.")] = None,
    max_queued: Annotated[int | None, typer.Option(help="Jobs that may wait.")] = None,
) -> None:
    """Change a tenant's weight and limits."""
    from leasehold.engine import tenants

    async with operator() as db:
        tenant_id = await tenants.find_tenant(db, name)
        await tenants.set_tenant(db, tenant_id, weight=weight, max_running=max_running, max_queued=max_queued)
    say(f"{name} is set")


@app.command()
@command
async def quotas(
    name: str,
    change: Annotated[
        list[str] | None,
        typer.Option("--set", help="endpoints=200, or endpoints= for the usual number; again for more."),
    ] = None,
    json: Json = False,
) -> None:
    """How many endpoints, schedules and other things a tenant may have; --set changes it."""
    from leasehold.engine import tenants

    changes = [_quota(text) for text in change or ()]
    async with operator() as db:
        tenant_id = await tenants.find_tenant(db, name)
        for what, most in changes:
            await tenants.set_quota(db, tenant_id, what, most)
        found = await tenants.list_quotas(db, tenant_id)
    if json:
        print_json(found)
    else:
        print_table(["what", "most", "usual"], [(one.what, one.most, one.usual) for one in found])


def _quota(text: str) -> "tuple[str, int | None]":
    from leasehold.errors import BadInput

    what, equals, most = text.partition("=")
    if not equals or not (most == "" or most.isdecimal()):
        raise BadInput(f"--set {text} is no quota", hint="such as --set endpoints=200")
    return what, int(most) if most else None

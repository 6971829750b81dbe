"""`leasehold limits …`: queues, kinds and tenants that run only so much, or nothing for a while."""

from enum import StrEnum
from typing import TYPE_CHECKING, Annotated

import typer

from leasehold.cli.options import Json
from leasehold.cli.output import command, print_json, print_table, say
from leasehold.cli.tenant_scope import operator

if TYPE_CHECKING:
    from leasehold.database.database import Database

app = typer.Typer(
    help="Limits: so many of a queue or kind at once; queues, kinds and tenants that are paused.", no_args_is_help=True
)


class What(StrEnum):
    QUEUE = "queue"
    KIND = "kind"
    TENANT = "tenant"


@app.command("list")
@command
async def list_(json: Json = False) -> None:
    """What is limited or paused, beside the limits that every tenant has."""
    from leasehold.features.limits import store as limits_store

    async with operator() as db:
        found = await limits_store.list_limits(db)
    if json:
        print_json(found)
    else:
        print_table(
            ["what", "name", "max running", "paused", "running"],
            [(one.what, one.name, one.max_running, "yes" if one.paused else "no", one.running) for one in found],
        )


@app.command("set")
@command
async def set_(
    what: What, name: str, max_running: Annotated[int, typer.Argument(min=1, max=1_000_000, help="Jobs at once.")]
) -> None:
    """Let so many jobs of a queue, kind or tenant run at once."""
    async with operator() as db:
        await _limit(db, what, name, max_running)
    say(f"{what} {name}: at most {max_running} at once")


@app.command()
@command
async def remove(what: What, name: str) -> None:
    """Remove the limit of a queue or kind. A tenant always has one."""
    if what is What.TENANT:
        raise typer.BadParameter("a tenant always has a limit: leasehold limits set tenant …")
    async with operator() as db:
        await _limit(db, what, name, None)
    say(f"{what} {name} has no limit")


@app.command()
@command
async def pause(what: What, name: str) -> None:
    """Let nothing of a queue, kind or tenant start; what runs goes on."""
    async with operator() as db:
        await _pause(db, what, name, paused=True)
    say(f"{what} {name} is paused; `leasehold limits resume {what} {name}` lets it go on")


@app.command()
@command
async def resume(what: What, name: str) -> None:
    """Let a queue, kind or tenant that is paused go on."""
    async with operator() as db:
        await _pause(db, what, name, paused=False)
    say(f"{what} {name} goes on")


async def _limit(db: "Database", what: What, name: str, max_running: int | None) -> None:
    from leasehold.engine import tenants
    from leasehold.features.limits import store as limits_store

    match what:
        case What.QUEUE:
            await limits_store.limit_queue(db, name, max_running)
        case What.KIND:
            await limits_store.limit_kind(db, name, max_running)
        case What.TENANT:
            await tenants.set_tenant(db, await tenants.find_tenant(db, name), max_running=max_running)


async def _pause(db: "Database", what: What, name: str, *, paused: bool) -> None:
    from leasehold.engine import tenants
    from leasehold.features.limits import store as limits_store

    match what:
        case What.QUEUE:
            await limits_store.pause_queue(db, name, paused=paused)
        case What.KIND:
            await limits_store.pause_kind(db, name, paused=paused)
        case What.TENANT:
            await limits_store.pause_tenant(db, await tenants.find_tenant(db, name), paused=paused)

"""`leasehold approvals …`."""

from typing import Annotated
from uuid import UUID

import typer

from leasehold.cli.options import Json, Tenant
from leasehold.cli.output import command, print_json, print_table, say
from leasehold.features.flows.commands import opened

app = typer.Typer(help="Approvals: what flows wait for people to decide.", no_args_is_help=True)

Note = Annotated[str | None, typer.Option(help="Kept with the decision.")]


@app.command("list")
@command
async def list_(
    after: Annotated[UUID | None, typer.Option(help="The last job of the page before.")] = None,
    limit: Annotated[int, typer.Option(min=1, max=1000)] = 100,
    tenant: Tenant = None,
    json: Json = False,
) -> None:
    """What waits, the oldest first."""
    async with opened(tenant) as flows:
        found = await flows.approvals(after=after, limit=limit)
    if json:
        print_json(found)
    else:
        print_table(
            ["approval", "flow", "step", "message", "expires", "then"],
            [(one.job_id, one.flow, one.name, _message(one.payload), one.expires_at, one.by_default) for one in found],
        )


@app.command()
@command
async def approve(approval: UUID, note: Note = None, tenant: Tenant = None, json: Json = False) -> None:
    """Let the flow go on."""
    async with opened(tenant) as flows:
        await flows.approve(approval, note)
    print_json({"job_id": approval, "approved": True}) if json else say("approved")


@app.command()
@command
async def reject(approval: UUID, note: Note = None, tenant: Tenant = None, json: Json = False) -> None:
    """Let the step fail; the steps that wait for it decide what becomes of the flow."""
    async with opened(tenant) as flows:
        await flows.reject(approval, note)
    print_json({"job_id": approval, "approved": False}) if json else say("rejected")


def _message(payload: object) -> object:
    return payload.get("message") if isinstance(payload, dict) else None

"""`leasehold flows …`."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, Annotated
from uuid import UUID

import typer

from leasehold.cli.options import Json, Tenant
from leasehold.cli.output import command, print_json, print_table, say

if TYPE_CHECKING:
    from leasehold.features.flows.model import FlowInfo, StepInfo
    from leasehold.features.flows.store import Flows

app = typer.Typer(help="Flows: jobs that wait for each other.", no_args_is_help=True)


@app.command("list")
@command
async def list_(
    state: Annotated[str | None, typer.Option(help="running, succeeded, failed or canceled.")] = None,
    name: Annotated[str | None, typer.Option(help="Only flows of this name.")] = None,
    before: Annotated[UUID | None, typer.Option(help="The last id of the page before.")] = None,
    limit: Annotated[int, typer.Option(min=1, max=1000)] = 20,
    tenant: Tenant = None,
    json: Json = False,
) -> None:
    """The newest flows first."""
    async with opened(tenant) as flows:
        found = await flows.list(state=state, name=name, before=before, limit=limit)
    if json:
        print_json(found)
    else:
        print_table(
            ["flow", "name", "state", "started", "ended", "reason"],
            [(one.flow_id, one.name, _state(one), one.created_at, one.finished_at, one.reason) for one in found],
        )


@app.command()
@command
async def show(
    flow: UUID,
    after: Annotated[UUID | None, typer.Option(help="The last job of the page of steps before.")] = None,
    limit: Annotated[int, typer.Option(min=1, max=1000, help="How many steps.")] = 100,
    tenant: Tenant = None,
    json: Json = False,
) -> None:
    """One flow with its steps: how far it is, and what waits for what."""
    async with opened(tenant) as flows:
        info = await flows.get(flow)
        steps = await flows.steps(flow, after=after, limit=limit)
    if json:
        print_json(_with_steps(info, list(steps)))
        return
    counts = ", ".join(f"{n} {state}" for state, n in sorted((info.counts or {}).items()))
    say(f"{info.name} is {_state(info)}{f': {info.reason}' if info.reason else ''}; {counts or 'it has no steps'}")
    names = {one.job_id: one.name or str(one.job_id) for one in steps}
    print_table(
        ["step", "kind", "state", "after", "job", "reason"],
        [
            (
                one.name,
                one.kind,
                one.state,
                _shortened([names.get(p, str(p)) for p in one.after]),
                one.job_id,
                one.reason,
            )
            for one in steps
        ],
    )


@app.command()
@command
async def cancel(
    flow: UUID,
    reason: Annotated[str | None, typer.Option(help="Kept with the flow and in the audit log.")] = None,
    tenant: Tenant = None,
    json: Json = False,
) -> None:
    """Cancel a whole flow: what has not started never will, what runs is asked to end."""
    async with opened(tenant) as flows:
        became = await flows.cancel(flow, reason)
    if json:
        print_json({"flow_id": flow, "state": became})
    else:
        say("asked its running steps to end" if became == "requested" else f"the flow is {became}")


@app.command()
@command
async def retry(flow: UUID, tenant: Tenant = None, json: Json = False) -> None:
    """Go on with a flow that failed or was canceled; steps that succeeded are kept."""
    async with opened(tenant) as flows:
        count = await flows.retry(flow)
    print_json({"flow_id": flow, "steps": count}) if json else say(f"{count} steps are done again")


@asynccontextmanager
async def opened(tenant: str | None) -> "AsyncIterator[Flows]":
    """The tenant's flows, changed by a person at a shell: the audit log names the person."""
    from getpass import getuser

    from leasehold.database.actor import ActorDatabase
    from leasehold.features.flows.store import Flows
    from leasehold.program.client import Backend
    from leasehold.settings import Settings

    async with Backend(Settings.from_env(tenant=tenant)) as backend:
        client = await backend.client()
        yield Flows(ActorDatabase(client.backend.db, f"cli:{getuser()}"), client.tenant_id, client.backend.announce)


def _state(info: "FlowInfo") -> str:
    return "stopping" if info.stopping else info.state


def _shortened(names: list[str]) -> str:
    more = f" and {len(names) - 3} more" if len(names) > 3 else ""
    return ", ".join(names[:3]) + more


def _with_steps(info: "FlowInfo", steps: "list[StepInfo]") -> dict[str, object]:
    from dataclasses import asdict

    return asdict(info) | {"steps": steps}

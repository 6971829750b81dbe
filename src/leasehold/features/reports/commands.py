"""`leasehold reports …`."""

from datetime import datetime
from pathlib import Path
from typing import Annotated, Any
from uuid import UUID

import typer

from leasehold.cli.options import Json, Tenant
from leasehold.cli.output import command, print_json, print_table, say
from leasehold.cli.tenant_scope import tenant_scope

app = typer.Typer(help="Reports: ask for them, find them, hand them out.", no_args_is_help=True)

Report = Annotated[UUID, typer.Argument(help="The report's id, as `reports list` shows it.")]


@app.command()
@command
async def create(
    name: Annotated[str, typer.Argument(help="activity, jobs, attempts or deliveries; data with --data.")] = "activity",
    format_: Annotated[str, typer.Option("--format", help="html, csv, json or xlsx.")] = "html",
    days: Annotated[float, typer.Option(help="Of the last so many days.")] = 7.0,
    since: Annotated[datetime | None, typer.Option(help="From this moment on, in UTC.")] = None,
    until: Annotated[datetime | None, typer.Option(help="To this moment, in UTC.")] = None,
    kind: Annotated[str | None, typer.Option(help="Of jobs of this kind.")] = None,
    queue: Annotated[str | None, typer.Option(help="Of jobs of this queue.")] = None,
    state: Annotated[str | None, typer.Option(help="In this state; for attempts, with this outcome.")] = None,
    title: Annotated[str | None, typer.Option(help="What stands above it.")] = None,
    data: Annotated[Path | None, typer.Option(help="A file with a JSON list of objects, one for each line.")] = None,
    keep_days: Annotated[float, typer.Option(help="Days that it is there.")] = 30.0,
    to: Annotated[Path | None, typer.Option(help="Wait for it, and write it into this file.")] = None,
    tenant: Tenant = None,
    json: Json = False,
) -> None:
    """Ask for a report and print its id; with --to, wait and write it into a file."""
    from leasehold.program.client import Client
    from leasehold.settings import Settings

    order: dict[str, Any] = {
        "report": None if data else name,
        "data": _lines(data) if data else None,
        "format": format_,
        "days": days,
        "since": _utc(since),
        "until": _utc(until),
        "kind": kind,
        "queue": queue,
        "state": state,
        "title": title,
        "keep_days": keep_days,
    }
    payload = _checked({name: value for name, value in order.items() if value is not None})
    settings = Settings.from_env(tenant=tenant)
    async with Client.connect(settings) as client:
        job = await client.enqueue("report.generate", payload)
        ended = await client.wait(job.job_id) if to else None
    if ended and ended.state != "succeeded":
        say(f"error: the report was not made: {(ended.error or {}).get('message', ended.state)}")
        raise typer.Exit(1)
    if to:
        await _write(settings, job.job_id, to)
    if json:
        print_json({"report_id": job.job_id})
    else:
        print(job.job_id)


@app.command("list")
@command
async def list_(
    limit: Annotated[int, typer.Option(min=1, max=1000, help="How many.")] = 50,
    tenant: Tenant = None,
    json: Json = False,
) -> None:
    """Reports that have not expired, newest first."""
    from leasehold.features.reports import store as reports
    from leasehold.settings import Settings

    async with tenant_scope(Settings.from_env(tenant=tenant)) as (scope, owner):
        found = await reports.list_reports(scope, owner, limit=limit)
    if json:
        print_json(found)
    else:
        print_table(
            ["report", "title", "format", "lines", "bytes", "created", "expires"],
            [(r.report_id, r.title, r.format, r.lines, r.size, r.created_at, r.expires_at) for r in found],
        )


@app.command()
@command
async def download(
    report: Report,
    to: Annotated[Path, typer.Option(help="The file to write.")],
    tenant: Tenant = None,
) -> None:
    """Write a report into a file."""
    from leasehold.settings import Settings

    await _write(Settings.from_env(tenant=tenant), report, to)


@app.command()
@command
async def link(
    report: Report,
    hours: Annotated[float, typer.Option(min=0.01, max=8760, help="How long it holds.")] = 24.0,
    tenant: Tenant = None,
) -> None:
    """Print a link that opens a report without a key. LEASEHOLD_PUBLIC_URL is what it begins with."""
    from datetime import UTC, timedelta

    from leasehold.features.reports import store as reports
    from leasehold.installation_keys import secret_keys
    from leasehold.settings import Settings

    settings = Settings.from_env(tenant=tenant)
    async with tenant_scope(settings) as (scope, owner):
        [found] = await reports.list_reports(scope, owner, report)
    until = min(datetime.now(UTC) + timedelta(hours=hours), found.expires_at)
    print(reports.signed_link(secret_keys(settings), report, until, base=settings.public_url))


@app.command()
@command
async def remove(report: Report, tenant: Tenant = None) -> None:
    """Remove a report: links to it lead nowhere from now on."""
    from leasehold.features.reports import store as reports
    from leasehold.settings import Settings

    async with tenant_scope(Settings.from_env(tenant=tenant)) as (scope, owner):
        await reports.remove_report(scope, owner, report)
    say(f"{report} is removed")


async def _write(settings: Any, report: UUID, to: Path) -> None:
    from leasehold.database.connect import target
    from leasehold.database.database import Database, Role
    from leasehold.engine import tenants
    from leasehold.features.blobs.object_store import ObjectStore
    from leasehold.features.blobs.store import Bodies
    from leasehold.features.reports import store as reports

    async with Database(target(settings, Role.API)) as db:
        owner = await tenants.find_tenant(db, settings.tenant)
        [found] = await reports.list_reports(db, owner, report)
        bodies = Bodies(db, owner, days=settings.body_days, objects=ObjectStore.of(settings))
        with to.open("wb") as file:
            async for piece in bodies.chunks(found.sha256):
                file.write(piece)
    say(f"{to} has {found.lines} lines, {found.size} bytes")


def _lines(path: Path) -> Any:
    import json

    try:
        return json.loads(path.read_text())
    except (OSError, ValueError) as problem:
        raise typer.BadParameter(f"{path} cannot be read as JSON: {problem}") from None


def _checked(order: dict[str, Any]) -> dict[str, Any]:
    """As the worker will check it, before anything is enqueued."""
    from pydantic import ValidationError

    from leasehold.features.reports.model import ReportOrder

    try:
        return ReportOrder.model_validate(order).model_dump(mode="json", exclude_unset=True)
    except ValidationError as problem:
        first = problem.errors()[0]
        where = ".".join(str(part) for part in first["loc"])
        raise typer.BadParameter(f"{where}: {first['msg']}" if where else first["msg"]) from None


def _utc(moment: datetime | None) -> datetime | None:
    from datetime import UTC

    return moment and moment.replace(tzinfo=UTC)

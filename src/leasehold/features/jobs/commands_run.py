"""`leasehold run`: ask for one job, and watch it."""

from typing import TYPE_CHECKING, Annotated, Any

import typer

from leasehold.cli.options import Force, Json, Tenant, options_of_job, with_job_options
from leasehold.cli.output import command, print_json, say, shown

if TYPE_CHECKING:
    from leasehold.job import Enqueued, Event, Job
    from leasehold.program.client import Client


@with_job_options
@command
async def run(
    kind: Annotated[str, typer.Argument(help="The kind of work, such as demo.hello.")],
    values: Annotated[
        list[str] | None, typer.Argument(metavar="[NAME=VALUE]...", help="The payload; values are JSON or text.")
    ] = None,
    follow: Annotated[
        bool, typer.Option("--follow", "-f", help="Show progress until the job ends; exit 1 unless it succeeded.")
    ] = False,
    key: Annotated[str | None, typer.Option(help="The same key of the same kind is the same job.")] = None,
    force: Force = False,
    tenant: Tenant = None,
    json: Json = False,
    **options: Any,
) -> None:
    """Enqueue a job:  leasehold run demo.hello name=Ada --follow"""
    from leasehold.program.client import Client
    from leasehold.settings import Settings

    async with Client.connect(Settings.from_env(tenant=tenant)) as client:
        if not force:
            await client.require_kind(kind)
        job = await client.enqueue(kind, _payload(values or []), key=key, **options_of_job(options))
        if not json:
            await _say_if_nobody_works(client, job)
        if not follow:
            _print_enqueued(job, tenant, json=json)
            return
        await (_follow_quietly if json else _follow)(client, job)
        ended = await client.get(job.job_id)
    _print_ended(ended, json=json)
    if ended.state != "succeeded":
        raise typer.Exit(1)


async def _say_if_nobody_works(client: "Client", job: "Enqueued") -> None:
    """A kind that no worker knows is mostly a typing error: whoever made it is there now, and would wait for long."""
    for reason in await client.explain(job.job_id):
        if reason.reason == "no worker":
            say(f"it will wait: {reason.detail}")


def _payload(values: list[str]) -> dict[str, Any]:
    """``name=Ada steps=3`` → {"name": "Ada", "steps": 3}"""
    pairs = [value.partition("=") for value in values]
    for name, equals, _ in pairs:
        if not (name and equals):
            raise typer.BadParameter(f"{name!r} is not of the form name=value")
    return {name: _value(text) for name, _, text in pairs}


def _value(text: str) -> Any:
    import json

    try:
        return json.loads(text)
    except ValueError:
        return text


async def _follow_quietly(client: "Client", job: "Enqueued") -> None:
    async for _ in client.follow(job.job_id):
        pass


async def _follow(client: "Client", job: "Enqueued") -> None:
    """A bar for a person, lines for a log; both on stderr."""
    import sys

    say(f"job {job.job_id}")
    if not sys.stderr.isatty():
        async for event in client.follow(job.job_id):
            say(line(event))
        return
    from rich.console import Console
    from rich.progress import BarColumn, Progress, TaskProgressColumn, TextColumn

    columns = (BarColumn(), TaskProgressColumn(), TextColumn("{task.description}"))
    with Progress(*columns, console=Console(stderr=True), transient=True) as progress:
        bar = progress.add_task("", total=100)
        async for event in client.follow(job.job_id):
            if event.progress is not None:
                progress.update(bar, completed=event.progress, description=event.message or "")
            else:
                progress.console.print(line(event), markup=False, highlight=False)
                progress.update(bar, description=event.type)


def line(event: "Event") -> str:
    """An event as a line for people."""
    attempt = f" attempt {event.data['attempt']}" if event.data and "attempt" in event.data else ""
    percent = f" {event.progress:.0f} %" if event.progress is not None else ""
    message = f": {event.message}" if event.message else ""
    return f"{event.at:%H:%M:%S} {event.type}{attempt}{percent}{message}"


def _print_enqueued(job: "Enqueued", tenant: str | None, *, json: bool) -> None:
    if json:
        print_json(job)
        return
    print(job.job_id)
    say(f"{job.state}; see it with: {shown(f'leasehold jobs get {job.job_id}', tenant)}")


def _print_ended(job: "Job", *, json: bool) -> None:
    if json:
        print_json(job)
    elif job.state == "succeeded":
        print(job.result if isinstance(job.result, str) else _text(job.result))
    else:
        error = (job.error or {}).get("message", "")
        say(f"{job.state} after {job.attempt} of {job.max_attempts} attempts: {error}")


def _text(value: Any) -> str:
    import json

    return json.dumps(value, ensure_ascii=False)

"""`leasehold jobs …`."""

from typing import TYPE_CHECKING, Annotated
from uuid import UUID

import typer

from leasehold.cli.options import DryRun, Json, Tenant, Yes
from leasehold.cli.output import command, confirm, print_json, print_table, say, shown

if TYPE_CHECKING:
    from contextlib import AbstractAsyncContextManager

    from leasehold.job import Attempt, Job, LogLine
    from leasehold.program.client import Client

app = typer.Typer(help="Look at jobs, and act on them.", no_args_is_help=True)

State = Annotated[str | None, typer.Option(help="Only jobs in this state.")]
Kind = Annotated[str | None, typer.Option(help="Only jobs of this kind.")]
Queue = Annotated[str | None, typer.Option(help="Only jobs of this queue.")]
Tag = Annotated[str | None, typer.Option(help="Only jobs with this tag.")]
Jobs = Annotated[list[UUID] | None, typer.Argument(help="Job ids; or give a filter.")]


@app.command("list")
@command
async def list_(
    state: State = None,
    kind: Kind = None,
    queue: Queue = None,
    tag: Tag = None,
    key: Annotated[str | None, typer.Option(help="Only the job with this idempotency key.")] = None,
    before: Annotated[UUID | None, typer.Option(help="Only jobs older than this one: the next page.")] = None,
    limit: Annotated[int, typer.Option(min=1, max=1000)] = 20,
    tenant: Tenant = None,
    json: Json = False,
) -> None:
    """The newest jobs first."""
    async with _client(tenant) as client:
        jobs = await client.list_jobs(before=before, limit=limit, state=state, kind=kind, queue=queue, tag=tag, key=key)
    if json:
        print_json(jobs)
    else:
        print_table(
            ["job", "kind", "queue", "state", "attempt", "created"],
            [(j.job_id, j.kind, j.queue, j.state, f"{j.attempt}/{j.max_attempts}", j.created_at) for j in jobs],
        )


@app.command()
@command
async def get(job_id: UUID, tenant: Tenant = None, json: Json = False) -> None:
    """One job with its attempts."""
    from dataclasses import asdict

    async with _client(tenant) as client:
        job = await client.get(job_id)
        attempts = await client.attempts(job_id)
    if json:
        print_json(asdict(job) | {"attempts": attempts})
    else:
        _print_job(job, attempts)


@app.command()
@command
async def tail(
    job_id: Annotated[UUID | None, typer.Argument(help="Only this job; without it, jobs as they are made.")] = None,
    tenant: Tenant = None,
    jsonl: Annotated[bool, typer.Option("--jsonl", help="One JSON document a line.")] = False,
) -> None:
    """Follow the events of one job until it ends, or new jobs until Ctrl-C."""
    from leasehold.features.jobs.commands_run import line

    async with _client(tenant) as client:
        if job_id:
            async for event in client.follow(job_id):
                print_json(event) if jsonl else print(line(event), flush=True)
            return
        async for job in client.new_jobs():
            print_json(job) if jsonl else print(
                f"{job.created_at:%H:%M:%S} {job.job_id} {job.kind} {job.state}", flush=True
            )


@app.command()
@command
async def logs(
    job_id: UUID,
    follow: Annotated[bool, typer.Option("--follow", "-f", help="Until the job has ended.")] = False,
    tenant: Tenant = None,
    jsonl: Annotated[bool, typer.Option("--jsonl", help="One JSON document a line.")] = False,
) -> None:
    """What the handler of a job logged, attempt by attempt."""
    async with _client(tenant) as client:
        if follow:
            async for line in client.follow_logs(job_id):
                _print_log(line, jsonl=jsonl)
            return
        after = 0
        while lines := await client.logs(job_id, after=after):
            for line in lines:
                _print_log(line, jsonl=jsonl)
            after = lines[-1].seq


@app.command()
@command
async def explain(job_id: UUID, tenant: Tenant = None, json: Json = False) -> None:
    """Why is this job not running?"""
    async with _client(tenant) as client:
        job = await client.get(job_id)
        reasons = await client.explain(job_id)
    if json:
        print_json({"state": job.state, "reasons": reasons})
    elif reasons:
        print_table(["reason", "detail"], [(reason.reason, _with_tenant(reason.detail, tenant)) for reason in reasons])
    else:
        print(
            f"it is {job.state}"
            if job.state.is_outcome or job.state == "running"
            else "nothing stops it: it is about to start"
        )


@app.command()
@command
async def cancel(
    job_ids: Jobs = None,
    state: State = None,
    kind: Kind = None,
    queue: Queue = None,
    tag: Tag = None,
    reason: Annotated[str | None, typer.Option(help="Kept with the job.")] = None,
    tenant: Tenant = None,
    yes: Yes = False,
    dry_run: DryRun = False,
    json: Json = False,
) -> None:
    """Cancel jobs by id or by filter. A running one is asked to stop."""
    filters = {"state": state, "kind": kind, "queue": queue, "tag": tag}
    async with _client(tenant) as client:
        if not _are_ids(job_ids, filters):
            await _act(client, "cancel", filters, tenant=tenant, reason=reason, yes=yes, dry_run=dry_run, json=json)
            return
        answers = {job_id: await client.cancel(job_id, reason) for job_id in job_ids or ()}
    _print_answers(answers, json=json)


@app.command()
@command
async def retry(
    job_ids: Jobs = None,
    state: State = None,
    kind: Kind = None,
    queue: Queue = None,
    tag: Tag = None,
    tenant: Tenant = None,
    yes: Yes = False,
    dry_run: DryRun = False,
    json: Json = False,
) -> None:
    """Give failed, dead or canceled jobs a new budget of attempts, by id or by filter."""
    filters = {"state": state, "kind": kind, "queue": queue, "tag": tag}
    async with _client(tenant) as client:
        if not _are_ids(job_ids, filters):
            await _act(client, "retry", filters, tenant=tenant, yes=yes, dry_run=dry_run, json=json)
            return
        answers = {job_id: str(await client.retry(job_id)) for job_id in job_ids or ()}
    _print_answers(answers, json=json)


@app.command()
@command
async def delete(
    state: State = None,
    kind: Kind = None,
    queue: Queue = None,
    tag: Tag = None,
    tenant: Tenant = None,
    yes: Yes = False,
    dry_run: DryRun = False,
    json: Json = False,
) -> None:
    """Remove jobs that have ended, with their attempts, events and results, by filter."""
    filters = {"state": state, "kind": kind, "queue": queue, "tag": tag}
    _are_ids(None, filters)
    async with _client(tenant) as client:
        await _act(client, "delete", filters, tenant=tenant, yes=yes, dry_run=dry_run, json=json)


def _client(tenant: str | None) -> "AbstractAsyncContextManager[Client]":
    from leasehold.program.client import Client
    from leasehold.settings import Settings

    return Client.connect(Settings.from_env(tenant=tenant))


def _are_ids(job_ids: list[UUID] | None, filters: dict[str, str | None]) -> bool:
    if bool(job_ids) == any(filters.values()):
        raise typer.BadParameter("give job ids, or a filter such as --state or --kind")
    return bool(job_ids)


async def _act(
    client: "Client",
    action: str,
    filters: dict[str, str | None],
    *,
    tenant: str | None,
    reason: str | None = None,
    yes: bool,
    dry_run: bool,
    json: bool,
) -> None:
    """Let a job do it: there may be millions. It acts on the jobs that were counted here, and on no others."""
    if dry_run:
        confirm(action, await client.count_to_act(action, **filters), asked=True, yes=yes, dry_run=True)
        return
    selection = await client.select_jobs(action, **filters)
    if not confirm(action, selection.count, asked=True, yes=yes, dry_run=False):
        return
    made = await client.act_on(selection, reason=reason)
    if json:
        print_json({"job_id": made.job_id, "count": selection.count})
    else:
        print(made.job_id)
        tail = shown(f"leasehold jobs tail {made.job_id}", tenant)
        say(f"a job does it to {selection.count} jobs, as soon as a worker runs: {tail}")


def _with_tenant(detail: str, tenant: str | None) -> str:
    """A reason may end with the command that helps."""
    return shown(detail, tenant) if ": leasehold " in detail else detail


def _print_answers(answers: dict[UUID, str], *, json: bool) -> None:
    if json:
        print_json([{"job_id": job_id, "state": state} for job_id, state in answers.items()])
        return
    for job_id, state in answers.items():
        print(f"{job_id}\t{state}")
    say(f"{len(answers)} jobs")


def _print_job(job: "Job", attempts: "list[Attempt]") -> None:
    from dataclasses import asdict
    from json import dumps

    shown = {name: dumps(value) if isinstance(value, dict | list) else value for name, value in asdict(job).items()}
    if job.error:
        shown["error"] = job.error.get("message")
    print_table(["field", "value"], [(name, value) for name, value in shown.items() if value is not None])
    if not attempts:
        return
    print()
    print_table(
        ["attempt", "outcome", "worker", "started", "finished", "error"],
        [
            (a.attempt, a.outcome, a.worker, a.started_at, a.finished_at, (a.error or {}).get("message", ""))
            for a in attempts
        ],
    )
    if job.error and job.error.get("traceback"):
        say(f"\n{job.error['traceback']}")


def _print_log(line: "LogLine", *, jsonl: bool) -> None:
    if jsonl:
        print_json(line)
        return
    fields = " ".join(f"{name}={value}" for name, value in line.fields.items())
    print(f"{line.at:%H:%M:%S} #{line.attempt} {line.level:7} {line.message or ''} {fields}".rstrip(), flush=True)

"""Jobs: ask for them, run them, look at them."""

from collections.abc import Callable, Mapping, Sequence
from datetime import datetime
from typing import Any
from uuid import UUID

import asyncpg

from leasehold import json_codec
from leasehold.database.database import Database, Wake
from leasehold.job import Attempt, AttemptOutcome, ClaimedJob, Enqueued, Event, Job, JobSummary, LogLine, Reason, State

#: An enum is asked for its members slowly.
_STATES = {str(state): state for state in State}


async def enqueue(
    db: Database,
    tenant: UUID | None,
    kind: str,
    payloads: Sequence[str],
    options: Mapping[str, Any],
    *,
    keys: Sequence[str | None] | None = None,
    tenants: Sequence[UUID] | None = None,
    connection: asyncpg.Connection | None = None,
    wake: Wake | None = None,
) -> list[Enqueued]:
    """One job for each payload; a key that is in use gives the job that has it, with ``created`` False.

    ``tenants`` in place of ``tenant``: one for all payloads or one for each; the call takes no share of a tenant. It
    must wait for no lock, which it does not without keys, the option unique and payloads too large for a row.
    """
    text = json_codec.encode(options, what="options") if options else "{}"
    asked = ("enqueue", kind, payloads, text, keys, tenants)
    [row] = await db.call(*asked, tenant=tenant, connection=connection, wake=wake)
    made = zip(row["job_ids"], row["states"], row["created"], strict=True)
    return [Enqueued(job_id, _STATES[state], created) for job_id, state, created in made]


async def claim(db: Database, worker: UUID, queues: Sequence[str], n: int) -> list[ClaimedJob]:
    return [ClaimedJob._make(row) for row in await db.call("claim", worker, queues, n)]


async def finish(
    db: Database, ended: Sequence[AttemptOutcome], *, connection: asyncpg.Connection | None = None
) -> set[int]:
    """The tokens that were accepted. The others were fenced: their leases had been taken."""
    rows = await db.call(
        "finish",
        *_columns(ended),
        connection=connection,
    )
    return set(rows[0][0])


async def exchange(
    db: Database, worker: UUID, queues: Sequence[str], n: int, ended: Sequence[AttemptOutcome]
) -> tuple[set[int], list[ClaimedJob]]:
    """Finish and claim in one call: the tokens that were refused, and the grants."""
    rows = await db.call(
        "exchange",
        worker,
        queues,
        n,
        *_columns(ended),
    )
    refusals = 0  # they come first
    while refusals < len(rows) and rows[refusals]["job_id"] is None:
        refusals += 1
    return {row["token"] for row in rows[:refusals]}, [ClaimedJob._make(row) for row in rows[refusals:]]


def _columns(ended: Sequence[AttemptOutcome]) -> list[Any]:
    """Tokens, outcomes, results, errors and delays. What is the same throughout, as it is for most, is not sent."""
    tokens, outcomes, *others = zip(*ended, strict=True) if ended else [()] * len(AttemptOutcome._fields)
    all_succeeded = outcomes.count("succeeded") == len(outcomes)
    given = [None if column.count(None) == len(column) else column for column in others]
    return [tokens, None if all_succeeded else outcomes, *given]


async def list_leases(db: Database, worker: UUID) -> set[int]:
    """The tokens under which the worker holds leases, whether it knows of them or not."""
    return set(await db.value("list_leases", worker))


async def list_waits(db: Database, grants: Sequence[ClaimedJob]) -> list[float | None]:
    """Seconds from run_at to the start of each of these attempts; None where it is not its job's first."""
    waits = await db.value("list_pickup_delays", [grant.job_id for grant in grants], [grant.token for grant in grants])
    return list(waits)


async def hold(db: Database, token: int, connection: asyncpg.Connection | None = None) -> None:
    """Write what this transaction writes under the token. Raises LeaseLost when the lease is gone."""
    await db.call("assert_lease", token, connection=connection)


async def append_event(
    db: Database,
    token: int,
    type_: str,
    *,
    message: str | None = None,
    progress: float | None = None,
    data: str | None = None,
) -> int:
    return int(await db.value("append_event", token, type_, message, progress, data))


async def get_job(
    db: Database, tenant: UUID, job_id: UUID, read: Callable[[str | None], Any] = json_codec.decode
) -> Job:
    """``read`` is what makes values of its payload and result."""
    return Job.from_row((await db.call("get_job", job_id, tenant=tenant))[0], read)


async def list_jobs(
    db: Database, tenant: UUID, filters: Mapping[str, Any], *, before: UUID | None = None, limit: int = 50
) -> list[Job]:
    """Newest first. Filters: state, kind, queue, tag, key, created_after, created_before."""
    rows = await db.call("list_jobs", json_codec.encode(filters, what="filter"), before, limit, tenant=tenant)
    return [Job.from_row(row, json_codec.shown) for row in rows]


async def list_jobs_briefly(
    db: Database, tenant: UUID, filters: Mapping[str, Any], *, before: UUID | None = None, limit: int = 50
) -> list[JobSummary]:
    """The same without payloads and results: a page of them may be gigabytes."""
    asked = json_codec.encode(filters, what="filter")
    rows = await db.call("list_jobs", asked, before, limit, True, tenant=tenant)
    return [JobSummary.from_row(row) for row in rows]


async def list_attempts(db: Database, tenant: UUID, job_id: UUID) -> list[Attempt]:
    return [Attempt.from_row(row) for row in await db.call("list_attempts", job_id, tenant=tenant)]


async def events_since(db: Database, tenant: UUID, job_id: UUID, after: int = 0, limit: int = 1000) -> list[Event]:
    return [Event.from_row(row) for row in await db.call("events_since", job_id, after, limit, tenant=tenant)]


async def lock_job(db: Database, tenant: UUID, job_id: UUID) -> None:
    """Until the end of the transaction nobody starts, ends or moves the job."""
    await db.call("lock_job", job_id, tenant=tenant)


async def job_logs(db: Database, tenant: UUID, job_id: UUID, after: int = 0, limit: int = 1000) -> list[LogLine]:
    """Oldest first."""
    return [LogLine.from_row(row) for row in await db.call("job_logs", job_id, after, limit, tenant=tenant)]


async def list_logs(
    db: Database,
    tenant: UUID,
    *,
    groups: Sequence[str] | None = None,
    since: datetime | None = None,
    before: tuple[datetime, UUID, int] | None = None,
    limit: int = 100,
) -> list[LogLine]:
    """Of all jobs of the tenant, or of those of some kinds or packs; newest first."""
    at, job_id, seq = before or (None, None, None)
    rows = await db.call("list_logs", groups, since, at, job_id, seq, limit, tenant=tenant)
    return [LogLine.from_row(row) for row in rows]


async def extend(db: Database, token: int, seconds: float) -> datetime:
    """The attempt's new deadline. Raises LeaseLost when it is no longer ours."""
    deadline: datetime = await db.value("extend", token, seconds)
    return deadline


async def cancel(db: Database, tenant: UUID, job_id: UUID, reason: str | None = None) -> str:
    """``canceled``, ``requested`` when it runs, or the outcome it had already."""
    return str(await db.value("cancel", job_id, reason, tenant=tenant))


async def retry(db: Database, tenant: UUID, job_id: UUID, run_at: datetime | None = None) -> State:
    return State(await db.value("retry", job_id, run_at, tenant=tenant))


async def reschedule(db: Database, tenant: UUID, job_id: UUID, run_at: datetime) -> State:
    return State(await db.value("reschedule", job_id, run_at, tenant=tenant))


async def explain(db: Database, tenant: UUID, job_id: UUID) -> list[Reason]:
    """Why the job is not running, the first reason first; empty when it runs or has ended."""
    return [Reason(**row) for row in await db.call("explain", job_id, tenant=tenant)]

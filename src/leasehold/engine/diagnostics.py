"""Checks that a person runs when something seems wrong."""

import asyncio
import json
import time
import uuid
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from importlib.metadata import version
from typing import Any

from leasehold.database import migrate, sql_files
from leasehold.database.connect import target
from leasehold.database.connection import connect
from leasehold.database.database import Database, Role, Target
from leasehold.database.errors import translated
from leasehold.engine import leases
from leasehold.errors import LeaseholdError
from leasehold.job import WorkerInfo
from leasehold.settings import Settings, unknown_variables

#: A transaction that has been open for so long is worth a word.
OLD_SECONDS = 300.0
_SKEW_SECONDS = 2.0
_HEAR_SECONDS = 3.0

Facts = dict[str, Any]


@dataclass(frozen=True, slots=True, kw_only=True)
class Finding:
    """One check: all is well unless it has a way out, the command that helps; grave findings stop the work."""

    check: str
    text: str
    why: str | None = None
    way_out: str | None = None
    grave: bool = False


async def examine(settings: Settings, *, old_s: float = OLD_SECONDS) -> list[Finding]:
    """All checks, in order; those behind one that failed are left out."""
    return [*_variables(), *await _examine(settings, old_s)]


def _variables() -> Iterator[Finding]:
    for sentence in unknown_variables():
        yield Finding(
            check="settings",
            text=sentence,
            why="a setting that is spelled wrong is ignored, and its default holds",
            way_out=f"unset {sentence.split()[0]}, or spell it as in `leasehold config show`",
        )


async def _examine(settings: Settings, old_s: float) -> list[Finding]:
    try:
        async with Database(target(settings, Role.OPERATOR), connections=1) as db:
            alive = [worker for worker in await leases.list_workers(db) if worker.ended_at is None]
            # Second, on a connection that stands: the time to connect would count as a clock that goes wrong.
            facts = await _facts(db, old_s)
            return [
                Finding(check="database", text=f"PostgreSQL {facts['server']}"),
                _schema(facts),
                _clock(facts),
                await _wake_ups(db, _listening(settings, db.target)),
                _partitions(facts),
                *_horizon(facts, old_s),
                *_workers(alive),
                *_leases(facts),
                *_kinds(facts),
                *_versions(facts, alive),
            ]
    except LeaseholdError as problem:
        return [
            Finding(
                check="database",
                text=str(problem),
                why="without it nothing runs",
                way_out=problem.hint or "leasehold config show",
                grave=True,
            )
        ]


async def _facts(db: Database, old_s: float) -> Facts:
    before = time.time()
    facts: Facts = json.loads(await db.value("diagnose", old_s))
    return facts | {"schema": db.target.schema, "local": datetime.fromtimestamp((before + time.time()) / 2, UTC)}


def _schema(facts: Facts) -> Finding:
    if facts["release"] > sql_files.RELEASE:
        return Finding(
            check="schema",
            text=f"the database has release {facts['release']}, this program knows {sql_files.RELEASE}",
            why="a later version made it, and still serves programs of the release before; finish the upgrade",
            way_out="pip install --upgrade leasehold",
            grave=facts["release"] > sql_files.RELEASE + 1,
        )
    pending = migrate.pending_files(json.dumps(facts["files"]))
    if pending:
        return Finding(
            check="schema",
            text=f"{len(pending)} files differ",
            why="this program calls functions that the database lacks, or has otherwise",
            way_out="leasehold db migrate",
            grave=True,
        )
    return Finding(check="schema", text="up to date")


def _clock(facts: Facts) -> Finding:
    skew = (facts["local"] - datetime.fromisoformat(facts["now"])).total_seconds()
    text = f"this machine differs by {skew:+.1f} s from the database"
    if abs(skew) > _SKEW_SECONDS:
        return Finding(
            check="clock",
            text=text,
            why="leases follow the database's clock alone, but the times in logs and in signatures are this machine's",
            way_out="timedatectl set-ntp true",
        )
    return Finding(check="clock", text=text)


def _listening(settings: Settings, fallback: Target) -> Target:
    """Where workers listen; the operator's own way where this machine has no worker's URL."""
    try:
        return target(settings, Role.WORKER)
    except LeaseholdError:
        return fallback


async def _wake_ups(db: Database, where: Target) -> Finding:
    """Whether a notification really arrives."""
    deaf = Finding(
        check="wake-ups",
        text="a worker hears nothing: LISTEN does not reach PostgreSQL",
        why="a pooler in transaction mode is in the way: work is found by polling, up to LEASEHOLD_POLL_SECONDS late",
        way_out="export LEASEHOLD_POOLED=1 LEASEHOLD_LISTEN_URL=postgresql://… (straight to PostgreSQL)",
    )
    if not where.listens:
        return deaf
    channel, heard = f"{where.schema}_doctor_{uuid.uuid4().hex}", asyncio.Event()
    with translated():
        connection = await connect(where.listens_at, "leasehold-doctor", limits=where.limits)
        try:
            await connection.add_listener(channel, lambda *_: heard.set())
            await db.notify(channel, [""])
            async with asyncio.timeout(_HEAR_SECONDS):
                await heard.wait()
        except TimeoutError:
            return deaf
        finally:
            connection.terminate()
    return Finding(check="wake-ups", text="LISTEN and NOTIFY work")


def _partitions(facts: Facts) -> Finding:
    if not facts["today_has_partition"]:
        return Finding(
            check="partitions",
            text="today has no partition of its own: the default one catches",
            why="what is in the default partition is deleted row by row, not dropped; workers make partitions ahead",
            way_out="leasehold worker module:app (if one is up, see its log for `maintenance failed`)",
        )
    if facts["default_jobs"]:
        return Finding(
            check="partitions",
            text=f"the default partition holds {facts['default_jobs']} jobs or more",
            why="no worker was up when their day began; retention removes them in batches, nothing is lost",
            way_out="keep a worker up: leasehold worker module:app",
        )
    return Finding(check="partitions", text=f"made until {facts['last_day']}")


def _horizon(facts: Facts, old_s: float) -> Iterator[Finding]:
    for one in facts["sessions"] or ():
        who = f"pid {one['pid']}, user {one['user']}, application {one['application'] or '(no name)'}"
        yield Finding(
            check="vacuum",
            text=f"{who}: {one['state']}, in one transaction for {_long(one['seconds'])}",
            why="rows that were deleted since it began cannot be removed: the hot tables grow",
            way_out=f"psql -c 'select pg_terminate_backend({one['pid']})'",
        )
    for one in facts["bloated"] or ():
        yield Finding(
            check="vacuum",
            text=f"table {one['table']} has {one['dead']} dead rows beside {one['live']} live ones",
            why="autovacuum is too slow, off, or held back by an old transaction",
            way_out=f"psql -c 'vacuum (verbose) {facts['schema']}.{one['table']}'",
        )
    if not facts["sees_sessions"]:
        yield Finding(
            check="vacuum",
            text="other sessions cannot be seen",
            why="a forgotten transaction would be found by its bloat only",
            way_out=f"psql -c 'grant pg_read_all_stats to {facts['schema']}_owner' (as a superuser)",
        )
    elif not (facts["sessions"] or facts["bloated"]):
        yield Finding(check="vacuum", text=f"no transaction is older than {_long(old_s)}, no hot table is bloated")


def _workers(alive: list[WorkerInfo]) -> Iterator[Finding]:
    if alive:
        text = f"{len(alive)} alive, {sum(worker.running for worker in alive)} attempts running"
        yield Finding(check="workers", text=text)
    else:
        yield Finding(
            check="workers",
            text="none is alive",
            why="jobs are stored and wait",
            way_out="leasehold worker module:app",
            grave=True,
        )


def _leases(facts: Facts) -> Iterator[Finding]:
    for one in facts["silent_workers"] or ():
        yield Finding(
            check="leases",
            text=f"worker {one['name']} has been silent for {_long(one['seconds'])} and holds {one['leases']} leases",
            why="it is past its lease, and nobody has taken them: any worker does, at its next beat",
            way_out="leasehold worker module:app",
        )
    if facts["orphan_leases"]:
        yield Finding(
            check="leases",
            text=f"{facts['orphan_leases']} leases are past their deadline, or their worker has ended",
            why="any worker takes them within 15 s; if they stay, none is up, or its maintenance fails",
            way_out="leasehold worker module:app (if one is up, see its log for `maintenance failed`)",
        )


def _kinds(facts: Facts) -> Iterator[Finding]:
    for one in facts["kinds_without_worker"] or ():
        yield Finding(
            check="kinds",
            text=f"{one['jobs']} jobs of kind {one['kind']} wait in queue {one['queue']}, and no worker handles them",
            why="no worker that is alive has this handler and takes from this queue",
            way_out=f"leasehold worker module:app --queues {one['queue']} (with a handler of {one['kind']})",
        )


def _versions(facts: Facts, alive: list[WorkerInfo]) -> Iterator[Finding]:
    """This program, the workers, and whatever of ours is connected now."""
    found = {version("leasehold"): {"this program"}}
    for worker in alive:
        found.setdefault(worker.version, set()).add("workers")
    for one in facts["programs"] or ():
        found.setdefault(one["version"], set()).add(one["program"])
    if len(found) == 1:
        yield Finding(check="versions", text=f"all are {next(iter(found))}")
        return
    parts = [f"{number} ({', '.join(sorted(who))})" for number, who in sorted(found.items())]
    yield Finding(
        check="versions",
        text=f"programs of {len(found)} versions: {'; '.join(parts)}",
        why="neighbouring versions work side by side while a deployment is under way, but not for ever",
        way_out="pip install --upgrade leasehold (everywhere), then restart servers and workers",
    )


def _long(seconds: float) -> str:
    """A time for people."""
    return (
        f"{seconds:.0f} s"
        if seconds < 120
        else f"{seconds / 60:.0f} min"
        if seconds < 7200
        else f"{seconds / 3600:.0f} h"
    )

"""Checks that a person runs when something seems wrong."""

import time
from dataclasses import dataclass
from datetime import UTC, datetime

from leasehold.engine import migrate, workers
from leasehold.engine.connect import target
from leasehold.engine.database import Database, Role
from leasehold.errors import LeaseholdError
from leasehold.settings import Settings

_SKEW_SECONDS = 2.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Finding:
    """One check: all is well unless it has a way out; grave findings stop the work."""

    check: str
    text: str
    way_out: str | None = None
    grave: bool = False


async def examine(settings: Settings) -> list[Finding]:
    """All checks, in order; those behind one that failed are left out."""
    try:
        async with Database(target(settings, Role.OPERATOR), connections=1) as db:
            facts = await _facts(db)
            return [
                Finding(check="database", text=f"PostgreSQL {facts['server']}"),
                _schema(facts),
                _clock(facts),
                _partitions(facts),
                _horizon(facts),
                *await _workers(db, facts),
            ]
    except LeaseholdError as problem:
        return [Finding(check="database", text=str(problem), way_out=problem.hint or "leasehold up", grave=True)]


async def _facts(db: Database) -> dict[str, object]:
    before = time.time()
    facts = dict((await db.call("health"))[0])
    return facts | {"local": datetime.fromtimestamp((before + time.time()) / 2, UTC)}


def _schema(facts: dict[str, object]) -> Finding:
    pending = migrate.pending_files(facts["files"])
    if pending:
        return Finding(check="schema", text=f"{len(pending)} files differ", way_out="leasehold db migrate", grave=True)
    return Finding(check="schema", text="up to date")


def _clock(facts: dict[str, object]) -> Finding:
    now, local = facts["now"], facts["local"]
    assert isinstance(now, datetime)
    assert isinstance(local, datetime)
    skew = (local - now).total_seconds()
    text = f"this machine differs by {skew:+.1f} s from the database"
    if abs(skew) > _SKEW_SECONDS:
        return Finding(check="clock", text=text, way_out="run a time service; leases use the database's clock only")
    return Finding(check="clock", text=text)


def _partitions(facts: dict[str, object]) -> Finding:
    if not facts["today_has_partition"]:
        return Finding(
            check="partitions",
            text="today has no partition of its own: the default one catches",
            way_out="a running worker makes them; is one up?",
        )
    return Finding(check="partitions", text=f"made until {facts['last_day']}")


def _horizon(facts: dict[str, object]) -> Finding:
    oldest = facts["oldest_transaction"]
    if oldest:
        return Finding(check="vacuum", text=str(oldest), way_out="end that session: it keeps dead rows alive")
    return Finding(check="vacuum", text="no transaction is older than five minutes")


async def _workers(db: Database, facts: dict[str, object]) -> list[Finding]:
    alive = [worker for worker in await workers.list_workers(db) if worker.ended_at is None]
    if not alive:
        return [Finding(check="workers", text="none is alive", way_out="leasehold worker module:app", grave=True)]
    found = [Finding(check="workers", text=f"{len(alive)} alive, {sum(w.running for w in alive)} attempts running")]
    versions = sorted({worker.version for worker in alive})
    if len(versions) > 1:
        text = f"workers of {len(versions)} versions: {', '.join(versions)}"
        found.append(Finding(check="versions", text=text, way_out="finish the deployment"))
    kinds = facts["kinds_without_worker"]
    if kinds:
        text = f"jobs wait that no worker handles: {kinds}"
        found.append(Finding(check="kinds", text=text, way_out="start a worker that has these handlers"))
    return found

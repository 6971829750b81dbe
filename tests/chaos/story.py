"""All that is known after a run: the operation log, the tables, what handlers left outside, what metrics say."""

import urllib.request
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

from leasehold.database.database import Role
from leasehold.engine.metrics import collect_metrics
from tests.chaos.database import Private
from tests.chaos.oplog import Op, read
from tests.faults.history import Expected, History, Life, lives_of

Row = dict[str, Any]
#: Read whole. ``History`` has the first ones.
HISTORY = ("job", "attempt", "outcome", "event", "lease", "ready", "deferred", "parked", "blocked", "worker", "audit")
MORE = ("gated", "waiting", "place", "dep", "unwanted", "unsettled", "flow", "step", "edge", "tick")


@dataclass(frozen=True, kw_only=True)
class Story:
    tables: Mapping[str, Sequence[Row]]  # of leasehold, and chaos's own: effect, asked
    ops: Sequence[Op] = ()
    tenants: Mapping[str, str] = field(default_factory=dict)  # name -> id
    sink: Sequence[tuple[str, int, str]] = ()  # effects outside the database: job, attempt, worker
    leaks: Sequence[str] = ()  # where a secret was found
    told: Mapping[str, float] = field(default_factory=dict)  # the installation's metrics, by name and labels
    counted: Mapping[str, Mapping[str, float]] = field(default_factory=dict)  # worker -> outcome -> attempts_total

    @cached_property
    def lives(self) -> dict[str, Life]:
        return lives_of(History(**{name: self.tables.get(name, ()) for name in HISTORY}))

    @cached_property
    def expected(self) -> Expected:
        """For the rules about one life: nobody knows of all jobs who asked for them."""
        return Expected(acknowledged={}, maybe=True)

    @cached_property
    def states(self) -> dict[str, str]:
        return {row["job_id"]: row["state"] for row in self.table("outcome")}

    @cached_property
    def names(self) -> dict[str, str]:
        return {row["worker_id"]: row["name"] for row in self.table("worker")}

    def table(self, name: str) -> Sequence[Row]:
        return self.tables.get(name, ())

    def asked(self, what: str, status: str = "ok") -> list[Op]:
        return [op for op in self.ops if op.what == what and op.status == status]

    def faults(self, *kinds: str) -> list[tuple[float, float]]:
        """When faults of these kinds lasted; monotonic."""
        return [(op.began, op.ended) for op in self.asked("fault") if op.args["kind"] in kinds]

    @cached_property
    def acknowledged(self) -> dict[str, Op]:
        """The first answer that named each job."""
        found: dict[str, Op] = {}
        for op in self.asked("enqueue"):
            for job_id in op.result["jobs"]:
                found.setdefault(job_id, op)
        return found


async def collect(
    database: Private, folder: Path, secrets: Sequence[str], counted: Mapping[str, Mapping[str, float]]
) -> Story:
    tables: dict[str, list[Row]] = {}
    for name in (*HISTORY, *MORE):
        tables[name] = await database.rows(f"select * from leasehold.{name}")
    for name in ("effect", "asked"):
        tables[name] = await database.rows(f"select * from chaos.{name}")
    async with database.database(Role.OPERATOR) as db:
        told = {f"{one.name}{_labels(one.labels)}": one.value for one in await collect_metrics(db)}
    return Story(
        tables=tables,
        ops=read(folder),
        tenants=database.tenants,
        sink=_effects(folder / "sink"),
        leaks=[*_in_files(folder, secrets), *await _in_tables(database, secrets)],
        told=told,
        counted=counted,
    )


def _effects(sink: Path) -> list[tuple[str, int, str]]:
    lines = [line.split() for line in sink.read_text().splitlines()] if sink.exists() else []
    return [(job, int(attempt), worker) for job, attempt, worker in lines]


def _labels(labels: Mapping[str, str]) -> str:
    return "".join(f" {name}={value}" for name, value in sorted(labels.items()))


def _in_files(folder: Path, secrets: Sequence[str]) -> list[str]:
    return [file.name for file in sorted(folder.glob("*.log")) if any(one in file.read_text() for one in secrets)]


async def _in_tables(database: Private, secrets: Sequence[str]) -> list[str]:
    """In any column of any table, partitions included through their parents."""
    found = []
    for row in await database.rows(
        "select c.oid::regclass::text as name from pg_class c where c.relkind in ('r', 'p') and not c.relispartition"
        " and c.relnamespace in ('leasehold'::regnamespace, 'chaos'::regnamespace)"
    ):
        hits = " or ".join(f"x::text like '%{one}%'" for one in secrets)
        if (await database.rows(f"select count(*) as n from {row['name']} x where {hits}"))[0]["n"]:
            found.append(row["name"])
    return found


def scrape(port: int) -> dict[str, float]:
    """How many attempts a worker says have ended, by outcome."""
    counted: dict[str, float] = {}
    with urllib.request.urlopen(f"http://127.0.0.1:{port}/metrics", timeout=10) as answer:
        for line in answer.read().decode().splitlines():
            if line.startswith("leasehold_attempts_total{"):
                outcome = line.split('outcome="')[1].split('"')[0]
                counted[outcome] = counted.get(outcome, 0) + float(line.rsplit(" ", 1)[1])
    return counted

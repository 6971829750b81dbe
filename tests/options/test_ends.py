"""An attempt ends the same whichever way its end is reported: the short one for plain successes, the long one, with a
claim, for a remote worker; alone or beside others. The job, its attempts and events, and whoever waits for it agree."""

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, replace
from itertools import product
from typing import Any
from uuid import UUID

import pytest

from leasehold.database.database import Database, Role
from leasehold.engine import jobs
from leasehold.features.flows.model import chain, step
from leasehold.features.flows.store import Flows
from leasehold.features.limits import store as gates
from leasehold.features.workers import store as remote
from leasehold.job import AttemptOutcome, ClaimedJob
from leasehold.json_codec import plain_options
from tests.cell import Cell, Cluster
from tests.engine.test_life import register
from tests.http.conftest import make_key

FAULT = '{"type": "ValueError", "message": "bad"}'
HELD = '{"type": "Snooze", "message": "busy", "gate_after_s": 60}'

#: Ends of an attempt; at the last one of a job where ``max_attempts`` is 1.
ENDS: dict[str, tuple[dict[str, Any], dict[str, Any]]] = {
    "succeeded": ({}, {}),
    "succeeded with a result": ({"result": '{"n": 1}'}, {}),
    "succeeded with null": ({"result": "null"}, {}),
    "succeeded with a large result": ({"result": f'"{"x" * 100_000}"'}, {}),
    "failed": ({"outcome": "failed", "error": FAULT}, {}),
    "errored": ({"outcome": "errored", "error": FAULT}, {}),
    "errored without a word": ({"outcome": "errored"}, {}),
    "errored and tried later": ({"outcome": "errored", "error": FAULT, "delay_s": 5000.0}, {}),
    "errored and tried at once": ({"outcome": "errored", "error": FAULT, "delay_s": 0.0}, {}),
    "errored at last": ({"outcome": "errored", "error": FAULT}, {"max_attempts": 1}),
    "errored and holds the gate": ({"outcome": "errored", "error": HELD, "delay_s": 5000.0}, {}),
    "snoozed": ({"outcome": "snoozed", "delay_s": 5000.0}, {}),
    "snoozed at last": ({"outcome": "snoozed", "delay_s": 5000.0}, {"max_attempts": 1}),
    "snoozed and holds the gate": ({"outcome": "snoozed", "error": HELD, "delay_s": 5000.0}, {}),
    "canceled": ({"outcome": "canceled"}, {}),
    "canceled with a word": ({"outcome": "canceled", "error": FAULT}, {}),
    "released": ({"outcome": "released"}, {}),
    "released for later": ({"outcome": "released", "delay_s": 5000.0}, {}),
    "lost": ({"outcome": "lost"}, {}),
    "lost at last": ({"outcome": "lost"}, {"max_attempts": 1}),
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Attempted:
    """A job whose attempt runs, how that shall end, the job that waits for it, and another end to report beside it."""

    name: str
    grant: ClaimedJob
    end: AttemptOutcome
    next_: UUID | None
    other: AttemptOutcome


@dataclass(frozen=True, slots=True, kw_only=True)
class Place:
    cell: Cell
    db: Database
    worker: UUID
    key: remote.Key | None

    async def claim(self, n: int) -> list[ClaimedJob]:
        if self.key:
            return await remote.claim(self.key, self.worker, None, n, held=[])
        return await jobs.claim(self.db, self.worker, ["default"], n)


Way = Callable[[Place, Attempted], Awaitable[None]]


async def in_full(place: Place, one: Attempted) -> None:
    """Every column is sent."""
    assert await place.db.value("finish", *([column] for column in one.end)) == [one.end.token]


async def alone(place: Place, one: Attempted) -> None:
    assert await jobs.finish(place.db, [one.end]) == {one.end.token}


async def beside_another(place: Place, one: Attempted) -> None:
    assert await jobs.finish(place.db, [one.other, one.end]) == {one.other.token, one.end.token}


async def with_a_claim(place: Place, one: Attempted) -> None:
    refused, _ = await jobs.exchange(place.db, place.worker, ["nowhere"], 1, [one.end])
    assert not refused


async def with_a_claim_beside_another(place: Place, one: Attempted) -> None:
    refused, _ = await jobs.exchange(place.db, place.worker, ["nowhere"], 1, [one.other, one.end])
    assert not refused


async def in_a_transaction(place: Place, one: Attempted) -> None:
    async with place.db.transaction(tenant=place.cell.tenant_a) as connection:
        await jobs.hold(place.db, one.end.token, connection)
        assert await jobs.finish(place.db, [one.end], connection=connection) == {one.end.token}


async def of_a_remote_worker(place: Place, one: Attempted) -> None:
    assert place.key
    verdicts = await remote.finish(place.key, place.worker, [one.grant.job_id], [one.end])
    assert verdicts == {one.end.token: "accepted"}


WAYS = [alone, beside_another, with_a_claim, with_a_claim_beside_another, in_a_transaction, of_a_remote_worker]


# -- jobs and who waits for them ------------------------------------------------------------------------------------


async def plain(place: Place, name: str, **options: Any) -> tuple[UUID, UUID | None]:
    [made] = await jobs.enqueue(place.db, place.cell.tenant_a, "t.work", ["{}"], plain_options(options))
    return made.job_id, None


async def of_a_group(place: Place, name: str, **options: Any) -> tuple[UUID, UUID | None]:
    first, _ = await plain(place, name, group=name, **options)
    second, _ = await plain(place, name, group=name)
    return first, second


async def of_a_group_that_holds(place: Place, name: str, **options: Any) -> tuple[UUID, UUID | None]:
    return await of_a_group(place, name, group_hold=True, **options)


async def at_a_gate(place: Place, name: str, **options: Any) -> tuple[UUID, UUID | None]:
    return await plain(place, name, gate=f"host:{name}", **options)


async def of_a_flow(place: Place, name: str, **options: Any) -> tuple[UUID, UUID | None]:
    flows = Flows(place.db, place.cell.tenant_a, lambda: None)
    flow_id = await flows.start(chain(step("t.work", name="a", **options), step("t.work", name="b")))
    first, second = await flows.steps(flow_id)
    return first.job_id, second.job_id


CONTEXTS = [plain, of_a_group, of_a_group_that_holds, at_a_gate, of_a_flow]


#: By context: what becomes of jobs whose ends are reported in full.
_wanted: dict[tuple[Any, bool], dict[str, Any]] = {}


@pytest.mark.parametrize("is_canceled", [False, True], ids=["", "asked to cancel"])
@pytest.mark.parametrize("context", CONTEXTS, ids=lambda context: context.__name__)
@pytest.mark.parametrize("way", WAYS, ids=lambda way: way.__name__)
async def test_an_end_is_the_same_by_every_way(cluster: Cluster, way: Way, context: Any, is_canceled: bool) -> None:
    if (context, is_canceled) not in _wanted:
        _wanted[context, is_canceled] = await ended(cluster, in_full, context, [*ENDS], is_canceled)
    wanted = _wanted[context, is_canceled]
    names = [name for name in ENDS if way is not of_a_remote_worker or not name.startswith("lost")]
    found = await ended(cluster, way, context, names, is_canceled)
    different = [
        f"{name}: {part} {found[name][part]!r} instead of {wanted[name][part]!r}"
        for name, part in product(found, next(iter(wanted.values())))
        if found[name][part] != wanted[name][part]
    ]
    assert not different, "\n".join(different)
    assert {one["state"] for one in found.values()} >= {"succeeded", "failed", "canceled"}


async def ended(cluster: Cluster, way: Way, context: Any, names: Sequence[str], is_canceled: bool) -> dict[str, Any]:
    """What becomes of a job with each end, reported this way, in a database of its own."""
    cell = await cluster.clone()
    try:
        async with cell.database(Role.WORKER) as worker_db, cell.database(Role.API) as api_db:
            place = Place(cell=cell, db=worker_db, worker=await register(worker_db, slots=100), key=None)
            if way is of_a_remote_worker:
                place = await far_away(place, api_db)
            attempted = await attempts(place, context, names)
            for one in attempted:
                if is_canceled:
                    assert await jobs.cancel(worker_db, cell.tenant_a, one.grant.job_id) == "requested"
                await way(place, one)
            return await what_became(place, attempted)
    finally:
        await cell.give_back()


async def far_away(place: Place, api_db: Database) -> Place:
    """With a remote worker of tenant a."""
    tenant = place.cell.tenant_a
    key = remote.Key(db=api_db, key_id=(await make_key(place.cell, tenant)).key_id, tenant=tenant)
    worker = await remote.register(key, name="w", version="0", queues=None, kinds=[], slots=100, lease_s=600.0)
    return replace(place, worker=worker, key=key)


async def attempts(place: Place, context: Any, names: Sequence[str]) -> list[Attempted]:
    """All jobs, claimed at once."""
    await gates.Gates(place.db, place.cell.tenant_a).set("host:", failures=5)
    asked = {name: await context(place, name, **ENDS[name][1]) for name in names}
    beside = await jobs.enqueue(place.db, place.cell.tenant_a, "t.other", ["{}"] * len(names), {})
    grants = {grant.job_id: grant for grant in await place.claim(100)}
    return [
        Attempted(
            name=name,
            grant=grants[first],
            next_=next_,
            end=AttemptOutcome(grants[first].token, "succeeded")._replace(**ENDS[name][0]),
            other=AttemptOutcome(
                grants[other.job_id].token, "errored", "1", FAULT, 9000.0
            ),  # so that all columns are sent
        )
        for (name, (first, next_)), other in zip(asked.items(), beside, strict=True)
    ]


async def what_became(place: Place, all_of_them: Sequence[Attempted]) -> dict[str, Any]:
    """The job as people see it, all rows of it, who waits for it, and what was said of its gate."""
    db, tenant = place.db, place.cell.tenant_a
    rows = await place.cell.look(_ROWS)
    said = await place.cell.look(_SAID)
    seen: dict[str, Any] = {}
    for one in all_of_them:
        job_id = one.grant.job_id
        job = await jobs.get_job(db, tenant, job_id)
        events = await jobs.events_since(db, tenant, job_id)
        seen[one.name] = {
            "state": str(job.state),
            "job": (job.attempt, job.max_attempts, job.result, job.error, job.cancel_requested),
            "later": round(((job.run_at or job.created_at) - job.created_at).total_seconds() / 1000),
            "attempts": [(a.attempt, a.outcome, a.error) for a in await jobs.list_attempts(db, tenant, job_id)],
            "events": [(e.seq, e.type, e.message, _comparable(e.data)) for e in events],
            "rows": sorted((row["place"], str(row["row"])) for row in rows if row["job_id"] == str(job_id)),
            "next": one.next_ and str((await jobs.get_job(db, tenant, one.next_)).state),
            "gate": sorted((row["failed"], row["held"]) for row in said if row["gate"] == f"host:{one.name}"),
        }
    return seen


def _comparable(data: dict[str, Any] | None) -> dict[str, Any] | None:
    return data and {name: value for name, value in data.items() if name not in ("run_at", "worker_id")}


#: Without what no two jobs have in common, and the order in which they stand in line.
_OWN = """array['job_id', 'tenant_id', 'token', 'worker_id', 'xid', 'started_xid', 'started_at', 'finished_at',
  'run_at', 'pass', 'result_ref', 'group_id', 'gate_id']"""
_PLACES = ("outcome", "attempt", "ready", "deferred", "place", "gated", "waiting", "lease")
_ROWS = " union all ".join(
    f"select '{place}' as place, job_id, to_jsonb(t) - {_OWN} as row from leasehold.{place} t" for place in _PLACES
)
_SAID = """
select j.gate, w.failed, w.held_until - w.at as held
from leasehold.gate_word w join leasehold.job j on leasehold.gate_id(j.tenant_id, j.gate) = w.gate_id
"""

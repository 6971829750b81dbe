"""Ticks become jobs: once each, by the policies of their schedule, whoever asks."""

import asyncio
from datetime import UTC, datetime, timedelta
from typing import Any
from uuid import UUID

import pytest

from leasehold.database.database import Database
from leasehold.engine import jobs, leases
from leasehold.engine.maintenance import refresh_waiting_counts
from leasehold.errors import BadInput, Conflict, NotFound
from leasehold.features.schedules import store as schedules
from leasehold.features.schedules.model import Due
from leasehold.features.schedules.store import fire_due
from leasehold.job import AttemptOutcome, State
from leasehold.program.client import Client
from tests.cell import Cell
from tests.features.schedules.steps import end_all, made, outcomes, set_clock

NOON = datetime(2027, 6, 1, 12, 0, 10, tzinfo=UTC)


async def test_a_tick_makes_one_job_with_the_schedules_payload_and_options(
    cell: Cell, client: Client, worker_db: Database
) -> None:
    await set_clock(cell, NOON)
    info = await client.schedules.put(
        "hourly", "t.work", {"n": 1}, cron="@hourly", priority=1, max_attempts=2, tags=["vip"], tick_as="at"
    )
    assert info.next_at == datetime(2027, 6, 1, 13, tzinfo=UTC)
    assert await fire_due(worker_db) == 0
    await cell.pass_time(3600)
    assert [await fire_due(worker_db), await fire_due(worker_db)] == [1, 0]
    [job] = await made(client, "hourly")
    assert (job.kind, job.state, job.priority, job.max_attempts) == ("t.work", State.QUEUED, 1, 2)
    assert job.payload == {"n": 1, "at": "2027-06-01T13:00:00Z"}
    assert job.tags == ["vip", "schedule:hourly"]
    assert job.run_at == info.next_at
    info = await client.schedules.get("hourly")
    assert (info.last_at, info.last_job) == (job.run_at, job.job_id)
    assert info.timing.following(info.next_at, 3) == [datetime(2027, 6, 1, hour, tzinfo=UTC) for hour in (14, 15, 16)]


async def test_looking_for_due_schedules_takes_no_transaction_id_and_walks_the_index(
    cell: Cell, client: Client, worker_db: Database
) -> None:
    await client.schedules.put("hourly", "t.work", cron="@hourly")
    async with worker_db.transaction() as connection:
        assert await connection.fetch("select * from leasehold.due_schedules(10)") == []
        assert await connection.fetchval("select pg_current_xact_id_if_assigned()") is None
    await cell.change(
        "insert into leasehold.schedule select (jsonb_populate_record(s, jsonb_build_object('schedule_id',"
        " gen_random_uuid(), 'name', 'n' || n))).* from leasehold.schedule s, generate_series(1, 5000) n;"
        " analyze leasehold.schedule"
    )
    plan = await cell.plan(
        "select * from leasehold.schedule s where not s.paused and s.next_at <= now() order by s.next_at limit 9",
        "set enable_seqscan = on",
    )
    assert "schedule_due" in plan


async def test_a_stale_or_wrong_caller_changes_nothing(cell: Cell, client: Client, worker_db: Database) -> None:
    await set_clock(cell, NOON)
    await client.schedules.put("hourly", "t.work", cron="@hourly")
    await cell.pass_time(3600)
    [due] = await schedules.due_schedules(worker_db)
    tick, comes = due.next_at, due.next_at + timedelta(hours=1)

    async def fire(revision: int, ticks: list[datetime], following: datetime, tenant: UUID = cell.tenant_a) -> int:
        return len(await worker_db.call("fire_schedule", due.schedule_id, revision, ticks, following, tenant=tenant))

    earlier = tick - timedelta(hours=1)
    assert await fire(due.revision, [earlier], tick) == 0  # fired long ago, by its own account
    assert await fire(due.revision + 1, [tick], comes) == 0
    assert await fire(due.revision, [tick], comes, cell.tenant_b) == 0
    for ticks, following in (
        ([tick], tick),  # the next one would come again
        ([tick, tick], comes),
        ([tick, earlier], comes),
        ([tick, comes], comes + timedelta(hours=1)),  # has not come
    ):
        with pytest.raises(BadInput):
            await fire(due.revision, ticks, following)
    assert await made(client, "hourly") == []
    assert await fire(due.revision, [tick], comes) == 1
    assert await fire(due.revision, [tick], comes) == 0
    assert len(await made(client, "hourly")) == 1


async def test_a_worker_with_another_zone_database_cannot_bring_a_tick_back(
    cell: Cell, client: Client, worker_db: Database
) -> None:
    """It says that the tick after this one was before it, or is the same."""
    await set_clock(cell, NOON)
    await client.schedules.put("hourly", "t.work", cron="@hourly")
    await cell.pass_time(3600)
    await fire_due(worker_db)
    with pytest.raises(Exception, match="schedule_check"):
        await cell.change("update leasehold.schedule set next_at = last_at")
    with pytest.raises(Exception, match="tick_pkey"):
        await cell.change("insert into leasehold.tick select * from leasehold.tick")


@pytest.mark.parametrize(
    ("catch_up", "late_s", "expected"),
    [
        # up again 20 seconds after 16:00, having missed 13, 14 and 15 o'clock
        ("none", 4 * 3600, [("13:00", "missed"), ("16:00", "fired")]),
        ("one", 4 * 3600, [("13:00", "missed"), ("16:00", "fired")]),
        ("all", 4 * 3600, [("13:00", "fired"), ("14:00", "fired"), ("15:00", "fired"), ("16:00", "fired")]),
        # up again at half past four: even the newest is late
        ("none", 4 * 3600 + 1800, [("13:00", "missed"), ("16:00", "missed")]),
        ("one", 4 * 3600 + 1800, [("13:00", "missed"), ("16:00", "fired")]),
        # a single one, half an hour late
        ("none", 3600 + 1800, [("13:00", "missed")]),
        ("one", 3600 + 1800, [("13:00", "fired")]),
    ],
)
async def test_what_was_missed_is_made_up_for_as_the_policy_says(
    cell: Cell, client: Client, worker_db: Database, catch_up: str, late_s: int, expected: list[tuple[str, str]]
) -> None:
    await set_clock(cell, NOON)
    await client.schedules.put("hourly", "t.work", cron="@hourly", catch_up=catch_up)
    await cell.pass_time(late_s)
    fired = sum(outcome == "fired" for _, outcome in expected)
    assert await fire_due(worker_db) == fired
    assert await outcomes(client, "hourly") == expected
    assert len(await made(client, "hourly")) == fired
    assert ((await client.schedules.get("hourly")).next_at or NOON) > NOON + timedelta(seconds=late_s)


async def test_all_is_bounded_and_takes_the_newest(cell: Cell, client: Client, worker_db: Database) -> None:
    await set_clock(cell, NOON)
    await client.schedules.put("often", "t.work", every=60, catch_up="all", catch_up_max=3)
    await cell.pass_time(365 * 86400)
    assert await fire_due(worker_db) == 3
    assert [outcome for _, outcome in await outcomes(client, "often")] == ["missed", "fired", "fired", "fired"]


async def test_a_late_job_is_spread_from_now_and_one_on_time_from_its_tick(
    cell: Cell, client: Client, worker_db: Database
) -> None:
    await set_clock(cell, NOON)
    for name in ("a", "b", "c"):
        await client.schedules.put(name, "t.work", cron="@hourly", jitter=1800, overlap="queue")
    await cell.pass_time(3600)
    await fire_due(worker_db)
    spread = {(await made(client, name))[0].run_at - datetime(2027, 6, 1, 13, tzinfo=UTC) for name in ("a", "b", "c")}
    assert len(spread) == 3
    assert all(timedelta(0) <= one < timedelta(seconds=1800) for one in spread)
    await cell.pass_time(2 * 3600 + 600)
    await fire_due(worker_db)
    now = datetime(2027, 6, 1, 15, 10, 10, tzinfo=UTC)
    late = {(await made(client, name))[-1].run_at for name in ("a", "b", "c")}
    assert all(now <= run_at < now + timedelta(seconds=1830) for run_at in late)


async def test_the_spread_of_a_tick_does_not_depend_on_who_fires_it(
    cell: Cell, client: Client, worker_db: Database
) -> None:
    await set_clock(cell, NOON)
    await client.schedules.put("spread", "t.work", every=3600, jitter=3600, overlap="queue")
    await cell.pass_time(3600)
    [due] = await schedules.due_schedules(worker_db)

    async def fired() -> datetime:
        rows = await worker_db.call("fire_schedule", due.schedule_id, due.revision, *due.ticks(), tenant=cell.tenant_a)
        return (await client.get(rows[0]["job_id"])).run_at

    first = await fired()
    await cell.change(
        f"delete from leasehold.tick; update leasehold.schedule set next_at = '{due.next_at}', last_at = null"
    )
    assert await fired() == first


async def test_skip_makes_no_job_while_the_last_one_is_live_and_says_so(
    cell: Cell, client: Client, worker_db: Database
) -> None:
    await set_clock(cell, NOON)
    await client.schedules.put("hourly", "t.work", cron="@hourly", overlap="skip")
    for _ in range(2):
        await cell.pass_time(3600)
        await fire_due(worker_db)
    assert await outcomes(client, "hourly") == [("13:00", "fired"), ("14:00", "skipped")]
    [job] = await made(client, "hourly")
    [skipped, _] = await client.schedules.ticks("hourly")
    assert skipped.job_id == job.job_id
    with pytest.raises(Conflict, match=f"job {job.job_id} of schedule 'hourly' has not ended"):
        await client.schedules.run("hourly")
    assert await end_all(worker_db) == 1
    await cell.pass_time(3600)
    assert await fire_due(worker_db) == 1


async def test_queue_makes_another_job_beside_the_one_that_is_live(
    cell: Cell, client: Client, worker_db: Database
) -> None:
    await set_clock(cell, NOON)
    await client.schedules.put("hourly", "t.work", cron="@hourly", overlap="queue")
    for _ in range(3):
        await cell.pass_time(3600)
        assert await fire_due(worker_db) == 1
    assert [job.state for job in await made(client, "hourly")] == [State.QUEUED] * 3


async def test_cancel_old_cancels_what_waits_and_asks_what_runs_to_stop(
    cell: Cell, client: Client, worker_db: Database
) -> None:
    await set_clock(cell, NOON)
    await client.schedules.put("hourly", "t.work", cron="@hourly", overlap="cancel_old")
    for _ in range(2):
        await cell.pass_time(3600)
        await fire_due(worker_db)
    first, second = await made(client, "hourly")
    assert (first.state, second.state) == (State.CANCELED, State.QUEUED)
    assert first.error
    assert first.error["message"] == "schedule hourly: its next run has come"
    worker = await leases.register_worker(
        worker_db, name="w", version="0", queues=["default"], kinds={}, slots=9, lease_s=9999.0
    )
    [grant] = await jobs.claim(worker_db, worker, ["default"], 9)
    await cell.pass_time(3600)
    await fire_due(worker_db)
    assert (await client.get(second.job_id)).cancel_requested
    assert await jobs.finish(worker_db, [AttemptOutcome(token=grant.token, outcome="canceled")]) == {grant.token}
    assert [job.state for job in await made(client, "hourly")] == [State.CANCELED, State.CANCELED, State.QUEUED]


async def test_a_job_that_cannot_be_made_is_refused_with_the_reason_and_the_schedule_goes_on(
    cell: Cell, client: Client, worker_db: Database
) -> None:
    await set_clock(cell, NOON)
    await client.schedules.put("hourly", "t.work", cron="@hourly", overlap="queue")
    await client.schedules.put("other", "t.work", cron="@hourly", overlap="queue")
    await cell.exceed_quota(100001)
    await cell.pass_time(3600)
    assert await fire_due(worker_db) == 0
    [tick] = await client.schedules.ticks("hourly")
    assert (tick.outcome, tick.detail) == ("refused", "tenant a has 100001 jobs waiting, its quota is 100000")
    assert await refresh_waiting_counts(worker_db) == 0
    await cell.pass_time(3600)
    assert await fire_due(worker_db) == 2


async def test_a_zone_that_one_machine_does_not_know_holds_up_nobody_else(
    cell: Cell, client: Client, worker_db: Database
) -> None:
    await set_clock(cell, NOON)
    await client.schedules.put("here", "t.work", cron="@hourly")
    await client.schedules.put("there", "t.work", cron="@hourly")
    await cell.change("update leasehold.schedule set zone = 'Europe/Atlantis' where name = 'there'")
    await cell.pass_time(3600)
    assert await fire_due(worker_db) == 1
    assert len(await schedules.due_schedules(worker_db)) == 1  # for a machine that knows it


async def test_run_now_makes_a_job_and_leaves_the_ticks(cell: Cell, client: Client, worker_db: Database) -> None:
    await set_clock(cell, NOON)
    before = await client.schedules.put("hourly", "t.work", cron="@hourly", jitter=3600)
    await client.schedules.pause("hourly")
    job_id = await client.schedules.run("hourly")
    assert (await client.get(job_id)).state is State.QUEUED
    await client.schedules.resume("hourly")
    after = await client.schedules.get("hourly")
    assert (after.next_at, after.last_at, after.last_job) == (before.next_at, None, job_id)


async def test_a_paused_schedule_does_not_tick_and_goes_on_from_now(
    cell: Cell, client: Client, worker_db: Database
) -> None:
    await set_clock(cell, NOON)
    await client.schedules.put("hourly", "t.work", cron="@hourly", catch_up="all")
    assert (await client.schedules.pause("hourly")).paused
    await cell.pass_time(5 * 3600)
    assert await fire_due(worker_db) == 0
    info = await client.schedules.resume("hourly")
    assert (info.paused, info.next_at) == (False, datetime(2027, 6, 1, 18, tzinfo=UTC))
    assert await fire_due(worker_db) == 0
    assert await outcomes(client, "hourly") == []


async def test_a_schedule_that_ticks_once_waits_for_its_resume_and_then_is_done(
    cell: Cell, client: Client, worker_db: Database
) -> None:
    await set_clock(cell, NOON)
    await client.schedules.put("once", "t.work", at=NOON + timedelta(hours=1))
    await client.schedules.pause("once")
    await cell.pass_time(2 * 3600)
    await client.schedules.resume("once")
    assert await fire_due(worker_db) == 1
    info = await client.schedules.get("once")
    assert (info.next_at, info.next_runs) == (None, [])
    await end_all(worker_db)
    await client.schedules.pause("once")
    assert (await client.schedules.resume("once")).next_at is None
    with pytest.raises(BadInput, match="'once' would never tick: its time has passed"):
        await client.schedules.edit("once", at=NOON)


async def test_an_edit_of_the_payload_keeps_a_tick_that_is_due_and_one_of_the_time_drops_it(
    cell: Cell, client: Client, worker_db: Database
) -> None:
    await set_clock(cell, NOON)
    await client.schedules.put("hourly", "t.work", {"n": 1}, cron="@hourly", overlap="queue")
    await cell.pass_time(3600)
    await client.schedules.edit("hourly", payload={"n": 2})
    assert await fire_due(worker_db) == 1
    assert (await made(client, "hourly"))[0].payload == {"n": 2}
    await cell.pass_time(3600)
    info = await client.schedules.edit("hourly", cron="30 * * * *", zone="Europe/Berlin")
    assert (info.next_at, info.zone) == (datetime(2027, 6, 1, 14, 30, tzinfo=UTC), "Europe/Berlin")
    assert await fire_due(worker_db) == 0
    info = await client.schedules.edit("hourly", every=600)
    assert (info.cron, info.every_s) == (None, 600)


async def test_whoever_computed_from_an_older_revision_fires_nothing(
    cell: Cell, client: Client, worker_db: Database
) -> None:
    """The line was changed meanwhile, and has the same next tick: the one after it would be the old line's."""
    await set_clock(cell, NOON)
    await client.schedules.put("hourly", "t.work", cron="@hourly")
    await cell.pass_time(3600)
    [due] = await schedules.due_schedules(worker_db)
    await client.schedules.edit("hourly", payload={"n": 2})
    assert await schedules.fire_schedule(worker_db, due) == 0
    assert await fire_due(worker_db) == 1


async def test_an_edit_can_take_away_but_not_give_away(client: Client) -> None:
    ends = datetime(2099, 1, 1, tzinfo=UTC)
    await client.schedules.put("hourly", "t.work", cron="@hourly", ends_at=ends, tick_as="tick")
    info = await client.schedules.edit("hourly", ends_at=None, tick_as=None)
    assert (info.ends_at, info.tick_as) == (None, None)
    with pytest.raises(BadInput, match="'tenant' of a schedule cannot be edited"):
        await client.schedules.edit("hourly", tenant="b")


async def test_two_who_change_one_schedule_both_have_their_way(client: Client) -> None:
    await client.schedules.put("hourly", "t.work", cron="@hourly")
    await asyncio.gather(
        client.schedules.edit("hourly", payload={"n": 1}),
        client.schedules.edit("hourly", overlap="queue"),
        client.schedules.edit("hourly", options={"priority": 0}),
    )
    info = await client.schedules.get("hourly")
    assert (info.payload, info.overlap, info.options) == ({"n": 1}, "queue", {"priority": 0})
    with pytest.raises(Conflict, match="'hourly' already"):
        await client.schedules.add("hourly", "t.work", every=60)


async def test_a_hundred_ticks_are_remembered(cell: Cell, client: Client, worker_db: Database) -> None:
    await set_clock(cell, NOON)
    await client.schedules.put("often", "t.work", every=1, catch_up="all", catch_up_max=150)
    await cell.pass_time(400)
    assert await fire_due(worker_db) == 150
    assert len(await client.schedules.ticks("often")) == 100


async def test_every_act_of_a_person_is_in_the_audit_log_without_the_payload(cell: Cell, client: Client) -> None:
    await client.schedules.put("s", "t.work", {"secret": "hunter2"}, cron="@hourly")
    await client.schedules.edit("s", cron="@daily")
    await client.schedules.pause("s")
    await client.schedules.pause("s")
    await client.schedules.resume("s")
    await client.schedules.run("s")
    await client.schedules.delete("s")
    rows = await cell.look("select action, target, detail from leasehold.audit order by audit_id")
    assert [row["action"].partition(".")[2] for row in rows] == ["create", "change", "pause", "resume", "run", "delete"]
    assert {row["target"] for row in rows} == {"s"}
    assert rows[1]["detail"]["cron"] == "@daily"
    assert "hunter2" not in str(rows)


async def test_schedules_of_another_tenant_are_as_absent_as_those_that_never_were(
    client: Client, other: Client
) -> None:
    info = await client.schedules.put("mine", "t.work", cron="@hourly")
    for act in (
        other.schedules.get,
        other.schedules.ticks,
        other.schedules.pause,
        other.schedules.resume,
        other.schedules.run,
        other.schedules.delete,
        other.schedules.edit,
    ):
        with pytest.raises(NotFound, match="there is no schedule 'mine'"):
            await act("mine")
    assert await other.schedules.list() == []
    await other.schedules.put("mine", "t.work", {"of": "b"}, every=60)
    assert await client.schedules.get("mine") == info
    await client.schedules.delete("mine")
    assert [one.name for one in await other.schedules.list()] == ["mine"]


async def test_lists_come_in_pages(client: Client) -> None:
    for name in ("c", "a", "b"):
        await client.schedules.put(name, "t.work", cron="@hourly")
    page = await client.schedules.list(limit=2)
    assert [one.name for one in page] == ["a", "b"]
    assert [one.name for one in await client.schedules.list(after="b")] == ["c"]


@pytest.mark.parametrize(
    ("given", "error", "problem"),
    [
        ({"kind": "Work"}, BadInput, "kind 'Work' is not of the form pack.verb"),
        ({"queue": "nowhere"}, NotFound, "there is no queue 'nowhere'"),
        ({"priority": 9}, BadInput, "priority 9"),
        ({"colour": "red"}, BadInput, "no option 'colour'"),
        ({"unique": "u"}, BadInput, "the jobs of a schedule cannot have the option 'unique'"),
        ({"run_at": "2030-01-01T00:00:00Z"}, BadInput, "cannot have the option 'run_at'"),
        ({"expires_at": datetime(2030, 1, 1, tzinfo=UTC)}, BadInput, "cannot have the option 'expires_at'"),
        ({"value": "x" * 70000}, Exception, "more than 65536 bytes"),
        ({"every": None, "at": datetime(2020, 1, 1, tzinfo=UTC)}, BadInput, "would never tick: its time has passed"),
        ({"value": {"n": float("nan")}}, BadInput, "not JSON"),
    ],
)
async def test_what_sql_cannot_keep_is_refused_before_anything_is_made(
    client: Client, given: dict[str, Any], error: type[Exception], problem: str
) -> None:
    words: dict[str, Any] = {"kind": "t.work", "every": 60} | given
    with pytest.raises(error, match=problem):
        await client.schedules.put("s", words.pop("kind"), words.pop("value", None), **words)
    assert await client.schedules.list() == []


@pytest.mark.parametrize(
    ("definition", "problem"),
    [
        ('{"kind": "t.work"}', "it has exactly one of them"),
        ('{"kind": "t.work", "cron": "@daily", "every_s": 5}', "it has exactly one of them"),
        ('{"kind": "t.work", "every_s": 0}', "every_s: 1 second to 366 days"),
        ('{"kind": "t.work", "every_s": 5, "overlap": "both"}', "overlap: skip, queue or cancel_old"),
        ('{"kind": "t.work", "every_s": 5, "catch_up": "all", "overlap": "skip"}', "it needs overlap queue"),
        ('{"kind": "t.work", "every_s": 5, "catch_up_max": 5000}', "catch_up_max: 1 to 1000"),
        ('{"kind": "t.work", "every_s": 5, "paused": true}', "a schedule has no 'paused'"),
        ('{"kind": "t.work", "every_s": "x"}', "invalid input syntax"),
        ("[]", "not a JSON object"),
    ],
)
async def test_other_programs_are_told_what_is_wrong_too(
    cell: Cell, api_db: Database, definition: str, problem: str
) -> None:
    with pytest.raises(BadInput, match=problem):
        await api_db.call("put_schedule", "s", definition, None, tenant=cell.tenant_a)


def test_what_is_due_is_computed_from_the_row_alone() -> None:
    """Another process, another start: the same ticks."""
    row = {
        "schedule_id": UUID(int=1), "tenant_id": UUID(int=2), "name": "s", "revision": 1, "cron": "@hourly",
        "every_s": None, "at": None, "zone": "UTC", "starts_at": None, "ends_at": None, "catch_up": "one",
        "catch_up_max": 100, "next_at": NOON.replace(minute=0, second=0), "now": NOON + timedelta(hours=3),
    }  # fmt: skip
    ticks, comes = Due.from_row(row).ticks()
    assert [tick.hour for tick in ticks] == [12, 15]
    assert comes is not None
    assert comes.hour == 16

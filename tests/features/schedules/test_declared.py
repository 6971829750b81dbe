"""Schedules that code declares come into the database, and what people made of them stays."""

import asyncio
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any
from uuid import UUID

import pytest
from pydantic import BaseModel

from leasehold import Leasehold
from leasehold.database.database import Database
from leasehold.errors import BadInput
from leasehold.features.schedules import store as schedules
from leasehold.features.schedules.timing import Schedule
from leasehold.program.client import Client
from leasehold.settings import Settings
from tests.cell import Cell
from tests.features.schedules.steps import set_clock

NIGHTLY = Schedule(name="nightly", kind="t.work", cron="0 3 * * *", payload={"n": 1})


async def said(db: Database, tenant: UUID, schedule: Schedule) -> str:
    return await schedules.sync_one(db, schedule, tenant)


async def test_what_code_declares_is_made_and_follows_the_code(cell: Cell, client: Client, worker_db: Database) -> None:
    assert await said(worker_db, cell.tenant_a, NIGHTLY) == "made"
    assert await said(worker_db, cell.tenant_a, NIGHTLY) == "same"
    info = await client.schedules.get("nightly")
    assert (info.origin, info.edited) == ("code", False)
    later = replace(NIGHTLY, cron="0 4 * * *")
    assert await said(worker_db, cell.tenant_a, later) == "changed"
    info = await client.schedules.get("nightly")
    assert (info.cron, info.edited) == ("0 4 * * *", False)


async def test_declaring_the_same_again_writes_nothing(cell: Cell, worker_db: Database) -> None:
    await said(worker_db, cell.tenant_a, NIGHTLY)
    before = await cell.look("select *, xmin::text from leasehold.schedule")
    await said(worker_db, cell.tenant_a, NIGHTLY)
    assert await cell.look("select *, xmin::text from leasehold.schedule") == before
    assert len(await cell.look("select from leasehold.audit")) == 1


async def test_of_many_workers_that_start_at_once_one_makes_it(cell: Cell, client: Client, worker_db: Database) -> None:
    answers = await asyncio.gather(*(said(worker_db, cell.tenant_a, NIGHTLY) for _ in range(8)))
    assert sorted(answers) == ["made", *["same"] * 7]
    assert len(await client.schedules.list()) == 1


async def test_an_edit_is_kept_whatever_the_code_says_until_it_is_taken_back(
    cell: Cell, client: Client, worker_db: Database
) -> None:
    await said(worker_db, cell.tenant_a, NIGHTLY)
    await client.schedules.edit("nightly", cron="0 5 * * *")
    assert (await client.schedules.get("nightly")).edited
    assert await said(worker_db, cell.tenant_a, NIGHTLY) == "same"
    assert await said(worker_db, cell.tenant_a, replace(NIGHTLY, cron="0 4 * * *")) == "kept"
    assert (await client.schedules.get("nightly")).cron == "0 5 * * *"
    await client.schedules.edit("nightly", cron="0 3 * * *")  # what the code had declared
    assert not (await client.schedules.get("nightly")).edited
    assert await said(worker_db, cell.tenant_a, replace(NIGHTLY, cron="0 4 * * *")) == "changed"


async def test_a_pause_outlives_a_change_of_the_code(cell: Cell, client: Client, worker_db: Database) -> None:
    await said(worker_db, cell.tenant_a, NIGHTLY)
    await client.schedules.pause("nightly")
    assert await said(worker_db, cell.tenant_a, replace(NIGHTLY, payload={"n": 2})) == "changed"
    info = await client.schedules.get("nightly")
    assert (info.paused, info.payload) == (True, {"n": 2})


async def test_what_a_person_removed_does_not_come_back_by_itself(
    cell: Cell, client: Client, worker_db: Database
) -> None:
    await said(worker_db, cell.tenant_a, NIGHTLY)
    await client.schedules.delete("nightly")
    assert await client.schedules.list() == []
    assert await said(worker_db, cell.tenant_a, NIGHTLY) == "same"
    assert await said(worker_db, cell.tenant_a, replace(NIGHTLY, cron="0 4 * * *")) == "kept"
    assert await client.schedules.list() == []
    info = await client.schedules.add("nightly", "t.work", {"n": 1}, cron="0 3 * * *")
    assert (info.origin, info.edited, info.paused) == ("code", False, False)
    assert info.next_at is not None


async def test_a_schedule_that_people_made_is_not_taken_over(cell: Cell, client: Client, worker_db: Database) -> None:
    mine = await client.schedules.put("nightly", "t.work", every=60)
    assert await said(worker_db, cell.tenant_a, NIGHTLY) == "taken"
    assert await client.schedules.get("nightly") == mine


async def test_what_is_the_same_does_not_depend_on_the_sessions_time_zone(cell: Cell, worker_db: Database) -> None:
    once = Schedule(name="once", kind="t.work", at=datetime(2099, 1, 1, tzinfo=UTC))
    await said(worker_db, cell.tenant_a, once)
    async with worker_db.transaction(tenant=cell.tenant_a) as connection:
        await connection.execute("set local timezone = 'Asia/Tokyo'; set local datestyle = 'German'")
        assert (
            await connection.fetchval(
                "select leasehold.sync_schedule('once', $1, null)",
                '{"kind": "t.work", "at": "2099-01-01T09:00:00+09:00", "catch_up_max": 100}',
            )
            == "same"
        )


class Order(BaseModel):
    shop: str
    day: datetime


def shop() -> Leasehold:
    app = Leasehold(Settings(tenant="b"))

    @app.handler("shop.report", queue="reports")
    async def report(ctx: Any, order: Order) -> None: ...

    app.schedule("nightly", report, {"shop": "main"}, cron="@daily", tick_as="day", tenant="a", attempts=3)
    app.schedule("weekly", "shop.report", {"shop": "main"}, cron="@weekly", tick_as="day", queue="reports")
    return app


async def test_a_worker_that_starts_declares_for_the_tenants_that_are_named(
    cell: Cell, client: Client, other: Client, worker_db: Database
) -> None:
    await set_clock(cell, datetime(2027, 6, 1, 12, 0, 5, tzinfo=UTC))
    app = shop()
    await app.sync_schedules(worker_db, tenant=app.settings.tenant)
    info = await client.schedules.get("nightly")
    assert (info.kind, info.payload, info.options, info.next_at) == (
        "shop.report",
        {"shop": "main"},
        {"max_attempts": 3},
        datetime(2027, 6, 2, tzinfo=UTC),
    )
    assert [info.name for info in await other.schedules.list()] == ["weekly"]  # of LEASEHOLD_TENANT


async def test_one_that_cannot_be_declared_is_logged_and_holds_up_no_other(
    cell: Cell, client: Client, worker_db: Database, caplog: pytest.LogCaptureFixture
) -> None:
    app = Leasehold(Settings(tenant="a"))
    app.schedule("lost", "t.work", every=60, tenant="nobody")
    app.schedule("found", "t.work", every=60)
    await app.sync_schedules(worker_db, tenant=app.settings.tenant)
    assert [info.name for info in await client.schedules.list()] == ["found"]
    assert "schedule not declared" in caplog.text


def test_a_payload_that_does_not_fit_its_handler_is_found_when_the_worker_starts() -> None:
    app = shop()
    app.schedule("bad", "shop.report", {"shop": "main"}, cron="@daily")
    with pytest.raises(BadInput, match="the payload of shop.report does not fit: day"):
        app.declared_schedules()


def test_a_tick_that_the_handler_would_not_get_is_found_when_the_worker_starts() -> None:
    app = Leasehold()

    @app.handler("shop.report")
    async def report(ctx: Any, order: Order) -> None: ...

    app.schedule("bad", report, {"shop": "main", "day": "2026-01-01T00:00:00Z"}, cron="@daily", tick_as="date")
    with pytest.raises(BadInput, match="the payload of shop.report has no member 'date'"):
        app.declared_schedules()


def test_a_name_stands_for_one_schedule_of_a_tenant() -> None:
    app = shop()
    app.schedule("nightly", "shop.report", every=60, tenant="c")
    with pytest.raises(BadInput, match="schedule nightly is declared twice"):
        app.schedule("nightly", "shop.report", every=60, tenant="a")
    with pytest.raises(BadInput, match="five fields"):
        app.schedule("other", "shop.report", cron="daily")

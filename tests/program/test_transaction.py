"""One Transaction in routes, commands and handlers: all of it commits together, or nothing does."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, replace
from hashlib import sha256
from typing import Any
from uuid import UUID

import pytest

from leasehold import Context, Leasehold, SyncContext, Transaction, step
from leasehold.database.database import Database, Role
from leasehold.engine import audit, jobs
from leasehold.errors import Conflict, LeaseholdError, LeaseLost, NotFound
from leasehold.features.blobs.store import Bodies
from leasehold.features.reports.store import list_reports
from leasehold.job import AttemptOutcome
from leasehold.program.access import Access, Stranger
from leasehold.program.client import Backend
from tests.cell import Cell
from tests.worker.running import FAST, Shop, running

SETTINGS = replace(FAST, secret_keys="a key of at least 32 characters ...")
TOKEN = "tok_9f8e7d6c"
app = Leasehold(settings=SETTINGS)


@dataclass(frozen=True)
class Page:
    number: int


@app.handler("t.child")
async def child(ctx: Context) -> None: ...


async def do_everything(tx: Transaction) -> dict[str, Any]:
    """What every transaction can do, whoever opened it."""
    one = await tx.enqueue("t.elsewhere", Page(1), key="one")
    more = await tx.enqueue_many("t.elsewhere", [{"number": 2}, None])
    event = await tx.emit("notes.written", "note", "17", {"words": 3})
    flow = await tx.start(step("t.elsewhere", Page(4)), name="notes")
    await tx.put_secret("bank", TOKEN)
    await tx.log("notes.write", "17", {"words": 3})
    row = await tx.fetchrow("select current_setting('leasehold.actor') as actor, 1 as one")
    assert [tuple(found) for found in await tx.fetch("select $1::int as n", 5)] == [(5,)]
    assert await tx.fetchval("select current_setting('leasehold.tenant')") == str(tx.tenant_id)
    assert await tx.execute("select 1") == "SELECT 1"
    ids = [str(job.job_id) for job in (one, *more)]
    return {"jobs": ids, "event": str(event), "flow": str(flow), "actor": row["actor"]}


@app.handler("t.everything", attempts=1)
async def everything(ctx: Context, fails: bool) -> dict[str, Any]:
    async with ctx.transaction() as tx:
        done = await do_everything(tx)
        if fails:
            raise ZeroDivisionError
        return await tx.complete(done)


@app.handler("t.everything_sync", attempts=1)
def everything_sync(ctx: SyncContext, fails: bool) -> dict[str, Any]:
    with ctx.transaction() as tx:
        one = tx.enqueue("t.elsewhere", Page(1), key="one")
        more = tx.enqueue_many("t.elsewhere", [{"number": 2}, None])
        event = tx.emit("notes.written", "note", "17", {"words": 3})
        flow = tx.start(step("t.elsewhere", Page(4)), name="notes")
        tx.put_secret("bank", TOKEN)
        tx.log("notes.write", "17", {"words": 3})
        actor = tx.fetchval("select current_setting('leasehold.actor')")
        if fails:
            raise ZeroDivisionError
        ids = [str(job.job_id) for job in (one, *more)]
        return tx.complete({"jobs": ids, "event": str(event), "flow": str(flow), "actor": actor})


@asynccontextmanager
async def access_to(cell: Cell) -> AsyncIterator[Access]:
    async with cell.database(Role.API) as db:
        yield Access(Backend(SETTINGS, db), cell.tenant_a, "person:ada")


async def what_is_there(cell: Cell) -> dict[str, Any]:
    """All that ``do_everything`` leaves, as the database has it."""
    found = {
        "payloads": "select payload from leasehold.job where kind = 't.elsewhere'",
        "events": "select event_id, type, data from leasehold.webhook_event",
        "flows": "select flow_id, name from leasehold.flow",
        "secrets": "select name from leasehold.secret",
        "audit": "select actor, action, target, detail from leasehold.audit",
    }
    return {name: await cell.look(query) for name, query in found.items()}


async def opened_by(cell: Cell, shop: Shop, who: str, *, fails: bool = False) -> dict[str, Any] | None:
    """What was done, by whoever opens the transaction; None where it failed."""
    if who == "route":
        async with access_to(cell) as access:
            try:
                async with access.transaction() as tx:
                    done = await do_everything(tx)
                    if fails:
                        raise ZeroDivisionError
                    return done
            except ZeroDivisionError:
                return None
    async with running(cell, app, SETTINGS):
        job = await shop.run({"handler": "t.everything", "sync": "t.everything_sync"}[who], fails)
        assert job.state == ("dead" if fails else "succeeded"), job.error
        return None if fails else {**job.result, "job_id": str(job.job_id)}


@pytest.mark.parametrize("who", ["route", "handler", "sync"])
async def test_all_of_it_is_there_when_it_commits(cell: Cell, shop: Shop, who: str) -> None:
    done = await opened_by(cell, shop, who)
    assert done is not None
    there = await what_is_there(cell)
    actor = "person:ada" if who == "route" else f"job {done['job_id']}"
    assert done["actor"] == actor
    assert sorted(row["payload"].get("number", 0) for row in there["payloads"]) == [0, 1, 2, 4]
    assert [row["flow_id"] for row in there["flows"]] == [done["flow"]]
    assert [row["name"] for row in there["secrets"]] == ["bank"]
    written = {(row["actor"], row["action"], row["target"]) for row in there["audit"]}
    assert written >= {(actor, "notes.write", "17"), (actor, "secret.set", "bank")}


@pytest.mark.parametrize("who", ["route", "handler", "sync"])
async def test_nothing_of_it_is_there_when_it_fails(cell: Cell, shop: Shop, who: str) -> None:
    assert await opened_by(cell, shop, who, fails=True) is None
    assert not any((await what_is_there(cell)).values())


@pytest.mark.parametrize("ending", ["committed", "rolled back"])
async def test_a_transaction_that_has_ended_takes_nothing_more(cell: Cell, ending: str) -> None:
    async with access_to(cell) as access:
        with suppress(ZeroDivisionError):
            async with access.transaction() as tx:
                if ending == "rolled back":
                    raise ZeroDivisionError
        for late in (tx.enqueue("t.elsewhere"), tx.execute("select 1"), tx.log("notes.write", "17")):
            with pytest.raises(
                Conflict, match="the transaction has ended: nothing is written in it any more"
            ) as refused:
                await late
            assert refused.value.hint == "move the call into the block of `async with … transaction()`"
    assert not any((await what_is_there(cell)).values())


async def test_a_transaction_writes_nothing_when_its_lease_was_lost(
    cell: Cell, shop: Shop, worker_db: Database
) -> None:
    lost = Leasehold(settings=SETTINGS)
    raised: list[str] = []

    async def lose(job_id: UUID) -> None:
        [lease] = await cell.look(f"select token from leasehold.lease where job_id = '{job_id}'")
        await jobs.finish(worker_db, [AttemptOutcome(token=lease["token"], outcome="errored")])

    @lost.handler("t.loses", attempts=1)
    async def loses(ctx: Context, completes: bool) -> None:
        try:
            async with ctx.transaction() as tx:
                await tx.log("notes.write", "17")
                await lose(ctx.job_id)
                if completes:
                    await tx.complete(None)
        except LeaseLost as problem:
            raised.append(str(problem))
            raise

    async with running(cell, lost, SETTINGS):
        for completes in (False, True):
            assert (await shop.run("t.loses", completes)).state == "dead"
    assert len(raised) == 2
    assert (await what_is_there(cell))["audit"] == []


async def test_no_secret_of_the_attempt_gets_into_logs_and_events(cell: Cell, shop: Shop) -> None:
    talking = Leasehold(settings=SETTINGS)

    @talking.handler("t.talks")
    async def talks(ctx: Context) -> None:
        token = await ctx.secret("bank")
        async with ctx.transaction() as tx:
            await tx.log("notes.write", f"with {token}", {"token": token})
            await tx.emit("notes.written", "note", "17", {"token": [token]})

    async with access_to(cell) as access:
        async with access.transaction() as tx:
            await tx.put_secret("bank", TOKEN)
        async with running(cell, talking, SETTINGS):
            assert (await shop.run("t.talks")).state == "succeeded"
        db = access.client.backend.db
        entries = await audit.list_audit(db, cell.tenant_a, before=None, limit=5)
    there = await what_is_there(cell)
    assert "notes.write" in {entry.action for entry in entries}
    assert there["audit"]
    assert there["events"]
    assert TOKEN not in str(there)
    assert TOKEN not in str(entries)


async def test_its_jobs_belong_to_the_trace_of_the_attempt(cell: Cell, shop: Shop) -> None:
    trace = f"00-{'a' * 32}-{'b' * 16}-01"
    async with running(cell, app, SETTINGS):
        job = await shop.run("t.everything", False, traceparent=trace)
    made = await cell.look("select traceparent from leasehold.job where key = 'one'")
    assert job.state == "succeeded"
    assert made == [{"traceparent": trace}]


async def test_a_handler_keeps_bodies_and_reports(cell: Cell, shop: Shop) -> None:
    writing = Leasehold(settings=SETTINGS)
    missing = sha256(b"never put").hexdigest()

    @writing.handler("t.reports", attempts=1)
    async def reports(ctx: Context, fails: bool) -> None:
        body = await ctx.bodies.put(b"number\n1\n", "text/csv")
        async with ctx.transaction() as tx:
            await tx.hold_body("newest", body.sha256, days=9)
            assert await tx.keep_body(body.sha256, days=3) is True
            assert await tx.keep_body(missing, days=3) is False
            await tx.put_report("notes", "All notes", file_format="csv", body=body, lines=1, days=2)
            if fails:
                raise ZeroDivisionError

    async with running(cell, writing, SETTINGS), cell.database(Role.WORKER) as db:
        assert (await shop.run("t.reports", True)).state == "dead"
        assert await cell.look("select name from leasehold.held") == []
        job = await shop.run("t.reports", False)
        assert job.state == "succeeded"
        assert await cell.look("select name from leasehold.held") == [{"name": "newest"}]
        with pytest.raises(NotFound):
            await Bodies(db, cell.tenant_a, days=1).get(missing)
    async with cell.database(Role.API) as db:
        [report] = await list_reports(db, cell.tenant_a)
    assert (report.report_id, report.format, report.title) == (job.job_id, "csv", "All notes")


async def test_an_anonymous_request_reads_and_writes_nothing(cell: Cell) -> None:
    async with cell.database(Role.API) as db:
        stranger = Stranger(Backend(SETTINGS, db))
        async with stranger.transaction() as tx:
            assert await tx.fetchval("select 1") == 1
            assert await tx.fetchrow("select 1 where false") is None
            assert await tx.fetch("select 1 where false") == []
        with pytest.raises(LeaseholdError, match="writes nothing"):
            async with stranger.transaction() as tx:
                await tx.fetch("create table leasehold.mine (n integer)")


async def test_only_a_handler_completes(cell: Cell) -> None:
    async with access_to(cell) as access, access.transaction() as tx:
        assert type(tx) is Transaction
        assert not {"add", "complete", "put_report"} & set(dir(tx))


async def test_jobs_of_a_transaction_wake_workers_after_it_commits(cell: Cell) -> None:
    async with access_to(cell) as access:
        woken: list[str] = []
        access._backend.announce = lambda *_, **__: woken.append("woken")  # type: ignore[method-assign]
        async with access.transaction() as tx:
            await tx.execute("select 1")
        assert woken == []
        async with access.transaction() as tx:
            await tx.enqueue("t.elsewhere")
            await asyncio.sleep(0)
            assert woken == [], "nobody may look before it is there"
        assert woken == ["woken"]

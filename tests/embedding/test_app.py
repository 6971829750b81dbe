"""Leasehold inside a program of one's own: the sample of the README, for real."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from typing import Any

import asyncpg
import pytest
from pydantic import BaseModel

from leasehold import Context, Enqueued, Fail, Job, JobFailed, Leasehold, LeaseholdError, Settings, State, SyncContext
from leasehold.database.database import Database, Role
from leasehold.errors import BadInput, LeaseLost
from leasehold.worker import Worker
from tests.cell import Cell


class RefundOrder(BaseModel):
    order: int
    cents: int = 100


@dataclass(frozen=True)
class Receipt:
    number: str


@pytest.fixture
def app(cell: Cell, fast: Settings) -> Leasehold:
    return Leasehold(replace(fast, api_url=cell.url(Role.API), worker_url=cell.url(Role.WORKER), tenant="a"))


@asynccontextmanager
async def working(app: Leasehold, cell: Cell) -> AsyncIterator[None]:
    """A worker of this app, for as long as the block."""
    async with app, cell.database(Role.WORKER) as db:
        worker = Worker(db, app, app.settings)
        task = asyncio.create_task(worker.run())
        try:
            yield
        finally:
            worker.stop()
            await task


async def ended(app: Leasehold, made: Enqueued) -> Job:
    return await (await app.client("a")).wait(made.job_id, timeout=20)


async def test_the_sample_works(app: Leasehold, cell: Cell) -> None:
    seen: list[Any] = []

    @app.handler("shop.refund", queue="money", priority=1, attempts=5, timeout=60)
    async def refund(ctx: Context, order: RefundOrder) -> Receipt:
        await ctx.progress(40, "asked the bank")
        seen.append((ctx.tenant, ctx.attempt, order))
        return Receipt(number=f"r-{order.order}")

    async with working(app, cell):
        asked = await refund.enqueue(RefundOrder(order=17), tenant="a", key="r-1", tags=["vip"])
        receipt = await app.wait(asked, tenant="a", timeout=20)
        job = await ended(app, asked)
        again = await app.enqueue("shop.refund", {"order": 17}, key="r-1")
    assert (job.state, job.result, job.queue, job.priority, job.max_attempts) == (
        State.SUCCEEDED, {"number": "r-17"}, "money", 1, 5,
    )  # fmt: skip
    assert receipt == Receipt(number="r-17")
    assert seen == [(cell.tenant_a, 1, RefundOrder(order=17))]
    assert (again.job_id, again.created, job.tags) == (asked.job_id, False, ["vip"])


async def test_waiting_for_a_job_that_fails_raises_what_it_failed_of(app: Leasehold, cell: Cell) -> None:
    @app.handler("shop.refund")
    async def refund(ctx: Context, order: RefundOrder) -> Receipt:
        raise Fail("there is no such order")

    async with working(app, cell):
        made = await refund.enqueue(RefundOrder(order=0))
        with pytest.raises(JobFailed) as failed:
            await app.wait(made, timeout=20)
    assert str(failed.value) == f"job {made.job_id} of shop.refund is failed: there is no such order"
    assert (failed.value.job.state, failed.value.cause) == (State.FAILED, "there is no such order")


async def test_a_handler_can_still_be_called_as_the_function_it_is(app: Leasehold) -> None:
    @app.handler("t.work")
    async def work(ctx: Context, order: RefundOrder) -> int:
        """Doc."""
        return order.cents

    context: Any = None
    assert await work(context, RefundOrder(order=1)) == 100
    assert (work.__doc__, work.__name__, work.kind) == ("Doc.", "work", "t.work")


async def test_a_payload_that_does_not_fit_is_refused_before_anything_is_stored(app: Leasehold, cell: Cell) -> None:
    @app.handler("shop.refund")
    async def refund(ctx: Context, order: RefundOrder) -> None: ...

    with pytest.raises(BadInput, match="order: "):
        await refund.enqueue({"order": "seventeen"})  # type: ignore[arg-type]
    assert await cell.look("select * from leasehold.job") == []


async def test_delays_are_seconds_or_durations_and_times_need_a_zone(app: Leasehold, cell: Cell) -> None:
    async with app:
        made = [
            await app.enqueue("t.work", delay=60),
            await app.enqueue("t.work", delay=timedelta(minutes=1)),
            await app.enqueue("t.work", run_at=datetime.now(UTC) + timedelta(minutes=1)),
        ]
        with pytest.raises(BadInput, match="no time zone"):
            await app.enqueue("t.work", run_at=datetime(2030, 1, 1))  # noqa: DTZ001
    assert {job.state for job in made} == {State.SCHEDULED}


async def test_many_at_once_are_all_or_none(app: Leasehold, cell: Cell) -> None:
    async with app:
        assert len(await app.enqueue_many("t.work", [{"n": n} for n in range(250)])) == 250
        with pytest.raises(LeaseholdError):
            await app.enqueue_many("t.work", [{"n": 1}, {"n": float("nan")}])
    assert len(await cell.look("select job_id from leasehold.job")) == 250


async def test_in_the_callers_transaction_a_rollback_means_that_it_never_was(app: Leasehold, cell: Cell) -> None:
    connection = await asyncpg.connect(cell.url(Role.API))
    transaction = connection.transaction()
    await transaction.start()
    await app.enqueue("t.work", {"n": 1}, tenant="a", conn=connection)
    await transaction.rollback()
    async with connection.transaction():
        await app.enqueue("t.work", {"n": 2}, tenant=cell.tenant_b, conn=connection)
    await connection.close()
    assert [row["payload"] for row in await cell.look("select payload from leasehold.job")] == [{"n": 2}]


async def test_code_without_an_event_loop_has_a_door_of_its_own(app: Leasehold, cell: Cell) -> None:
    made = await asyncio.to_thread(app.sync.enqueue, "t.work", {"n": 1}, key="k", delay=60)
    again = await asyncio.to_thread(app.sync.enqueue, "t.work", {"n": 1}, key="k", delay=60)
    assert (made.state, made.created, again.created) == (State.SCHEDULED, True, False)


# -- concurrent enqueues --------------------------------------------------------------------------------------------


async def test_concurrent_enqueues_share_commits_and_fail_alone(app: Leasehold, cell: Cell) -> None:
    async with app:
        wrong = app.enqueue("t.work", queue="nowhere")
        right = [app.enqueue("t.work", {"n": n}, tenant=("a", "b")[n % 2], key=f"k-{n % 25}") for n in range(50)]
        plain = [app.enqueue("t.other", {"n": n}) for n in range(50)]
        answers = await asyncio.gather(wrong, *right, *plain, return_exceptions=True)
    assert "no queue 'nowhere'" in str(answers[0])
    made = answers[1:]
    assert not [answer for answer in made if isinstance(answer, BaseException)]
    assert len(await cell.look("select job_id from leasehold.job")) == 100, "25 keys for each of two tenants, and 50"
    payloads = await cell.look("select job_id, payload from leasehold.job where kind = 't.other'")
    by_id = {row["job_id"]: row["payload"]["n"] for row in payloads}
    assert [by_id[str(job.job_id)] for job in made[50:]] == list(range(50)), "each caller got its own job"  # type: ignore[union-attr]


# -- around attempts ------------------------------------------------------------------------------------------------


async def test_middleware_wraps_every_attempt_and_lifespans_give_resources(app: Leasehold, cell: Cell) -> None:
    story: list[str] = []

    @app.lifespan
    async def bank() -> AsyncIterator[dict[str, Any]]:
        story.append("opened")
        yield {"bank": "open"}
        story.append("closed")

    @app.middleware
    async def outer(ctx: Context, call_next: Callable[[], Awaitable[str]]) -> str:
        story.append("outer in")
        result = await call_next()
        story.append("outer out")
        return result

    @app.middleware
    async def inner(ctx: Context, call_next: Callable[[], Awaitable[str]]) -> str:
        story.append("inner")
        return await call_next()

    @app.handler("t.work")
    async def work(ctx: Context) -> str:
        story.append(f"bank is {ctx.resources['bank']}")
        return "done"

    async with working(app, cell):
        assert await app.wait(await work.enqueue(), timeout=20) == "done"
    assert story == ["opened", "outer in", "inner", "bank is open", "outer out", "closed"]


async def test_older_payloads_are_turned_into_the_new_shape(app: Leasehold, cell: Cell) -> None:
    got: list[RefundOrder] = []

    @app.handler("shop.refund", version=3)
    async def refund(ctx: Context, order: RefundOrder) -> None:
        got.append(order)

    @refund.upcast(1)
    def _(old: Any) -> Any:
        return {"order": old["id"]}

    @refund.upcast(2)
    def _(old: Any) -> Any:
        return old | {"cents": 5}

    async with working(app, cell):
        client = await app.client()
        old = await client.enqueue("shop.refund", {"id": 7}, version=1)
        middle = await client.enqueue("shop.refund", {"order": 8}, version=2)
        new = await refund.enqueue(RefundOrder(order=9))
        jobs = [await ended(app, job) for job in (old, middle, new)]
    assert [job.version for job in jobs] == [1, 2, 3]
    assert sorted(got, key=lambda order: order.order) == [
        RefundOrder(order=7, cents=5), RefundOrder(order=8, cents=5), RefundOrder(order=9),
    ]  # fmt: skip


# -- transactions of handlers ---------------------------------------------------------------------------------------


@pytest.fixture
async def shop(cell: Cell) -> Cell:
    """A table of the program's own, that the worker may write."""
    await cell.change(
        "create table leasehold_test.orders (tenant_id uuid, number int, state text);"
        " grant select, insert, update on leasehold_test.orders to leasehold_worker;"
        " alter table leasehold_test.orders enable row level security;"
        " create policy own on leasehold_test.orders to leasehold_worker"
        " using (tenant_id = nullif(current_setting('leasehold.tenant', true), '')::uuid);"
    )
    return cell


async def test_rows_children_and_outcome_commit_together(app: Leasehold, shop: Cell) -> None:
    @app.handler("shop.refund")
    async def refund(ctx: Context, order: RefundOrder) -> Receipt:
        async with ctx.transaction() as tx:
            await tx.execute("insert into leasehold_test.orders values ($1, $2, 'refunded')", ctx.tenant, order.order)
            await tx.enqueue("shop.mail", {"order": order.order}, delay=3600)
            return await tx.complete(Receipt(number="r-1"))

    async with working(app, shop):
        job = await ended(app, await refund.enqueue(RefundOrder(order=17)))
    assert (job.state, job.result, job.attempt) == (State.SUCCEEDED, {"number": "r-1"}, 1)
    assert await shop.look("select number, state from leasehold_test.orders") == [{"number": 17, "state": "refunded"}]
    assert len(await shop.look("select * from leasehold.job where kind = 'shop.mail'")) == 1
    assert len(await shop.look("select * from leasehold.attempt")) == 1


async def test_an_error_after_the_statements_leaves_nothing_of_them(app: Leasehold, shop: Cell) -> None:
    @app.handler("shop.refund", attempts=2, retry=(0.01, 0.01))
    async def refund(ctx: Context, order: RefundOrder) -> None:
        async with ctx.transaction() as tx:
            await tx.execute("insert into leasehold_test.orders values ($1, $2, 'refunded')", ctx.tenant, order.order)
            await tx.enqueue("shop.mail", {"order": order.order})
            if ctx.attempt == 1:
                raise RuntimeError("the bank is closed")
            await tx.complete(None)

    async with working(app, shop):
        job = await ended(app, await refund.enqueue(RefundOrder(order=17)))
    assert (job.state, job.attempt) == (State.SUCCEEDED, 2)
    assert len(await shop.look("select * from leasehold_test.orders")) == 1
    assert len(await shop.look("select * from leasehold.job where kind = 'shop.mail'")) == 1


async def test_a_sync_handler_has_the_same_transaction(app: Leasehold, shop: Cell) -> None:
    @app.handler("shop.refund", attempts=2, retry=(0.01, 0.01))
    def refund(ctx: SyncContext, order: RefundOrder) -> Receipt:
        with ctx.transaction() as tx:
            tx.execute("insert into leasehold_test.orders values ($1, $2, 'refunded')", ctx.tenant, order.order)
            assert tx.fetchval("select count(*) from leasehold_test.orders") == 1
            tx.enqueue("shop.mail", {"order": order.order}, delay=3600)
            if ctx.attempt == 1:
                raise RuntimeError("the bank is closed")
            return tx.complete(Receipt(number="r-1"))

    async with working(app, shop):
        job = await ended(app, await refund.enqueue(RefundOrder(order=17)))
    assert (job.state, job.result, job.attempt) == (State.SUCCEEDED, {"number": "r-1"}, 2)
    assert len(await shop.look("select * from leasehold_test.orders")) == 1
    assert len(await shop.look("select * from leasehold.job where kind = 'shop.mail'")) == 1


async def test_a_transaction_without_the_lease_is_refused_as_a_whole(app: Leasehold, shop: Cell) -> None:
    refused: list[str] = []
    taken = asyncio.Event()

    @app.handler("shop.refund", retry=(3600, 3600))
    async def refund(ctx: Context, order: RefundOrder) -> None:
        try:
            async with ctx.transaction() as tx:
                await tx.execute("insert into leasehold_test.orders values ($1, $2, 'x')", ctx.tenant, order.order)
                await shop.change("delete from leasehold.lease")  # somebody took it
        except LeaseLost as problem:
            refused.append(str(problem))
            taken.set()
            raise

    async with working(app, shop):
        await refund.enqueue(RefundOrder(order=17))
        await asyncio.wait_for(taken.wait(), 20)
    assert refused
    assert await shop.look("select * from leasehold_test.orders") == []


async def test_a_handlers_transaction_sees_only_its_tenants_rows(app: Leasehold, shop: Cell) -> None:
    await shop.change(f"insert into leasehold_test.orders values ('{shop.tenant_b}', 1, 'theirs')")

    @app.handler("t.look")
    async def look(ctx: Context) -> int:
        async with ctx.transaction() as tx:
            return int(await tx.fetchval("select count(*) from leasehold_test.orders"))

    async with working(app, shop):
        mine = await app.wait(await look.enqueue(tenant="a"), tenant="a", timeout=20)
        theirs = await app.wait(await look.enqueue(tenant="b"), tenant="b", timeout=20)
    assert (mine, theirs) == (0, 1)


async def test_an_enqueue_wakes_an_idle_worker(cell: Cell, worker_db: Database) -> None:
    """Not timed: the worker polls once an hour, so only the wake-up can bring the job."""
    slow = Settings(
        api_url=cell.url(Role.API), worker_url=cell.url(Role.WORKER), tenant="a", poll_seconds=3600.0, grace_seconds=1.0
    )
    app = Leasehold(slow)

    @app.handler("t.work")
    async def work(ctx: Context) -> str:
        return "woken"

    async with working(app, cell):
        for group in (None, None, None, "g", "g"):
            assert await app.wait(await work.enqueue(group=group), timeout=20) == "woken"


async def test_what_is_said_after_complete_is_refused_instead_of_waiting_for_itself(app: Leasehold, shop: Cell) -> None:
    said: list[str] = []

    @app.handler("t.work")
    async def work(ctx: Context) -> str:
        async with ctx.transaction() as tx:
            result = await tx.complete("done")
            try:
                await ctx.progress(100)
            except BadInput as problem:
                said.append(str(problem))
            return result

    async with working(app, shop):
        result = await app.wait(await work.enqueue(), timeout=20)
    assert (result, said) == ("done", ["the job is complete: say it before tx.complete()"])


async def test_log_lines_do_not_touch_the_progress(app: Leasehold, cell: Cell) -> None:
    @app.handler("t.work")
    async def work(ctx: Context) -> None:
        await ctx.progress(50, "half")
        await ctx.log.info("and now something else")

    async with working(app, cell):
        job = await ended(app, await work.enqueue())
    assert (job.progress, job.message) == (50, "half")


async def test_more_handlers_may_hold_transactions_than_the_worker_has_connections(fast: Settings, shop: Cell) -> None:
    """Its own calls do not wait for them: all end, although each is longer than a lease."""
    api_url, worker_url = shop.url(Role.API), shop.url(Role.WORKER)
    app = Leasehold(replace(fast, lease_seconds=3.0, api_url=api_url, worker_url=worker_url, tenant="a"))
    started = asyncio.Semaphore(0)
    go_on = asyncio.Event()

    @app.handler("t.work")
    async def work(ctx: Context) -> None:
        started.release()
        async with ctx.transaction() as tx:
            await go_on.wait()
            await tx.complete(None)

    async with working(app, shop):
        asked = await app.enqueue_many("t.work", [None] * 8)
        for _ in range(8):
            await started.acquire()
        asyncio.get_running_loop().call_later(app.settings.lease_seconds * 1.5, go_on.set)
        jobs = [await ended(app, job) for job in asked]
    assert [(job.state, job.attempt) for job in jobs] == [(State.SUCCEEDED, 1)] * 8

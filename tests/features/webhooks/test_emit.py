"""``ctx.emit`` and ``tx.emit``: events that commit with what they tell of."""

import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

from leasehold import Context, Fail, Leasehold
from leasehold.database.database import Database
from leasehold.engine import jobs
from leasehold.features.secrets import store as secrets
from leasehold.job import AttemptOutcome
from leasehold.program.context import SyncContext
from tests.cell import Cell
from tests.features.webhooks.hooks import KEYS, Hooks, Receiver, hooks_to, receiving, working
from tests.worker.running import Shop

app = Leasehold()


@app.handler("t.pay", retry_base_s=0.01, attempts=3)
async def pay(ctx: Context, order: dict[str, Any]) -> str:
    await ctx.emit("order.paid", "order", str(order["id"]), {"cents": 500})
    if ctx.attempt <= order.get("failures", 0):
        raise RuntimeError("the bank is closed")
    return "paid"


@app.handler("t.pay_sync")
def pay_sync(ctx: SyncContext, order: int) -> str:
    with ctx.transaction() as tx:
        tx.emit("order.seen", "order", str(order))
        ctx.emit("order.paid", "order", str(order), {"cents": 500})
        return tx.complete("paid")


@app.handler("t.look")
async def look(ctx: Context, order: int) -> None:
    async with ctx.transaction() as tx:
        await tx.emit("order.seen", "order", str(order))
    raise Fail("no such order")


@app.handler("t.tell_secret")
async def tell_secret(ctx: Context, name: str) -> None:
    await ctx.emit("order.paid", "order", "1", {"with": f"token {await ctx.secret(name)}"})


@app.handler("t.say_wrong", attempts=1)
async def say_wrong(ctx: Context, _: dict[str, Any]) -> None:
    await ctx.emit("Order Paid", "order", "1")


apart = Leasehold()


@apart.handler("t.pay_apart", isolate=True)
async def pay_apart(ctx: Context, order: int) -> str:
    await ctx.emit("order.paid", "order", str(order), {"cents": 500})
    return "paid"


@asynccontextmanager
async def told(cell: Cell, receiver: Receiver) -> AsyncIterator[Hooks]:
    """A receiver of all ``order`` events, and a worker with the handlers of this page."""
    async with hooks_to(cell, receiver) as hooks, working(cell, hooks.settings, app, apart):
        await hooks.add(receiver, "order.*")
        yield hooks


async def test_what_an_attempt_emits_is_told_when_it_succeeds(cell: Cell, shop: Shop) -> None:
    async with receiving() as receiver, told(cell, receiver) as hooks:
        job = await shop.run("t.pay", {"id": 17})
        await hooks.settled(hurry=True)
    [event] = receiver.events
    assert (job.result, event["type"], event["subject_type"], event["subject_id"], event["data"]) == (
        "paid", "order.paid", "order", "17", {"cents": 500}
    )  # fmt: skip


async def test_attempts_that_fail_tell_nothing_so_a_retry_tells_once(cell: Cell, shop: Shop) -> None:
    async with receiving() as receiver, told(cell, receiver) as hooks:
        job = await shop.run("t.pay", {"id": 1, "failures": 2})
        await hooks.settled(hurry=True)
        dead = await shop.run("t.pay", {"id": 2, "failures": 3})
    assert [outcome for _, outcome in await shop.history(job.job_id)] == ["errored", "errored", "succeeded"]
    assert dead.state == "dead"
    assert [event["subject_id"] for event in receiver.events] == ["1"]
    assert await cell.look("select subject_id from leasehold.webhook_event") == [{"subject_id": "1"}]


async def test_a_transaction_of_the_handler_tells_both_its_own_and_the_attempts_events(cell: Cell, shop: Shop) -> None:
    async with receiving() as receiver, told(cell, receiver) as hooks:
        assert (await shop.run("t.pay_sync", 3)).result == "paid"
        await hooks.settled(hurry=True)
    assert sorted(event["type"] for event in receiver.events) == ["order.paid", "order.seen"]


async def test_what_a_transaction_told_stays_told_when_the_attempt_fails_later(cell: Cell, shop: Shop) -> None:
    async with receiving() as receiver, told(cell, receiver) as hooks:
        assert (await shop.run("t.look", 4)).state == "failed"
        await hooks.settled(hurry=True)
    assert [event["type"] for event in receiver.events] == ["order.seen"]


async def test_an_isolated_attempt_emits_through_its_worker(cell: Cell, shop: Shop) -> None:
    async with receiving() as receiver, told(cell, receiver) as hooks:
        assert (await shop.run("t.pay_apart", 5)).result == "paid"
        await hooks.settled(hurry=True)
    assert [event["subject_id"] for event in receiver.events] == ["5"]


async def test_a_lost_lease_tells_nothing(cell: Cell, shop: Shop, worker_db: Database) -> None:
    """The outcome and the event are one commit: whoever lost the lease writes neither."""
    begun = Leasehold()

    @begun.handler("t.slow", attempts=1)
    async def slow(ctx: Context, _: dict[str, Any]) -> None:
        await ctx.emit("order.paid", "order", "1")
        [lease] = await cell.look(f"select token from leasehold.lease where job_id = '{ctx.job_id}'")
        await jobs.finish(worker_db, [AttemptOutcome(token=lease["token"], outcome="errored")])

    async with receiving() as receiver, hooks_to(cell, receiver) as hooks:
        await hooks.add(receiver, "order.*")
        async with working(cell, hooks.settings, begun):
            assert (await shop.run("t.slow")).state == "dead"
        assert await hooks.deliveries() == []
    assert await cell.look("select * from leasehold.webhook_event") == []


async def test_secrets_that_an_attempt_used_are_not_told(cell: Cell, shop: Shop) -> None:
    async with receiving() as receiver, told(cell, receiver) as hooks:
        async with hooks.scope() as scope:
            await secrets.put_secret(scope, cell.tenant_a, "bank", "tok_9f8e7d6c", KEYS)
        await shop.run("t.tell_secret", "bank")
        await hooks.settled(hurry=True)
    [event] = receiver.events
    assert "tok_9f8e7d6c" not in json.dumps(event)
    assert event["data"]["with"].startswith("token ")


async def test_an_event_that_cannot_be_told_fails_the_attempt_and_says_why(cell: Cell, shop: Shop) -> None:
    async with receiving() as receiver, told(cell, receiver):
        job = await shop.run("t.say_wrong")
    assert job.state == "dead"
    assert (await shop.error(job.job_id))["message"] == "'Order Paid' is no type of event"

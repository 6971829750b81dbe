"""What a program may write: both type checkers accept it, and know the type of each result."""

from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any, assert_type
from uuid import UUID

from leasehold import Context, Enqueued, Item, Job, Kind, Leasehold, SyncContext, step
from leasehold.remote import AsyncClient, Client


@dataclass
class Refund:
    order: int


@dataclass
class Receipt:
    number: str


app = Leasehold()


@app.handler("shop.refund", queue="money", priority=1, attempts=5, timeout=timedelta(minutes=1), retry=(1, 60))
async def refund(ctx: Context, payload: Refund) -> Receipt:
    assert_type(await ctx.enqueue("shop.mail", {"order": payload.order}, delay=5), Enqueued)
    async with ctx.transaction() as tx:
        assert_type(await tx.enqueue("shop.mail", payload, key="m-1", tags=["vip"]), Enqueued)
        return await tx.complete(Receipt("r-1"))


@app.handler("shop.tidy")
async def tidy(ctx: Context) -> int:
    return 7


@app.handler("shop.mail", isolate=True, memory_mb=200)
def mail(ctx: SyncContext, payload: Refund | None) -> str:
    assert_type(ctx.enqueue("shop.tidy", expires_at=datetime.now(UTC)), Enqueued)
    with ctx.transaction() as tx:
        assert_type(tx.enqueue_many("shop.refund", [{"order": 7}], keys=["r-7"]), list[Enqueued])
    return "sent"


@app.handler("shop.sweep")
def sweep(ctx: SyncContext) -> None: ...


@app.batch("shop.letters", size=50, wait=1)
async def letters(items: list[Item[Refund]]) -> list[int]:
    return [item.payload.order for item in items]


app.schedule("nightly", tidy, cron="0 3 * * *", zone="Europe/Berlin", attempts=1)
app.schedule("hourly", "shop.tidy", every=timedelta(hours=1), overlap="skip", tags=["clock"])
app.schedule("mailing", mail, Refund(1), every=60)


async def ask() -> None:
    assert_type(refund, Kind[Refund, Receipt])
    assert_type(tidy, Kind[None, int])
    assert_type(mail, Kind[Refund | None, str])
    assert_type(sweep, Kind[None, None])
    assert_type(letters, Kind[Refund, int])
    made = await refund.enqueue(Refund(1), tenant="acme", key="r-1", delay=10, priority=0)
    assert_type(made, Enqueued[Receipt])
    assert_type(await app.wait(made), Receipt)
    assert_type(await app.wait(await tidy.enqueue()), int)
    assert_type(await app.wait(await mail.enqueue()), str)
    assert_type(await app.wait(await mail.enqueue(Refund(2)), timeout=30), str)
    sent = await letters.enqueue_many([Refund(1), Refund(2)])
    assert_type([await app.wait(one) for one in sent], list[int])
    assert_type(await app.enqueue("shop.refund", run_at=datetime.now(UTC)), Enqueued)
    client = await app.client("acme")
    assert_type(await client.enqueue("shop.refund", unique="r", on_duplicate="push"), Enqueued)
    assert_type(await client.wait(made.job_id), Job)
    flow = app.flow("refunds")
    first = flow.add("shop.refund", {"order": 1}, timeout=60)
    flow.include(refund.step(Refund(1), name="again", delay=60), after=first)
    flow.include(step("shop.tidy", gate="tidy"), after="again")
    assert_type(await flow.start(tenant="acme"), UUID)


def ask_over_http(client: Client) -> None:
    made = app.sync.enqueue("shop.refund", {"order": 1}, key="r-1", group="g", group_limit=2)
    assert_type(made, Enqueued)
    assert_type(client.enqueue("shop.refund", {"order": 1}, priority=3, delay=60), Enqueued)


async def ask_over_http_without_blocking(client: AsyncClient) -> Any:
    return await client.enqueue("shop.refund", {"order": 1}, attempts=1)

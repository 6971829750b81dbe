"""What a program must not write: each line with `type: ignore` is an error for both type checkers.

Both report a `type: ignore` that hides nothing, so a mistake that one of them accepts fails `make check`.
"""

from dataclasses import dataclass

from leasehold import Context, Leasehold, SyncContext, step
from leasehold.remote import Client


@dataclass
class Refund:
    order: int


app = Leasehold()


@app.handler("shop.refund")
async def refund(ctx: Context, payload: Refund) -> int:
    await ctx.enqueue("shop.mail", prio=1)  # type: ignore[call-arg]  # an unknown option
    await ctx.enqueue("shop.mail", attempts="5")  # type: ignore[arg-type]  # a text where a number belongs
    async with ctx.transaction() as tx:
        await tx.enqueue("shop.mail", dealy=5)  # type: ignore[call-arg]  # a misspelt option
    return payload.order


@app.handler("shop.tidy")
async def tidy(ctx: Context) -> None: ...


@app.handler("shop.mail", queues="mail")  # type: ignore[call-arg]  # an unknown option
def mail(ctx: SyncContext, payload: Refund) -> str:
    ctx.enqueue("shop.tidy", priority="high")  # type: ignore[arg-type]  # a number
    with ctx.transaction() as tx:
        tx.enqueue_many("shop.tidy", [1], attempt=1)  # type: ignore[call-arg]  # a misspelt option
    return "sent"


@app.handler("shop.work", priority="high")  # type: ignore[arg-type]  # a number
async def work(ctx: Context) -> None: ...


@app.handler("shop.other", retry=5)  # type: ignore[arg-type]  # a pair
async def other(ctx: Context) -> None: ...


async def ask(client: Client) -> None:
    await refund.enqueue({"order": 1})  # type: ignore[arg-type]  # a wrong payload
    await refund.enqueue("1")  # type: ignore[arg-type]  # a wrong payload
    await refund.enqueue()  # type: ignore[call-arg]  # no payload
    await tidy.enqueue(1)  # type: ignore[call-overload]  # a payload for a handler without one
    await refund.enqueue(Refund(1), priority="high")  # type: ignore[arg-type]  # a number
    await refund.enqueue(Refund(1), prioritty=1)  # type: ignore[call-arg]  # a misspelt option
    await refund.enqueue(Refund(1), on_duplicate="drop")  # type: ignore[arg-type]  # none of the words
    await refund.enqueue_many([1])  # type: ignore[list-item]  # a wrong payload
    await app.enqueue("shop.refund", delays=5)  # type: ignore[call-arg]  # an unknown option
    (await app.wait(await refund.enqueue(Refund(1)))).strip()  # type: ignore[attr-defined]  # a number
    await (await app.client()).enqueue_many("shop.refund", [1], attempts="x")  # type: ignore[arg-type]  # a text
    refund.step("1")  # type: ignore[arg-type]  # a wrong payload
    refund.step(Refund(1), unique="r")  # type: ignore[call-arg]  # no option of a step
    step("shop.refund", isolate=True)  # type: ignore[call-arg]  # no option of a step
    app.flow("f").add("shop.refund", tag="vip")  # type: ignore[call-arg]  # a misspelt option
    app.schedule("nightly", refund, Refund(1), crom="0 3 * * *")  # type: ignore[call-overload]  # a misspelt option
    app.schedule("nightly", refund, 1, every=60)  # type: ignore[misc]  # a wrong payload
    app.sync.enqueue("shop.refund", priority=None, timeout=[1])  # type: ignore[arg-type]  # no duration
    client.enqueue("shop.refund", prio=1)  # type: ignore[call-arg]  # an unknown option

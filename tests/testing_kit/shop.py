"""A small program, as a user of the kit has one."""

from dataclasses import dataclass

from leasehold import Cancel, Context, Fail, Leasehold, Snooze, SyncContext

app = Leasehold()


@dataclass(frozen=True)
class Refund:
    order: int
    how: str = "well"


@app.handler("shop.refund", queue="money", attempts=3)
async def refund(ctx: Context, wanted: Refund) -> str:
    await ctx.progress(50, "asked the bank")
    match wanted.how:
        case "badly":
            raise ZeroDivisionError("the bank is closed")
        case "never":
            raise Fail("no such card")
        case "later":
            raise Snooze(after=60)
        case "unwanted":
            raise Cancel("gone")
    await ctx.enqueue("shop.mail", {"order": wanted.order, "to": {"name": "Ada", "lang": "en"}})
    return f"r-{wanted.order}"


@app.handler("shop.mail")
def mail(ctx: SyncContext, letter: dict[str, object]) -> str:
    return f"sent {letter['order']}"


@app.handler("shop.nested")
async def nested(ctx: Context) -> None:
    await refund.enqueue(Refund(order=7))

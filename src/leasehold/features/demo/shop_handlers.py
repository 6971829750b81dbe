"""The kinds of a shop that does not exist, for `leasehold demo`: what they do takes time, and some of it goes wrong."""

import asyncio
from dataclasses import dataclass

from leasehold.program.app import Leasehold
from leasehold.program.context import Context
from leasehold.program.outcomes import Fail

app = Leasehold()


class BankTimeout(Exception):
    """The bank did not answer."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Order:
    order: int
    cents: int = 2990
    currency: str = "EUR"


@dataclass(frozen=True, slots=True, kw_only=True)
class Mail:
    to: str
    template: str = "receipt"


@dataclass(frozen=True, slots=True, kw_only=True)
class Feed:
    url: str
    rows: int = 9600
    seconds: float = 40.0


@app.handler("demo.mail")
async def mail(ctx: Context, order: Mail) -> dict[str, str]:
    """Send a mail, or rather say so."""
    await asyncio.sleep(0.2)
    return {"message_id": f"<{ctx.job_id.hex[-12:]}@mail.example.com>"}


@app.handler("demo.charge", attempts=3, retry_base_s=5)
async def charge(ctx: Context, order: Order) -> dict[str, int]:
    """Charge a card. The bank does not answer at every third order's first attempt, and never for every seventh."""
    await asyncio.sleep(0.4)
    if order.order % 7 == 0 or (order.order % 3 == 0 and ctx.attempt == 1):
        raise BankTimeout(f"no answer from the bank after {28 + order.order % 5} s")
    return {"charged": order.cents}


@app.handler("demo.refund")
async def refund(ctx: Context, order: Order) -> dict[str, int]:
    """Pay back. Orders that are unknown fail for good."""
    await asyncio.sleep(0.3)
    if order.order % 2:
        raise Fail(f"order {order.order} is not known to the bank")
    return {"paid_back": order.cents}


@app.handler("demo.stock")
async def stock(ctx: Context, order: Order) -> None:
    """Reserve what was ordered. Every fifth order asks for more than there is."""
    await asyncio.sleep(0.5)
    if order.order % 5 == 0:
        raise Fail("only 2 of 3 are left")


@app.handler("demo.label")
async def label(ctx: Context, order: Order) -> None:
    """Print a label for a parcel."""
    await asyncio.sleep(1.5)


@app.handler("demo.ship")
async def ship(ctx: Context, order: Order) -> dict[str, str]:
    """Hand the parcels over, and tell whoever listens."""
    await asyncio.sleep(0.3)
    await ctx.emit("order.shipped", "order", str(order.order), {"parcels": 6})
    return {"tracking": f"LH{order.order:09d}"}


@app.handler("demo.feed")
async def feed(ctx: Context, order: Feed) -> dict[str, int]:
    """Import a long file, with progress."""
    pieces = 40
    await ctx.log.info("reading", url=order.url)
    for piece in range(1, pieces + 1):
        await asyncio.sleep(order.seconds / pieces)
        await ctx.progress(100 * piece / pieces, f"{order.rows * piece // pieces:,} of {order.rows:,} rows")
    return {"rows": order.rows}


@app.handler("demo.report")
async def report(ctx: Context) -> dict[str, int]:
    """Add up what was sold."""
    await asyncio.sleep(0.8)
    return {"orders": 118, "cents": 353_290}

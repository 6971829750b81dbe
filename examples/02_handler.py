"""Handle a kind. Run it with `leasehold up 02_handler:app`, then `python 02_handler.py`."""

import asyncio
from dataclasses import dataclass

from leasehold import Context, Fail, JobFailed, Leasehold, Retry

app = Leasehold()


@dataclass(frozen=True)
class Refund:
    order: int
    cents: int


@dataclass(frozen=True)
class Receipt:
    number: str


@app.handler("shop.refund", queue="money", attempts=5, timeout=60, retry=(0.1, 60))
async def refund(ctx: Context, wanted: Refund) -> Receipt:
    """Return to succeed, raise to be tried again, raise Fail when that would not help."""
    if wanted.cents <= 0:
        raise Fail("nothing to refund")
    await ctx.progress(40, "asked the bank")
    if ctx.attempt == 1:
        raise Retry("the bank is busy", after=0.1)
    return Receipt(number=f"r-{wanted.order}")


async def main() -> None:
    async with app:
        good = await refund.enqueue(Refund(order=17, cents=500))
        bad = await refund.enqueue(Refund(order=18, cents=0))
        for asked in (good, bad):
            try:
                print(await app.wait(asked, timeout=60))
            except JobFailed as failed:
                print(failed.job.state, f"after attempt {failed.job.attempt}:", failed.cause)


if __name__ == "__main__":
    asyncio.run(main())

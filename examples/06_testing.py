"""Tests of handlers, on a real PostgreSQL that pytest starts and removes: `pytest 06_testing.py`

Async tests need a plugin that runs them, such as pytest-asyncio.
"""

from datetime import UTC, datetime, timedelta

import pytest

from leasehold import Context, Leasehold, State
from leasehold.testing import Kit

app = Leasehold()


@app.handler("shop.invoice", attempts=2)
async def invoice(ctx: Context, order: dict[str, int]) -> int:
    cents = order["cents"]
    if cents < 0:
        raise ValueError("a negative invoice")
    await ctx.enqueue("shop.remind", {"order": order["order"]}, delay=timedelta(days=14))
    return cents


@app.handler("shop.remind")
def remind(ctx: Context, order: dict[str, int]) -> str:
    return f"reminded of {order['order']}"


@pytest.fixture
def kit(leasehold: Kit) -> Kit:
    leasehold.use(app)
    return leasehold


@pytest.mark.asyncio
async def test_an_invoice_is_followed_by_a_reminder_two_weeks_later(kit: Kit) -> None:
    await kit.freeze(datetime(2026, 1, 1, tzinfo=UTC))
    await invoice.enqueue({"order": 17, "cents": 500})
    assert [job.result for job in await kit.run_until_idle(app)] == [500]
    await kit.assert_enqueued("shop.remind", {"order": 17}, count=1)
    await kit.move(timedelta(days=14))
    assert [job.result for job in await kit.run_until_idle(app)] == ["reminded of 17"]


@pytest.mark.asyncio
async def test_a_negative_invoice_raises_where_it_is_asked_for(kit: Kit) -> None:
    async with kit.inline(app):
        with pytest.raises(ValueError, match="negative"):
            await invoice.enqueue({"order": 17, "cents": -1})
    await kit.refute_enqueued("shop.remind")


@pytest.mark.asyncio
async def test_an_invoice_that_failed_twice_is_dead(kit: Kit) -> None:
    await kit.freeze()
    await invoice.enqueue({"order": 17, "cents": -1})
    await kit.run_until_idle(app)
    await kit.move(3600)
    [job] = await kit.run_until_idle(app)
    assert (job.state, job.attempt) == (State.DEAD, 2)


def test_without_an_event_loop(kit: Kit) -> None:
    app.sync.enqueue("shop.invoice", {"order": 17, "cents": 500})
    assert kit.sync.run_one(app).state is State.SUCCEEDED

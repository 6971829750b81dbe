"""The kit as a user of it writes tests."""

import asyncio
import re
from datetime import UTC, datetime, timedelta
from typing import Any

import asyncpg
import pytest

from leasehold import Context, Fail, Leasehold, State
from leasehold.database.connect import target
from leasehold.database.database import Database, Role
from leasehold.engine import tenants
from leasehold.errors import BadInput
from leasehold.testing import Kit
from tests.testing_kit.shop import Refund, app, nested, refund

NOON = datetime(2031, 5, 1, 12, tzinfo=UTC)


@pytest.fixture
def kit(leasehold: Kit) -> Kit:
    leasehold.use(app)
    return leasehold


# -- run jobs -------------------------------------------------------------------------------------------------------


async def test_until_idle_runs_everything_and_what_that_enqueues(kit: Kit) -> None:
    await refund.enqueue(Refund(order=1))
    ran = await kit.run_until_idle(app)
    assert [(job.kind, job.state, job.result) for job in ran] == [
        ("shop.refund", State.SUCCEEDED, "r-1"),
        ("shop.mail", State.SUCCEEDED, "sent 1"),
    ]


async def test_until_idle_leaves_what_is_for_later_until_its_time_has_come(kit: Kit) -> None:
    await kit.freeze()
    later = await refund.enqueue(Refund(order=1), delay=3600)
    assert await kit.run_until_idle(app) == []
    await kit.move(3600)
    ran = await kit.run_until_idle(app)
    assert ran[0].job_id == later.job_id


async def test_a_result_is_there_however_far_the_clock_was_moved(kit: Kit) -> None:
    await kit.freeze(NOON)
    await refund.enqueue(Refund(order=1), delay=timedelta(days=400))
    await kit.move(timedelta(days=401))
    assert "r-1" in [job.result for job in await kit.run_until_idle(app)]


async def test_each_retry_is_one_move_of_the_clock(kit: Kit) -> None:
    await kit.freeze(NOON)
    asked = await refund.enqueue(Refund(order=1, how="badly"))
    for attempt, state in [(1, State.SCHEDULED), (2, State.SCHEDULED), (3, State.DEAD)]:
        [job] = await kit.run_until_idle(app)
        assert (job.job_id, job.attempt, job.state) == (asked.job_id, attempt, state)
        await kit.move(timedelta(hours=1))


async def test_until_idle_says_what_keeps_it_busy(kit: Kit) -> None:
    await kit.job(kind="shop.refund", queue="elsewhere")
    with pytest.raises(AssertionError, match=r"shop\.refund queued in elsewhere: the one worker alive does not"):
        await kit.run_until_idle(app, timeout=0.3)


async def test_one_runs_one_attempt_and_none_when_nothing_is_queued(kit: Kit) -> None:
    assert await kit.run_one(app) is None
    await refund.enqueue(Refund(order=1))
    await refund.enqueue(Refund(order=2))
    job = await kit.run_one(app)
    assert job is not None
    assert (job.state, job.result) == (State.SUCCEEDED, "r-1")
    assert [job.state for job in await kit.enqueued("shop.refund")] == [State.SUCCEEDED, State.QUEUED]


async def test_middleware_and_lifespans_are_those_of_a_worker(leasehold: Kit) -> None:
    other = Leasehold()
    story: list[str] = []

    @other.lifespan
    async def bank() -> Any:
        yield {"bank": "open"}

    @other.middleware
    async def around(ctx: Context, call_next: Any) -> Any:
        story.append(f"the bank is {ctx.resources['bank']}")
        return await call_next()

    @other.handler("t.work")
    async def work(ctx: Context) -> None: ...

    leasehold.use(other)
    await work.enqueue()
    await leasehold.run_until_idle(other)
    async with leasehold.inline(other):
        await work.enqueue()
    assert story == ["the bank is open", "the bank is open"]


# -- inline ---------------------------------------------------------------------------------------------------------


async def test_inline_an_enqueue_has_run_when_it_returns(kit: Kit) -> None:
    async with kit.inline(app):
        made = await refund.enqueue(Refund(order=1))
        job = await kit.get(made.job_id)
        assert (job.state, job.result, job.attempt) == (State.SUCCEEDED, "r-1", 1)
        await kit.assert_enqueued("shop.mail", {"to": {"name": "Ada"}}, count=1)
    assert {job.state for job in await kit.enqueued()} == {State.SUCCEEDED}
    made = await refund.enqueue(Refund(order=2))
    assert (await kit.get(made.job_id)).state is State.QUEUED, "after the block as ever"


@pytest.mark.parametrize(
    ("how", "error", "state"),
    [
        ("badly", ZeroDivisionError, State.SCHEDULED),  # and would be tried again
        ("never", Fail, State.FAILED),
    ],
)
async def test_inline_raises_the_error_of_the_handler(kit: Kit, how: str, error: type[Exception], state: State) -> None:
    async with kit.inline(app):
        with pytest.raises(error):
            await refund.enqueue(Refund(order=1, how=how))
    assert [job.state for job in await kit.enqueued()] == [state]


@pytest.mark.parametrize(("how", "state"), [("later", State.SCHEDULED), ("unwanted", State.CANCELED)])
async def test_inline_a_snooze_or_a_cancel_is_no_error(kit: Kit, how: str, state: State) -> None:
    async with kit.inline(app):
        made = await refund.enqueue(Refund(order=1, how=how))
    assert (await kit.get(made.job_id)).state is state


async def test_inline_holds_for_handlers_that_enqueue_and_for_callers_at_once(kit: Kit) -> None:
    async with kit.inline(app):
        await nested.enqueue()
        await asyncio.gather(*(refund.enqueue(Refund(order=n)) for n in range(3)))
        assert {job.state for job in await kit.enqueued()} == {State.SUCCEEDED}
    await kit.assert_enqueued("shop.mail", count=4)


async def test_inline_leaves_the_kinds_of_other_programs_queued(kit: Kit) -> None:
    async with kit.inline(app):
        theirs = await app.enqueue("crm.update", {})
        mine = await refund.enqueue(Refund(order=1))
    assert (await kit.get(theirs.job_id)).state is State.QUEUED
    assert (await kit.get(mine.job_id)).state is State.SUCCEEDED


async def test_inline_a_job_of_an_open_transaction_runs_after_its_commit(kit: Kit) -> None:
    connection = await asyncpg.connect(target(kit.settings, Role.API).url)
    async with kit.inline(app):
        async with connection.transaction():
            made = await refund.enqueue(Refund(order=1), conn=connection)
        assert (await kit.get(made.job_id)).state is State.QUEUED
    await connection.close()
    assert (await kit.get(made.job_id)).state is State.SUCCEEDED


# -- the clock ------------------------------------------------------------------------------------------------------


async def test_the_clock_stands_moves_and_goes_on(kit: Kit) -> None:
    assert await kit.freeze(NOON) == NOON
    assert await kit.move(60) == NOON + timedelta(minutes=1)
    assert await kit.move(timedelta(days=400)) == NOON + timedelta(days=400, minutes=1)
    assert await kit.move(to=NOON) == NOON
    made = await refund.enqueue(Refund(order=1), delay=60)
    job = await kit.get(made.job_id)
    assert (job.created_at, job.run_at) == (NOON, NOON + timedelta(minutes=1))
    assert abs(await kit.thaw() - datetime.now(UTC)) < timedelta(minutes=1)
    assert timedelta(minutes=59) < await kit.move(3600) - datetime.now(UTC) < timedelta(minutes=61)


async def test_a_clock_that_runs_can_be_set_to_a_moment(kit: Kit) -> None:
    assert timedelta(0) <= await kit.move(to=NOON) - NOON < timedelta(minutes=1)
    first = await kit.freeze()
    assert await kit.freeze() == first


async def test_a_move_is_by_or_to_and_moments_have_a_zone(kit: Kit) -> None:
    with pytest.raises(BadInput, match="either"):
        await kit.move()
    with pytest.raises(BadInput, match="no time zone"):
        await kit.freeze(datetime(2031, 5, 1))  # noqa: DTZ001


# -- look -----------------------------------------------------------------------------------------------------------


async def test_an_assertion_that_fails_lists_what_there_is(kit: Kit) -> None:
    await refund.enqueue(Refund(order=1))
    await refund.enqueue(Refund(order=2), delay=60)
    with pytest.raises(AssertionError, match=re.escape("expected at least one shop.mail job, found 0; enqueued are:")):
        await kit.assert_enqueued("shop.mail")
    with pytest.raises(AssertionError) as failed:
        await kit.assert_enqueued("shop.refund", {"order": 3})
    assert str(failed.value).splitlines() == [
        "expected at least one shop.refund job with {'order': 3}, found 0; enqueued are:",
        '  shop.refund {"how": "well", "order": 1} (queued, queue money)',
        '  shop.refund {"how": "well", "order": 2} (scheduled, queue money)',
    ]
    with pytest.raises(AssertionError, match="expected no shop.refund job with .*, found 1"):
        await kit.refute_enqueued("shop.refund", {"order": 2})
    with pytest.raises(AssertionError, match="expected 3 shop.refund jobs, found 2"):
        await kit.assert_enqueued("shop.refund", count=3)


async def test_an_assertion_that_holds_gives_the_jobs(kit: Kit) -> None:
    await refund.enqueue(Refund(order=1))
    await refund.enqueue(Refund(order=2))
    assert [job.payload["order"] for job in await kit.assert_enqueued("shop.refund", count=2)] == [1, 2]
    assert len(await kit.assert_enqueued("shop.refund", Refund(order=2))) == 1
    await kit.refute_enqueued("shop.mail")


async def test_tenants_are_looked_at_together_or_one_by_one(kit: Kit) -> None:
    acme = await kit.tenant("acme")
    assert await kit.tenant("acme") == acme
    await refund.enqueue(Refund(order=1), tenant="acme")
    await refund.enqueue(Refund(order=2))
    assert len(await kit.enqueued()) == 2
    assert [job.tenant_id for job in await kit.assert_enqueued("shop.refund", tenant=acme)] == [acme]
    await kit.refute_enqueued("shop.refund", {"order": 1}, tenant="default")


# -- make -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("state", [state for state in State if state is not State.BLOCKED])
async def test_a_job_in_any_state(leasehold: Kit, state: State) -> None:
    job = await leasehold.job(state=state, kind="t.work", payload={"n": 1}, queue="money", priority=1)
    assert (job.state, job.kind, job.payload, job.queue, job.priority) == (state, "t.work", {"n": 1}, "money", 1)
    if state in (State.FAILED, State.DEAD):
        assert job.error is not None
        assert job.error["message"] == "failed on purpose"
    if state is State.DEAD:
        assert job.attempt == job.max_attempts == 5


async def test_no_job_is_made_blocked_before_the_engine_can_block(leasehold: Kit) -> None:
    with pytest.raises(BadInput, match="blocked"):
        await leasehold.job(state="blocked")


async def test_a_job_is_made_running_past_others_of_its_queue(leasehold: Kit) -> None:
    others = [await leasehold.job() for _ in range(2)]
    running = await leasehold.job(state="running")
    done = await leasehold.job(state="succeeded", result={"n": 1}, tenant=await leasehold.tenant("acme"))
    assert (running.state, done.result) == (State.RUNNING, {"n": 1})
    assert [(await leasehold.get(job.job_id)).state for job in others] == [State.QUEUED, State.QUEUED]


# -- the database ---------------------------------------------------------------------------------------------------


async def test_nobody_but_the_operator_can_touch_the_clock(leasehold: Kit) -> None:
    for role in (Role.API, Role.WORKER):
        connection = await asyncpg.connect(target(leasehold.settings, role).url)
        with pytest.raises(asyncpg.InsufficientPrivilegeError):
            await connection.execute("select leasehold_test.freeze(null)")
        await connection.close()


async def test_a_database_starts_empty_with_one_tenant(leasehold: Kit) -> None:
    async with Database(target(leasehold.settings, Role.OPERATOR)) as db:
        assert [tenant.name for tenant in await tenants.list_tenants(db)] == ["default"]
    assert await leasehold.enqueued() == []


def test_an_app_has_its_own_settings_back_after_the_test(leasehold: Kit) -> None:
    other = Leasehold()
    with Kit(leasehold.settings) as kit:
        kit.use(other)
        assert other.settings is leasehold.settings
    assert "_open" not in vars(other)
    assert other._settings is None


# -- without an event loop ------------------------------------------------------------------------------------------


def test_code_without_an_event_loop_has_the_same_kit(kit: Kit) -> None:
    app.sync.enqueue("shop.refund", Refund(order=1))
    kit.sync.assert_enqueued("shop.refund", {"order": 1})
    assert [job.kind for job in kit.sync.run_until_idle(app)] == ["shop.refund", "shop.mail"]
    assert kit.sync.job(state="dead").state is State.DEAD
    assert kit.sync.settings is kit.settings

"""What a handler is told, what it may say, and what becomes of what it returns or raises."""

import asyncio
import contextvars
import threading
from collections.abc import AsyncIterator
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from pydantic import BaseModel

from leasehold.errors import BadInput
from leasehold.job import State
from leasehold.json_codec import LIMIT
from leasehold.program import context
from leasehold.program.app import Leasehold
from leasehold.program.context import Context, SyncContext
from leasehold.program.handler import Handler
from leasehold.program.outcomes import Cancel, Fail, Retry, Snooze
from tests.cell import Cell
from tests.waiting import eventually
from tests.worker.running import Shop, running


@dataclass(frozen=True)
class Order:
    number: int
    note: str = ""


class Receipt(BaseModel):
    number: int
    at: datetime


async def test_payload_and_result_are_typed(cell: Cell, shop: Shop) -> None:
    app = Leasehold()

    @app.handler("t.refund")
    async def refund(ctx: Context, order: Order) -> Receipt:
        return Receipt(number=order.number + 1, at=datetime(2026, 1, 2, tzinfo=UTC))

    @app.handler("t.bare")
    async def bare(ctx, order):  # type: ignore[no-untyped-def]
        return {"receipt": Receipt(number=order["number"], at=datetime(2026, 1, 2, tzinfo=UTC))}

    async with running(cell, app):
        job = await shop.run("t.refund", {"number": 1})
        assert (job.state, job.result) == (State.SUCCEEDED, {"number": 2, "at": "2026-01-02T00:00:00Z"})
        job = await shop.run("t.bare", {"number": 1})
        assert job.result == {"receipt": {"number": 1, "at": "2026-01-02T00:00:00Z"}}

        job = await shop.run("t.refund", {"number": "seven"})
        assert (job.state, job.attempt) == (State.FAILED, 1), "no second attempt makes the payload valid"
        assert "number: " in str(job.error)


@pytest.mark.parametrize("sync", [False, True], ids=["async", "sync"])
@pytest.mark.parametrize(
    ("raised", "outcome", "type_"),
    [
        (ValueError("no"), "errored", "ValueError"),
        (KeyboardInterrupt(), "errored", "KeyboardInterrupt"),
        (SystemExit(3), "errored", "SystemExit"),
        (GeneratorExit(), "errored", "GeneratorExit"),
        (asyncio.CancelledError(), "errored", "CancelledError"),  # raised by itself: nobody asked for a cancel
        (ValueError("nul \0, lone \ud800"), "errored", "ValueError"),
        (ValueError("x" * 1_000_000), "errored", "ValueError"),
        (Retry("later", after=60), "errored", "Retry"),
        (Fail("bad card"), "failed", "Fail"),
        (Cancel("gone"), "canceled", "Cancel"),
    ],
    ids=lambda value: value if isinstance(value, str) else type(value).__name__,
)
async def test_whatever_a_handler_raises_is_recorded_and_the_worker_lives(
    cell: Cell, shop: Shop, raised: BaseException, outcome: str, type_: str, sync: bool
) -> None:
    app = Leasehold()

    if sync:

        @app.handler("t.raise")
        def raise_in_thread(ctx: SyncContext) -> None:
            raise raised
    else:

        @app.handler("t.raise")
        async def raise_it(ctx: Context) -> None:
            raise raised

    @app.handler("t.fine")
    async def fine(ctx: Context) -> str:
        return "fine"

    async with running(cell, app):
        job_id = await shop.enqueue("t.raise", max_attempts=2, retry_base_s=600)
        assert await shop.attempted(job_id) == [(1, outcome)]
        assert (await shop.error(job_id))["type"] == type_
        assert (await shop.run("t.fine")).result == "fine"


@pytest.mark.parametrize(
    ("result", "words"),
    [
        (float("nan"), "NaN|nan|JSON"),
        (object(), "serialise"),
        ("nul \0", "NUL"),
        ("lone \ud800", "surrogate|serialise"),
        ("x" * (LIMIT + 1), "more than"),
        ({1, 2, object()}, "serialise"),
    ],
    ids=["nan", "object", "nul", "surrogate", "large", "set"],
)
async def test_a_result_that_cannot_be_kept_is_a_permanent_clean_failure(
    cell: Cell, shop: Shop, result: Any, words: str
) -> None:
    app = Leasehold()

    @app.handler("t.result")
    async def give(ctx: Context) -> Any:
        return result

    async with running(cell, app):
        job = await shop.run("t.result")
    assert (job.state, job.attempt) == (State.FAILED, 1)
    assert job.error is not None
    assert job.error["type"] == "InvalidResult"
    assert any(word in job.error["message"] for word in words.split("|")), job.error


async def test_snooze_comes_back_uncounted_after_a_while_or_at_a_moment(cell: Cell, shop: Shop) -> None:
    app = Leasehold()
    seen: list[int] = []

    @app.handler("t.snooze")
    async def snooze(ctx: Context, order: dict[str, str]) -> str:
        seen.append(ctx.attempt)
        if len(seen) == 1:
            raise Snooze(until=datetime.now(UTC) + timedelta(milliseconds=50))
        if len(seen) == 2:
            raise Snooze(after=0.05)
        return "awake"

    async with running(cell, app):
        job = await shop.run("t.snooze")
    assert (job.result, seen) == ("awake", [1, 1, 1])
    assert await shop.history(job.job_id) == [(1, "snoozed"), (1, "snoozed"), (1, "succeeded")]


@pytest.mark.parametrize("arguments", [{}, {"after": 1, "until": datetime.now(UTC)}, {"until": datetime(2026, 1, 1)}])  # noqa: DTZ001
def test_a_snooze_without_one_clear_moment_is_refused(arguments: dict[str, Any]) -> None:
    with pytest.raises(BadInput):
        Snooze(**arguments)


async def test_the_context_knows_its_attempt(cell: Cell, shop: Shop) -> None:
    app = Leasehold()
    seen: list[Any] = []

    @app.handler("t.look", queue="money", attempts=7, timeout=60)
    async def look(ctx: Context) -> None:
        seen.extend([ctx.job_id, ctx.tenant, ctx.kind, ctx.queue, ctx.attempt, ctx.max_attempts, ctx.timeout_s])
        seen.extend([ctx.cancelled, ctx.timed_out, ctx.resources["bank"]])

    @app.lifespan
    async def bank() -> AsyncIterator[dict[str, Any]]:
        yield {"bank": "open"}

    async with running(cell, app):
        job = await shop.run("t.look")
    assert seen == [job.job_id, cell.tenant_a, "t.look", "money", 1, 7, 60.0, False, False, "open"]


async def test_a_sync_handler_runs_in_a_thread_and_has_everything_an_async_one_has(cell: Cell, shop: Shop) -> None:
    app = Leasehold()
    seen: list[Any] = []

    @app.handler("t.sync")
    def work(ctx: SyncContext, order: Order) -> Receipt:
        seen.extend([threading.current_thread() is threading.main_thread(), ctx.attempt, ctx.tenant, ctx.cancelled])
        ctx.progress(40, "asked the bank")
        ctx.log.info("the bank says yes", order=order.number)
        assert ctx.extend(1000) > datetime.now(UTC) + timedelta(seconds=900)
        assert ctx.wait_cancelled(0.01) is False
        return Receipt(number=order.number, at=datetime(2026, 1, 2, tzinfo=UTC))

    async with running(cell, app):
        job = await shop.run("t.sync", {"number": 7})
    assert (job.state, job.result["number"]) == (State.SUCCEEDED, 7)
    assert seen == [False, 1, cell.tenant_a, False]
    assert [(e.progress, e.message) for e in await shop.events(job.job_id, "progress")] == [(40, "asked the bank")]
    [line] = await shop.events(job.job_id, "log")
    assert (line.message, line.data) == ("the bank says yes", {"level": "info", "order": 7})


async def test_a_sync_handler_logs_on_each_level(cell: Cell, shop: Shop) -> None:
    app = Leasehold()

    @app.handler("t.sync_log")
    def log(ctx: SyncContext) -> None:
        ctx.log.info("one", n=1)
        ctx.log.warning("two", n=2)
        ctx.log.error("three", n=3)

    async with running(cell, app):
        job = await shop.run("t.sync_log")
    lines = [(event.message, event.data) for event in await shop.events(job.job_id, "log")]
    assert lines == [
        ("one", {"level": "info", "n": 1}),
        ("two", {"level": "warning", "n": 2}),
        ("three", {"level": "error", "n": 3}),
    ]


async def test_sync_handlers_run_side_by_side_and_see_context_variables(cell: Cell, shop: Shop) -> None:
    app = Leasehold()
    together = threading.Barrier(3)
    variable = contextvars.ContextVar("variable", default="unset")
    seen: list[str] = []

    @app.handler("t.meet")
    def meet(ctx: SyncContext) -> None:
        seen.append(variable.get())
        together.wait(10)

    variable.set("set around the worker")
    async with running(cell, app):
        for job_id in await shop.enqueue_many("t.meet", [None] * 3):
            assert (await shop.ended(job_id)).state is State.SUCCEEDED
    assert seen == ["set around the worker"] * 3


async def test_log_lines_are_bounded_and_fields_may_be_anything(
    cell: Cell, shop: Shop, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(context, "LOG_LINES", 3)
    app = Leasehold()

    @app.handler("t.chatty")
    async def chatty(ctx: Context) -> None:
        await ctx.log.warning("strange \0", value=object, when=datetime(2026, 1, 2, tzinfo=UTC))
        await ctx.log.error("big", value="x" * 100_000)
        for number in range(5):
            await ctx.log.info(f"line {number}")

    async with running(cell, app):
        job = await shop.run("t.chatty")
    assert job.state is State.SUCCEEDED
    lines = [(e.message, (e.data or {})["level"]) for e in await shop.events(job.job_id, "log")]
    assert lines == [
        ("strange \ufffd", "warning"),
        ("big", "error"),
        ("line 0", "info"),
        ("more than 3 log lines, or 1 MiB of them: the others are not stored", "warning"),
    ]


async def test_long_log_lines_are_bounded_by_what_they_hold_together(
    cell: Cell, shop: Shop, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(context, "LOG_SIZE", 10_000)
    app = Leasehold()

    @app.handler("t.lengthy")
    async def lengthy(ctx: Context) -> None:
        for _ in range(9):
            await ctx.log.info("x" * 4000)

    async with running(cell, app):
        job = await shop.run("t.lengthy")
    messages = [e.message or "" for e in await shop.events(job.job_id, "log")]
    assert [len(one) for one in messages[:-1]] == [4000, 4000]
    assert "not stored" in messages[-1]


async def test_progress_of_an_attempt_whose_lease_is_gone_ends_it_without_a_trace(cell: Cell, shop: Shop) -> None:
    app = Leasehold()
    leave = asyncio.Event()

    @app.handler("t.stolen")
    async def stolen(ctx: Context) -> None:
        await ctx.progress(1)
        await leave.wait()
        await ctx.progress(2)

    async with running(cell, app):
        job_id = await shop.enqueue("t.stolen", max_attempts=1)
        await _has_said_something(shop, job_id)
        await cell.change(
            "select leasehold.finish(array(select token from leasehold.lease), '{lost}', null, null, null)"
        )
        leave.set()
        assert (await shop.ended(job_id)).state is State.DEAD
    assert await shop.history(job_id) == [(1, "lost")]
    assert [e.progress for e in await shop.events(job_id, "progress")] == [1]


async def _has_said_something(shop: Shop, job_id: Any) -> None:
    async def ask() -> bool:
        return bool(await shop.events(job_id, "progress"))

    await eventually(ask, what="progress")


def test_short_names_of_options_become_those_of_sql() -> None:
    async def function(ctx: Context) -> None: ...

    given = {"queue": "money", "priority": 1, "attempts": 5, "timeout": 60, "retry": (2, 1024), "soft_timeout": 20}
    handler = Handler.of("t.x", function, given)
    assert handler.job_options == {
        "queue": "money",
        "priority": 1,
        "max_attempts": 5,
        "timeout_s": 60,
        "retry_base_s": 2,
        "retry_cap_s": 1024,
    }
    assert (handler.soft_timeout, handler.options, handler.blocking) == (20, given, False)


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"retries": 3}, "there is no option 'retries'"),
        ({"attempts": 3, "max_attempts": 3}, "the same option"),
        ({"memory_mb": 100}, "memory_mb"),
        ({"isolate": True}, "process of its own"),  # this function is local: no process can import it
    ],
)
def test_options_that_cannot_be_are_refused_where_they_are_written(options: dict[str, Any], words: str) -> None:
    async def function(ctx: Context) -> None: ...

    with pytest.raises(BadInput, match=words):
        Leasehold().handler("t.x", **options)(function)


def test_the_options_of_an_included_app_stay(cell: Cell) -> None:
    inner, outer = Leasehold(), Leasehold()

    @inner.handler("t.x", attempts=3, timeout=5, soft_timeout=2)
    async def function(ctx: Context) -> None: ...

    outer.include(inner)
    assert outer.handlers["t.x"].job_options == {"max_attempts": 3, "timeout_s": 5}
    assert outer.handlers["t.x"].soft_timeout == 2


def test_a_function_that_is_no_handler_is_refused() -> None:
    async def generator(ctx: Context) -> Any:
        yield 1

    for function in (lambda: None, lambda a, b, c: None, generator):
        with pytest.raises(BadInput, match="handler"):
            Leasehold().handler("t.x")(function)  # type: ignore[arg-type]

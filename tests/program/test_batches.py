"""Batches: many jobs at once, and each an attempt of its own."""

import asyncio
from dataclasses import dataclass
from typing import Any

import pytest

from leasehold import Fail, Item, Leasehold, Retry, State
from leasehold.errors import BadInput
from leasehold.program.batches import join_batches
from leasehold.testing import Kit


@dataclass(frozen=True)
class Mail:
    to: str


def app_that(function: Any, **options: Any) -> tuple[Leasehold, Any]:
    app = Leasehold()
    return app, app.batch("mail.send", **options)(function)


async def test_jobs_are_taken_together_and_each_has_its_own_result(leasehold: Kit) -> None:
    sizes = []

    async def send(batch: list[Item[Mail]]) -> list[str]:
        sizes.append(len(batch))
        return [f"{item.ctx.attempt} {item.payload.to}" for item in batch]

    app, send_mail = app_that(send, size=4, wait=30.0)
    leasehold.use(app)
    await send_mail.enqueue_many([Mail(str(n)) for n in range(8)])
    ran = await leasehold.run_until_idle(app)
    assert sizes == [4, 4]
    assert sorted(job.result for job in ran) == [f"1 {n}" for n in range(8)]


async def test_those_that_came_in_time_do_not_wait_for_a_full_batch(leasehold: Kit) -> None:
    seen: list[Mail] = []

    async def send(batch: list[Item[Mail]]) -> None:
        seen.extend(item.payload for item in batch)

    app, send_mail = app_that(send, size=1000, wait=0.01)
    leasehold.use(app)
    await send_mail.enqueue_many([Mail("a"), Mail("b")])
    assert [(job.state, job.result) for job in await leasehold.run_until_idle(app)] == [(State.SUCCEEDED, None)] * 2
    assert sorted(mail.to for mail in seen) == ["a", "b"]


async def test_one_may_fail_while_its_fellows_succeed(leasehold: Kit) -> None:
    async def send(batch: list[Item[Mail]]) -> list[Any]:
        answers = {"a": "sent", "b": Fail("no such address"), "c": Retry("busy", after=3600), "d": ValueError("odd")}
        return [answers[item.payload.to] for item in batch]

    app, send_mail = app_that(send, size=4, wait=30.0, attempts=1)
    leasehold.use(app)
    await send_mail.enqueue_many([Mail(to) for to in "abcd"])
    await leasehold.run_until_idle(app)
    states = {job.payload["to"]: job.state for job in await leasehold.enqueued()}
    assert states == {"a": State.SUCCEEDED, "b": State.FAILED, "c": State.DEAD, "d": State.DEAD}


@pytest.mark.parametrize("given", [ValueError("the relay is down"), ["one result for two"]], ids=["raises", "too few"])
async def test_what_goes_wrong_with_the_batch_goes_wrong_with_each(leasehold: Kit, given: Any) -> None:
    async def send(batch: list[Item[Mail]]) -> list[Any]:
        if isinstance(given, Exception):
            raise given
        return list(given)

    app, send_mail = app_that(send, size=2, wait=30.0, attempts=1)
    leasehold.use(app)
    await send_mail.enqueue_many([Mail("a"), Mail("b")])
    errors = [job.error for job in await leasehold.run_until_idle(app)]
    words = str(given) if isinstance(given, Exception) else "the handler gave 1 results for a batch of 2"
    assert [error and error["message"] for error in errors] == [words] * 2


async def test_a_payload_that_does_not_fit_never_comes_to_the_batch(leasehold: Kit) -> None:
    async def send(batch: list[Item[Mail]]) -> None:
        assert all(isinstance(item.payload, Mail) for item in batch)

    app, _ = app_that(send, wait=0.01)
    leasehold.use(app)
    await leasehold.job(kind="mail.send", payload={"to": 7})
    await leasehold.job(kind="mail.send", payload={"to": "a"})
    states = sorted(job.state for job in await leasehold.run_until_idle(app))
    assert states == [State.FAILED, State.SUCCEEDED]


async def test_one_that_is_interrupted_leaves_the_others_and_the_last_ends_the_work() -> None:
    began, ended = asyncio.Event(), asyncio.Event()

    async def send(batch: list[Item[int]]) -> list[int]:
        began.set()
        try:
            await asyncio.Event().wait()
        finally:
            ended.set()
        return []

    join = join_batches("mail.send", send, size=2, wait=30.0)
    tasks = [asyncio.ensure_future(join(None, n)) for n in range(2)]
    await began.wait()
    tasks[0].cancel()
    await asyncio.wait([tasks[0]])
    assert not ended.is_set()
    tasks[1].cancel()
    await ended.wait()


async def test_one_that_is_interrupted_while_it_waits_is_not_in_the_batch() -> None:
    async def send(batch: list[Item[int]]) -> list[int]:
        return [item.payload for item in batch]

    join = join_batches("mail.send", send, size=3, wait=30.0)
    first = asyncio.ensure_future(join(None, 1))
    await asyncio.sleep(0)
    first.cancel()
    await asyncio.wait([first])
    assert list(await asyncio.gather(join(None, 2), join(None, 3))) == [2, 3]


def test_what_cannot_be_a_batch_is_refused() -> None:
    app = Leasehold()

    async def send(batch: list[Item[Mail]]) -> None: ...

    async def two(ctx: Any, batch: list[Item[Mail]]) -> None: ...

    with pytest.raises(BadInput, match="async function"):
        app.batch("mail.send")(lambda batch: None)  # type: ignore[arg-type, return-value]
    with pytest.raises(BadInput, match="one list of items"):
        app.batch("mail.send")(two)  # type: ignore[arg-type]
    with pytest.raises(BadInput, match="at least 1"):
        app.batch("mail.send", size=0)(send)
    with pytest.raises(BadInput, match="process of its own"):
        app.batch("mail.send", isolate=True)(send)

"""The first step of an attempt runs at once, and nobody can tell it from a task of its own."""

import asyncio
import sys
from collections.abc import AsyncIterator, Awaitable
from contextvars import ContextVar

import pytest

from leasehold.worker.first_step import BuiltIn, StandIn, Starter, starter

user: ContextVar[str] = ContextVar("user", default="nobody")


@pytest.fixture
async def ready() -> AsyncIterator[Starter]:
    """A starter whose task stands by."""
    made = starter(asyncio.get_running_loop())
    await asyncio.sleep(0)
    yield made
    made.close()


def nothing() -> None:
    pass


async def test_work_that_never_waits_has_ended_when_it_was_started(ready: Starter) -> None:
    seen = []

    async def work() -> None:
        seen.append(asyncio.current_task())

    mine = asyncio.current_task()
    assert ready.start(work(), nothing) is None
    assert len(seen) == 1
    assert seen[0] not in (None, mine)
    assert asyncio.current_task() is mine


async def test_work_that_waits_goes_on_in_the_task_that_began_it(ready: Starter) -> None:
    door = asyncio.Event()
    seen = []

    async def work() -> None:
        user.set("anna")
        seen.append((asyncio.current_task(), user.get()))
        await door.wait()
        seen.append((asyncio.current_task(), user.get()))

    task = ready.start(work(), nothing)
    assert task is not None
    door.set()
    await task
    assert seen == [(task, "anna"), (task, "anna")]


async def test_what_one_sets_in_its_context_the_next_does_not_see(ready: Starter) -> None:
    seen = []

    async def work() -> None:
        seen.append(user.get())
        user.set("anna")

    for _ in range(3):
        ready.start(work(), nothing)
        await asyncio.sleep(0)
    await asyncio.sleep(0)
    assert seen == ["nobody"] * 3
    assert user.get() == "nobody"


async def test_what_begin_sets_is_there_for_the_whole_of_the_work(ready: Starter) -> None:
    seen = []

    async def work() -> None:
        seen.append(user.get())
        await asyncio.sleep(0)
        seen.append(user.get())

    for name in ("anna", "bert"):
        task = ready.start(work(), lambda name=name: (user.set(name), None)[1])  # type: ignore[misc]
        assert task
        await task
        await asyncio.sleep(0)
    assert seen == ["anna", "anna", "bert", "bert"]


async def test_a_cancel_right_after_the_first_step_reaches_what_it_waits_for(ready: Starter) -> None:
    inner_ended: list[str] = []

    async def inner() -> None:
        try:
            await asyncio.Event().wait()
        finally:
            inner_ended.append("ended")

    async def work() -> None:
        await asyncio.create_task(inner())

    task = ready.start(work(), nothing)
    assert task
    await asyncio.sleep(0)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert inner_ended == ["ended"]


async def test_a_timeout_that_begins_in_the_first_step_ends_this_work_alone(ready: Starter) -> None:
    async def work(seconds: float) -> None:
        with pytest.raises(TimeoutError):
            async with asyncio.timeout(seconds):
                await asyncio.Event().wait()

    for seconds in (0, 0.001):
        task = ready.start(work(seconds), nothing)
        assert task
        await task
        assert not task.cancelled()
        await asyncio.sleep(0)


async def test_work_that_cancels_itself_in_its_first_step_is_cancelled(ready: Starter) -> None:
    async def work() -> None:
        task = asyncio.current_task()
        assert task
        task.cancel()
        await asyncio.sleep(10)

    task = ready.start(work(), nothing)
    assert task
    with pytest.raises(asyncio.CancelledError):
        await task
    await asyncio.sleep(0)
    seen = []

    async def next_work() -> None:
        seen.append("next")

    following = ready.start(next_work(), nothing)
    if following:
        await following
    assert seen == ["next"]


async def test_a_task_group_in_the_first_step_gathers_its_children(ready: Starter) -> None:
    seen: list[int] = []

    async def child(number: int) -> None:
        await asyncio.sleep(0)
        seen.append(number)

    async def work() -> None:
        async with asyncio.TaskGroup() as group:
            for number in range(3):
                group.create_task(child(number))

    task = ready.start(work(), nothing)
    assert task
    await task
    assert seen == [0, 1, 2]


async def test_many_at_once_each_end_once(ready: Starter) -> None:
    ended: list[int] = []

    async def work(number: int) -> None:
        if number % 3 == 0:
            await asyncio.sleep(0.001 * (number % 5))
        ended.append(number)

    tasks: list[Awaitable[None] | None] = []
    for number in range(300):
        tasks.append(ready.start(work(number), nothing))
        if number % 7 == 0:
            await asyncio.sleep(0)
    await asyncio.gather(*[task for task in tasks if task])
    assert sorted(ended) == list(range(300))


async def test_python_decides_who_starts() -> None:
    made = starter(asyncio.get_running_loop())
    assert isinstance(made, BuiltIn if sys.version_info >= (3, 12) else StandIn)
    made.close()

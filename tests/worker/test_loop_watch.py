"""A handler that blocks the event loop is named while it does. Each one here blocks until its line was written."""

import asyncio
import logging
import threading
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import pytest

from leasehold.job import State
from leasehold.program.app import Leasehold
from leasehold.program.batches import Item
from leasehold.program.context import Context
from tests.cell import Cell
from tests.waiting import PATIENCE_SECONDS, eventually
from tests.worker.running import FAST, Shop, running

WATCHFUL = replace(FAST, overrun_seconds=0.05, grace_seconds=0.1)  # the watchdog looks as often as the first
LINE = "handler blocks the event loop"


class Named(logging.Handler):
    """Lets go who waits for the line."""

    def __init__(self) -> None:
        super().__init__()
        self.lines: list[dict[str, Any]] = []
        self._said = threading.Event()

    def emit(self, record: logging.LogRecord) -> None:
        if record.getMessage() == LINE:
            self.lines.append(record.fields)  # type: ignore[attr-defined]
            self._said.set()

    def block(self) -> None:
        assert self._said.wait(PATIENCE_SECONDS), "nobody said that the loop is blocked"
        self._said.clear()


@pytest.fixture
def named() -> Iterator[Named]:
    logger, lines = logging.getLogger("leasehold"), Named()
    logger.addHandler(lines)
    yield lines
    logger.removeHandler(lines)


@pytest.mark.parametrize("kind", ["t.first", "t.later"])
async def test_a_handler_that_blocks_the_event_loop_is_named_while_it_does(
    cell: Cell, shop: Shop, named: Named, kind: str
) -> None:
    app = Leasehold()

    @app.handler("t.first")
    async def first(ctx: Context) -> None:
        named.block()

    @app.handler("t.later")
    async def later(ctx: Context) -> None:
        await asyncio.sleep(0)
        named.block()

    @app.handler("t.innocent")
    async def innocent(ctx: Context) -> None:
        await ctx.progress(1)
        await asyncio.sleep(3600)

    async with running(cell, app, WATCHFUL):
        beside = await shop.enqueue("t.innocent")
        await eventually(lambda: shop.events(beside, "progress"), what="a word of the innocent")
        job = await shop.run(kind)
    assert job.state is State.SUCCEEDED
    [line] = named.lines
    assert (line["kind"], line["job_id"], line["others"]) == (kind, job.job_id, 1)
    assert line["at"].startswith(f"{__file__}:")
    assert line["at"].endswith("in block")
    assert "asyncio.to_thread" in line["hint"]


async def test_what_a_handler_starts_beside_itself_is_named_too(cell: Cell, shop: Shop, named: Named) -> None:
    app = Leasehold()

    async def child() -> None:
        named.block()

    @app.handler("t.parent")
    async def parent(ctx: Context) -> None:
        await asyncio.gather(child())

    @app.batch("t.batch", size=1)
    async def batch(items: list[Item[Any]]) -> None:
        named.block()

    async with running(cell, app, WATCHFUL):
        for kind in ("t.parent", "t.batch"):
            job = await shop.run(kind)
            line = named.lines.pop()
            assert (line["kind"], line["job_id"], line["others"]) == (kind, job.job_id, 0)


async def test_a_handler_in_a_thread_blocks_nobody(cell: Cell, shop: Shop, named: Named) -> None:
    app = Leasehold()
    go_on = threading.Event()

    @app.handler("t.thread")
    def in_thread(ctx: Any) -> None:
        assert go_on.wait(PATIENCE_SECONDS)

    @app.handler("t.block")
    async def block(ctx: Context) -> None:
        named.block()

    async with running(cell, app, WATCHFUL):
        quiet = await shop.enqueue("t.thread")
        await shop.run("t.block")
        go_on.set()
        await shop.ended(quiet)
    assert [line["kind"] for line in named.lines] == ["t.block"]

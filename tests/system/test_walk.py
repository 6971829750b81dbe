"""The files on the way of one job, one webhook, one schedule and one audit.

Each list of ways.toml only shrinks: a file with more than a few calls has to stand in it, one
without any leaves it. docs/walk-a-job.md tells the first in words.
"""

import asyncio
import tomllib
from collections import Counter
from collections.abc import Iterable
from contextlib import AsyncExitStack
from dataclasses import replace
from pathlib import Path

import httpx

from leasehold import Context, Leasehold
from leasehold.http.server import serving
from leasehold.program.client import Client
from tests.cell import Cell
from tests.features.schedules.steps import made
from tests.features.webhooks.hooks import hooks_to, receiving, working
from tests.fetch.world import Site
from tests.http.conftest import Keys, bearer, settings_of
from tests.http.test_streams import messages
from tests.packs.audits.test_runs import Opened, document
from tests.system.walking import FEW, calls_by_file
from tests.waiting import eventually
from tests.worker.running import SLOW_POLL, Shop, running

ROOT = Path(__file__).parents[2]
WAYS = tomllib.loads((Path(__file__).parent / "ways.toml").read_text())


def app_for() -> Leasehold:
    app = Leasehold()

    @app.handler("t.work")
    async def work(ctx: Context) -> int:
        await ctx.progress(50, "half")
        return 1

    @app.handler("t.emit")
    async def emit(ctx: Context) -> None:
        await ctx.emit("order.paid", "order", "17", {"cents": 500})

    return app


async def test_the_way_of_a_job_from_its_post_to_the_end_of_its_stream(cell: Cell, key: Keys) -> None:
    live = {"Accept": "text/event-stream"}
    app, is_read = app_for(), asyncio.Event()

    @app.handler("t.read")
    async def read(ctx: Context) -> int:
        await is_read.wait()
        await ctx.progress(50, "half")
        return 1

    async with AsyncExitStack() as stack:
        url = await stack.enter_async_context(serving(settings_of(cell, port=0)))
        await stack.enter_async_context(running(cell, app, SLOW_POLL))
        client = httpx.AsyncClient(base_url=url, headers=bearer(key.a), timeout=20)
        await stack.enter_async_context(client)
        with calls_by_file() as calls:
            job = (await client.post("/v1/jobs", json={"kind": "t.read"})).json()
            path = f"/v1/jobs/{job['job_id']}/events"
            async with client.stream("GET", path, headers=live) as response:
                is_read.set()
                found = [message.event async for message in messages(response)]
    assert (found[0], found[-1]) == ("state", "end")
    check("job", calls, [*WAYS["meanwhile"], *WAYS["every_request"]])


async def test_the_way_of_a_webhook_from_a_handler_to_its_receiver(cell: Cell, shop: Shop) -> None:
    async with receiving() as receiver, hooks_to(cell, receiver) as hooks:
        await hooks.add(receiver, "order.*")
        settings = replace(hooks.settings, poll_seconds=60.0)
        async with working(cell, settings, app_for()):
            with calls_by_file() as calls:
                await shop.enqueue("t.emit")
                [delivery] = await hooks.settled()
    assert delivery.state == "delivered"
    check("webhook", calls, WAYS["meanwhile"])


async def test_the_way_of_a_tick_from_its_schedule_to_its_job(cell: Cell, client: Client, shop: Shop) -> None:
    await client.schedules.put("hourly", "t.work", cron="@hourly")
    async with running(cell, app_for()):
        with calls_by_file() as calls:
            await cell.pass_time(3600)
            [job] = await eventually(lambda: made(client, "hourly"), what="the job of the tick")
            await shop.ended(job.job_id)
    check("schedule", calls, WAYS["meanwhile"])


async def test_the_way_of_an_audit_from_its_request_to_its_end(auditing: Opened) -> None:
    site = Site({"/": document("Start", "/a"), "/a": document("A")})
    async with auditing(site) as auditor:
        with calls_by_file() as calls:
            run = await auditor.run()
    assert run.state == "succeeded", run
    check("audit", calls, WAYS["meanwhile"])


def check(what: str, calls: Counter[str], besides: Iterable[str]) -> None:
    """The files with more than a few calls are those that are listed, and each of those is called."""
    listed = set(WAYS[what])
    print(f"\n{what}: {len(listed)} files of Python")
    print(*(f"{n:6} {file}" for file, n in calls.most_common()), sep="\n")
    added = {file for file, n in calls.items() if n > FEW} - listed - set(besides)
    assert not added, f"more files than before are on the way: {sorted(added)}"
    gone = listed - calls.keys()
    assert not gone, f"no longer on the way, remove them from ways.toml: {sorted(gone)}"


def test_the_page_names_each_file_on_the_way_of_a_job() -> None:
    page = (ROOT / "docs" / "walk-a-job.md").read_text()
    frame = {file for file in WAYS["job"] if f"](../{file}" not in page}
    assert frame == set(), "docs/walk-a-job.md does not link these"

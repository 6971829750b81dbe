"""``ctx.fetch``: for every handler, through one fetcher of the worker."""

import json
from dataclasses import replace
from uuid import UUID

import pytest

from leasehold import Context, Leasehold
from leasehold.job import Job
from leasehold.program.context import SyncContext
from leasehold.settings import Settings
from tests.cell import Cell
from tests.fetch.world import Site, page, serving
from tests.worker.running import FAST, Shop, running


def allowing(port: int, **more: object) -> Settings:
    return replace(FAST, fetch_allow=f"127.0.0.1:{port},localhost:{port}", **more)  # type: ignore[arg-type]


def app_with(settings: Settings) -> Leasehold:
    app = Leasehold(settings)

    @app.handler("t.get", retry_base_s=0.01, attempts=3)
    async def get(ctx: Context, url: str) -> str:
        return (await ctx.fetch(url)).text

    @app.handler("t.get_sync")
    def get_sync(ctx: SyncContext, url: str) -> int:
        return ctx.fetch(url, method="POST", body=b"hello").status

    return app


async def run(cell: Cell, shop: Shop, kind: str, url: str, settings: Settings) -> Job:
    async with running(cell, app_with(settings), settings):
        return await shop.run(kind, url)


async def test_a_handler_fetches(cell: Cell, shop: Shop) -> None:
    site = Site({"/": page(b"hello")})
    async with serving(site) as port:
        job = await run(cell, shop, "t.get", f"http://127.0.0.1:{port}/", allowing(port))
    assert job.result == "hello"


async def test_a_sync_handler_fetches(cell: Cell, shop: Shop) -> None:
    site = Site({"/": page(b"hello")})
    async with serving(site) as port:
        job = await run(cell, shop, "t.get_sync", f"http://127.0.0.1:{port}/", allowing(port))
    assert job.result == 200
    assert site.asked[0].endswith(b"hello")


apart = Leasehold()


@apart.handler("t.get_apart", isolate=True, attempts=1)
async def get_apart(ctx: Context, url: str) -> str:
    return (await ctx.fetch(url)).text


async def test_a_process_of_its_own_fetches_by_the_same_settings(
    cell: Cell, shop: Shop, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with serving(Site({"/": page(b"hello")})) as port:
        url = f"http://127.0.0.1:{port}/"
        async with running(cell, apart, FAST):
            refused = await shop.run("t.get_apart", url)
        monkeypatch.setenv("LEASEHOLD_FETCH_ALLOW", f"127.0.0.1:{port}")
        async with running(cell, apart, FAST):
            job = await shop.run("t.get_apart", url)
    assert (refused.state, job.result) == ("failed", "hello")


async def test_all_attempts_share_the_connections_of_one_fetcher_and_it_is_closed_at_the_end(
    cell: Cell, shop: Shop
) -> None:
    connections: list[int] = []
    site = Site({"/": page(b"hello")})

    async def counting(reader, writer):  # type: ignore[no-untyped-def]
        connections.append(1)
        await site(reader, writer)
        connections.append(-1)

    async with serving(counting) as port:
        settings = allowing(port)
        app = app_with(settings)
        async with running(cell, app, settings):
            fetcher = app.fetcher
            for _ in range(3):
                assert (await shop.run("t.get", f"http://127.0.0.1:{port}/")).result == "hello"
            assert app.fetcher is fetcher
        assert connections[0] == 1
        assert connections.count(1) == 1
        assert app._fetcher is None


async def test_what_is_refused_is_not_tried_again_and_its_address_is_not_told(cell: Cell, shop: Shop) -> None:
    job = await run(cell, shop, "t.get", "http://127.0.0.1/", FAST)
    assert job.state == "failed"
    [(_, outcome)] = await shop.history(job.job_id)
    assert outcome == "failed"
    error = await shop.error(job.job_id)
    assert (error["type"], error["message"]) == ("FetchRefused", "127.0.0.1 is refused: it is not a public host")
    assert "loopback" not in json.dumps(error)


async def test_a_name_does_not_tell_where_it_leads(cell: Cell, shop: Shop) -> None:
    """What a tenant may know of a name is that it is refused, or that nobody answers there."""
    async with serving(Site()) as port:
        closed = port
    refused = await run(cell, shop, "t.get", "http://localhost/", FAST)
    silent = await run(cell, shop, "t.get", f"http://localhost:{closed}/", allowing(closed))
    assert (refused.state, silent.state) == ("failed", "dead")
    for job_id in (refused.job_id, silent.job_id):
        for told in await everything_about(cell, job_id):
            assert "127.0.0.1" not in told
            assert "::1" not in told


async def test_what_may_pass_is_tried_again(cell: Cell, shop: Shop) -> None:
    async with serving(Site()) as port:
        closed = port
    job = await run(cell, shop, "t.get", f"http://127.0.0.1:{closed}/", allowing(closed))
    assert (job.state, await shop.history(job.job_id)) == ("dead", [(n, "errored") for n in (1, 2, 3)])


async def everything_about(cell: Cell, job_id: UUID) -> list[str]:
    tables = ("attempt", "outcome", "event")
    return [
        json.dumps(row)
        for table in tables
        for row in await cell.look(f"select * from leasehold.{table} where job_id = '{job_id}'")
    ]

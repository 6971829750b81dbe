"""``ctx.bodies``: bytes by their digest, once for each tenant, for a while; in PostgreSQL or in an object store."""

import random
from dataclasses import replace
from hashlib import sha256
from typing import Any

import pytest

from leasehold import Context, Leasehold
from leasehold.database.database import Database
from leasehold.engine import jobs, maintenance
from leasehold.errors import (
    BadInput,
    BadSetting,
    Conflict,
    FetchError,
    FetchTooLarge,
    FetchUnreachable,
    NotFound,
    TooLarge,
)
from leasehold.features.blobs import store as bodies
from leasehold.features.blobs.object_store import ObjectStore
from leasehold.features.blobs.store import MAX_PACKED, Bodies
from leasehold.program.context import SyncContext
from leasehold.settings import Settings
from tests.cell import Cell
from tests.features.blobs.bucket import SECRET, Bucket, bucket
from tests.fetch.world import Site, page, serving
from tests.program.test_fetch import allowing
from tests.worker.running import FAST, Shop, running

TEXT = b"the same line again and again\n" * 1000


def of_a(cell: Cell, db: Database, objects: ObjectStore | None = None) -> Bodies:
    return Bodies(db, cell.tenant_a, days=30, objects=objects)


async def rows(cell: Cell) -> list[dict[str, Any]]:
    return await cell.look("select tenant_id, length(bytes) as length, named, coding from leasehold.body")


async def test_what_is_put_is_got_by_its_digest_and_takes_less_room(cell: Cell, worker_db: Database) -> None:
    kept = await of_a(cell, worker_db).put(TEXT, "text/plain")
    assert (kept.sha256, kept.size, kept.media_type) == (sha256(TEXT).hexdigest(), len(TEXT), "text/plain")
    assert await of_a(cell, worker_db).get(kept.sha256) == TEXT
    assert await of_a(cell, worker_db).look(kept.sha256) == kept
    [row] = await rows(cell)
    assert row["length"] < len(TEXT) / 50


@pytest.mark.parametrize("data", [b"", b"x", random.Random(7).randbytes(300_000)])
async def test_any_bytes_come_back_as_they_were(cell: Cell, worker_db: Database, data: bytes) -> None:
    kept = await of_a(cell, worker_db).put(data)
    assert await of_a(cell, worker_db).get(kept.sha256) == data


async def test_the_same_bytes_are_kept_once_but_never_for_two_tenants(cell: Cell, worker_db: Database) -> None:
    for _ in range(2):
        kept = await of_a(cell, worker_db).put(TEXT)
    assert len(await rows(cell)) == 1
    of_b = Bodies(worker_db, cell.tenant_b, days=30)
    with pytest.raises(NotFound):
        await of_b.get(kept.sha256)
    with pytest.raises(NotFound):
        await of_b.keep(kept.sha256, days=1)
    await of_b.put(TEXT)
    assert len(await rows(cell)) == 2


async def test_a_body_is_written_piece_by_piece(cell: Cell, worker_db: Database) -> None:
    async with of_a(cell, worker_db).writer("text/csv") as out:
        for _ in range(10):
            await out.write(TEXT)
    assert await of_a(cell, worker_db).get(out.body.sha256) == TEXT * 10
    assert out.body.media_type == "text/csv"


async def test_a_writer_that_fails_keeps_nothing(cell: Cell, worker_db: Database) -> None:
    with pytest.raises(RuntimeError, match="no"):
        async with of_a(cell, worker_db).writer() as out:
            await out.write(TEXT)
            raise RuntimeError("no")
    assert await rows(cell) == []


async def test_what_is_too_large_or_no_digest_is_refused(cell: Cell, worker_db: Database) -> None:
    with pytest.raises(TooLarge):
        await of_a(cell, worker_db).put(random.Random(7).randbytes(MAX_PACKED + 1))
    with pytest.raises(BadInput, match="is no digest"):
        await of_a(cell, worker_db).get("../secret")
    assert await rows(cell) == []


async def test_bytes_that_were_changed_are_not_handed_out(cell: Cell, worker_db: Database) -> None:
    kept = await of_a(cell, worker_db).put(TEXT)
    other = await of_a(cell, worker_db).put(TEXT.upper())
    await cell.change(
        "update leasehold.body b set bytes = o.bytes from leasehold.body o"
        f" where b.sha256 = '\\x{kept.sha256}' and o.sha256 = '\\x{other.sha256}'"
    )
    with pytest.raises(Conflict, match="not what was put"):
        await of_a(cell, worker_db).get(kept.sha256)


# -- retention ------------------------------------------------------------------------------------------------------


async def test_a_body_goes_when_its_days_are_over_and_keep_prolongs_them(cell: Cell, worker_db: Database) -> None:
    store = of_a(cell, worker_db)
    brief, longer = await store.put(b"brief", days=2), await store.put(b"longer", days=2)
    await store.keep(longer.sha256, days=10)
    await store.put(b"longer", days=1)  # does not shorten
    await cell.pass_time(3 * 86400)
    await purge(worker_db)
    with pytest.raises(NotFound, match="there is no body"):
        await store.get(brief.sha256)
    assert await store.get(longer.sha256) == b"longer"
    await cell.pass_time(8 * 86400)
    await purge(worker_db)
    assert await rows(cell) == []


async def test_a_body_that_is_also_a_payload_stays_as_long_as_either_needs_it(
    cell: Cell, worker_db: Database, shop: Shop
) -> None:
    """The engine reads payloads in SQL, so it keeps them as they are."""
    value = "x" * 100_000
    text = f'"{value}"'.encode()
    kept = await of_a(cell, worker_db).put(text, days=1)
    job_id = await shop.enqueue("t.none", value)
    assert [(row["length"], row["named"], row["coding"]) for row in await rows(cell)] == [(len(text), True, None)]
    assert await of_a(cell, worker_db).get(kept.sha256) == text
    await cell.pass_time(2 * 86400)
    await purge(worker_db)
    assert (await jobs.get_job(worker_db, cell.tenant_a, job_id)).payload == value
    await of_a(cell, worker_db).keep(kept.sha256, days=200)
    await jobs.cancel(worker_db, cell.tenant_a, job_id)
    await cell.pass_time(120 * 86400)
    await purge(worker_db)
    assert await of_a(cell, worker_db).get(kept.sha256) == text


async def purge(db: Database) -> None:
    await maintenance.purge(db, history_days=90, result_days=7)


# -- from handlers --------------------------------------------------------------------------------------------------


def app_with(settings: Settings) -> Leasehold:
    app = Leasehold(settings)

    @app.handler("t.copy")
    async def copy(ctx: Context, text: str) -> list[str]:
        kept = await ctx.bodies.put(text.encode(), "text/plain")
        return [kept.sha256, (await ctx.bodies.get(kept.sha256)).decode()]

    @app.handler("t.copy_sync")
    def copy_sync(ctx: SyncContext, text: str) -> str:
        return ctx.bodies.get(ctx.bodies.put(text.encode()).sha256).decode()

    @app.handler("t.watch")
    async def watch(ctx: Context, url: str) -> list[Any]:
        page = await ctx.fetch(url, remember=True)
        return [page.not_modified, page.text, page.sha256]

    return app


async def test_handlers_put_and_get(cell: Cell, shop: Shop) -> None:
    async with running(cell, app_with(FAST), FAST):
        assert (await shop.run("t.copy", "hello")).result == [sha256(b"hello").hexdigest(), "hello"]
        assert (await shop.run("t.copy_sync", "hello")).result == "hello"


async def test_what_has_not_changed_is_not_sent_again(cell: Cell, shop: Shop) -> None:
    site = Site({"/": page(b"first", 'ETag: "1"', "Last-Modified: Sun, 15 Nov 2026 08:00:00 GMT")})
    async with serving(site) as port:
        settings, url = allowing(port), f"http://127.0.0.1:{port}/"
        digest = sha256(b"first").hexdigest()
        async with running(cell, app_with(settings), settings):
            assert (await shop.run("t.watch", url)).result == [False, "first", digest]
            assert b"if-none-match" not in site.asked[0].lower()
            site.pages["/"] = page(b"", status="304 Not Modified")
            assert (await shop.run("t.watch", url)).result == [True, "first", digest]
            assert b'if-none-match: "1"' in site.asked[1].lower()
            assert b"if-modified-since: sun, 15 nov 2026" in site.asked[1].lower()
            site.pages["/"] = page(b"second", 'ETag: "2"')
            assert (await shop.run("t.watch", url)).result == [False, "second", sha256(b"second").hexdigest()]


async def test_of_what_a_url_answers_the_newest_stays_and_what_somebody_keeps(
    cell: Cell, worker_db: Database, shop: Shop
) -> None:
    site, store = Site(), of_a(cell, worker_db)
    async with serving(site) as port:
        settings, url = allowing(port, lease_seconds=1e8), f"http://127.0.0.1:{port}/"
        async with running(cell, app_with(settings), settings):
            for n in range(5):
                site.pages["/"] = page(f"version {n}".encode())
                digest = (await shop.run("t.watch", url)).result[2]
                if n == 1:
                    await store.keep(digest, days=400)
            site.pages["/other"] = site.pages["/"]
            await shop.run("t.watch", f"{url}other")
            await cell.pass_time(1800)
            await purge(worker_db)
            assert len(await rows(cell)) == 5, "whoever compares two still has both"
            await cell.pass_time(3600)
            await purge(worker_db)
            kept = sorted([sha256(b"version 1").hexdigest(), digest])
            assert await digests(cell) == kept
            site.pages["/"] = page(b"version 5")
            await shop.run("t.watch", url)
            await cell.pass_time(7200)
            await purge(worker_db)
            assert len(await rows(cell)) == 3, "another URL answered the same, and holds it"
    await cell.pass_time(91 * 86400)
    await worker_db.value("purge_fetch_cache")
    await purge(worker_db)
    assert await digests(cell) == [sha256(b"version 1").hexdigest()], "nobody has asked for 90 days"


async def digests(cell: Cell) -> list[str]:
    found = await cell.look("select encode(sha256, 'hex') as digest from leasehold.body order by 1")
    return [row["digest"] for row in found]


async def test_what_one_tenant_remembers_another_does_not_know(cell: Cell, worker_db: Database, shop: Shop) -> None:
    site = Site({"/": page(b"first", 'ETag: "1"')})
    async with serving(site) as port:
        settings, url = allowing(port), f"http://127.0.0.1:{port}/"
        async with running(cell, app_with(settings), settings):
            await shop.run("t.watch", url)
            [other] = await jobs.enqueue(worker_db, cell.tenant_b, "t.watch", [f'"{url}"'], {})
            await Shop(worker_db, replace(cell, tenant_a=cell.tenant_b)).ended(other.job_id)
    assert len(site.asked) == 2
    assert b"if-none-match" not in site.asked[1].lower()


# -- in an object store ---------------------------------------------------------------------------------------------

LARGE = random.Random(8).randbytes(100_000)


async def test_an_object_store_holds_the_bytes_and_the_database_the_rest(cell: Cell, worker_db: Database) -> None:
    async with bucket() as store, ObjectStore(store.settings(FAST)) as objects:
        kept = await of_a(cell, worker_db, objects).put(LARGE)
        [(target, held)] = store.objects.items()
        assert target.startswith(f"/bodies/here/{cell.tenant_a}/{kept.sha256}/")
        assert len(held) > 90_000
        assert [row["length"] for row in await rows(cell)] == [None]
        assert await of_a(cell, worker_db, objects).get(kept.sha256) == LARGE
        await of_a(cell, worker_db, objects).put(LARGE)
        await of_a(cell, worker_db, objects).put(b"small")
        assert store.asked == ["PUT", "GET"], "what is there is not sent again, and what is small stays"
        with pytest.raises(BadSetting, match="object store"):
            await of_a(cell, worker_db).get(kept.sha256)


async def test_objects_that_no_body_names_are_removed(cell: Cell, worker_db: Database) -> None:
    async with bucket() as store, ObjectStore(store.settings(FAST)) as objects:
        await of_a(cell, worker_db, objects).put(LARGE, days=1)
        await worker_db.call("register_object", "crashed-before-it-was-named")
        store.objects["/bodies/here/crashed-before-it-was-named"] = b"x"
        await cell.pass_time(2 * 86400)
        await purge(worker_db)
        assert await bodies.remove_loose(worker_db, objects) == 1
        assert len(store.objects) == 1, "that of the body was named until now"
        await cell.pass_time(3700)
        assert await bodies.remove_loose(worker_db, objects) == 1
        assert store.objects == {}
    assert await cell.look("select * from leasehold.loose_object") == []


async def test_a_store_in_trouble_or_that_refuses_is_told_apart_and_nothing_is_kept(
    cell: Cell, worker_db: Database
) -> None:
    async with bucket() as store, ObjectStore(store.settings(FAST)) as objects:
        store.status = "503 Slow Down"
        with pytest.raises(FetchUnreachable, match="answered 503"):
            await of_a(cell, worker_db, objects).put(LARGE)
        store.status = None
        async with ObjectStore(replace(store.settings(FAST), objects_secret="wrong")) as wrong:
            with pytest.raises(FetchError, match="answered 403") as refused:
                await of_a(cell, worker_db, wrong).put(LARGE)
        assert SECRET not in str(refused.value)
    assert await rows(cell) == []


async def test_an_object_that_is_missing_and_one_that_is_too_large_are_told_apart_however_little_is_taken() -> None:
    async with bucket() as store, ObjectStore(store.settings(FAST)) as objects:
        await objects.put("here", b"1234")
        assert await objects.get("here", max_bytes=4) == b"1234"
        with pytest.raises(FetchTooLarge):
            await objects.get("here", max_bytes=3)
        with pytest.raises(NotFound):
            await objects.get("nowhere", max_bytes=3)


async def test_a_worker_uses_the_store_that_its_settings_name(cell: Cell, shop: Shop) -> None:
    store: Bucket
    async with bucket() as store:
        settings = store.settings(FAST)
        text = random.Random(9).randbytes(20_000).hex()
        async with running(cell, app_with(settings), settings):
            assert (await shop.run("t.copy", text)).result[1] == text
        assert len(store.objects) == 1

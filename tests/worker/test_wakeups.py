"""Wake-ups make a worker quick; without them it is slower, never wrong."""

import asyncio
import os
import signal

import pytest

from leasehold.database import wakeups
from leasehold.database.database import Database, Role, Target
from leasehold.database.wakeups import Listener, Notifier
from leasehold.engine.enqueue_batcher import EnqueueBatcher
from leasehold.errors import BadInput
from leasehold.job import State
from leasehold.program.app import Leasehold
from leasehold.program.client import Backend, Client
from leasehold.program.context import Context
from leasehold.settings import Settings
from tests.cell import Cell
from tests.waiting import eventually
from tests.worker.proxy import proxied
from tests.worker.running import FAST, SLOW_POLL, Shop, running

LISTENING = "select pid from pg_stat_activity where datname = current_database() and application_name like '%-listen'"


def app() -> Leasehold:
    app = Leasehold()

    @app.handler("t.quick", queue="quick")
    async def quick(ctx: Context) -> None: ...

    return app


async def listens(cell: Cell) -> int:
    """The process id of the backend that a worker listens on."""

    async def ask() -> int:
        rows = await cell.look(LISTENING)
        return int(rows[0]["pid"]) if rows else 0

    return await eventually(ask, what="a listening connection")


async def test_a_notification_wakes_an_idle_worker(cell: Cell, shop: Shop, worker_db: Database) -> None:
    notifier = Notifier(worker_db)
    async with running(cell, app(), SLOW_POLL):
        await listens(cell)
        job_id = await shop.enqueue("t.quick")
        notifier.notify("quick")
        assert (await shop.ended(job_id)).state is State.SUCCEEDED  # the next poll is a minute away
        job_id = await shop.enqueue("t.quick")
        notifier.notify()
        assert (await shop.ended(job_id)).state is State.SUCCEEDED
        await notifier.close()


async def test_notifications_of_one_process_are_coalesced(cell: Cell, worker_db: Database) -> None:
    heard: list[str] = []
    done = asyncio.Event()

    def hear(queue: str) -> None:
        heard.append(queue)
        if queue == "last":
            done.set()

    async with Listener(worker_db.target, hear) as listener:
        await listener.listening.wait()
        heard.clear()
        notifier = Notifier(worker_db)
        for _ in range(1000):
            notifier.notify("default")
        await notifier.close()
        notifier.notify("last")
        await done.wait()
        await notifier.close()
    assert heard == ["default", "last"]


async def test_a_lone_enqueue_tells_with_its_own_commit(
    cell: Cell, api_db: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    heard: asyncio.Queue[str] = asyncio.Queue()
    async with Listener(api_db.target, heard.put_nowait) as listener:
        await listener.listening.wait()
        assert await heard.get() == "", "what was sent before it listened"
        monkeypatch.setattr(api_db, "notify", None)  # it could not tell them after its commit
        await Client(Backend(Settings(), api_db), cell.tenant_a).enqueue("t.work", queue="default")
        assert await heard.get() == "default"


async def test_an_enqueue_beside_another_that_tells_waits_for_nothing_and_tells_afterwards(
    cell: Cell, api_db: Database
) -> None:
    heard: asyncio.Queue[str] = asyncio.Queue()
    backend = Backend(Settings(), api_db)
    async with Listener(api_db.target, heard.put_nowait) as listener, api_db.transaction() as other:
        await listener.listening.wait()
        assert await heard.get() == "", "what was sent before it listened"
        assert await other.fetchval("select leasehold.notify_workers('elsewhere', '')")
        await Client(backend, cell.tenant_a).enqueue("t.work", queue="default")
        assert await heard.get() == "default"
        await backend.send_waiting()


async def test_what_waits_goes_with_the_next_lone_enqueue_or_after_it(
    cell: Cell, api_db: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Jobs that come one by one need no transactions for their wake-ups; one that is refused takes nobody's along."""
    monkeypatch.setattr(wakeups, "_CARRY_SECONDS", 0.2)
    heard: asyncio.Queue[str] = asyncio.Queue()
    notifier = Notifier(api_db)
    group = EnqueueBatcher(api_db, notifier)
    async with Listener(api_db.target, heard.put_nowait) as listener:
        await listener.listening.wait()
        assert await heard.get() == "", "what was sent before it listened"
        notifier.notify("default")
        _, woken = await group.enqueue(cell.tenant_a, "t.work", ["{}"], {"queue": "default"})
        assert (woken, await heard.get()) == (True, "default")
        await notifier.close()
        assert heard.empty(), "the first has nothing to send any more"
        notifier.notify("default")
        await asyncio.sleep(0.01)  # until it is time for another
        with pytest.raises(BadInput):
            await group.enqueue(cell.tenant_a, "no kind", ["{}"], {"queue": "default"})
        await notifier.close()
        assert await heard.get() == "default"


async def test_a_notification_that_cannot_be_sent_is_no_error(cell: Cell) -> None:
    async with proxied(cell.url(Role.WORKER)) as (proxy, url), Database(Target(url=url, role=Role.WORKER)) as db:
        proxy.refuses = True
        proxy.cut()
        notifier = Notifier(db)
        notifier.notify("default")
        await notifier.close()


async def test_work_is_found_by_polling_when_the_listening_connection_is_lost_and_it_comes_back(
    cell: Cell, shop: Shop
) -> None:
    async with running(cell, app(), FAST):
        first = await listens(cell)
        os.kill(first, signal.SIGTERM)  # what pg_terminate_backend does

        async def gone() -> bool:
            return all(row["pid"] != first for row in await cell.look(LISTENING))

        await eventually(gone, what="the end of the listening connection")
        assert (await shop.run("t.quick")).state is State.SUCCEEDED
        assert await listens(cell) != first

"""Wake-ups over a real RabbitMQ; skipped where there is none."""

import asyncio
import socket
import uuid
from collections.abc import Iterator
from dataclasses import replace

import pytest

from leasehold.database.amqp_wakeups import Broker, broker_ready
from leasehold.job import State
from leasehold.postgres.server import free_port
from leasehold.program.app import Leasehold
from leasehold.program.context import Context
from leasehold.settings import Settings
from tests.cell import Cell
from tests.waiting import eventually
from tests.worker.conftest import Lines
from tests.worker.proxy import proxied
from tests.worker.running import FAST, SLOW_POLL, Shop, running

URL = "amqp://guest:guest@127.0.0.1:5672/"


def _has_rabbitmq() -> bool:
    try:
        socket.create_connection(("127.0.0.1", 5672), timeout=1).close()
    except OSError:
        return False
    return True


pytestmark = pytest.mark.skipif(not _has_rabbitmq(), reason="no RabbitMQ on 127.0.0.1:5672")


@pytest.fixture
def exchange() -> Iterator[str]:
    """An exchange of this test's own."""
    name = f"leasehold-test-{uuid.uuid4().hex}"
    yield name
    asyncio.run(_delete(name))


async def _delete(name: str) -> None:
    import aio_pika

    connection = await aio_pika.connect(URL)
    channel = await connection.channel()
    await channel.exchange_delete(name)
    await connection.close()


async def _publish(exchange: str, body: bytes) -> None:
    import aio_pika

    connection = await aio_pika.connect(URL)
    channel = await connection.channel()
    where = await channel.get_exchange(exchange)
    await where.publish(aio_pika.Message(body), "jobs.trigger")
    await connection.close()


def app() -> Leasehold:
    app = Leasehold()

    @app.handler("t.quick")
    async def quick(ctx: Context) -> None: ...

    return app


def with_broker(settings: Settings, exchange: str, url: str = URL) -> Settings:
    return replace(settings, amqp_url=url, amqp_exchange=exchange)


async def test_a_trigger_wakes_an_idle_worker(cell: Cell, shop: Shop, exchange: str) -> None:
    settings = with_broker(SLOW_POLL, exchange)
    async with running(cell, app(), settings), Broker(settings) as broker:
        await broker.connected.wait()
        for _ in range(3):
            job_id = await shop.enqueue("t.quick")

            async def done(job_id: uuid.UUID = job_id) -> bool:
                broker.trigger()  # the worker may not have bound its queue yet
                return (await shop.get(job_id)).state.is_outcome

            await eventually(done, what="the woken worker")  # its next poll is a minute away


async def test_many_triggers_are_few_messages_whose_content_does_not_matter(exchange: str) -> None:
    settings = with_broker(FAST, exchange)
    heard = asyncio.Queue[None]()
    async with Broker(settings, lambda: heard.put_nowait(None)) as listener, Broker(settings) as sender:
        await listener.connected.wait()
        await sender.connected.wait()
        heard.get_nowait()  # the one that it gives itself after connecting
        for _ in range(1000):
            sender.trigger()
        await heard.get()
        assert heard.qsize() <= 2
        await _publish(exchange, b"\xff" * 100_000)
        await heard.get()


async def test_a_worker_without_its_broker_polls_warns_once_and_connects_when_it_is_back(
    cell: Cell, shop: Shop, exchange: str, log_lines: Lines
) -> None:
    async with proxied(URL) as (proxy, url):
        proxy.refuses = True
        settings = with_broker(FAST, exchange, url)
        assert not await broker_ready(settings)
        async with running(cell, app(), settings), Broker(settings) as broker:
            assert (await shop.run("t.quick")).state is State.SUCCEEDED

            async def warned() -> bool:
                return log_lines.count("broker unreachable") == 2  # the worker's and ours

            await eventually(warned, what="a warning of each")
            proxy.refuses = False
            await asyncio.wait_for(broker.connected.wait(), 20)
            assert await broker_ready(settings)
            proxy.cut()
            await eventually(lambda: _is(not broker.connected.is_set()), what="the loss noticed")
            await asyncio.wait_for(broker.connected.wait(), 20)
    assert not any("guest:guest" in str(fields) for _, fields in log_lines.lines)


async def _is(value: bool) -> bool:
    return value


async def test_no_broker_at_all_is_not_ready(exchange: str) -> None:
    assert not await broker_ready(FAST)
    assert not await broker_ready(with_broker(FAST, exchange, f"amqp://127.0.0.1:{free_port()}/"))
    assert await broker_ready(with_broker(FAST, exchange))

"""Wake-ups over RabbitMQ, for those who have it anyway: hints like those of ``wakeups``, never more.

The client publishes after its commit; workers consume from a queue of their own that goes away with them. What is in a
message is never read: anybody may have sent it, and the database knows better. Without a broker, polling finds work.
"""

import asyncio
import importlib
import logging
import random
import time
from collections.abc import Callable
from contextlib import suppress
from types import TracebackType
from typing import Any, Self

from leasehold.database.wakeups import COALESCE_SECONDS
from leasehold.errors import BadSetting
from leasehold.log import emit
from leasehold.settings import Settings

_CONNECT_SECONDS = 10.0


class Broker:
    """Keeps a connection to RabbitMQ and comes back to it for ever. With ``heard`` it listens, ``trigger`` sends."""

    def __init__(self, settings: Settings, heard: Callable[[], None] | None = None) -> None:
        assert settings.amqp_url is not None
        self._url = settings.amqp_url
        self._exchange_name = settings.amqp_exchange
        self._key = settings.amqp_routing_key
        self._heard = heard
        self._pika = _library()
        self._exchange: Any = None
        self._task: asyncio.Task[None] | None = None
        self._sending: asyncio.Task[None] | None = None
        self._again = False
        self._sent_at = 0.0
        self.connected = asyncio.Event()

    async def __aenter__(self) -> Self:
        self._task = asyncio.create_task(self._stay_connected())
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        for task in (self._sending, self._task):
            if task is not None:
                task.cancel()
                with suppress(asyncio.CancelledError):
                    await task

    def trigger(self) -> None:
        """Tell the workers that there may be work. Call it after the commit; it never fails and never waits."""
        self._again = True
        if self._exchange is not None and (self._sending is None or self._sending.done()):
            self._sending = asyncio.create_task(self._send())

    async def _send(self) -> None:
        while self._again and self._exchange is not None:
            await asyncio.sleep(max(0.0, self._sent_at + COALESCE_SECONDS - time.monotonic()))
            self._again, self._sent_at = False, time.monotonic()
            try:
                empty = self._pika.Message(b"")
                await self._exchange.publish(empty, self._key, mandatory=False, timeout=_CONNECT_SECONDS)
            except Exception as problem:  # a hint that is lost is lost
                emit("wake-up not sent", level=logging.WARNING, via="amqp", problem=type(problem).__name__)

    async def _stay_connected(self) -> None:
        warned = False  # once for each outage: a broker that is away for a day is not news every second
        while True:
            try:
                await self._connect_until_lost()
                warned = False
            except Exception as problem:  # the library raises many kinds, and its words may hold the password
                if not warned:
                    emit("broker unreachable", level=logging.WARNING, problem=type(problem).__name__, instead="polling")
                    warned = True
            await asyncio.sleep(random.uniform(0.2, 2.0))

    async def _connect_until_lost(self) -> None:
        lost = asyncio.Event()
        connection = await _connect(self._pika, self._url, _CONNECT_SECONDS)
        try:
            connection.close_callbacks.add(lambda *_: lost.set())
            channel = await connection.channel(publisher_confirms=False)
            exchange = await channel.declare_exchange(self._exchange_name, self._pika.ExchangeType.TOPIC, durable=True)
            if self._heard is not None:
                await self._consume(channel, exchange, self._heard)
            self._exchange = exchange
            self.connected.set()
            await lost.wait()
        finally:
            self._exchange = None
            self.connected.clear()
            with suppress(Exception):
                await connection.close()

    async def _consume(self, channel: Any, exchange: Any, heard: Callable[[], None]) -> None:
        queue = await channel.declare_queue(exclusive=True, auto_delete=True)
        await queue.bind(exchange, self._key)

        async def wake(_message: Any) -> None:
            heard()

        await queue.consume(wake, no_ack=True)
        heard()  # what was sent before we listened is not told again


async def broker_ready(settings: Settings, *, seconds: float = 2.0) -> bool:
    """Whether the broker of the settings can be reached now; for readiness checks that require it."""
    if settings.amqp_url is None:
        return False
    try:
        connection = await _connect(_library(), settings.amqp_url, seconds)
        await connection.close()
    except BadSetting:
        raise
    except Exception:
        return False
    return True


async def _connect(pika: Any, url: str, seconds: float) -> Any:
    """A connection; one that fails is closed here, or the library would do it wherever it is collected."""
    connection = pika.Connection(pika.connection.make_url(url))
    try:
        await connection.connect(timeout=seconds)
    except BaseException:
        await connection.close()
        raise
    return connection


def _library() -> Any:
    try:
        return importlib.import_module("aio_pika")
    except ImportError:
        raise BadSetting(
            "LEASEHOLD_AMQP_URL is set, but aio-pika is not installed", hint="pip install 'leasehold[amqp]'"
        ) from None

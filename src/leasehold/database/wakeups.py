"""Wake-ups: hints that there may be work, or news of jobs, so that nobody need wait for the next poll.

They may be lost, late or doubled. Polling is the truth: every worker does it, and the leader does it for all.
"""

import asyncio
import logging
import time
from collections.abc import Callable, Mapping
from contextlib import suppress
from types import TracebackType
from typing import Any, Self

from leasehold.database.connection import connect
from leasehold.database.database import Database, Target, Wake
from leasehold.database.errors import translated
from leasehold.errors import LeaseholdError
from leasehold.log import emit
from leasehold.outage import Outage

#: At most one notification for each queue in this time, and process.
COALESCE_SECONDS = 0.005
#: The same for news of jobs.
NEWS_SECONDS = 0.05
#: One that is due waits so much longer for an enqueue that carries it.
_CARRY_SECONDS = 0.002
#: A connection that is silent may be dead. Who finds work that was not told of asks at once whether it is.
_CHECK_SECONDS = 120.0
#: Told to workers in place of a queue's name: whoever led has left. See release_leadership.sql.
NO_LEADER = "/no leader"


def ready_channel(schema: str) -> str:
    return f"{schema}_ready"


def news_channel(schema: str) -> str:
    """Where it is told that something happened to jobs, for those who follow them and for the leader."""
    return f"{schema}_news"


class Listener:
    """Hears of queues that have work, on a connection of its own (LISTEN belongs to a session). Reconnects for ever.

    ``heard`` is called with the queue's name; "" means any queue, and is also said when the connection was lost or is
    back: what was sent meanwhile is not told again. ``also`` has further channels and who hears them.
    Behind a pooler that gives no session to listen on it says so and hears nothing. ``database`` is what others know of
    the database: while that is away, a lost connection is no news.
    """

    def __init__(
        self,
        target: Target,
        heard: Callable[[str], None],
        *,
        channel: str | None = None,
        also: Mapping[str, Callable[[str], None]] | None = None,
        database: Outage | None = None,
    ) -> None:
        self._target = target
        self._database = database or Outage()
        self._outage = Outage()
        self._channels = {channel or ready_channel(target.schema): heard, **(also or {})}
        self._lost = asyncio.Event()
        self._look = asyncio.Event()  # the connection is lost, or has something to do
        self._task: asyncio.Task[None] | None = None
        self.listening = asyncio.Event()

    async def __aenter__(self) -> Self:
        if not self._target.listens:
            emit("no wake-ups behind a pooler", instead="polling", way_out="set LEASEHOLD_LISTEN_URL")
        else:
            self._outage.announce(_log_lost, _log_back)
            self._task = asyncio.create_task(self._listen_forever())
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._task is None:
            return
        self._task.cancel()
        with suppress(asyncio.CancelledError):
            await self._task

    def check(self) -> None:
        """See whether the connection is alive."""
        self._look.set()

    def hear(self, channel: str, heard: Callable[[str], None]) -> None:
        """Hear of this channel too, from now on."""
        self._channels[channel] = heard
        self._look.set()

    def ignore(self, channel: str) -> None:
        """Hear no more of a channel."""
        self._channels.pop(channel, None)
        self._look.set()

    async def _listen_forever(self) -> None:
        failures = 0
        while True:
            began = time.monotonic()
            try:
                await self._listen()
                failures = 0
            except LeaseholdError as problem:
                failures += 1
                # The first try may come too soon; and others may find out meanwhile that all of the database is away.
                if failures > 1 and not self._database.covers(problem, waited_s=time.monotonic() - began):
                    self._outage.begin(problem)
            if self.listening.is_set():
                self.listening.clear()
                self._tell_all()
            await asyncio.sleep(self._outage.pause_seconds())

    async def _listen(self) -> None:
        """Listen until the connection is lost."""
        with translated():
            self._lost.clear()
            self._look.clear()
            url, limits = self._target.listens_at, self._target.limits
            connection = await connect(url, f"leasehold-{self._target.role}-listen", limits=limits)
            try:
                connection.add_termination_listener(lambda _: self._lose())
                heard = await self._follow_channels(connection, set())
                self.listening.set()
                self._outage.end()
                self._tell_all()
                while not await self._is_lost():
                    if heard == set(self._channels):
                        await connection.execute("select 1")
                    heard = await self._follow_channels(connection, heard)
            finally:
                # Not close(): it says goodbye, and a black hole never answers.
                connection.terminate()

    async def _follow_channels(self, connection: Any, heard: set[str]) -> set[str]:
        """Listen on those that are wanted and on no other; they are returned."""
        wanted = set(self._channels)
        for channel in sorted(wanted - heard):
            await connection.add_listener(channel, self._notified)
        for channel in sorted(heard - wanted):
            await connection.remove_listener(channel, self._notified)
        return wanted

    async def _is_lost(self) -> bool:
        """True as soon as the connection is lost, False when it is time to see to it."""
        with suppress(TimeoutError):
            async with asyncio.timeout(_CHECK_SECONDS):
                await self._look.wait()
        self._look.clear()
        return self._lost.is_set()

    def _lose(self) -> None:
        self._lost.set()
        self._look.set()

    def _tell_all(self) -> None:
        for heard in list(self._channels.values()):
            heard("")

    def _notified(self, _connection: Any, _pid: int, channel: str, payload: str) -> None:
        if heard := self._channels.get(channel):
            heard(payload)


def _log_lost(problem: LeaseholdError) -> None:
    emit("wake-ups lost", level=logging.WARNING, problem=problem)


def _log_back(seconds: float) -> None:
    emit("wake-ups are back", away_s=round(seconds, 1))


class Notifier:
    """Tells idle workers that a queue has work: coalesced, and never a reason to fail.

    It does so after the commit, in a transaction of its own. A lone enqueue that has its turn tells them with its own
    commit instead, which saves whoever waits for the job a round trip.
    """

    def __init__(self, db: Database, *, channel: str | None = None, every_s: float = COALESCE_SECONDS) -> None:
        self._db = db
        self._channel = channel or ready_channel(db.target.schema)
        self._every_s = every_s
        self._waiting: set[str] = set()
        self._sent_at = 0.0
        self._task: asyncio.Task[None] | None = None

    def notify(self, queue: str = "") -> None:
        """Call it after the enqueue has committed. "" stands for whichever queue the kind's jobs go to."""
        self._waiting.add(queue)
        if self._task is None or self._task.done():
            self._task = asyncio.create_task(self._send_waiting())

    def take_turn(self, queue: str = "") -> Wake | None:
        """The wake-up that the next enqueue may carry itself, if it is time for one; ``notify`` if it could not."""
        now = time.monotonic()
        if now < self._sent_at + self._every_s or self._waiting - {queue}:
            return None
        self._waiting.discard(queue)
        self._sent_at = now
        return Wake(self._channel, queue)

    async def close(self) -> None:
        """Send what waits."""
        if self._task is not None:
            await self._task

    async def _send_waiting(self) -> None:
        while self._waiting:
            wait_s = self._sent_at + self._every_s + _CARRY_SECONDS - time.monotonic()
            if wait_s > 0:
                await asyncio.sleep(wait_s)
                continue
            queues, self._waiting = self._waiting, set()
            self._sent_at = time.monotonic()
            await self._send(sorted(queues))

    async def _send(self, queues: list[str]) -> None:
        try:
            await self._db.notify(self._channel, queues)
        except LeaseholdError as problem:
            if not self._db.outage.covers(problem):
                emit("wake-up not sent", level=logging.WARNING, problem=problem)

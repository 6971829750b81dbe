"""Does what the plan says, and counts what it did."""

import asyncio
import signal
import time
from collections import Counter
from collections.abc import Awaitable, Callable, Sequence
from contextlib import suppress

import asyncpg

from leasehold.errors import LeaseholdError
from tests.chaos.plan import Fault
from tests.chaos.world import FAKETIME, Process, World
from tests.chaos.zombie import haunt, tokens_of

_SPARE_BYTES = 4 << 20
_TERMINATE = """
select pg_terminate_backend(pid) from pg_stat_activity
where usename in ('leasehold_api', 'leasehold_worker') order by md5(pid::text || $1) limit $2
"""


class Nemesis:
    def __init__(self, world: World, poison: Callable[[], Awaitable[object]]) -> None:
        self.done: Counter[str] = Counter()
        self.missed: Counter[str] = Counter()  # could not be done here
        self.restarts_at: list[float] = []  # monotonic: when the database went away or came back
        self._world = world
        self._ask_for_poison = poison
        self._tasks: set[asyncio.Task[None]] = set()

    async def run(self, faults: Sequence[Fault]) -> None:
        """Each at its time, also while others last."""
        began = time.monotonic()
        for fault in faults:
            await asyncio.sleep(max(0.0, began + fault.at - time.monotonic()))
            task = asyncio.create_task(self._do(fault))
            self._tasks.add(task)
            task.add_done_callback(self._tasks.discard)
        await asyncio.gather(*self._tasks)

    async def _do(self, fault: Fault) -> None:
        way = getattr(self, "_" + fault.kind.replace(" ", "_").replace("-", "_"))
        if await way(fault) is False:
            self.missed[fault.kind] += 1
        else:
            self.done[fault.kind] += 1

    # -- processes --------------------------------------------------------------------------------------------------

    async def _kill_worker(self, fault: Fault) -> None:
        worker = self._world.workers[fault.who]
        async with worker.lock:
            await worker.is_up()
            tokens = await tokens_of(self._world.database, worker.name)
            await worker.kill()
            worker.start()
        await haunt(self._world.database, self._world.log, tokens)

    async def _kill_all_workers(self, _: Fault) -> None:
        for worker in self._world.workers.values():
            worker.signal(signal.SIGKILL)
        await asyncio.gather(*map(self._replaced, self._world.workers.values()))

    async def _kill_producer(self, fault: Fault) -> None:
        await self._replaced(self._world.producers[fault.who])

    async def _replaced(self, process: Process) -> None:
        async with process.lock:
            await process.kill()
            process.start()

    async def _deploy_worker(self, fault: Fault) -> None:
        worker = self._world.workers[fault.who]
        async with worker.lock:
            await worker.is_up()
            op = self._world.log.invoke("stop worker", worker=worker.name)
            began, code = time.monotonic(), await worker.stop()
            # While the database was away nobody can say good-bye to it.
            disturbed = any(at > began - 5 for at in self.restarts_at)
            if code == 0 and not disturbed:
                self._world.log.ok(op, worker=worker.name, code=code)
            worker.start()

    async def _freeze_worker(self, fault: Fault) -> None:
        worker = self._world.workers[fault.who]
        async with worker.lock:
            await worker.is_up()
            worker.signal(signal.SIGSTOP)
            await asyncio.sleep(fault.seconds)
            worker.signal(signal.SIGCONT)

    async def _limit_memory(self, fault: Fault) -> None:
        worker = self._world.workers[fault.who]
        async with worker.lock:
            await worker.is_up()
            with suppress(OSError):  # it has died of it
                worker.limit_memory(_SPARE_BYTES)
                await asyncio.sleep(fault.seconds)
                worker.limit_memory(None)

    async def _shift_clock(self, fault: Fault) -> bool:
        self._world.set_clock(fault.size)
        return FAKETIME is not None

    async def _poison(self, _: Fault) -> bool:
        with suppress(LeaseholdError):
            await self._ask_for_poison()
            return True
        return False

    # -- the database -----------------------------------------------------------------------------------------------

    async def _terminate_backends(self, fault: Fault) -> bool:
        with suppress(OSError, asyncpg.PostgresError):
            async with self._world.database.admin() as connection:
                found = await connection.fetch(_TERMINATE, str(fault.at), int(fault.size))
                self.done["backends"] += len(found)
                return True
        return False

    async def _restart_postgres(self, fault: Fault) -> None:
        database = self._world.database
        async with database.lock:
            self.restarts_at.append(time.monotonic())
            await database.stop_at_once()
            await asyncio.sleep(fault.seconds)
            await database.revive()
            self.restarts_at.append(time.monotonic())

    async def _fill_disk(self, fault: Fault) -> bool:
        database = self._world.database
        if not database.place.small:
            return False
        async with database.lock:
            self.restarts_at.append(time.monotonic())
            await asyncio.to_thread(database.place.fill)
            await asyncio.sleep(fault.seconds)
            database.place.free()
            await database.revive()
            self.restarts_at.append(time.monotonic())
        return True

    # -- the network ------------------------------------------------------------------------------------------------

    async def _cut(self, _: Fault) -> None:
        self.done["connections cut"] += self._world.proxy.cut()

    async def _delay(self, fault: Fault) -> None:
        self._world.proxy.delay_seconds = fault.size
        await asyncio.sleep(fault.seconds)
        self._world.proxy.delay_seconds = 0.0

    async def _half_open(self, fault: Fault) -> None:
        """Nothing arrives, and nobody is told; then all of it is reset at once."""
        proxy = self._world.proxy
        proxy.swallow()
        await asyncio.sleep(fault.seconds)
        self.done["connections cut"] += proxy.cut()
        proxy.flow()

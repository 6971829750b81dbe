"""Does what the plan says, and counts what it did."""

import asyncio
import signal
import sys
import time
from asyncio.subprocess import DEVNULL
from collections import Counter
from collections.abc import Awaitable, Callable, Sequence
from contextlib import suppress

import asyncpg

from leasehold.database.database import Role
from leasehold.errors import LeaseholdError
from tests.chaos.plan import REMOTE, Fault
from tests.chaos.restore import Dump, dumped
from tests.chaos.world import FAKETIME, Process, World
from tests.chaos.zombie import haunt, tokens_of
from tests.cli.program import environment
from tests.faults.frozen import frozen

#: How long an attacker may take beyond its time, waiting for answers.
_ATTACK_SECONDS = 20.0
_SPARE_BYTES = 4 << 20
_DUMP_TRIES = 5
_DUMP_PAUSE_SECONDS = 3.0
_TERMINATE = """
select pg_terminate_backend(pid) from pg_stat_activity
where usename in ('leasehold_api', 'leasehold_worker') order by md5(pid::text || $1) limit $2
"""


class Nemesis:
    def __init__(
        self, world: World, poison: Callable[[], Awaitable[object]], *, dump_options: Sequence[str] = ()
    ) -> None:
        self.done: Counter[str] = Counter()
        self.missed: Counter[str] = Counter()  # could not be done here
        self.restarts_at: list[float] = []  # monotonic: when the database went away or came back
        self.dump: Dump | None = None  # the newest
        self._world = world
        self._ask_for_poison = poison
        self._tasks: set[asyncio.Task[None]] = set()
        self._mute_until = 0.0
        self._standby, self._dumping = asyncio.Lock(), asyncio.Lock()
        self._dump_options = dump_options

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
        op = self._world.log.invoke("fault", kind=fault.kind)
        if await way(fault) is False:
            self.missed[fault.kind] += 1
        else:
            self.done[fault.kind] += 1
            self._world.log.ok(op)

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

    async def _kill_server(self, _: Fault) -> None:
        self.restarts_at.append(time.monotonic())
        await self._replaced(self._world.server)
        await self._world.server.is_up()
        self.restarts_at.append(time.monotonic())

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
            # While the database or the server was away nobody can say good-bye to it.
            disturbed = any(at > began - 5 for at in self.restarts_at) or self._is_cut_off(worker)
            if code == 0 and not disturbed:
                self._world.log.ok(op, worker=worker.name, code=code)
            worker.start()

    def _is_cut_off(self, worker: Process) -> bool:
        """Over HTTP a worker that cannot reach the server gives up its good-bye."""
        return worker.place in REMOTE and time.monotonic() < self._mute_until

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

    async def _freeze_postgres(self, fault: Fault) -> None:
        database = self._world.database
        async with database.lock:
            self.restarts_at.append(time.monotonic())
            with frozen(database.endpoint.pid):
                await asyncio.sleep(fault.seconds)
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
        for proxy in self._world.proxies:
            self.done["connections cut"] += proxy.cut()

    async def _delay(self, fault: Fault) -> None:
        for proxy in self._world.proxies:
            proxy.delay_seconds = fault.size
        await asyncio.sleep(fault.seconds)
        for proxy in self._world.proxies:
            proxy.delay_seconds = 0.0

    async def _half_open(self, fault: Fault) -> None:
        """Nothing arrives, and nobody is told; then all of it is reset at once."""
        for proxy in self._world.proxies:
            proxy.swallow()
        self._mute_until = time.monotonic() + fault.seconds + 5
        await asyncio.sleep(fault.seconds)
        for proxy in self._world.proxies:
            self.done["connections cut"] += proxy.cut()
            proxy.flow()

    async def _abandon(self, fault: Fault) -> None:
        """A network that has forgotten its connections: nobody is told, and nothing is ever heard over them again."""
        self.restarts_at.append(time.monotonic())
        self._mute_until = time.monotonic() + fault.seconds + 30  # as long as a client over HTTP waits
        for proxy in (*self._world.proxies, self._world.way):
            self.done["connections abandoned"] += proxy.abandon()
        await asyncio.sleep(fault.seconds)
        self.restarts_at.append(time.monotonic())

    # -- tenants that ask for too much -----------------------------------------------------------------------------

    async def _slow_headers(self, fault: Fault) -> None:
        await self._attack(fault)

    async def _worst_bodies(self, fault: Fault) -> None:
        await self._attack(fault)

    async def _hold_locks(self, fault: Fault) -> None:
        await self._attack(fault)

    async def _attack(self, fault: Fault) -> None:
        world = self._world
        env = {"CHAOS_KEY": world.secrets.keys["a"] or "", "LEASEHOLD_API_URL": world.database.url(Role.API)}
        command = ["-m", "tests.chaos.attacks", fault.kind, str(world.server.port), str(fault.seconds)]
        with (world.folder / "attacks.log").open("ab") as log:
            attacker = await asyncio.create_subprocess_exec(
                sys.executable, *command, env=environment(env), stdin=DEVNULL, stdout=log, stderr=log
            )
        try:
            async with asyncio.timeout(fault.seconds + _ATTACK_SECONDS):
                await attacker.wait()
        except TimeoutError:
            attacker.kill()
            await attacker.wait()

    # -- copies of the database -------------------------------------------------------------------------------------

    async def _lose_standby(self, fault: Fault) -> None:
        """Without a last word; it comes back and catches up, or is too far behind to be asked."""
        standby = self._world.standby
        async with self._standby:
            await asyncio.to_thread(standby.kill)
            await asyncio.sleep(fault.seconds)
            await asyncio.to_thread(standby.start)

    async def _dump(self, _: Fault) -> bool:
        """Again while the database goes away meanwhile: a backup is tried until it is there."""
        async with self._dumping:
            for _number in range(_DUMP_TRIES):
                if newer := await dumped(self._world.database, self._world.folder, self._dump_options):
                    self.dump = newer
                    return True
                await asyncio.sleep(_DUMP_PAUSE_SECONDS)
            return False

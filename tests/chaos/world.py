"""Real processes: workers, producers, the proxy between some of them and PostgreSQL; and what can be done to them."""

import asyncio
import os
import resource
import signal
import subprocess
import sys
from contextlib import suppress
from pathlib import Path

from leasehold.engine.database import Role
from leasehold.postgres.server import free_port
from tests.chaos.database import Private
from tests.chaos.oplog import OpLog
from tests.chaos.plan import LEASE_SECONDS, PRODUCERS, PROXIED, SHIFTED, WORKERS
from tests.cli.program import LEASEHOLD, environment
from tests.waiting import PATIENCE_SECONDS
from tests.worker.proxy import Proxy

FAKETIME = next(Path("/usr/lib").glob("*/faketime/libfaketime.so.1"), None)
_STOP_SECONDS = PATIENCE_SECONDS
_START_LOOKS = 300  # ten a second
_MEMORY = Path("/dev/shm")
_SETTINGS = {
    "LEASEHOLD_LEASE_SECONDS": str(LEASE_SECONDS),
    "LEASEHOLD_BEAT_SECONDS": "0.7",
    "LEASEHOLD_POLL_SECONDS": "0.2",
    "LEASEHOLD_GRACE_SECONDS": "5",
    "LEASEHOLD_CANCEL_GRACE_SECONDS": "0.5",
    "LEASEHOLD_OVERRUN_SECONDS": "1",
    "LEASEHOLD_SLOTS": "10",
    "LEASEHOLD_PACKS": "none",
    "LEASEHOLD_TENANT": "a",
}


class Process:
    """One place for a worker or a producer; whoever dies there is followed by another, under a name of its own."""

    def __init__(self, world: "World", place: str) -> None:
        self.place = place
        self.lock = asyncio.Lock()  # one fault at a time
        self.life = 0
        self.pids: list[int] = []
        self.port = 0
        self._world = world
        self._child: subprocess.Popen[bytes] | None = None

    @property
    def name(self) -> str:
        return f"{self.place}.{self.life}"

    @property
    def _log(self) -> Path:
        return self._world.folder / f"{self.name}.log"

    @property
    def pid(self) -> int:
        assert self._child is not None
        return self._child.pid

    @property
    def alive(self) -> bool:
        return self._child is not None and self._child.poll() is None

    def start(self) -> None:
        self.life += 1
        command, env = self._world.command_of(self)
        with self._log.open("ab") as log:
            self._child = subprocess.Popen(
                command, stdin=subprocess.DEVNULL, stdout=log, stderr=log, env=environment(env)
            )
        self.pids.append(self.pid)

    async def is_up(self) -> None:
        """Wait until this worker works: to start takes seconds, and a fault then shows little. Not for ever."""
        for _ in range(_START_LOOKS):
            if not self.alive or b"worker started" in self._said():
                return
            await asyncio.sleep(0.1)

    def _said(self) -> bytes:
        return self._log.read_bytes()

    def signal(self, number: int) -> None:
        if self.alive:
            os.kill(self.pid, number)

    async def kill(self) -> None:
        self.signal(signal.SIGKILL)
        if self._child is not None:
            await asyncio.to_thread(self._child.wait)

    async def stop(self) -> int:
        """Ask it to stop; its exit code."""
        assert self._child is not None
        self.signal(signal.SIGTERM)
        try:
            return await asyncio.to_thread(self._child.wait, _STOP_SECONDS)
        except subprocess.TimeoutExpired:
            await self.kill()
            return -9

    def limit_memory(self, spare_bytes: int | None) -> None:
        """So much more than it has now, and no more; None lifts it."""
        limit = resource.RLIM_INFINITY
        if spare_bytes is not None:
            pages = int(Path(f"/proc/{self.pid}/statm").read_text().split()[0])
            limit = pages * resource.getpagesize() + spare_bytes
        resource.prlimit(self.pid, resource.RLIMIT_AS, (limit, resource.RLIM_INFINITY))


class World:
    def __init__(self, database: Private, folder: Path, log: OpLog, *, seed: int, secret_key: str) -> None:
        self.database, self.folder, self.log, self.seed = database, folder, log, seed
        self._secret_key = secret_key
        self.proxy = Proxy("127.0.0.1", database.port)
        self.workers = {place: Process(self, place) for place in WORKERS}
        self.producers = {place: Process(self, place) for place in PRODUCERS}
        self._kept = self._all()
        self.deaths = 0  # of processes that nobody had killed
        self._server: asyncio.Server | None = None
        self._keeper: asyncio.Task[None] | None = None
        self._clock = folder / "clock"

    async def start(self) -> None:
        self._server = await asyncio.start_server(self.proxy.serve, "127.0.0.1", 0)
        self.set_clock(0)
        for process in self._all():
            process.start()
        self._keeper = asyncio.create_task(self._keep())

    def _all(self) -> list[Process]:
        return [*self.workers.values(), *self.producers.values()]

    async def _keep(self) -> None:
        """Whoever is dead is replaced: that is what systemd and Kubernetes do."""
        while True:
            for process in self._kept:
                if not process.alive and not process.lock.locked():
                    self.deaths += 1
                    process.start()
            await asyncio.sleep(0.2)

    def command_of(self, process: Process) -> tuple[list[str], dict[str, str]]:
        assert self._server is not None
        proxied = process.place in (*PROXIED, PRODUCERS[-1])
        port = self._server.sockets[0].getsockname()[1] if proxied else None
        env = {"LEASEHOLD_API_URL": self.database.url(Role.API, port), "LEASEHOLD_TENANT": "a"}
        if process.place in PRODUCERS:
            log = self.folder / f"{process.name}.jsonl"
            return [sys.executable, "-m", "tests.chaos.producer", process.name, str(self.seed), str(log)], env
        process.port = free_port()
        env |= _SETTINGS | {
            "LEASEHOLD_WORKER_URL": self.database.url(Role.WORKER, port),
            "LEASEHOLD_WORKER_PORT": str(process.port),
            "LEASEHOLD_SECRET_KEYS": self._secret_key,
            "CHAOS_WORKER": process.name,
            "CHAOS_SINK": str(self.folder / "sink"),
        }
        if process.place == SHIFTED and FAKETIME:
            env |= {
                "LD_PRELOAD": str(FAKETIME),
                "FAKETIME_TIMESTAMP_FILE": str(self._clock),
                "FAKETIME_CACHE_DURATION": "1",
                "DONT_FAKE_MONOTONIC": "1",
                "FAKETIME_DONT_FAKE_MONOTONIC": "1",
            }
        return [*LEASEHOLD, "worker", "tests.chaos.app:app", "--name", process.name], env

    def set_clock(self, seconds: float) -> None:
        fresh = self._clock.with_suffix(".new")
        fresh.write_text(f"{seconds:+.0f}\n")
        fresh.replace(self._clock)

    # -- the end ----------------------------------------------------------------------------------------------------

    async def calm(self) -> None:
        """No fault is left: the proxy flows, everybody runs."""
        self.proxy.delay_seconds = 0.0
        self.proxy.flow()
        self.set_clock(0)
        for process in self.workers.values():
            process.signal(signal.SIGCONT)

    async def stop_producers(self) -> None:
        self._kept = [*self.workers.values()]
        for process in self.producers.values():
            await process.stop()

    async def stop_workers(self) -> None:
        """In good order, each once it is there: one that was just replaced may not have registered yet."""
        assert self._keeper is not None
        self._keeper.cancel()
        for worker in self.workers.values():
            op = self.log.invoke("stop worker", worker=worker.name)
            self.log.ok(op, worker=worker.name, code=await worker.stop())

    async def close(self) -> None:
        if self._keeper:
            self._keeper.cancel()
        for process in self._all():
            process.signal(signal.SIGCONT)
            await process.kill()
        if self._server:
            self._server.close()
        with suppress(OSError):
            await self.proxy.close()
        for pid in self.workers[SHIFTED].pids:  # faketime cleans up only where nobody is killed
            for name in ("faketime_shm_", "sem.faketime_sem_"):
                (_MEMORY / f"{name}{pid}").unlink(missing_ok=True)

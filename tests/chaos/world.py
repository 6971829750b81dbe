"""Real processes: a server, workers, producers, a standby, the proxies between; and what can be done to them."""

import asyncio
import os
import resource
import signal
import subprocess
import sys
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from leasehold.database.database import Role
from leasehold.postgres.server import free_port
from tests.chaos.database import BYSTANDER, Private
from tests.chaos.oplog import OpLog
from tests.chaos.plan import (
    CALL_SECONDS,
    LEASE_SECONDS,
    PROBE,
    PRODUCERS,
    PROXIED,
    REMOTE,
    SERVER,
    SHIFTED,
    WORKERS,
)
from tests.cli.program import LEASEHOLD, environment
from tests.faults.bare import Bare
from tests.waiting import PATIENCE_SECONDS
from tests.worker.proxy import Proxy

FAKETIME = next(Path("/usr/lib").glob("*/faketime/libfaketime.so.1"), None)
_STOP_SECONDS = PATIENCE_SECONDS
_START_LOOKS = 900  # ten a second
_MEMORY = Path("/dev/shm")
#: A worker or the server says one of these once it works.
_UP = (b"worker started", b"serving http")
LIMITS = {
    "LEASEHOLD_CONNECT_SECONDS": str(CALL_SECONDS),
    "LEASEHOLD_CALL_SECONDS": str(CALL_SECONDS),
    "LEASEHOLD_LONG_CALL_SECONDS": str(2 * CALL_SECONDS),
}
SETTINGS = LIMITS | {
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
    """One place for a process; whoever dies there is followed by another, under a name of its own."""

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
        """Wait until this process works: to start takes seconds, and a fault then shows little. Not for ever."""
        for _ in range(_START_LOOKS):
            if not self.alive or any(words in self._said() for words in _UP):
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


@dataclass(frozen=True, slots=True, kw_only=True)
class Secrets:
    """None of them may stand in a log or in a table."""

    pepper: str
    secret_key: str
    keys: Mapping[str | None, str]  # of tenants by their names, and of the installation

    @property
    def texts(self) -> list[str]:
        return [self.pepper, self.secret_key, *self.keys.values()]


class World:
    def __init__(
        self, database: Private, standby: Bare, folder: Path, log: OpLog, *, seed: int, secrets: Secrets
    ) -> None:
        self.database, self.standby, self.folder, self.log, self.seed = database, standby, folder, log, seed
        self.secrets = secrets
        self.server = Process(self, SERVER)
        self.server.port = free_port()
        #: Between some workers and PostgreSQL, and between one that works over HTTP and the server.
        self.proxies = [Proxy("127.0.0.1", database.port), Proxy("127.0.0.1", self.server.port)]
        #: Between the server and PostgreSQL.
        self.way = Proxy("127.0.0.1", database.port)
        self.workers = {place: Process(self, place) for place in (*WORKERS, *REMOTE)}
        self.producers = {place: Process(self, place) for place in (*PRODUCERS, PROBE)}
        self._kept = self._all()
        self.deaths = 0  # of processes that nobody had killed
        self._listening: list[asyncio.Server] = []
        self._keeper: asyncio.Task[None] | None = None
        self._clock = folder / "clock"

    async def start(self) -> None:
        proxies = (*self.proxies, self.way)
        self._listening = [await asyncio.start_server(proxy.serve, "127.0.0.1", 0) for proxy in proxies]
        self.set_clock(0)
        self.server.start()
        await self.server.is_up()
        for process in (*self.workers.values(), *self.producers.values()):
            process.start()
        self._keeper = asyncio.create_task(self._keep())

    def _all(self) -> list[Process]:
        return [self.server, *self.workers.values(), *self.producers.values()]

    async def _keep(self) -> None:
        """Whoever is dead is replaced: that is what systemd and Kubernetes do."""
        while True:
            for process in self._kept:
                if not process.alive and not process.lock.locked():
                    self.deaths += 1
                    process.start()
            await asyncio.sleep(0.2)

    def command_of(self, process: Process) -> tuple[list[str], dict[str, str]]:
        proxied = process.place in (*PROXIED, PRODUCERS[-1])
        to_database, to_server, way = (one.sockets[0].getsockname()[1] for one in self._listening)
        port = to_database if proxied else None
        env = {"LEASEHOLD_API_URL": self.database.url(Role.API, port), "LEASEHOLD_TENANT": "a"}
        log = str(self.folder / f"{process.name}.jsonl")
        url = f"http://127.0.0.1:{to_server if proxied else self.server.port}"
        if process.place in PRODUCERS:
            return [sys.executable, "-m", "tests.chaos.producer", process.name, str(self.seed), log], env
        if process.place == PROBE:
            key = {"CHAOS_KEY": self.secrets.keys[BYSTANDER]}
            return [sys.executable, "-m", "tests.chaos.probe", process.name, url, log], key
        if process.place in REMOTE:
            key = {"CHAOS_KEY": self.secrets.keys[None]}
            return [sys.executable, "-m", "tests.chaos.remote_worker", process.name, url], key
        if process.place == SERVER:
            return [*LEASEHOLD, "serve", "--port", str(process.port)], env | self._of_server(way)
        process.port = free_port()
        env |= SETTINGS | {
            "LEASEHOLD_WORKER_URL": self.database.url(Role.WORKER, port),
            "LEASEHOLD_WORKER_PORT": str(process.port),
            "LEASEHOLD_SECRET_KEYS": self.secrets.secret_key,
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

    def _of_server(self, port: int) -> dict[str, str]:
        return LIMITS | {
            "LEASEHOLD_API_URL": self.database.url(Role.API, port),
            "LEASEHOLD_OPERATOR_URL": self.database.url(Role.OPERATOR, port),
            "LEASEHOLD_READ_URL": self.database.url(Role.API, self.standby.port),
            "LEASEHOLD_KEY_PEPPER": self.secrets.pepper,
            "LEASEHOLD_SECRET_KEYS": self.secrets.secret_key,
            "LEASEHOLD_PACKS": "none",
        }

    def set_clock(self, seconds: float) -> None:
        fresh = self._clock.with_suffix(".new")
        fresh.write_text(f"{seconds:+.0f}\n")
        fresh.replace(self._clock)

    # -- the end ----------------------------------------------------------------------------------------------------

    async def calm(self) -> None:
        """No fault is left: the proxies flow, everybody runs."""
        for proxy in self.proxies:
            proxy.delay_seconds = 0.0
            proxy.flow()
        self.set_clock(0)
        for process in self.workers.values():
            process.signal(signal.SIGCONT)

    async def stop_producers(self) -> None:
        self._kept = [self.server, *self.workers.values()]
        for process in self.producers.values():
            await process.stop()

    async def stop_workers(self) -> None:
        """In good order, each once it is there: one that was just replaced may not have registered yet."""
        assert self._keeper is not None
        self._keeper.cancel()
        for worker in self.workers.values():
            op = self.log.invoke("stop worker", worker=worker.name)
            self.log.ok(op, worker=worker.name, code=await worker.stop())
        await self.server.stop()

    async def close(self) -> None:
        if self._keeper:
            self._keeper.cancel()
        for process in self._all():
            process.signal(signal.SIGCONT)
            await process.kill()
        for one in self._listening:
            one.close()
        for proxy in (*self.proxies, self.way):
            with suppress(OSError):
                await proxy.close()
        for pid in self.workers[SHIFTED].pids:  # faketime cleans up only where nobody is killed
            for name in ("faketime_shm_", "sem.faketime_sem_"):
                (_MEMORY / f"{name}{pid}").unlink(missing_ok=True)

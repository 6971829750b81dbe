"""A pack's workers and server on a PostgreSQL of their own, which are killed one after another while they are asked."""

import asyncio
import os
import random
import re
import signal
import subprocess
import sys
from collections import Counter
from collections.abc import AsyncIterator, Callable
from contextlib import ExitStack, asynccontextmanager, suppress
from hashlib import sha256
from typing import Any
from uuid import UUID

import httpx

from leasehold.database import migrate
from leasehold.database.database import Role
from leasehold.engine.tenants import create_queue
from leasehold.feature import Feature
from leasehold.plugins.discovery import files_of
from tests.cell import Cell
from tests.cli.program import Program, started
from tests.faults.conftest import Own, own_server
from tests.http.conftest import PEPPER, bearer, make_key
from tests.worker.running import ENVIRONMENT

#: Longer than a busy machine leaves a worker without a turn: attempts are lost by kills alone.
_LEASE = {"LEASEHOLD_LEASE_SECONDS": "6", "LEASEHOLD_BEAT_SECONDS": "1"}
#: Few, so that all workers have some of the jobs.
_SLOTS = {"LEASEHOLD_SLOTS": "6"}


def kills(dice: random.Random, workers: int) -> list[str]:
    """Whom to kill, the last one first."""
    named = ["worker"] * workers + ["server", "postgres"]
    dice.shuffle(named)
    return named


@asynccontextmanager
async def prepared(feature: Feature, *queues: str) -> AsyncIterator[Own]:
    """A PostgreSQL with the pack's tables and queues."""
    async with own_server() as own:
        await prepare(own.cell, feature, *queues)
        yield own


async def prepare(cell: Cell, feature: Feature, *queues: str) -> None:
    await migrate.migrate(cell.cluster.url(cell.name), packs=[files_of(feature)])
    async with cell.database(Role.OPERATOR) as operator:
        for queue in queues:
            await create_queue(operator, queue)


class Killer:
    """Three workers and a server of one pack; all that is asked of it goes over HTTP, as one tenant."""

    def __init__(self, own: Own, pack: str, tenant: UUID, dice: random.Random, **env: str) -> None:
        self.own, self.cell, self.dice = own, own.cell, dice
        self.killed: Counter[str] = Counter()
        self._tenant = tenant
        self._nursery = (sys.executable, "-m", "tests.faults.nursery", "3", f"leasehold_packs.{pack}.handlers:app")
        self._env = self.cell.environment() | ENVIRONMENT | _LEASE | _SLOTS | env
        self._env |= {"LEASEHOLD_FETCH_GAP_SECONDS": "0.0001", "LEASEHOLD_PACKS": pack, "LEASEHOLD_KEY_PEPPER": PEPPER}

    @asynccontextmanager
    async def running(self) -> AsyncIterator[None]:
        self._headers = bearer(await make_key(self.cell, self._tenant))
        with ExitStack() as self._stack:
            self._workers = self._stack.enter_context(started(env=self._env, command=self._nursery))
            self._serve()
            yield

    async def asked(self, method: str, path: str, body: Any = None, *, key: str | None = None) -> Any:
        """An answer; what a killed server did not answer is asked again, under the same key."""
        headers = self._headers | ({"Idempotency-Key": key} if key else {})
        async with httpx.AsyncClient(headers=headers, timeout=30) as client:
            while True:
                with suppress(httpx.TransportError):
                    answer = await client.request(method, self._base + path, json=body)
                    if answer.status_code < 500:
                        assert answer.is_success, answer.text
                        return answer.json()
                await asyncio.sleep(0.1)

    async def until(self, is_over: Callable[[Any], bool], path: str, victims: list[str]) -> Any:
        """What is said at this path when it is over; meanwhile they all die, the last one first."""
        while not is_over(said := await self.asked("GET", path)) or victims:
            await asyncio.sleep(self.dice.uniform(0.05, 0.3))
            if victims:
                await self._kill(victims.pop())
            await self._hurry()
        return said

    async def _kill(self, what: str) -> None:
        self.killed[what] += 1
        match what:
            case "worker":
                if victim := _child(self._workers.process.pid, self.dice):
                    with suppress(ProcessLookupError):
                        os.kill(victim, signal.SIGKILL)
            case "server":
                self._server.kill()
                self._server.ended()
                self._serve()
            case _:
                endpoint = await asyncio.to_thread(self.own.server.start)  # it runs: this is who it is
                os.kill(endpoint.pid, signal.SIGQUIT)
                await asyncio.to_thread(self.own.server.stop)
                await asyncio.to_thread(self.own.server.start)

    def _serve(self) -> None:
        self._server: Program = self._stack.enter_context(started("serve", "--port", "0", env=self._env))
        self._server.said("serving")
        found = re.search(r"serving (http://\S+)/v1", self._server.err)
        assert found
        self._base = found[1]

    async def _hurry(self) -> None:
        """An attempt that lost its PostgreSQL has failed, and need not wait a minute for the next."""
        await self.cell.change("update leasehold.deferred set run_at = leasehold.now() where why = 'errored'")


def _child(parent: int, dice: random.Random) -> int | None:
    found = subprocess.run(["pgrep", "-P", str(parent)], capture_output=True, text=True, check=False).stdout.split()
    return int(dice.choice(found)) if found else None


async def ended_badly(cell: Cell) -> str:
    """Attempts that a kill has ended, and jobs that had none left."""
    [row] = await cell.look(
        "select (select count(*) from leasehold.attempt where outcome = 'lost') as lost,"
        " (select count(*) from leasehold.attempt where outcome = 'errored') as errored,"
        " (select count(*) from leasehold.outcome where state = 'dead') as dead"
    )
    return f"{row['lost']} attempts lost, {row['errored']} errored, {row['dead']} jobs dead"


def digest(rows: list[str]) -> str:
    return sha256("\n".join(rows).encode()).hexdigest()[:16]

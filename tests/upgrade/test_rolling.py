"""A deployment under load: the last release works, the database is migrated under it, the next one takes over."""

import asyncio
import itertools
import random
import time
from collections.abc import AsyncIterator, Iterator
from contextlib import ExitStack, asynccontextmanager, contextmanager
from dataclasses import dataclass
from pathlib import Path
from uuid import UUID

import asyncpg
import httpx
import pytest

from leasehold.database.database import Role
from leasehold.postgres import Home, Server, ephemeral_home
from tests.cell import Cell, Cluster
from tests.cli.program import Program as Process
from tests.cli.program import leasehold, started
from tests.faults.history import Expected, check
from tests.faults.sink import drained
from tests.upgrade.app import TABLE
from tests.upgrade.releases import Program, current, following
from tests.waiting import eventually, until
from tests.worker.running import ENVIRONMENT

pytestmark = pytest.mark.long

APP = "tests.upgrade.app:app"
#: PostgreSQL tells of everybody who has waited for a lock for so long: its deadlock_timeout.
LONGEST_WAIT_SECONDS = 1.0
PEPPER = {"LEASEHOLD_KEY_PEPPER": "a pepper for tests that is long enough to be one"}


@dataclass(frozen=True, slots=True, kw_only=True)
class Place:
    """A server that an earlier release has installed itself on."""

    cell: Cell
    log: Path

    def env(self, program: Program) -> dict[str, str]:
        calm = {"LEASEHOLD_LEASE_SECONDS": "20", "LEASEHOLD_SLOTS": "8"}  # nobody shall lose a lease here
        return self.cell.environment() | ENVIRONMENT | calm | PEPPER | program.env

    @property
    def admin_url(self) -> str:
        return self.cell.cluster.url(self.cell.name)


@asynccontextmanager
async def installed_by(program: Program) -> AsyncIterator[Place]:
    home = Home(ephemeral_home(in_memory=True))
    home.make()
    server = Server(home.path, ephemeral=True, options={"log_lock_waits": "on"})
    try:
        endpoint = await asyncio.to_thread(server.start)
        passwords = {role: home.secret(role) for role in Role}
        cluster = Cluster(admin_url=endpoint.url(), passwords=passwords, home=str(home.path), template="shop")
        await cluster.make_template(program.migrate)
        cell = Cell(cluster=cluster, name=cluster.template)
        await cell.change(TABLE)
        yield Place(cell=cell, log=home.path / "postgres.log")
    finally:
        await asyncio.to_thread(server.stop)
        home.wipe()


class Caller:
    """Asks for one job after another at any of its servers; what was not answered is asked again under its key."""

    def __init__(self, name: str, key: str) -> None:
        self.servers: list[str] = []
        self.acknowledged: set[UUID] = set()
        self.longest_seconds = 0.0
        self._name, self._key = name, key
        self._stop = False

    def stop(self) -> None:
        self._stop = True

    async def run(self) -> None:
        async with httpx.AsyncClient(headers={"Authorization": f"Bearer {self._key}"}, timeout=60) as http:
            for n in itertools.count():
                await self._ask(http, n)
                if self._stop:
                    return

    async def _ask(self, http: httpx.AsyncClient, n: int) -> None:
        ways: tuple[dict[str, object], ...] = ({}, {"delay_s": 0.2}, {"group": f"g{n % 3}"}, {"priority": 1})
        body = {"kind": "u.once", "payload": {"errors": n % 5 == 0}, "key": f"{self._name}-{n}", **ways[n % 4]}
        while True:
            began = time.monotonic()
            try:
                answer = await http.post(f"{random.choice(self.servers)}/v1/jobs", json=body)
            except httpx.TransportError:  # this server stops
                continue
            assert answer.status_code in (200, 202), answer.text
            self.longest_seconds = max(self.longest_seconds, time.monotonic() - began)
            self.acknowledged.add(UUID(answer.json()["job_id"]))
            return


@contextmanager
def serving(place: Place, program: Program) -> Iterator[tuple[Process, str]]:
    with started("serve", "--port", "0", env=place.env(program)) as server:
        server.said("serving http")
        yield server, server.err.split("serving ", 1)[1].split("/v1", 1)[0]


@contextmanager
def working(place: Place, program: Program, *names: str) -> Iterator[list[Process]]:
    with ExitStack() as stack:
        env = place.env(program)
        found = [stack.enter_context(started("worker", APP, "--name", name, env=env)) for name in names]
        for worker in found:
            worker.said("worker started")
        yield found


async def ended_by(place: Place, *names: str) -> int:
    listed = ", ".join(f"'{name}'" for name in names)
    [row] = await place.cell.look(
        f"select count(*) as n from leasehold.attempt join leasehold.worker using (worker_id) where name in ({listed})"
    )
    return int(row["n"])


async def more_work(place: Place, n: int, *names: str) -> None:
    """These workers have ended so many more attempts."""
    before = await ended_by(place, *names)

    async def done() -> bool:
        return await ended_by(place, *names) >= before + n

    await eventually(done, what=f"work of {names}")


async def test_a_rolling_upgrade_under_load_loses_nothing(tmp_path: Path) -> None:
    old, new = current(tmp_path / "old"), following(tmp_path / "new")
    async with installed_by(old) as place:
        key = leasehold("keys", "create", "shop", env=place.env(old)).out.strip()
        callers = [Caller(name, key) for name in ("one", "two")]
        with ExitStack() as stack:
            old_server, old_url = stack.enter_context(serving(place, old))
            old_workers = stack.enter_context(working(place, old, "old-1", "old-2"))
            for caller in callers:
                caller.servers = [old_url]
            calling = [asyncio.create_task(caller.run()) for caller in callers]
            await more_work(place, 60, "old-1", "old-2")

            await new.migrate(place.admin_url)
            await more_work(place, 60, "old-1", "old-2")
            ready = await asyncio.to_thread(httpx.get, f"{old_url}/readyz")
            assert ready.json()["status"] == "ready", "a later schema serves it, too"

            new_server, new_url = stack.enter_context(serving(place, new))
            new_workers = stack.enter_context(working(place, new, "new-1", "new-2"))
            for caller in callers:
                caller.servers = [old_url, new_url]
            await asyncio.gather(more_work(place, 60, "old-1", "old-2"), more_work(place, 60, "new-1", "new-2"))
            await doctors_see_both(place, old, new)

            for caller in callers:
                caller.servers = [new_url]
            drained_old = [await asyncio.to_thread(process.stopped) for process in (*old_workers, old_server)]
            assert [said.code for said in drained_old] == [0, 0, 0]
            await more_work(place, 60, "new-1", "new-2")
            for caller in callers:
                caller.stop()
            await asyncio.gather(*calling)
            await drained(place.cell)
            assert [process.stopped().code for process in (*new_workers, new_server)] == [0, 0, 0]

        acknowledged = set().union(*(caller.acknowledged for caller in callers))
        once = [UUID(row["job_id"]) for row in await place.cell.look("select job_id from leasehold_test.effect")]
        names = ("old-1", "old-2", "new-1", "new-2")
        expected = Expected(acknowledged=dict.fromkeys(acknowledged, place.cell.tenant_a), once=once, stopped=names)
        history = await check(place.cell, expected)
        assert {row["state"] for row in history.outcome} == {"succeeded"}
        assert {row["outcome"] for row in history.attempt} <= {"succeeded", "errored", "released"}, "none was lost"
        assert "still waiting for" not in place.log.read_text(), f"nobody waited {LONGEST_WAIT_SECONDS} s for a lock"
        assert "deadlock detected" not in place.log.read_text()


async def doctors_see_both(place: Place, old: Program, new: Program) -> None:
    """That two versions are at work, from either side."""
    for program in (old, new):
        said = await asyncio.to_thread(leasehold, "doctor", "--json", env=place.env(program))
        [versions] = [finding["text"] for finding in said.json if finding["check"] == "versions"]
        assert old.version in versions
        assert new.version in versions
        [schema] = [finding["text"] for finding in said.json if finding["check"] == "schema"]
        ahead = f"the database has release {new.release}, this program knows {old.release}"
        assert schema == ("up to date" if program is new else ahead)


async def test_a_migration_lets_everybody_pass_while_somebody_holds_a_table(tmp_path: Path) -> None:
    old, new = current(tmp_path / "old"), following(tmp_path / "new")
    async with installed_by(old) as place:
        key = leasehold("keys", "create", "shop", env=place.env(old)).out.strip()
        caller = Caller("one", key)
        with serving(place, old) as (_, url), working(place, old, "old") as [worker]:
            caller.servers = [url]
            calling = asyncio.create_task(caller.run())
            forgotten = await asyncpg.connect(place.cell.url(Role.READONLY))
            try:
                await forgotten.execute("begin; select count(*) from leasehold.job")
                migrating = asyncio.create_task(new.migrate(place.admin_url))
                await asyncio.to_thread(until, lambda: gave_way(place) >= 2, what="two tries")
                await more_work(place, 60, "old")
                assert not migrating.done()
            finally:
                forgotten.terminate()
            await migrating
            await more_work(place, 60, "old")
            caller.stop()
            await calling
            await drained(place.cell)
            assert (await asyncio.to_thread(worker.stopped)).code == 0
        assert "still waiting for" not in place.log.read_text(), f"nobody waited {LONGEST_WAIT_SECONDS} s for a lock"
        acknowledged = dict.fromkeys(caller.acknowledged, place.cell.tenant_a)
        await check(place.cell, Expected(acknowledged=acknowledged, stopped=["old"]))


def gave_way(place: Place) -> int:
    return place.log.read_text().count("canceling statement due to lock timeout")

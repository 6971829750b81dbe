"""Workers on several hosts and one PostgreSQL: a cable is pulled for longer than a lease, and plugged in again."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path

import pytest

from leasehold.database.database import Role
from leasehold.job import State
from tests.cell import Cell
from tests.cli.program import LEASEHOLD, Program, started
from tests.faults.bare import Bare, running
from tests.faults.conftest import own_server
from tests.faults.history import Expected, check
from tests.faults.hosts import Host, can_be_made, host
from tests.faults.sink import drained, effects, more_than
from tests.faults.test_postgres_killed import Caller
from tests.waiting import eventually, until
from tests.worker.running import ENVIRONMENT, Shop

pytestmark = [
    pytest.mark.long,
    pytest.mark.skipif(not can_be_made(), reason="network namespaces need root and iproute2"),
]

APP = "tests.faults.apps:app"
LEASE = {"LEASEHOLD_LEASE_SECONDS": "4", "LEASEHOLD_SLOTS": "8"}


@dataclass(frozen=True, slots=True, kw_only=True)
class Site:
    """One PostgreSQL that two hosts reach, each by its own cable."""

    cell: Cell
    near: Host
    far: Host

    def env(self, one: Host) -> dict[str, str]:
        url = self.cell.url(Role.WORKER).replace("@127.0.0.1:", f"@{one.gateway}:")
        return ENVIRONMENT | LEASE | {"LEASEHOLD_WORKER_URL": url}


@asynccontextmanager
async def site() -> AsyncIterator[Site]:
    """The server of a test, started again so that it listens to its hosts, too."""
    with host(1) as near, host(2) as far:
        async with own_server() as own:
            await asyncio.to_thread(own.server.stop)
            data = own.endpoint.data
            with (data / "pg_hba.conf").open("a") as file:
                file.write("host all all 10.211.0.0/16 scram-sha-256\n")
            listening = {"listen_addresses": f"127.0.0.1,{near.gateway},{far.gateway}", "port": str(own.endpoint.port)}
            with running(Bare(data, listening)):
                yield Site(cell=own.cell, near=near, far=far)


async def said(sink: Path, word: str) -> float:
    """When a handler said this, by the clock that all processes of a machine share."""

    def ask() -> float:
        lines = sink.read_text().splitlines() if sink.exists() else []
        return next((float(line.rsplit(" ", 1)[1]) for line in lines if line.startswith(word)), 0.0)

    return await asyncio.to_thread(until, ask, what=word)


async def has_stopped(program: Program) -> int:
    return (await asyncio.to_thread(program.stopped)).code


async def test_a_host_that_is_cut_off_past_its_lease_does_nothing_twice_and_comes_back(tmp_path: Path) -> None:
    watched, sink = tmp_path / "watched", tmp_path / "sink"
    async with site() as place, place.cell.database(Role.WORKER) as db:
        shop, caller = Shop(db, place.cell), Caller(place.cell, sink, "caller")
        far_command = (*place.far.command, *LEASEHOLD)
        with started("worker", APP, "--name", "far", env=place.env(place.far), command=far_command) as far:
            far.said("worker started")
            job_id = await shop.enqueue("f.watched", {"sink": str(watched)})
            calling = asyncio.create_task(caller.run())
            await said(watched, "began 1")
            await eventually(more_than(20, lambda: len(effects(sink))), what="work on the far host")

            place.far.pull_cable()
            near_command = (*place.near.command, *LEASEHOLD)
            with started("worker", APP, "--name", "near", env=place.env(place.near), command=near_command) as near:
                began_again = await said(watched, "began 2")
                assert await said(watched, "stopped 1") < began_again, "never two at one time"
                before = len(effects(sink))
                await eventually(more_than(before + 20, lambda: len(effects(sink))), what="work on the near host")
                place.far.plug_cable()
                assert (await shop.ended(job_id)).result == 2
                caller.stop()
                await calling
                await drained(place.cell)
                assert await has_stopped(near) == 0
            again = await shop.run("f.work", {"sink": str(tmp_path / "other")})
            assert again.state is State.SUCCEEDED, "the far host is back"
            assert await has_stopped(far) == 0
        made = {*caller.acknowledged, job_id, again.job_id}
        expected = Expected(acknowledged=dict.fromkeys(made, place.cell.tenant_a), stopped=("near", "far"))
        history = await check(place.cell, expected)
        names = {row["worker_id"]: row["name"] for row in history.worker}
        lived = [(row["outcome"], names[row["worker_id"]]) for row in history.attempt if row["job_id"] == str(job_id)]
        assert lived == [("lost", "far"), ("succeeded", "near")]
        attempts = [row for row in history.attempt if row["job_id"] not in (str(job_id), str(again.job_id))]
        assert len(effects(sink)) <= len(attempts), "no effect without an attempt"

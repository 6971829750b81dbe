"""PostgreSQL dies under load and comes back."""

import asyncio
import os
import signal
from contextlib import ExitStack
from pathlib import Path
from uuid import UUID

import pytest

from leasehold.database.database import Database, Role, Target
from leasehold.engine import jobs
from leasehold.errors import LeaseholdError
from tests.cell import Cell
from tests.cli.program import started
from tests.faults.conftest import Own
from tests.faults.history import Expected, check
from tests.faults.sink import drained, effects, more_than
from tests.waiting import eventually
from tests.worker.running import ENVIRONMENT

pytestmark = pytest.mark.long

APP = "tests.faults.apps:app"


class Caller:
    """Enqueues one job after another; what was not answered is asked again under the same key."""

    def __init__(self, cell: Cell, sink: Path, name: str) -> None:
        self.acknowledged: set[UUID] = set()
        self.unanswered = 0
        self._cell, self._sink, self._name = cell, sink, name
        self._stop = False

    def stop(self) -> None:
        self._stop = True

    async def run(self) -> None:
        n = 0
        while not self._stop:
            try:
                async with Database(Target(url=self._cell.url(Role.API), role=Role.API), connections=1) as db:
                    while not self._stop:
                        await self._enqueue(db, n)
                        n += 1
            except LeaseholdError:
                self.unanswered += 1
                await asyncio.sleep(0.02)

    async def _enqueue(self, db: Database, n: int) -> None:
        payload = f'{{"sink": "{self._sink}", "seconds": 0.01}}'
        [made] = await jobs.enqueue(db, self._cell.tenant_a, "f.work", [payload], {}, keys=[f"{self._name}-{n}"])
        self.acknowledged.add(made.job_id)


async def test_every_acknowledged_job_survives_immediate_stops_under_load_and_ends_once(
    own: Own, tmp_path: Path
) -> None:
    cell, sink, endpoint = own.cell, tmp_path / "sink", own.endpoint
    callers = [Caller(cell, sink, name) for name in ("one", "two")]
    environment = cell.environment() | ENVIRONMENT
    with ExitStack() as stack:
        workers = [stack.enter_context(started("worker", APP, "--name", f"w{n}", env=environment)) for n in (1, 2)]
        for worker in workers:
            worker.said("worker started")
        calling = [asyncio.create_task(caller.run()) for caller in callers]
        for _ in range(2):
            await eventually(more_than(len(effects(sink)) + 40, lambda: len(effects(sink))), what="work")
            os.kill(endpoint.pid, signal.SIGQUIT)
            await asyncio.to_thread(own.server.stop)
            endpoint = await asyncio.to_thread(own.server.start)
        await eventually(more_than(len(effects(sink)) + 40, lambda: len(effects(sink))), what="work again")
        for caller in callers:
            caller.stop()
        await asyncio.gather(*calling)
        await drained(cell)
        assert [worker.stopped().code for worker in workers] == [0, 0]
    assert all(caller.unanswered for caller in callers)
    acknowledged = set().union(*(caller.acknowledged for caller in callers))
    expected = Expected(
        acknowledged=dict.fromkeys(acknowledged, cell.tenant_a), effects=effects(sink), stopped=("w1", "w2")
    )
    history = await check(cell, expected)
    assert {row["state"] for row in history.outcome} == {"succeeded"}

"""Runs of packs: read, ended once, and canceled with their flow, whatever pack they are of."""

from collections.abc import Awaitable, Callable
from uuid import UUID, uuid4

import pytest

from leasehold import Access, Transaction
from leasehold.database.database import Database
from leasehold.engine.leases import register_kinds
from leasehold.errors import Conflict, NotFound
from leasehold.program.client import Backend
from leasehold.settings import Settings
from leasehold_packs.audits import start_run
from leasehold_packs.audits.model import Options as AuditOptions
from leasehold_packs.audits.run import RUNS as AUDITS
from leasehold_packs.postings import service
from leasehold_packs.postings.model import NewSource, Options
from leasehold_packs.postings.store_runs import RUNS as POSTINGS
from leasehold_packs.runs.run import Runs
from tests.cell import Cell

Start = Callable[[Transaction], Awaitable[UUID]]


async def audit(tx: Transaction) -> UUID:
    return (await start_run.request_run(tx, "https://shop.test/", AuditOptions(), force=True)).run_id


async def look_for_postings(tx: Transaction) -> UUID:
    source = await service.add_source(tx, NewSource(url="https://boards.greenhouse.io/acme"), Options())
    return (await service.request_run(tx, "test", sources=[source.source_id])).run_id


#: Each pack that has runs, and how one of them starts.
PACKS = [
    pytest.param(AUDITS, audit, id="audits"),
    pytest.param(POSTINGS, look_for_postings, id="postings"),
]


@pytest.fixture
async def access(cell: Cell, api_db: Database, worker_db: Database) -> Access:
    await register_kinds(worker_db, ["audits", "postings"], {})
    return Access(Backend(Settings(), api_db), cell.tenant_a, "test")


@pytest.mark.parametrize(("runs", "start"), PACKS)
async def test_a_run_ends_once(access: Access, runs: Runs, start: Start) -> None:
    async with access.transaction() as tx:
        run_id = await start(tx)
        begun = await runs.get(tx, run_id)
        assert (begun.state, begun.is_running, begun.reason, begun.finished_at) == ("running", True, None, None)
        assert await runs.end(tx, run_id, "failed", "the site is away") is True
        ended = await runs.get(tx, run_id)
        assert (ended.state, ended.reason) == ("failed", "the site is away")
        assert ended.seq > begun.seq
        assert ended.finished_at is not None
        assert await runs.end(tx, run_id, "canceled", "too late") is False
        assert await runs.get(tx, run_id) == ended


@pytest.mark.parametrize(("runs", "start"), PACKS)
async def test_a_canceled_run_takes_its_flow_with_it_and_says_who_did_it(
    access: Access, cell: Cell, runs: Runs, start: Start
) -> None:
    async with access.transaction() as tx:
        run_id = await start(tx)
        flow_id = (await runs.get(tx, run_id)).flow_id
    assert flow_id is not None
    await runs.cancel(access, run_id, action="shop.stop")
    async with access.transaction() as tx:
        assert (await runs.get(tx, run_id)).state == "canceled"
    assert (await access.client.flows.get(flow_id)).state == "canceled"
    lines = await cell.look("select actor, target from leasehold.audit where action = 'shop.stop'")
    assert lines == [{"actor": "test", "target": str(run_id)}]
    with pytest.raises(Conflict, match=f"{runs.noun} {run_id} is canceled already"):
        await runs.cancel(access, run_id)


@pytest.mark.parametrize(("runs", "start"), PACKS)
async def test_nobody_else_finds_a_run(access: Access, cell: Cell, api_db: Database, runs: Runs, start: Start) -> None:
    async with access.transaction() as tx:
        run_id = await start(tx)
        with pytest.raises(NotFound, match=f"there is no {runs.noun}"):
            await runs.get(tx, uuid4())
    other = Access(Backend(Settings(), api_db), cell.tenant_b, "test")
    with pytest.raises(NotFound):
        await runs.cancel(other, run_id)

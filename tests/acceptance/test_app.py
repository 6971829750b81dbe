"""A user's own app, in the user's own folder, run by the installed program."""

import os
import sys
from pathlib import Path

import pytest

from leasehold.database.database import Database
from leasehold.job import State
from leasehold.program.client import Backend, Client
from leasehold.settings import Settings
from tests.cell import Cell
from tests.cli.program import LEASEHOLD, leasehold, started
from tests.waiting import eventually

SHOP = """
from dataclasses import dataclass
from leasehold import Leasehold
from leasehold.program.context import Context
from leasehold.program.outcomes import Cancel, Fail, Retry, Snooze

app = Leasehold()

@dataclass
class Refund:
    order: str
    cents: int

@app.handler("shop.refund", queue="money", priority=1, max_attempts=2, retry_base_s=0.01)
async def refund(ctx: Context, refund: Refund) -> dict[str, int]:
    await ctx.progress(50, "asked the bank")
    match refund.order:
        case "bad card": raise Fail("the card is bad")
        case "gone": raise Cancel("the order is gone")
        case "busy" if ctx.attempt == 1: raise Retry("the bank is busy", after=0)
        case "bug": raise ZeroDivisionError("a bug")
    return {"cents": refund.cents}

@app.handler("shop.slow", timeout_s=0.2, max_attempts=1)
async def slow(ctx: Context) -> None:
    import asyncio
    await asyncio.sleep(60)
"""


@pytest.fixture
def shop(tmp_path: Path) -> Path:
    (tmp_path / "shop.py").write_text(SHOP)
    return tmp_path


def settings(cell: Cell) -> dict[str, str]:
    return cell.environment() | {
        "LEASEHOLD_TENANT": "a",
        "LEASEHOLD_POLL_SECONDS": "0.05",
        "PYTHONDONTWRITEBYTECODE": "1",
    }


@pytest.mark.parametrize(
    ("values", "state", "words", "attempts"),
    [
        (["order=plain", "cents=5"], State.SUCCEEDED, "", 1),
        (["order=busy", "cents=5"], State.SUCCEEDED, "the bank is busy", 2),
        (["order=bad card", "cents=5"], State.FAILED, "the card is bad", 1),
        (["order=gone", "cents=5"], State.CANCELED, "the order is gone", 1),
        (["order=bug", "cents=5"], State.DEAD, "a bug", 2),
        (["order=plain", "cents=much"], State.FAILED, "cents", 1),
    ],
)
async def test_a_handler_decides_how_its_job_ends(
    cell: Cell, shop: Path, api_db: Database, values: list[str], state: State, words: str, attempts: int
) -> None:
    with started("worker", "shop:app", env=settings(cell), cwd=shop) as worker:
        worker.said("worker started")
        said = leasehold("run", "shop.refund", *values, "--follow", env=settings(cell))
        assert worker.stopped().code == 0
    assert said.code == (0 if state is State.SUCCEEDED else 1), said.err
    assert words in said.err
    [job] = await Client(Backend(Settings(), api_db), cell.tenant_a).list_jobs()
    assert (job.state, job.attempt, job.queue, job.priority) == (state, attempts, "money", 1)
    if state is State.SUCCEEDED:
        assert said.out == '{"cents": 5}\n'


async def test_an_attempt_that_takes_too_long_is_ended(cell: Cell, shop: Path) -> None:
    with started("worker", "shop:app", env=settings(cell), cwd=shop) as worker:
        worker.said("worker started")
        said = leasehold("run", "shop.slow", "--follow", env=settings(cell))
    assert said.code == 1
    assert "took longer than 0.2 s" in said.err


async def test_a_job_of_a_kind_that_no_worker_knows_waits_uncounted(
    cell: Cell,
    shop: Path,
    api_db: Database,
) -> None:
    with started("worker", "shop:app", env=settings(cell), cwd=shop) as worker:
        worker.said("worker started")
        leasehold("run", "other.kind", "--force", env=settings(cell))
        client = Client(Backend(Settings(), api_db), cell.tenant_a)
        [job] = await eventually(lambda: client.list_jobs(state="scheduled"), what="the job given back")
        assert worker.stopped().code == 0
    assert job.attempt == 0
    assert [attempt.outcome for attempt in await client.attempts(job.job_id)] == ["released"]


@pytest.mark.parametrize("how", ["python -m leasehold", "leasehold"])
async def test_the_app_is_found_in_the_folder_one_stands_in(
    cell: Cell,
    shop: Path,
    how: str,
) -> None:
    command: tuple[str, ...] = LEASEHOLD
    if how == "leasehold":
        command = (str(Path(sys.executable).with_name("leasehold")),)
        if not os.access(command[0], os.X_OK):
            pytest.skip("the program leasehold is not installed next to this Python")
    with started("worker", "shop:app", env=settings(cell), cwd=shop, command=command) as worker:
        worker.said("worker started")
        assert worker.stopped().code == 0

"""`leasehold worker --reload`: a changed file brings a new process with the new code."""

import os
from pathlib import Path

from leasehold.database.database import Database, Role
from leasehold.engine import jobs, leases
from leasehold.job import State
from leasehold.worker.reload import stamps
from tests.cell import Cell
from tests.cli.program import started
from tests.waiting import eventually

PROGRAM = """
from leasehold import Context, Leasehold
app = Leasehold()

@app.handler("t.answer")
async def answer(ctx: Context) -> str:
    return "{answer}"
"""


async def test_a_changed_file_is_run_without_a_restart_by_hand(cell: Cell, api_db: Database, tmp_path: Path) -> None:
    program = tmp_path / "shop.py"
    program.write_text(PROGRAM.format(answer="old"))
    env = cell.environment() | {"LEASEHOLD_POLL_SECONDS": "0.05"}

    async def answered() -> str:
        [job] = await jobs.enqueue(api_db, cell.tenant_a, "t.answer", ["{}"], {})

        async def ended() -> bool:
            return (await jobs.get_job(api_db, cell.tenant_a, job.job_id)).state is State.SUCCEEDED

        await eventually(ended, what="answered")
        return str((await jobs.get_job(api_db, cell.tenant_a, job.job_id)).result)

    async def first_has_ended() -> bool:
        async with cell.database(Role.OPERATOR) as db:
            return any(worker.ended_at for worker in await leases.list_workers(db))

    with started("worker", "shop:app", "--reload", env=env, cwd=tmp_path):
        assert await answered() == "old"
        program.write_text(PROGRAM.format(answer="new"))
        os.utime(program, ns=(1, program.stat().st_mtime_ns + 1_000_000_000))
        await eventually(first_has_ended, what="the first process has ended")
        assert await answered() == "new"


def test_only_python_files_of_ones_own_count(tmp_path: Path) -> None:
    for name in ("a.py", "b/c.py", ".venv/d.py", "node_modules/e.py", "notes.txt"):
        path = tmp_path / name
        path.parent.mkdir(exist_ok=True)
        path.write_text("")
    assert sorted(stamps(tmp_path)) == ["a.py", "b/c.py"]

"""Leasehold for the peer harness: its six commands, through the public API only.

An ordinary handler with a typed payload, the worker that `leasehold worker` starts with its default settings, one
database URL as most users give it, the jobs of twenty tenants in turn.

A seventh command, `check`, fails unless every job has one attempt and one outcome, or still waits. The others do the
same before they begin: what the run before them lost makes it void, and the harness says FAILED.
"""

import itertools
import os
import subprocess
import sys
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

os.environ["LEASEHOLD_PACKS"] = "none"

import uvloop
from common import PG, main, mark, pg_reset, pg_scalar  # type: ignore[import-not-found]  # the harness's own
from pydantic import BaseModel

from leasehold import Context, Leasehold, Settings

DATABASE = "b_leasehold"
TENANTS = [f"t{number}" for number in range(20)]
URL = PG + DATABASE
_ROWS = {
    "jobs": "(select count(*) from leasehold.job)",
    "attempts": "(select count(*) from leasehold.attempt)",
    "outcomes": "(select count(*) from leasehold.outcome)",
    "leases": "(select count(*) from leasehold.lease)",
    "waiting": " + ".join(f"(select count(*) from leasehold.{table})" for table in ("ready", "parked", "deferred")),
}


class Noop(BaseModel):
    t0: float = 0.0


app = Leasehold(Settings(database_url=URL, packs="none"))


@app.handler("bench.noop")
async def noop(ctx: Context, job: Noop) -> None:
    mark(job.t0)


class Adapter:
    postgres, concurrency, has_bulk = True, 0, True
    settings = "leasehold worker as it is by default, one URL, 20 tenants, pydantic payload, synchronous_commit=on"

    def setup(self) -> None:
        try:
            check_this_run()
        finally:
            pg_reset(DATABASE)
            subprocess.run([sys.executable, "-m", "leasehold", "db", "migrate"], env=_environment(), check=True)
            for tenant in TENANTS:
                pg_scalar(DATABASE, f"select leasehold.create_tenant('{tenant}')")
            _sign()

    async def producer(self) -> tuple[Callable[[float], Awaitable[Any]], Callable[[int], Awaitable[Any]], Any]:
        check_this_run()
        tenants = itertools.cycle(TENANTS)
        await app.__aenter__()
        for tenant in TENANTS:
            await app.client(tenant)

        def one(t0: float) -> Awaitable[Any]:
            return noop.enqueue(Noop(t0=t0), tenant=next(tenants))

        def bulk(n: int) -> Awaitable[Any]:
            return noop.enqueue_many([Noop() for _ in range(n)], tenant=next(tenants))

        return one, bulk, app.close

    def work(self, _: int) -> None:
        os.chdir(Path(__file__).parent)
        arguments = [sys.executable, "-m", "leasehold", "worker", "sys_leasehold:app"]
        os.execve(sys.executable, arguments, _environment())

    def pending(self) -> int:
        return int(pg_scalar(DATABASE, f"select {_ROWS['jobs']} - {_ROWS['outcomes']}"))


def check_this_run() -> None:
    """Not what an earlier run of the harness left, which may have been interrupted: its runner signed otherwise."""
    comment = "select shobj_description(oid, 'pg_database') from pg_database"
    signed = pg_scalar("postgres", f"select ({comment} where datname = '{DATABASE}')")
    if signed == _runner():
        check()


def check() -> None:
    pairs = ", ".join(f"'{name}', {count}" for name, count in _ROWS.items())
    rows = pg_scalar(DATABASE, f"select jsonb_build_object({pairs})")
    ended_once = rows["jobs"] - rows["waiting"] == rows["attempts"] == rows["outcomes"]
    if not ended_once or rows["leases"]:
        raise SystemExit(f"void: the run before this left {rows}")


def _sign() -> None:
    import psycopg  # here: the worker's process has no need of it

    with psycopg.connect(URL, autocommit=True) as connection:
        connection.execute(f"comment on database {DATABASE} is '{_runner()}'")  # type: ignore[arg-type]


def _runner() -> str:
    """The harness's process: it starts every command itself."""
    return f"runner {os.getppid()}"


def _environment() -> dict[str, str]:
    return {**os.environ, "LEASEHOLD_DATABASE_URL": URL}


if __name__ == "__main__":
    uvloop.install()
    if sys.argv[1] == "check":
        check()
    else:
        main(Adapter())

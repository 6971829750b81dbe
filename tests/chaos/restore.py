"""A dump from the middle of a run, restored into a new cluster and finished there: the sentences hold for it, too."""

import asyncio
import subprocess
import time
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import count
from pathlib import Path

from leasehold.database import migrate
from leasehold.database.database import Role
from leasehold.postgres import Home, Server, ephemeral_home, find_binaries
from tests.chaos.database import NAME, Private, drain
from tests.chaos.invariants import check
from tests.chaos.place import Place
from tests.chaos.story import Story, collect
from tests.chaos.world import SETTINGS
from tests.cli.program import leasehold, started

APP = "tests.chaos.copied:app"
_OPTIONS = {"max_connections": "100", "max_wal_size": "192MB", "min_wal_size": "64MB"}


@dataclass(frozen=True, slots=True, kw_only=True)
class Dump:
    path: Path
    began: float  # monotonic: what was acknowledged before is in it


async def dumped(database: Private, folder: Path, options: Sequence[str]) -> Dump | None:
    """By the programs of the server itself; None when the database went away meanwhile."""
    began = time.monotonic()
    path = folder / f"dump-{began:.0f}"
    said = await _run("pg_dump", "-Fc", "-f", str(path), *options, "-d", database.admin_url)
    if said.returncode != 0:
        path.unlink(missing_ok=True)
        return None
    return Dump(path=path, began=began)


async def judged(
    dump: Dump, of: Story, folder: Path, secrets: Sequence[str], *, secret_key: str
) -> dict[str, list[str]]:
    """What is broken in the copy after everything in it has ended."""
    home = Home(ephemeral_home(in_memory=True))
    home.make()
    place = Place(folder=home.path, small=False)
    copy = Private(
        place=place, home=home, server=Server(home.path, options=_OPTIONS, ephemeral=True), tenants=dict(of.tenants)
    )
    try:
        await copy.start()
        await _restore(copy, dump)
        own = folder / "copy"
        own.mkdir()
        env = SETTINGS | {
            "LEASEHOLD_API_URL": copy.url(Role.API),
            "LEASEHOLD_WORKER_URL": copy.url(Role.WORKER),
            "LEASEHOLD_SECRET_KEYS": secret_key,
            "CHAOS_SINK": str(own / "sink"),
        }
        await copy.pause_schedules()
        await _finish(copy, env)
        story = await collect(copy, own, secrets, {})
        return check(as_of(dump, story, of))
    finally:
        await asyncio.to_thread(copy.server.stop)
        home.wipe()


async def _finish(copy: Private, env: dict[str, str]) -> None:
    """Run what is there to its end. A worker that died of a job is replaced."""
    draining = asyncio.create_task(drain(copy))
    for life in count(1):
        name = f"copy.{life}"
        with started("worker", APP, "--name", name, env=env | {"CHAOS_WORKER": name}) as worker:
            ending = asyncio.create_task(asyncio.to_thread(worker.process.wait))
            await asyncio.wait({draining, ending}, return_when=asyncio.FIRST_COMPLETED)
            if draining.done():
                await asyncio.to_thread(worker.stopped)
            await ending
        if draining.done():
            await draining
            return


async def _restore(copy: Private, dump: Dump) -> None:
    """The steps of docs/operating/backups.md."""
    roles = leasehold("db", "sql", "--roles").out
    made = await _run("psql", "-Xq", "-v", "ON_ERROR_STOP=1", "-d", copy.endpoint.url(), stdin=roles)
    assert made.returncode == 0, made.stderr
    await migrate.create_database(copy.endpoint.url(), NAME)
    said = await _run("pg_restore", "--exit-on-error", "-d", copy.admin_url, str(dump.path))
    assert said.returncode == 0, said.stderr
    done = await migrate.migrate(copy.admin_url)
    assert done.applied == [], done.applied
    await copy.let_in()


async def _run(program: str, *arguments: str, stdin: str | None = None) -> "subprocess.CompletedProcess[str]":
    command = [str(find_binaries(None).bin / program), *arguments]
    return await asyncio.to_thread(subprocess.run, command, input=stdin, capture_output=True, text=True)


def as_of(dump: Dump, copy: Story, of: Story) -> Story:
    """What clients knew when the dump began, faults, and effects of attempts that the copy knows.

    An attempt that was given back is not counted: after the dump, the same worker may have made one of the same number.
    """
    known = Counter(
        (str(row["job_id"]), int(row["attempt"]), copy.names.get(row["worker_id"], "")) for row in copy.table("attempt")
    )
    return replace(
        copy,
        ops=[op for op in of.ops if op.what == "fault" or (op.status == "ok" and op.ended < dump.began)],
        sink=[*(Counter(of.sink) & known).elements(), *copy.sink],
        told={},
    )

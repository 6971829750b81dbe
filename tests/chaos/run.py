"""One run: start everything, inject the faults, let it drain, read what is left."""

import asyncio
import secrets
import shutil
import tempfile
import time
from collections import Counter
from contextlib import ExitStack
from pathlib import Path

from leasehold.engine.database import Role
from leasehold.engine.jobs import enqueue
from leasehold.engine.tenants import find_tenant
from leasehold.errors import NotFound
from tests.chaos import place
from tests.chaos.database import Private, private
from tests.chaos.invariants import check
from tests.chaos.mutants import plant
from tests.chaos.nemesis import Nemesis
from tests.chaos.oplog import OpLog
from tests.chaos.plan import plan
from tests.chaos.report import Report
from tests.chaos.story import Story, collect, scrape
from tests.chaos.world import World
from tests.waiting import eventually

#: So long nothing ended: what is still there never will.
_STUCK_SECONDS = 60.0


async def run(
    *, seed: int, minutes: float, mutant: str | None = None, on_disk: bool = False, keep: Path | None = None
) -> Report:
    with ExitStack() as stack:
        folder = keep or Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="leasehold-chaos-log-")))
        folder.mkdir(parents=True, exist_ok=True)
        where = stack.enter_context(place.found(on_disk=on_disk))
        async with private(where) as database:
            key, secret = secrets.token_urlsafe(32), f"chaos-{secrets.token_hex(12)}"
            await database.make(keys=key, secret=secret)
            if mutant:
                await plant(database, mutant)
            world = World(database, folder, OpLog(folder / "driver.jsonl", "driver"), seed=seed, secret_key=key)
            try:
                return await _live(world, seed, minutes, mutant, [secret, key, *database.passwords])
            finally:
                await world.close()
                if keep:
                    shutil.copy(database.home.path / "postgres.log", folder / "postgres.txt")


async def _live(world: World, seed: int, minutes: float, mutant: str | None, hidden: list[str]) -> Report:
    database = world.database

    async def poison() -> None:
        async with database.database(Role.API) as db:
            await enqueue(db, await find_tenant(db, "a"), "c.poison", ["{}"], {})

    nemesis = Nemesis(world, poison)
    await world.start()
    await eventually(lambda: _limited(database), what="a worker that makes its kinds known")
    await nemesis.run(plan(seed, minutes * 60))
    await world.calm()
    await world.stop_producers()
    began = time.monotonic()
    await database.pause_schedules()
    await _drain(database)
    drained = time.monotonic() - began
    story = await _settled(world, hidden)
    return _report(story, nemesis, world, seed=seed, minutes=minutes, mutant=mutant, drained=drained)


async def _limited(database: Private) -> bool:
    try:
        await database.limit_kind()
    except NotFound:
        return False
    return True


async def _drain(database: Private) -> None:
    """Until every job has ended, or nothing more happens."""
    newest, since = -1, time.monotonic()
    while time.monotonic() < since + _STUCK_SECONDS:
        [row] = await database.rows(
            "select (select count(*) from leasehold.job) - (select count(*) from leasehold.outcome)"
            " + (select count(*) from leasehold.flow where state = 'running') as open"
        )
        if row["open"] == 0:
            return
        if row["open"] != newest:
            newest, since = row["open"], time.monotonic()
        await asyncio.sleep(0.3)


async def _settled(world: World, hidden: list[str]) -> Story:
    """Metrics are asked for while the workers run; then they are stopped in good order, and all is read."""
    database = world.database
    await asyncio.sleep(2 * 0.7)  # the last reports of ended attempts are on their way
    counted = await eventually(lambda: _counted(world), what="an answer of every worker")
    await world.stop_workers()
    return await collect(database, world.folder, hidden, counted or {})


async def _counted(world: World) -> dict[str, dict[str, float]] | None:
    try:
        return {worker.name: await asyncio.to_thread(scrape, worker.port) for worker in world.workers.values()}
    except OSError:  # one was just replaced, and does not listen yet
        return None


def _report(
    story: Story, nemesis: Nemesis, world: World, *, seed: int, minutes: float, mutant: str | None, drained: float
) -> Report:
    return Report(
        seed=seed,
        minutes=minutes,
        mutant=mutant,
        faults=dict(nemesis.done),
        missed=dict(nemesis.missed),
        deaths=world.deaths,
        jobs=len(story.lives),
        attempts=dict(Counter(row["outcome"] for row in story.table("attempt"))),
        outcomes=dict(Counter(row["state"] for row in story.table("outcome"))),
        ops=dict(Counter(op.status for op in story.ops)),
        strange=sorted({op.error or "" for op in story.ops if op.strange}),
        broken=check(story),
        drain_seconds=drained,
    )

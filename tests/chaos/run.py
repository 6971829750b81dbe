"""One run: start everything, inject the faults, let it drain, read what is left."""

import asyncio
import shutil
import tempfile
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from secrets import token_urlsafe

from leasehold.database.database import Role
from leasehold.engine.jobs import enqueue
from leasehold.engine.tenants import find_tenant
from leasehold.errors import NotFound
from leasehold.postgres import Home, ephemeral_home
from tests.chaos import place
from tests.chaos.database import BYSTANDER, OPTIONS, TENANTS, Private, drain, private
from tests.chaos.invariants import check
from tests.chaos.latency import latencies, unmeasured
from tests.chaos.mutants import DUMPS, plant
from tests.chaos.nemesis import Nemesis
from tests.chaos.oplog import OpLog
from tests.chaos.plan import WORKERS, plan
from tests.chaos.report import Report
from tests.chaos.restore import judged
from tests.chaos.story import Story, collect, scrape
from tests.chaos.world import Secrets, World
from tests.faults.bare import Bare, base_backup, running
from tests.waiting import eventually


async def run(
    *, seed: int, minutes: float, mutant: str | None = None, on_disk: bool = False, keep: Path | None = None
) -> Report:
    with ExitStack() as stack:
        folder = keep or Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="leasehold-chaos-log-")))
        folder.mkdir(parents=True, exist_ok=True)
        where = stack.enter_context(place.found(on_disk=on_disk))
        async with private(where) as database:
            key, pepper, secret = (f"chaos-{token_urlsafe(32)}" for _ in range(3))
            await database.make(keys=key, secret=secret)
            own = {tenant: await database.make_key(tenant, pepper) for tenant in (*TENANTS, BYSTANDER, None)}
            if mutant:
                await plant(database, mutant)
            log = OpLog(folder / "driver.jsonl", "driver")
            with following(database) as standby:
                known = Secrets(pepper=pepper, secret_key=key, keys=own)
                world = World(database, standby, folder, log, seed=seed, secrets=known)
                try:
                    return await _live(world, seed, minutes, mutant, [secret, *known.texts, *database.passwords])
                finally:
                    await world.close()
                    if keep:
                        shutil.copy(database.home.path / "postgres.log", folder / "postgres.txt")


@contextmanager
def following(database: Private) -> Iterator[Bare]:
    """A standby that nobody waits for."""
    home = Home(ephemeral_home(in_memory=True))
    home.make()
    try:
        with running(Bare(base_backup(database.endpoint, home.path), OPTIONS)) as standby:
            yield standby
    finally:
        shutil.rmtree(home.path)


async def _live(world: World, seed: int, minutes: float, mutant: str | None, hidden: list[str]) -> Report:
    database = world.database

    async def poison() -> None:
        async with database.database(Role.API) as db:
            await enqueue(db, await find_tenant(db, "a"), "c.poison", ["{}"], {})

    nemesis = Nemesis(world, poison, dump_options=DUMPS.get(mutant or "", ()))
    await world.start()
    await eventually(lambda: _limited(database), what="a worker that makes its kinds known")
    await nemesis.run(plan(seed, minutes * 60))
    await world.calm()
    await world.stop_producers()
    began = time.monotonic()
    await database.pause_schedules()
    await drain(database)
    drained = time.monotonic() - began
    story = await _settled(world, hidden)
    broken = check(story)
    if nemesis.dump:
        found = await judged(nemesis.dump, story, world.folder, hidden, secret_key=world.secrets.secret_key)
        broken |= {f"{name} of the dump": sentences for name, sentences in found.items()}
    return _report(story, nemesis, world, broken, seed=seed, minutes=minutes, mutant=mutant, drained=drained)


async def _limited(database: Private) -> bool:
    try:
        await database.limit_kind()
    except NotFound:
        return False
    return True


async def _settled(world: World, hidden: list[str]) -> Story:
    """Metrics are asked for while the workers run; then they are stopped in good order, and all is read."""
    database = world.database
    await asyncio.sleep(2 * 0.7)  # the last reports of ended attempts are on their way
    counted = await eventually(lambda: _counted(world), what="an answer of every worker")
    await world.stop_workers()
    return await collect(database, world.folder, hidden, counted or {})


async def _counted(world: World) -> dict[str, dict[str, float]] | None:
    try:
        ports = {one.name: one.port for one in world.workers.values() if one.place in WORKERS}
        return {name: await asyncio.to_thread(scrape, port) for name, port in ports.items()}
    except OSError:  # one was just replaced, and does not listen yet
        return None


def _report(
    story: Story,
    nemesis: Nemesis,
    world: World,
    broken: dict[str, list[str]],
    *,
    seed: int,
    minutes: float,
    mutant: str | None,
    drained: float,
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
        broken=broken,
        latencies=latencies(story),
        unmeasured=unmeasured(story),
        drain_seconds=drained,
    )

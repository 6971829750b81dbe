"""The restore drill of docs/operating/backups.md: a dump with jobs in every place, a new server, and work goes on."""

import asyncio
import subprocess
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any
from uuid import UUID

import httpx
import pytest

from leasehold.database import migrate
from leasehold.database.database import Role
from leasehold.engine import jobs, leases, tenants
from leasehold.errors import Conflict
from leasehold.features.flows.model import approval, chain, sleep, step, wait_for
from leasehold.features.flows.store import Flows
from leasehold.features.limits.store import Gates
from leasehold.features.schedules.store import Schedules
from leasehold.features.secrets.store import put_secret
from leasehold.job import AttemptOutcome
from leasehold.postgres import Home, Server, ephemeral_home, find_binaries
from leasehold.program.app import Leasehold
from leasehold.program.context import Context
from leasehold.sealing import Keys
from tests.cell import Cell, Cluster
from tests.cli.program import leasehold, started
from tests.database.test_migrate import feed
from tests.faults.history import Expected, check
from tests.faults.sink import drained
from tests.waiting import eventually
from tests.worker.running import ENVIRONMENT

APP = "tests.upgrade.test_restore:app"
SYSTEM = next(Path("/usr/lib/postgresql").glob("15/bin"), None)
SECRETS = {
    "LEASEHOLD_KEY_PEPPER": "a pepper for tests that is long enough to be one",
    "LEASEHOLD_SECRET_KEYS": "a key for secrets of tests that is long enough",
    "LEASEHOLD_PACKS": "none",
}
#: Where a job can be. The drill fails when the dump has none in one of them.
PLACES = ("ready", "deferred", "parked", "blocked", "gated", "lease", "waiting", "outcome")

app = Leasehold()


@app.handler("r.work", retry_base_s=0.05, retry_cap_s=0.1, attempts=20)
async def work(ctx: Context, order: dict[str, Any]) -> str:
    return f"{len(await ctx.secret('token'))} letters" if order.get("secret") else "done"


@asynccontextmanager
async def server(pg_bin: Path | None) -> AsyncIterator[Cluster]:
    home = Home(ephemeral_home(in_memory=True))
    home.make()
    one = Server(home.path, pg_bin=pg_bin, ephemeral=True)
    try:
        endpoint = await asyncio.to_thread(one.start)
        passwords = {role: home.secret(role) for role in Role}
        yield Cluster(admin_url=endpoint.url(), passwords=passwords, home=str(home.path), template="shop")
    finally:
        await asyncio.to_thread(one.stop)
        home.wipe()


async def fill(cell: Cell) -> dict[UUID, UUID]:
    """Jobs in every place, also in the hands of a worker that the new server will never hear of; with their tenants."""
    a, b = cell.tenant_a, cell.tenant_b
    asked: dict[UUID, UUID] = {}
    async with (
        cell.database(Role.OPERATOR) as operator,
        cell.database(Role.WORKER) as db,
        cell.database(Role.API) as api,
    ):

        async def enqueue(tenant: UUID, n: int = 2, payload: str = "{}", **options: Any) -> UUID:
            keys = [options.pop("key")] if "key" in options else None
            made = await jobs.enqueue(api, tenant, "r.work", [payload] * n, options, keys=keys)
            asked.update((job.job_id, tenant) for job in made)
            return made[0].job_id

        await tenants.set_tenant(operator, b, max_running=1)
        await Gates(api, a).set("slow", rate=1, burst=1)
        await put_secret(api, a, "token", "sesame", Keys([SECRETS["LEASEHOLD_SECRET_KEYS"]]))
        schedules = Schedules(api, a, lambda _: None)
        await schedules.put("yearly", "r.work", {}, cron="0 0 1 1 *")
        hand = await leases.register_worker(
            db, name="gone", version="0", queues=["default"], kinds={}, slots=100, lease_s=2.0
        )
        await enqueue(a, 4)
        await enqueue(a, group="one", group_limit=1)
        await enqueue(a, gate="slow")
        await enqueue(b, 4)
        granted = await jobs.claim(db, hand, ["default"], 50)
        ends = [
            AttemptOutcome(token=grant.token, outcome=o)
            for grant, o in zip(granted, ("succeeded", "errored"), strict=False)
        ]
        await jobs.finish(db, ends)
        await enqueue(a, 3, delay_s=1.0)
        await enqueue(a, priority=0)
        await enqueue(a, 1, key="order 17")
        await enqueue(a, 1, payload='{"secret": true}')
        assert await jobs.cancel(api, a, await enqueue(a)) == "canceled"
        flows = Flows(api, a, lambda: None)
        await flows.start(chain(step("r.work", {}), sleep(0.5), step("r.work", {})), name="nap")
        await flows.start(chain(approval("go on?", expires=1.0, default="approve"), step("r.work", {})), name="ask")
        await flows.start(chain(wait_for("go", "k", timeout=3600.0), step("r.work", {})), name="wait")
        await enqueue(a, 1)
    return asked


async def counts(cell: Cell) -> dict[str, int]:
    return {place: (await cell.look(f"select count(*) as n from leasehold.{place}"))[0]["n"] for place in PLACES}


async def restored(source: Cell, dumps: Path, target: Cluster, folder: Path, *, roles_first: bool) -> Cell:
    """As the page says: dumped by the old server's programs, restored by those of the new one."""
    restores = find_binaries(None).bin
    dump = folder / "leasehold.dump"
    assert await output(dumps / "pg_dump", "-Fc", "-f", dump, "-d", source.cluster.url(source.name)) == ""
    if roles_first:
        feed(restores / "psql", target.admin_url, leasehold("db", "sql", "--roles").out)
    await migrate.create_database(target.admin_url, target.template)
    url = target.url(target.template)
    said = await output(restores / "pg_restore", "-d", url, dump)
    assert (said == "") == roles_first, said
    done = leasehold("db", "migrate", "--json", env={"LEASEHOLD_DATABASE_URL": url, "LEASEHOLD_PACKS": "none"})
    assert (done.code, done.json["restored"]) == (0, not roles_first), done.err
    await migrate.let_in(target.admin_url, target.template, target.passwords)
    if not roles_first:
        await target.open_back_door()
    return Cell(cluster=target, name=target.template)


async def output(program: Path, *arguments: str | Path) -> str:
    """What it complained about."""
    command = [str(program), *map(str, arguments)]
    done = await asyncio.to_thread(subprocess.run, command, capture_output=True, text=True)
    return str(done.stderr)


async def drill(source_bin: Path | None, folder: Path, *, roles_first: bool) -> None:
    async with server(source_bin) as old, server(None) as new:
        await old.make_template()
        source = Cell(cluster=old, name=old.template)
        asked = await fill(source)
        key = leasehold("keys", "create", "shop", env=source.environment() | SECRETS | {"LEASEHOLD_TENANT": "a"})
        before = await counts(source)
        assert all(before.values()), before

        copy = await restored(source, find_binaries(source_bin).bin, new, folder, roles_first=roles_first)
        assert await counts(copy) == before
        async with copy.database(Role.API) as api:
            assert await Flows(api, copy.tenant_a, lambda: None).send_signal("go", "k", {})
        env = copy.environment() | ENVIRONMENT | SECRETS
        with started("worker", APP, "--name", "new", env=env) as worker:
            await drained(copy)
            await eventually(lambda: ended(copy), what="the end of the flows")
            assert worker.stopped().code == 0
        history = await check(copy, Expected(acknowledged=asked, maybe=True, stopped=["new"]))
        assert {row["state"] for row in history.outcome} <= {"succeeded", "canceled"}
        results = [row["result"] for row in history.outcome]
        assert "6 letters" in results, "secrets open with the old key"
        assert {row["outcome"] for row in history.attempt} >= {"lost", "succeeded"}, (
            "what ran is taken from who is gone"
        )
        await knows_its_keys(copy, env, key.out.strip())


async def knows_its_keys(copy: Cell, env: dict[str, str], key: str) -> None:
    """The key of an enqueue and the key of a caller."""
    async with copy.database(Role.API) as api:
        [again] = await jobs.enqueue(api, copy.tenant_a, "r.work", ["{}"], {}, keys=["order 17"])
        assert not again.created
        with pytest.raises(Conflict):
            await jobs.enqueue(api, copy.tenant_a, "r.work", ['{"other": 1}'], {}, keys=["order 17"])
    with started("serve", "--port", "0", env=env) as serving:
        serving.said("serving http")
        url = serving.err.split("serving ", 1)[1].split("/v1", 1)[0]
        async with httpx.AsyncClient(headers={"Authorization": f"Bearer {key}"}) as client:
            answer = await client.get(f"{url}/v1/jobs/{again.job_id}")
        assert (answer.status_code, answer.json()["state"]) == (200, "succeeded")


async def ended(cell: Cell) -> bool:
    return not await cell.look("select 1 from leasehold.flow where state = 'running'")


@pytest.mark.long
@pytest.mark.parametrize("roles_first", [True, False], ids=["with the roles", "without the roles"])
async def test_work_goes_on_from_a_dump_on_a_new_server(tmp_path: Path, roles_first: bool) -> None:
    await drill(None, tmp_path, roles_first=roles_first)


@pytest.mark.long
@pytest.mark.skipif(SYSTEM is None, reason="PostgreSQL 15 is not installed here")
async def test_work_goes_on_from_a_dump_of_postgresql_15_on_18(tmp_path: Path) -> None:
    await drill(SYSTEM, tmp_path, roles_first=True)

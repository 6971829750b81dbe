"""The ways to ask for a job. Each asks for those of all cases and says what it got: the job's id, or the refusal."""

import asyncio
import json
from collections.abc import Awaitable, Callable
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any
from uuid import UUID

import asyncpg
import httpx
import psycopg
from typer.testing import CliRunner

from leasehold.cli import app as command_line
from leasehold.database.connect import target
from leasehold.database.database import Database, Role
from leasehold.engine import jobs
from leasehold.errors import LeaseholdError
from leasehold.features.flows.model import step
from leasehold.features.jobs import store as look
from leasehold.features.schedules.store import fire_due, sync
from leasehold.job_options import LONG, plain
from leasehold.program.access import Access
from leasehold.remote import AsyncClient
from leasehold.remote import Client as SyncClient
from leasehold.remote.values import Refused
from tests.options import handlers
from tests.options.cases import Case, Options
from tests.options.world import World
from tests.worker.running import FAST, running

Made = dict[str, UUID | Exception]
Way = Callable[[World], Awaitable[Made]]

#: As people write them, where there is a short name.
_SHORT = {long: short for short, long in LONG.items()}


def short(options: Options) -> dict[str, Any]:
    return {_SHORT.get(name, name): value for name, value in options.items()}


async def each(world: World, ask: Callable[[Case], Awaitable[UUID]]) -> Made:
    """One after the other."""
    made: Made = {}
    for case in world.cases:
        try:
            made[case.name] = await ask(case)
        except (LeaseholdError, asyncpg.PostgresError) as problem:
            made[case.name] = problem
    return made


# -- in Python, with a database -------------------------------------------------------------------------------------


async def alone(world: World) -> Made:
    async def ask(case: Case) -> UUID:
        return (await world.app.enqueue(case.kind, case.payload, tenant="a", key=case.key, **short(case.caller))).job_id

    return await each(world, ask)


async def many(world: World) -> Made:
    async def ask(case: Case) -> UUID:
        keys = None if case.key is None else [case.key, None]
        given = (case.kind, [case.payload, case.payload])
        return (await world.app.enqueue_many(*given, tenant="a", keys=keys, **short(case.caller)))[0].job_id

    return await each(world, ask)


async def grouped(world: World) -> Made:
    """All at once and each twice, so that they share calls and commits, with those of another tenant too."""

    def ask(case: Case, tenant: str) -> Awaitable[Any]:
        return world.app.enqueue(case.kind, case.payload, tenant=tenant, key=case.key, **short(case.caller))

    asked = [ask(case, tenant) for case in world.cases for tenant in ("a", "b")]
    made = (await asyncio.gather(*asked, return_exceptions=True))[::2]
    found = zip(world.cases, made, strict=True)
    return {case.name: one if isinstance(one, Exception) else one.job_id for case, one in found}  # type: ignore[union-attr]


async def in_a_transaction(world: World) -> Made:
    connection = await asyncpg.connect(world.cell.url(Role.API))
    world.stack.push_async_callback(connection.close)

    async def ask(case: Case) -> UUID:
        given = {"tenant": "a", "key": case.key, **short(case.caller)}
        async with connection.transaction():
            return (await world.app.enqueue(case.kind, case.payload, conn=connection, **given)).job_id

    return await each(world, ask)


async def in_a_sync_transaction(world: World) -> Made:
    connection = world.stack.enter_context(psycopg.connect(world.cell.url(Role.API)))

    async def ask(case: Case) -> UUID:
        given = {"tenant": "a", "key": case.key, **short(case.caller)}
        with connection.transaction():
            return world.app.sync.enqueue(case.kind, case.payload, conn=connection, **given).job_id

    return await each(world, ask)


async def sync_alone(world: World) -> Made:
    async def ask(case: Case) -> UUID:
        given = {"tenant": "a", "key": case.key, **short(case.caller)}
        return (await asyncio.to_thread(world.app.sync.enqueue, case.kind, case.payload, **given)).job_id

    return await each(world, ask)


async def by_the_client(world: World) -> Made:
    client = await world.client()

    async def ask(case: Case) -> UUID:
        return (await client.enqueue(case.kind, case.payload, key=case.key, **short(case.caller))).job_id

    return await each(world, ask)


async def by_a_pack(world: World) -> Made:
    client = await world.client()
    access = Access(client.backend, client.tenant_id, "test")

    async def ask(case: Case) -> UUID:
        async with access.transaction() as tx:
            return (await tx.enqueue(case.kind, case.payload, key=case.key, **short(case.caller))).job_id

    return await each(world, ask)


# -- in SQL ---------------------------------------------------------------------------------------------------------


async def sql(world: World) -> Made:
    async with Database(target(world.settings, Role.WORKER)) as db:

        async def ask(case: Case) -> UUID:
            keys = None if case.key is None else [case.key]
            options = json.dumps({**dict.fromkeys(case.caller), **plain(case.caller)})  # with what is null
            asked = (case.kind, [json.dumps(case.payload)], options, keys)
            return UUID(str((await db.call("enqueue", *asked, tenant=world.cell.tenant_a))[0]["job_ids"][0]))

        return await each(world, ask)


async def sql_for_many_tenants(world: World) -> Made:
    async with Database(target(world.settings, Role.API)) as db:

        async def ask(case: Case) -> UUID:
            if case.key is not None:
                raise LeaseholdError("keys are for one tenant")
            tenants = [world.cell.tenant_a, world.cell.tenant_b]
            options = json.dumps({**dict.fromkeys(case.caller), **plain(case.caller)})
            payload = json.dumps(case.payload)
            [made] = await db.call("enqueue", case.kind, [payload] * 2, options, None, tenants)
            return UUID(str(made["job_ids"][0]))

        return await each(world, ask)


# -- in a handler ---------------------------------------------------------------------------------------------------


async def in_a_handler(world: World, kind: str) -> Made:
    """The worker of these handlers leaves the jobs of the cases alone: they are in other queues."""
    async with running(world.cell, handlers.app, replace(FAST, queues="handlers")):
        client = await world.client()
        order = [
            {"kind": one.kind, "payload": one.payload, "key": one.key, "options": short(plain(one.caller))}
            for one in world.cases
        ]
        asked = await client.enqueue(kind, order, timeout=100.0)
        ended = await client.wait(asked.job_id, timeout=100)
    assert ended.result is not None, ended.error
    results = zip(world.cases, ended.result, strict=True)
    return {case.name: UUID(one["id"]) if "id" in one else ValueError(one["refused"]) for case, one in results}


async def by_ctx(world: World) -> Made:
    return await in_a_handler(world, "w.ctx")


async def by_sync_ctx(world: World) -> Made:
    return await in_a_handler(world, "w.sync")


async def by_isolated_ctx(world: World) -> Made:
    return await in_a_handler(world, "w.isolated")


async def in_ctx_transaction(world: World) -> Made:
    return await in_a_handler(world, "w.tx")


# -- over HTTP ------------------------------------------------------------------------------------------------------


def body(case: Case) -> dict[str, Any]:
    named = {**dict.fromkeys(case.caller), **plain(case.caller)}
    return {"kind": case.kind, "payload": case.payload, "key": case.key, **named}


def job_of(answer: httpx.Response) -> UUID:
    if not answer.is_success:
        raise LeaseholdError(answer.text)
    return UUID(answer.json()["job_id"])


async def http(world: World) -> Made:
    client = await world.http()

    async def ask(case: Case) -> UUID:
        return job_of(await client.post("/v1/jobs", json=body(case)))

    return await each(world, ask)


async def http_once(world: World) -> Made:
    client = await world.http()

    async def ask(case: Case) -> UUID:
        headers = {"Idempotency-Key": case.name}
        return job_of(await client.post("/v1/jobs", json=body(case), headers=headers))

    return await each(world, ask)


async def http_batch(world: World) -> Made:
    client = await world.http()

    async def ask(case: Case) -> UUID:
        answer = await client.post("/v1/jobs:batch", json={"jobs": [body(case), body(case) | {"key": None}]})
        if not answer.is_success:
            raise LeaseholdError(answer.text)
        return UUID(answer.json()["data"][0]["job_id"])

    return await each(world, ask)


async def http_batch_each(world: World) -> Made:
    """All in one call, and what cannot be made is told of alone. Its bodies are checked before that."""
    client = await world.http()
    known = [case for case in world.cases if case.option != "?"]
    answer = await client.post("/v1/jobs:batch", params={"atomic": "false"}, json={"jobs": [*map(body, known)]})
    items = zip(known, answer.json()["data"], strict=True)
    made: Made = {case.name: ValueError("unknown") for case in world.cases}
    return made | {
        case.name: UUID(one["job_id"]) if one.get("job_id") else ValueError(one["detail"]) for case, one in items
    }


async def remote(world: World) -> Made:
    url, key = await world.server()
    client = await world.stack.enter_async_context(AsyncClient(url, key))

    async def ask(case: Case) -> UUID:
        return (await client.enqueue(case.kind, case.payload, key=case.key, **short(case.caller))).job_id

    return await each(world, ask)


async def remote_batch(world: World) -> Made:
    url, key = await world.server()
    client = world.stack.enter_context(SyncClient(url, key))

    async def ask(case: Case) -> UUID:
        order = {"kind": case.kind, "payload": case.payload, "key": case.key, **short(case.caller)}
        [one] = await asyncio.to_thread(client.batch, [order], atomic=False)
        if isinstance(one, Refused):
            raise one.error
        return one.job_id

    return await each(world, ask)


# -- the command line -----------------------------------------------------------------------------------------------


def flag(name: str, value: Any) -> list[str]:
    if isinstance(value, bool):
        return [f"--{name}" if value else f"--no-{name}"]
    return [f"--{name}", value if isinstance(value, str) else json.dumps(value)]


async def by_the_command_line(world: World) -> Made:
    environment = world.cell.environment() | {"LEASEHOLD_TENANT": "a"}

    async def ask(case: Case) -> UUID:
        words = ["run", case.kind, *(f"{name}={json.dumps(value)}" for name, value in case.payload.items()), "--json"]
        words += [] if case.key is None else ["--key", case.key]
        for name, value in plain(case.caller).items():
            words += flag(_SHORT.get(name, name).replace("_", "-"), value)
        said = await asyncio.to_thread(CliRunner().invoke, command_line, words, env=environment)
        if said.exit_code:
            raise LeaseholdError(said.output)
        return UUID(json.loads(said.stdout)["job_id"])

    return await each(world, ask)


# -- flows ----------------------------------------------------------------------------------------------------------


def with_key(case: Case) -> dict[str, Any]:
    """A step and a schedule have no key of a job: given as an option, it must be refused."""
    return short(case.caller) | ({} if case.key is None else {"key": case.key})


def long_with_key(case: Case) -> dict[str, Any]:
    named = {**dict.fromkeys(case.caller), **plain(case.caller)}
    return named if case.key is None else named | {"key": case.key}


async def only_step(world: World, flow_id: UUID) -> UUID:
    [row] = await world.cell.look(f"select job_id from leasehold.step where flow_id = '{flow_id}'")
    return UUID(row["job_id"])


async def step_of_a_flow(world: World) -> Made:
    async def ask(case: Case) -> UUID:
        flow_id = await world.app.start(step(case.kind, case.payload, **with_key(case)), tenant="a")
        return await only_step(world, flow_id)

    return await each(world, ask)


async def step_in_a_transaction(world: World) -> Made:
    connection = await asyncpg.connect(world.cell.url(Role.API))
    world.stack.push_async_callback(connection.close)

    async def ask(case: Case) -> UUID:
        asked = step(case.kind, case.payload, **with_key(case))
        async with connection.transaction():
            flow_id = await world.app.start(asked, tenant="a", conn=connection)
        return await only_step(world, flow_id)

    return await each(world, ask)


async def step_by_the_client(world: World) -> Made:
    client = await world.client()

    async def ask(case: Case) -> UUID:
        return await only_step(world, await client.flows.start(step(case.kind, case.payload, **with_key(case))))

    return await each(world, ask)


async def step_over_http(world: World) -> Made:
    client = await world.http()

    async def ask(case: Case) -> UUID:
        options = long_with_key(case)
        steps = [{"kind": case.kind, "payload": case.payload, "options": options}]
        answer = await client.post("/v1/flows", json={"name": "f", "steps": steps})
        if not answer.is_success:
            raise LeaseholdError(answer.text)
        return await only_step(world, UUID(answer.json()["flow_id"]))

    return await each(world, ask)


# -- schedules ------------------------------------------------------------------------------------------------------


async def without_its_tag(world: World, job_id: UUID, name: str) -> UUID:
    """A schedule adds a tag to those of the options."""
    tags = f"nullif(array_remove(tags, 'schedule:{name}'), '{{}}')"
    await world.cell.change(f"update leasehold.job set tags = {tags} where job_id = '{job_id}'")
    return job_id


async def schedule(world: World) -> Made:
    client = await world.client()

    async def ask(case: Case) -> UUID:
        name = case.name.replace(" ", "-").replace("?", "x")
        await client.schedules.put(name, case.kind, case.payload, every=3600, **with_key(case))
        return await without_its_tag(world, await client.schedules.run(name), name)

    return await each(world, ask)


async def schedule_over_http(world: World) -> Made:
    client = await world.http()

    async def ask(case: Case) -> UUID:
        name = case.name.replace(" ", "-").replace("?", "x")
        options = long_with_key(case)
        asked = {"kind": case.kind, "payload": case.payload, "every_s": 3600, "options": options}
        put = await client.put(f"/v1/schedules/{name}", json=asked)
        if not put.is_success:
            raise LeaseholdError(put.text)
        return await without_its_tag(world, job_of(await client.post(f"/v1/schedules/{name}/run")), name)

    return await each(world, ask)


async def declared_schedule(world: World) -> Made:
    """The program declares it, and its tick comes."""
    refused: Made = {}
    for case in world.cases:
        name = case.name.replace(" ", "-").replace("?", "x")
        world.app.schedules.clear()
        try:
            soon = datetime.now(UTC) + timedelta(seconds=1000)
            world.app.schedule(name, case.kind, case.payload, at=soon, **with_key(case))
            [declared] = world.app.declared_schedules()
            await sync(world.worker_db, [declared], tenant="a")
        except LeaseholdError as problem:
            refused[case.name] = problem
    await world.cell.pass_time(1010)
    await fire_due(world.worker_db)
    ticks = await world.cell.look(
        "select s.name, t.job_id from leasehold.schedule s left join leasehold.tick t using (schedule_id)"
    )
    made: Made = {}
    fired = {row["name"]: row["job_id"] for row in ticks}
    for case in world.cases:
        name = case.name.replace(" ", "-").replace("?", "x")
        job_id = fired.get(name)
        made[case.name] = (
            await without_its_tag(world, UUID(job_id), name) if job_id else refused.get(case.name, ValueError("no job"))
        )
    return made


# -- copies ---------------------------------------------------------------------------------------------------------


async def copy(world: World) -> Made:
    """Of a job that was made by SQL, and has ended meanwhile."""
    originals = await sql(world)

    async def ask(case: Case) -> UUID:
        original = originals[case.name]
        if isinstance(original, Exception):
            raise original
        await jobs.cancel(world.worker_db, world.cell.tenant_a, original)
        async with Database(target(world.settings, Role.API)) as db:
            copied = await look.copy_job(db, world.cell.tenant_a, original, case.payload)
        await world.cell.change(
            f"update leasehold.job set copied_from = null where job_id = '{copied}' and copied_from = '{original}'"
        )
        return copied

    return await each(world, ask)

"""A whole Leasehold in one process: PostgreSQL, schema, worker, HTTP API, proven by a job that really ran."""

import asyncio
import os
import signal
import time
from collections.abc import AsyncIterator, Sequence
from contextlib import AsyncExitStack, asynccontextmanager, suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from leasehold.dashboard import app as dashboard
from leasehold.database import migrate
from leasehold.database.connect import target
from leasehold.database.database import Database, Role
from leasehold.database.plugin_schema import PackFiles
from leasehold.engine import tenants
from leasehold.errors import BadSetting, LeaseholdError
from leasehold.feature import load_all
from leasehold.features.api_keys import store as keys
from leasehold.fetch.public_addresses import is_loopback
from leasehold.http.server import serving
from leasehold.installation_keys import peppers, secret_keys
from leasehold.job import State
from leasehold.plugins import discovery
from leasehold.postgres import Endpoint, Home, Server, ephemeral_home, instance_home, postmaster
from leasehold.program.app import Leasehold
from leasehold.program.client import Client
from leasehold.settings import Settings
from leasehold.tokens import make as new_key
from leasehold.worker import Worker

if TYPE_CHECKING:
    from leasehold.features.demo.sample_data import Receiver

DATABASE = "leasehold"
#: Settings that name a database, or a way to it, that is not the embedded one.
_OF_ANOTHER_DATABASE = ("api_url", "worker_url", "operator_url", "listen_url", "read_url", "pooled")
_PROOF = "jobs.ping"
_KEY_SCOPES = ["jobs:read", "jobs:write", "admin"]
_PROOF_SECONDS = 20.0
_STOP_SECONDS = 30.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Running:
    """What is up, and where."""

    worker: Worker
    home: Path
    server: Endpoint | None  # None: a database of the user's own
    migrated: migrate.Migrated
    urls: dict[Role, str]
    api: str
    login: str | None  # signs the operator in, once; None: others than this machine can reach the server
    key: str | None  # of the tenant `default`, in an installation that is thrown away at the end
    has_others: bool  # tenants: then commands have to name theirs

    def as_json(self) -> dict[str, Any]:
        """What `leasehold up --json` prints. The key is null where the data stay: `leasehold keys create` makes one."""
        return {
            "api": self.api,
            "dashboard": self.api,
            "database_url": self.urls[Role.API],
            "key": self.key,
            "login": self.login,
            "pid": os.getpid(),
        }


@asynccontextmanager
async def up(
    settings: Settings, app: Leasehold, *, ephemeral: bool = False, living: bool = False
) -> AsyncIterator[Running]:
    """Start everything and stop it again at the end. The lock of the home folder is held meanwhile.

    ``living``: and a tenant ``demo`` that is at work.
    """
    _refuse_strangers(settings, ephemeral=ephemeral)
    async with AsyncExitStack() as stack:
        home = Home(ephemeral_home() if ephemeral else instance_home(settings.home))
        if ephemeral:
            stack.callback(home.wipe)
            settings = replace(settings, home=home.path)
        stack.enter_context(home.lock())
        here = None
        if living:
            from leasehold.features.demo import sample_data  # here: it is no part of an installation

            here = await stack.enter_async_context(sample_data.receiver())
            settings = sample_data.allowing(settings, here)
        found = discovery.discover(settings.packs)
        everything = discovery.assembled(found, app, settings)
        server = await _start_server(stack, settings, home, ephemeral=ephemeral)
        migrated, urls = await _prepare(settings, home, server, discovery.files_of_all(found))
        admin_url = server.url(DATABASE) if server else settings.database_url
        home.write_endpoint({"url": urls[Role.API], "urls": urls, "admin_url": admin_url})
        await _make_tenants(settings)
        if server:
            secret_keys(settings)  # made now: two processes that need it first would make two
        worker = await _start_worker(stack, settings, everything)
        await _prove(settings)
        api = await stack.enter_async_context(serving(settings, packs=found, mount=dashboard.mount, search=True))
        home.write_endpoint({"url": urls[Role.API], "urls": urls, "admin_url": admin_url, "api": api})
        if here:
            await _start_demo(stack, settings, here)
        login = await _login_link(settings, api) if is_loopback(settings.host) else None
        yield Running(
            worker=worker,
            home=home.path,
            server=server,
            migrated=migrated,
            urls=urls,
            api=api,
            login=login,
            key=await _make_key(settings) if ephemeral else None,
            has_others=await _has_others(settings),
        )


def _refuse_strangers(settings: Settings, *, ephemeral: bool) -> None:
    """Settings of another database, which the shell may have kept from another project."""
    if settings.database_url:
        if ephemeral:
            raise BadSetting(
                "LEASEHOLD_DATABASE_URL is set, and --ephemeral starts a PostgreSQL of its own to throw away",
                hint="unset LEASEHOLD_DATABASE_URL, or leave --ephemeral out",
            )
        return
    if found := [name for name in _OF_ANOTHER_DATABASE if getattr(settings, name)]:
        names = ", ".join(f"LEASEHOLD_{name.upper()}" for name in found)
        raise BadSetting(
            f"{names} {'is' if len(found) == 1 else 'are'} set, and `leasehold up` starts a PostgreSQL of its own",
            hint=f"unset {names.replace(',', '')}, or set LEASEHOLD_DATABASE_URL to the database to use",
        )


def take_down(home: Home, *, wipe: bool = False) -> str:
    """Stop the process that holds this instance, and a server that a killed one left behind; say what was done."""
    pid = home.holder()
    if pid is not None:
        os.kill(pid, signal.SIGTERM)
        while home.holder() == pid:
            time.sleep(0.05)
    with home.lock():
        left = postmaster.find(home.path / "data")
        if left is not None:
            postmaster.stop(left, timeout=_STOP_SECONDS)
    if wipe:
        home.wipe()
    what = f"stopped pid {pid}" if pid else "stopped the PostgreSQL that was left behind" if left else "nothing was up"
    return f"{what}; wiped {home.path}" if wipe else what


async def _start_server(stack: AsyncExitStack, settings: Settings, home: Home, *, ephemeral: bool) -> Endpoint | None:
    if settings.database_url:
        return None
    server = Server(home.path, pg_bin=settings.pg_bin, ephemeral=ephemeral)
    endpoint = await asyncio.to_thread(server.start)
    stack.push_async_callback(asyncio.to_thread, server.stop)
    return endpoint


async def _prepare(
    settings: Settings, home: Home, server: Endpoint | None, files: Sequence[PackFiles]
) -> tuple[migrate.Migrated, dict[Role, str]]:
    """Schema and roles; the URL of each role."""
    if server is None:
        assert settings.database_url is not None
        migrated = await migrate.migrate(settings.database_url, schema=settings.schema, packs=files)
        return migrated, {role: target(settings, role).url for role in Role}
    await migrate.create_database(server.url(), DATABASE)
    migrated = await migrate.migrate(server.url(DATABASE), schema=settings.schema, packs=files)
    passwords = {role: home.secret(role) for role in Role}
    await migrate.let_in(server.url(), DATABASE, passwords, schema=settings.schema)
    names = {role: f"{settings.schema}_{role}" for role in Role}
    return migrated, {role: server.url(DATABASE, user=names[role], password=passwords[role]) for role in Role}


async def _make_tenants(settings: Settings) -> None:
    async with Database(target(settings, Role.OPERATOR), connections=1) as db:
        for name in (tenants.DEFAULT, tenants.SYSTEM):
            await tenants.create_tenant(db, name)


async def _make_key(settings: Settings) -> str:
    """For scripts: nobody could make one before the start, and nothing is left of it afterwards."""
    key, found = new_key(settings.key_env), peppers(settings)
    async with Database(target(settings, Role.OPERATOR), connections=1) as db:
        owner = await tenants.find_tenant(db, tenants.DEFAULT)
        await keys.create_key(db, owner, key, found, name="up", scopes=_KEY_SCOPES, expires_at=None)
    return key.text


async def _has_others(settings: Settings) -> bool:
    async with Database(target(settings, Role.OPERATOR), connections=1) as db:
        names = {tenant.name for tenant in await tenants.list_tenants(db)}
    return not names <= {tenants.DEFAULT, tenants.SYSTEM}


async def _login_link(settings: Settings, api: str) -> str | None:
    """Of the first feature that signs people in."""
    async with Database(target(settings, Role.OPERATOR), connections=1) as db:
        for make_link in load_all("login_link"):
            return str(await make_link(db, settings, api))
    return None


async def _start_worker(stack: AsyncExitStack, settings: Settings, app: Leasehold) -> Worker:
    db = await stack.enter_async_context(Worker.database(settings))
    worker = Worker(db, app, settings)
    task = asyncio.create_task(worker.run())

    async def stop() -> None:
        worker.stop()
        await task

    stack.push_async_callback(stop)
    return worker


async def _start_demo(stack: AsyncExitStack, settings: Settings, here: "Receiver") -> None:
    from leasehold.features.demo import sample_data

    shop = await stack.enter_async_context(sample_data.shop(settings, here))
    task = asyncio.create_task(shop.go_on())

    async def stop() -> None:
        task.cancel()
        with suppress(asyncio.CancelledError):
            await task

    stack.push_async_callback(stop)


async def _prove(settings: Settings) -> None:
    """Ready means that a job went all the way: enqueued, claimed, run, finished."""
    async with Client.connect(replace(settings, tenant=tenants.SYSTEM)) as client:
        job = await client.enqueue(_PROOF, priority=0)
        try:
            async with asyncio.timeout(_PROOF_SECONDS):
                async for _ in client.follow(job.job_id):
                    pass
        except TimeoutError:
            reasons = "; ".join(reason.detail for reason in await client.explain(job.job_id))
            raise LeaseholdError(
                f"the first job did not end: {reasons or 'it runs'}", hint="leasehold doctor"
            ) from None
        ended = await client.get(job.job_id)
    if ended.state is not State.SUCCEEDED:
        raise LeaseholdError(f"the first job did not succeed: {ended.state}, {ended.error}")

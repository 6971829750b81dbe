"""One real PostgreSQL for each test process; one database, equal to a migrated template, for each test.

Everything but the making of databases connects as api, worker, operator or readonly. The server logs who connects, and
the run fails if anybody else was there.
"""

import asyncio
import gc
import os
import re
from collections.abc import AsyncIterator, Generator, Iterator
from collections.abc import Set as AbstractSet
from pathlib import Path

import pytest
import pytest_asyncio

from leasehold.database.database import Database, Role
from leasehold.postgres import Binaries, Home, Server, ephemeral_home, find_binaries
from leasehold.settings import Settings
from leasehold.testing import Kit
from leasehold.testing.guardian import make_template
from leasehold.testing.server import TemplateServer, apart
from tests.cell import Cell, Cluster
from tests.connections import KEPT, Kept

#: How the name of a database begins whose users log in as its administrator.
OF_ADMINISTRATORS = "of_administrators_"
LOOP: list[asyncio.AbstractEventLoop] = []  # that of the session
TASKS = pytest.StashKey[AbstractSet[object]]()

pytest_plugins = ["tests.reporting"]


def pytest_configure(config: pytest.Config) -> None:
    kept = ("LEASEHOLD_PG_BIN", "LEASEHOLD_CORPORA")
    for name in [name for name in os.environ if name.startswith("LEASEHOLD_") and name not in kept]:
        del os.environ[name]  # a developer's own settings are no part of a test


def pytest_collection_finish() -> None:
    """What is imported by now stays: there is no reason to search it for cycles again and again."""
    gc.collect()
    gc.freeze()
    gc.set_threshold(10_000)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(
    item: pytest.Item, call: pytest.CallInfo[None]
) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    """Where it counts, a test that is skipped has failed."""
    report = yield
    if report.skipped and not hasattr(report, "wasxfail") and os.environ.get("CI") == "true":
        report.outcome = "failed"
        report.longrepr = f"skipped, and CI=true: {report.longrepr}"
    return report


@pytest_asyncio.fixture(scope="session", loop_scope="session", autouse=True)
async def _loop() -> AsyncIterator[None]:
    """All tests have one loop: connections belong to it, and a loop costs a test a millisecond."""
    LOOP.append(asyncio.get_running_loop())
    yield
    LOOP.clear()


@pytest.hookimpl(wrapper=True)
def pytest_runtest_call(item: pytest.Item) -> Generator[None, object, object]:
    item.stash[TASKS] = asyncio.all_tasks(LOOP[0])
    return (yield)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_teardown(item: pytest.Item) -> Generator[None, object, object]:
    """What a test has begun in the loop ends with it, but for the server of the tests of pages."""
    result = yield
    if LOOP and TASKS in item.stash and "here" not in getattr(item, "fixturenames", ()):
        for _ in range(20):
            if not (left := asyncio.all_tasks(LOOP[0]) - item.stash[TASKS]):
                return result
            LOOP[0].run_until_complete(asyncio.sleep(0.005))
        pytest.fail(f"tasks that outlive the test: {left}")
    return result


@pytest.fixture(scope="session")
def cluster() -> Iterator[Cluster]:
    """The server of this process, started for the first test that needs a database."""
    bin_ = os.environ.get("LEASEHOLD_PG_BIN")
    binaries = find_binaries(Path(bin_) if bin_ else None)
    home = Home(ephemeral_home(in_memory=True))
    home.make()
    server = Server(home.path, pg_bin=binaries.bin, ephemeral=True, options=_options(binaries))
    try:
        url = server.start().url()
        passwords = {role: home.secret(role) for role in Role}
        cluster = Cluster(admin_url=url, passwords=passwords, home=str(home.path), template="template_leasehold")
        apart(cluster.make_template)
        yield cluster
        cluster.close()
        strangers = _strangers((home.path / "postgres.log").read_text())
    finally:
        server.stop()
        home.wipe()
    if strangers:
        pytest.fail(f"connections that are neither a role of ours nor a migration: {sorted(strangers)}")


def _options(binaries: Binaries) -> dict[str, str]:
    # A database is used again and again: its plans shall not depend on when it was analyzed.
    options = {"log_connections": "on", "max_connections": "300", "autovacuum": "off"}
    if binaries.major >= 16:
        options["scram_iterations"] = "1"  # most tests open several connections; a login takes half as long
    return options


def _strangers(log: str) -> set[tuple[str, str]]:
    line = rf"connection authorized: user=(\S+) database=(?!{OF_ADMINISTRATORS})\S+(?: application_name=(\S+))?"
    seen = set(re.findall(line, log))
    roles = {f"leasehold_{role}" for role in Role}
    return {(user, program) for user, program in seen if user not in roles and program != "leasehold-migrate"}


@pytest_asyncio.fixture(scope="session", loop_scope="session")
async def kept_connections() -> AsyncIterator[Kept]:
    """Connections stay open from test to test."""
    with KEPT.installed():
        yield KEPT


@pytest.fixture
async def cell(cluster: Cluster, kept_connections: Kept) -> AsyncIterator[Cell]:
    """A database of its own with tenants `a` and `b`."""
    cell = await cluster.clone()
    try:
        yield cell
    finally:
        await cell.give_back()


@pytest.fixture(scope="session")
def leasehold_server(cluster: Cluster) -> Iterator[TemplateServer]:
    """In place of the plugin's: databases of the server that is there already."""
    passwords = {str(role): password for role, password in cluster.passwords.items()}
    server = TemplateServer(admin_url=cluster.admin_url, template="template_kit", passwords=passwords)
    apart(lambda: make_template(server))
    yield server
    server.databases.close()


@pytest.fixture
def leasehold(leasehold_server: TemplateServer, kept_connections: Kept) -> Iterator[Kit]:
    """The plugin's fixture, with connections that are kept."""
    databases = leasehold_server.databases
    name = apart(databases.take)
    kept_connections.keep_for(name)
    with Kit(leasehold_server.settings(name), leasehold_server) as kit:
        yield kit
    if not apart(lambda: databases.give_back(name, spare=kept_connections.pids(name))):
        kept_connections.drop(name)


@pytest.fixture
async def worker_db(cell: Cell) -> AsyncIterator[Database]:
    async with cell.database(Role.WORKER) as db:
        yield db


@pytest.fixture
async def api_db(cell: Cell) -> AsyncIterator[Database]:
    async with cell.database(Role.API) as db:
        yield db


@pytest.fixture
def fast() -> Settings:
    """The settings that tests run workers with: they look, beat and stop quickly."""
    return Settings(lease_seconds=20.0, beat_seconds=0.5, poll_seconds=0.05, grace_seconds=5.0)

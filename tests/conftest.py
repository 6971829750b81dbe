"""One real PostgreSQL for the whole run, one database cloned from a migrated template for each test.

Everything but the making of databases connects as api, worker, operator or readonly. The server logs who connects, and
the run fails if anybody else was there.
"""

import asyncio
import json
import os
import re
from collections.abc import AsyncIterator, Generator
from pathlib import Path

import pytest

from leasehold.engine.database import Database, Role
from leasehold.postgres import Home, Server, ephemeral_home
from leasehold.settings import Settings
from tests.cell import Cell, Cluster

_ENV = "LEASEHOLD_TEST_CLUSTER"
_TEMPLATE = "template_leasehold"
_servers: list[Server] = []


def pytest_configure(config: pytest.Config) -> None:
    kept = (_ENV, "LEASEHOLD_PG_BIN", "LEASEHOLD_CORPORA")
    for name in [name for name in os.environ if name.startswith("LEASEHOLD_") and name not in kept]:
        del os.environ[name]  # a developer's own settings are no part of a test
    if hasattr(config, "workerinput"):
        return  # a parallel process: the first one has started the server
    bin_ = os.environ.get("LEASEHOLD_PG_BIN")
    home = Home(ephemeral_home(in_memory=True))
    home.make()
    server = Server(
        home.path,
        pg_bin=Path(bin_) if bin_ else None,
        ephemeral=True,
        options={"log_connections": "on", "max_connections": "300"},
    )
    endpoint = server.start()
    _servers.append(server)
    passwords = {role: home.secret(role) for role in Role}
    cluster = Cluster(admin_url=endpoint.url(), passwords=passwords, home=str(home.path), template=_TEMPLATE)
    asyncio.run(cluster.make_template())
    os.environ[_ENV] = json.dumps(cluster.as_json())


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


def pytest_unconfigure(config: pytest.Config) -> None:
    for server in _servers:
        server.stop()
        Home(Path(json.loads(os.environ[_ENV])["home"])).wipe()


def pytest_sessionfinish(session: pytest.Session) -> None:
    """The roles that connected, from the server's own log."""
    if hasattr(session.config, "workerinput") or _ENV not in os.environ:
        return
    home = Home(Path(json.loads(os.environ[_ENV])["home"]))
    strangers = _strangers((home.path / "postgres.log").read_text())
    if strangers:
        print(f"\nconnections that are neither a role of ours nor a migration: {sorted(strangers)}")
        session.exitstatus = pytest.ExitCode.TESTS_FAILED


def _strangers(log: str) -> set[tuple[str, str]]:
    seen = set(re.findall(r"connection authorized: user=(\S+) database=\S+(?: application_name=(\S+))?", log))
    roles = {f"leasehold_{role}" for role in Role}
    return {(user, program) for user, program in seen if user not in roles and program != "leasehold-migrate"}


@pytest.fixture(scope="session")
def cluster() -> Cluster:
    return Cluster.from_json(json.loads(os.environ[_ENV]))


@pytest.fixture
async def cell(cluster: Cluster) -> AsyncIterator[Cell]:
    """A database of its own with tenants `a` and `b`."""
    cell = await cluster.clone()
    try:
        yield cell
    finally:
        await cell.drop()


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

"""One real PostgreSQL for each test process; one database, equal to a migrated template, for each test.

Everything but the making of databases connects as api, worker, operator or readonly. The server logs who connects, and
the run fails if anybody else was there.
"""

import os
import re
from collections.abc import AsyncIterator, Generator, Iterator
from pathlib import Path

import pytest

from leasehold.engine.database import Database, Role
from leasehold.postgres import Binaries, Home, Server, ephemeral_home, find_binaries
from leasehold.settings import Settings
from leasehold.testing.server import apart
from tests.cell import Cell, Cluster

pytest_plugins = ["tests.reporting"]


def pytest_configure(config: pytest.Config) -> None:
    kept = ("LEASEHOLD_PG_BIN", "LEASEHOLD_CORPORA")
    for name in [name for name in os.environ if name.startswith("LEASEHOLD_") and name not in kept]:
        del os.environ[name]  # a developer's own settings are no part of a test


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
    seen = set(re.findall(r"connection authorized: user=(\S+) database=\S+(?: application_name=(\S+))?", log))
    roles = {f"leasehold_{role}" for role in Role}
    return {(user, program) for user, program in seen if user not in roles and program != "leasehold-migrate"}


@pytest.fixture
async def cell(cluster: Cluster) -> AsyncIterator[Cell]:
    """A database of its own with tenants `a` and `b`."""
    cell = await cluster.clone()
    try:
        yield cell
    finally:
        await cell.give_back()


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

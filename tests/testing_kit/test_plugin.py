"""The plugin in projects of their own: light, shared by parallel processes, and gone afterwards, whatever happens."""

import json
import os
import signal
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from leasehold.testing import Kit
from leasehold.testing.server import TemplateServer
from tests.cli.program import Program, Said, started
from tests.waiting import until

#: Each test says where its database is.
TESTS = """
import json, os, pytest

@pytest.mark.parametrize("n", range(4))
def test_it(leasehold, leasehold_server, n):
    assert leasehold.sync.enqueued() == []
    leasehold.sync.job(state="queued")
    with open("seen", "a") as seen:
        print(json.dumps([leasehold_server.admin_url, os.getpid()]), file=seen)
"""
STUCK = """
import threading

def test_it(leasehold):
    print(leasehold.settings.database_url or leasehold.settings.api_url, flush=True)
    threading.Event().wait()
"""
LIGHT = """
import sys

def test_the_plugin_is_there_and_nothing_else(pytestconfig):
    assert "leasehold.testing.plugin" in sys.modules
    assert not {"asyncpg", "pydantic", "typer", "leasehold.program.app", "leasehold.testing.kit"} & sys.modules.keys()
"""


@contextmanager
def running(folder: Path, tests: str, *options: str, **env: str) -> Iterator[Program]:
    (folder / "pytest.ini").write_text("[pytest]\n")
    (folder / "test_it.py").write_text(tests)
    command = (sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "-p", "no:asyncio", *options)
    with started(command=command, cwd=folder, env={"TMPDIR": str(folder), "LEASEHOLD_PG_BIN": PG_BIN} | env) as program:
        yield program


PG_BIN = os.environ.get("LEASEHOLD_PG_BIN", "")


def ran(folder: Path, tests: str, *options: str, **env: str) -> Said:
    with running(folder, tests, *options, **env) as program:
        return program.ended(120)


def seen(folder: Path) -> list[tuple[str, int]]:
    return [tuple(json.loads(line)) for line in (folder / "seen").read_text().splitlines()]


def left(folder: Path) -> list[str]:
    """Folders and processes of a server that should be gone."""
    return [entry.name for entry in folder.iterdir() if entry.name.startswith("leasehold-")]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    for parent in (tmp_path, *tmp_path.parents):  # for PostgreSQL's account, which is another one where we are root
        if parent.owner() == tmp_path.owner() and parent != Path("/"):
            parent.chmod(parent.stat().st_mode | 0o011)
    return tmp_path


def test_a_project_that_does_not_use_it_does_not_feel_it(folder: Path) -> None:
    said = ran(folder, LIGHT)
    assert said.code == 0, said.out
    assert left(folder) == []


@pytest.mark.long
def test_parallel_processes_share_one_server_which_is_gone_afterwards(folder: Path) -> None:
    said = ran(folder, TESTS, "-n", "2", "--dist", "each")
    assert said.code == 0, said.out
    assert len(seen(folder)) == 8
    assert len({url for url, _ in seen(folder)}) == 1, "one server"
    assert len({pid for _, pid in seen(folder)}) == 2, "two processes"
    until(lambda: not left(folder), what="the folders are gone")


@pytest.mark.long
def test_tests_that_are_killed_leave_no_server(folder: Path) -> None:
    with running(folder, STUCK, "-s") as program:
        program.said("postgresql://")
        assert left(folder)
        program.kill(signal.SIGKILL)
        program.ended()
    until(lambda: not left(folder), what="the folders are gone")


@pytest.mark.long
def test_a_server_of_ones_own_is_used_and_left_as_it_was(folder: Path, leasehold_server: TemplateServer) -> None:
    """Its databases are gone; that the roles stay is documented."""
    said = ran(folder, TESTS, LEASEHOLD_TEST_DATABASE_URL=leasehold_server.admin_url)
    assert said.code == 0, said.out
    assert {url for url, _ in seen(folder)} == {leasehold_server.admin_url}
    until(lambda: not databases(leasehold_server), what="the databases are gone")


def databases(server: TemplateServer) -> list[str]:
    import asyncio

    import asyncpg

    async def ask() -> list[str]:
        connection = await asyncpg.connect(server.admin_url, server_settings={"application_name": "leasehold-migrate"})
        rows = await connection.fetch("select datname from pg_database where starts_with(datname, 'leasehold_test_')")
        await connection.close()
        return [row["datname"] for row in rows]

    return asyncio.run(ask())


def test_what_is_wrong_is_said(folder: Path) -> None:
    said = ran(folder, TESTS, LEASEHOLD_TEST_DATABASE_URL="postgresql://nobody@127.0.0.1:1/nothing")
    assert said.code == 1
    assert "no PostgreSQL for the tests: the database does not answer" in said.out


def test_a_database_is_there_in_a_moment_and_gone_afterwards(leasehold_server: TemplateServer) -> None:
    with leasehold_server.database() as one, leasehold_server.database() as two:
        with Kit(one) as here, Kit(two) as there:
            here.sync.job()
            assert (len(here.sync.enqueued()), len(there.sync.enqueued())) == (1, 0)
        assert one.api_url != two.api_url

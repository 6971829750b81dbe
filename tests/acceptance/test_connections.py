"""Who logs in to the database of a running instance, by the server's own log."""

import re
from pathlib import Path

import asyncpg
import pytest

from leasehold.database.database import Role
from leasehold.postgres import Home, postmaster
from tests.cli.program import leasehold, started

ROLES = {f"leasehold_{role}" for role in Role}


async def administer(home: Path, *statements: str) -> list[asyncpg.Record]:
    server = postmaster.find(home / "data")
    assert server
    connection = await asyncpg.connect(
        host="127.0.0.1",
        port=server.port,
        user="postgres",
        password=Home(home).secret("postgres"),
        database="leasehold",
        server_settings={"application_name": "leasehold-migrate"},
    )
    try:
        return [row for statement in statements for row in await connection.fetch(statement)]
    finally:
        await connection.close()


@pytest.mark.long
async def test_only_a_migration_logs_in_as_anybody_but_our_roles(home: Path) -> None:
    env = {"LEASEHOLD_HOME": str(home), "LEASEHOLD_POLL_SECONDS": "0.05"}
    with started("up", "--json", env=env) as up:
        up.document()
        await administer(home, "alter system set log_connections = 'on'")
        assert up.stopped().code == 0

    log = home / "postgres.log"
    before = len(log.read_text())
    with started("up", "--json", env=env) as up:
        up.document()
        for command in (
            ["run", "demo.hello", "steps=1", "--follow"],
            ["jobs", "list"],
            ["tenants", "create", "acme"],
            ["tenants", "list"],
            ["db", "migrate"],
            ["db", "status"],
        ):
            assert leasehold(*command, env=env).code == 0, command
        with started("worker", env=env) as worker:
            worker.said("worker started")
            assert worker.stopped().code == 0
        assert up.stopped().code == 0

    seen = re.findall(
        r"connection authorized: user=(\S+) database=(\S+)(?: application_name=(\S+))?", log.read_text()[before:]
    )
    assert {user for user, _, program in seen if program != "leasehold-migrate"} == ROLES - {"leasehold_readonly"}
    assert {database for _, database, program in seen if program != "leasehold-migrate"} == {"leasehold"}
    assert {program for user, _, program in seen if user == "postgres"} == {"leasehold-migrate"}


@pytest.mark.long
async def test_nobody_else_is_let_into_the_database(home: Path) -> None:
    with started("up", "--json", env={"LEASEHOLD_HOME": str(home)}) as up:
        up.document()
        [row] = await administer(home, "select has_database_privilege('public', 'leasehold', 'connect, temp, create')")
        assert row[0] is False
        owners = await administer(
            home, "select rolname from pg_roles where rolcanlogin and pg_has_role(oid, 'leasehold_owner', 'usage')"
        )
        assert [row["rolname"] for row in owners] == ["postgres"]
        up.stopped()

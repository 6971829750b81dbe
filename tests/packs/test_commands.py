"""Installed packs, as the command line runs, migrates and lists them."""

import asyncio
import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from leasehold.database import migrate
from leasehold.testing import Kit, TemplateServer
from leasehold.testing.databases import administer
from tests.cli.program import leasehold as command
from tests.cli.program import started
from tests.conftest import OF_ADMINISTRATORS
from tests.packs.installed import install


@pytest.fixture
def site(tmp_path: Path) -> dict[str, str]:
    """An environment in which the pack ``notes`` is installed."""
    return {"PYTHONPATH": str(install(tmp_path, "notes"))}


@pytest.fixture
def database(leasehold_server: TemplateServer) -> Iterator[str]:
    """An administrator's URL of a database without anything."""
    name = f"{OF_ADMINISTRATORS}packs"
    asyncio.run(migrate.create_database(leasehold_server.admin_url, name))
    yield leasehold_server.url(name)
    asyncio.run(administer(leasehold_server.admin_url, f"drop database {name} with (force)"))


def test_migrations_are_pending_then_applied_and_listed(database: str, site: dict[str, str]) -> None:
    env = site | {"LEASEHOLD_DATABASE_URL": database, "LEASEHOLD_PACKS": "notes"}
    assert command("db", "status", "--json", env=env).json["pending"][-1] == "packs/notes/0001_notes.sql"
    assert command("db", "migrate", "--json", env=env | {"LEASEHOLD_PACKS": "none"}).code == 0
    [notes] = [pack for pack in command("packs", "--json", env=env).json if pack["name"] == "notes"]
    assert notes == {
        "name": "notes",
        "version": "1.2",
        "distribution": "acme_notes",
        "kinds": ["notes.note"],
        "applied": [],
        "pending": ["packs/notes/0001_notes.sql"],
    }
    assert command("db", "migrate", "--json", env=env).json["applied"] == ["packs/notes/0001_notes.sql"]
    assert command("db", "status", env=env).code == 0
    said = command("packs", env=env)
    assert "notes\t1.2\tacme_notes\tnotes.note\t1 applied" in said.out.splitlines()
    checked = command("packs", "check", env=env)
    assert (checked.code, checked.err.endswith(" packs, every table is its tenants' own\n")) == (0, True)
    disabled = "alter table leasehold_notes.notes disable row level security"
    asyncio.run(administer(database, disabled))
    checked = command("packs", "check", env=env)
    assert (checked.code, checked.out) == (1, "leasehold_notes.notes: no row security\n")


def test_without_a_database_the_packs_are_listed_all_the_same(site: dict[str, str], tmp_path: Path) -> None:
    said = command("packs", env=site | {"LEASEHOLD_HOME": str(tmp_path / "nothing")})
    assert said.code == 0
    assert "notes\t1.2\tacme_notes\tnotes.note\tunknown" in said.out.splitlines()


def test_an_unknown_pack_stops_a_worker_before_it_starts(leasehold: Kit) -> None:
    said = command("worker", env=leasehold.environment | {"LEASEHOLD_PACKS": "nosuch"})
    assert said.code == 2
    assert "LEASEHOLD_PACKS names nosuch, which is not installed" in said.err


def test_a_worker_runs_the_handlers_of_packs_without_being_told(
    leasehold: Kit, leasehold_server: TemplateServer, site: dict[str, str], tmp_path: Path
) -> None:
    env = site | leasehold.environment
    name = leasehold.environment["LEASEHOLD_API_URL"].rpartition("/")[2]
    migrated = command("db", "migrate", env=env | {"LEASEHOLD_DATABASE_URL": leasehold_server.url(name)})
    assert migrated.code == 0, migrated.err
    with started("worker", env=env) as worker:
        said = command("run", "notes.note", "text=hello", "--follow", env=env)
        assert (said.code, said.out) == (0, "1\n"), said.err
        assert worker.stopped().code == 0


def test_up_makes_the_tables_of_packs_and_runs_their_handlers(site: dict[str, str], tmp_path: Path) -> None:
    with started("up", "--ephemeral", "--json", env=site | {"LEASEHOLD_PACKS": "notes"}) as up:
        env = {"LEASEHOLD_API_URL": up.document()["database_url"]}
        said = command("run", "notes.note", "text=hello", "--follow", "--json", env=env)
        ended = up.stopped()
    assert (said.code, json.loads(said.out)["result"]) == (0, 1), said.err
    assert ended.code == 0


COUNT = """
import typer
from leasehold import shell

app = typer.Typer()

@app.callback()
def notes() -> None: ...

@app.command()
@shell.command
async def ask(tenant: shell.TenantOption = None, json: shell.Json = False) -> None:
    async with shell.tenant(tenant) as access, access.transaction() as tx:
        who = await tx.fetchval("select current_setting('leasehold.tenant')")
        job = await tx.enqueue("notes.note", {"text": who})
    shell.print_json({"tenant": who, "state": job.state})
"""


def test_a_pack_brings_commands(leasehold: Kit, tmp_path: Path) -> None:
    env = leasehold.environment | {"PYTHONPATH": str(install(tmp_path, "notes", commands=COUNT))}
    said = command("notes", "ask", "--tenant", "default", env=env)
    assert said.code == 0, said.err
    tenant = asyncio.run(leasehold.tenant("default"))
    assert said.json == {"tenant": str(tenant), "state": "queued"}
    leasehold.sync.assert_enqueued("notes.note", count=1)
    assert "--tenant" in command("notes", "ask", "--help", env=env).out
    missing = command("notes", "ask", "--tenant", "nobody", env=env)
    assert (missing.code, "nobody" in missing.err) == (3, True)


def test_the_menu_names_the_commands_of_packs_and_imports_none(tmp_path: Path) -> None:
    env = {"PYTHONPATH": str(install(tmp_path, "notes", commands="raise RuntimeError('it is broken')"))}
    menu = command("--help", env=env)
    assert (menu.code, "Commands of the pack notes (acme_notes)." in menu.out) == (0, True)
    broken = command("notes", "ask", env=env)
    assert (broken.code, "RuntimeError: it is broken" in broken.err) == (1, True)
    assert "Traceback" not in broken.err
    left_out = command("notes", "ask", env=env | {"LEASEHOLD_PACKS": "none"})
    assert (left_out.code, "No such command" in left_out.err) == (2, True)


def test_commands_whose_extra_is_not_installed_say_what_to_install(tmp_path: Path) -> None:
    site = install(tmp_path, "notes", commands="import nothing_like_this", needs="no-such-distribution")
    said = command("notes", "count", env={"PYTHONPATH": str(site)})
    assert (said.code, said.out) == (1, "")
    assert "No module named 'nothing_like_this'" in said.err
    assert "pip install 'acme_notes[notes]'" in said.err

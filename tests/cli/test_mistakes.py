"""What is easily got wrong in a shell is answered with one sentence and a way out."""

import asyncio
from collections.abc import Iterator
from typing import Any

import pytest
import typer

from leasehold.cli.menu import Menu
from leasehold.database.database import Database, Role
from leasehold.engine import leases
from leasehold.settings import Settings
from tests.cell import Cell
from tests.cli.program import Said, leasehold

Command = tuple[str, ...]
UP, RUN, JOBS = ("up",), ("run", "demo.hello"), ("jobs", "list")
OTHER = {"LEASEHOLD_API_URL": "postgresql://leasehold_api:secret@127.0.0.1:1/d"}
URL = "  try: postgresql://user:password@host:5432/database"
MISTAKES: dict[str, tuple[Command, dict[str, str], int, list[str]]] = {
    "a role's URL of another project in the shell": (
        UP,
        OTHER,
        2,
        [
            "error: LEASEHOLD_API_URL is set, and `leasehold up` starts a PostgreSQL of its own",
            "  try: unset LEASEHOLD_API_URL, or set LEASEHOLD_DATABASE_URL to the database to use",
        ],
    ),
    "two of them": (
        UP,
        OTHER | {"LEASEHOLD_POOLED": "1"},
        2,
        [
            "error: LEASEHOLD_API_URL, LEASEHOLD_POOLED are set, and `leasehold up` starts a PostgreSQL of its own",
            "  try: unset LEASEHOLD_API_URL LEASEHOLD_POOLED, or set LEASEHOLD_DATABASE_URL to the database to use",
        ],
    ),
    "a throw-away database, and one to keep": (
        (*UP, "--ephemeral"),
        {"LEASEHOLD_DATABASE_URL": "postgresql://u@127.0.0.1:1/d"},
        2,
        [
            "error: LEASEHOLD_DATABASE_URL is set, and --ephemeral starts a PostgreSQL of its own to throw away",
            "  try: unset LEASEHOLD_DATABASE_URL, or leave --ephemeral out",
        ],
    ),
    "another database": (
        JOBS,
        {"LEASEHOLD_DATABASE_URL": "mysql://u:secret@h/d"},
        2,
        ["error: LEASEHOLD_DATABASE_URL begins with mysql://, and Leasehold runs on PostgreSQL", URL],
    ),
    "a URL of SQLAlchemy": (
        ("worker",),
        {"LEASEHOLD_DATABASE_URL": "postgresql+asyncpg://u:secret@h/d"},
        2,
        [
            "error: LEASEHOLD_DATABASE_URL begins with postgresql+asyncpg://: what stands after the + names a driver,"
            " and Leasehold brings its own",
            URL,
        ],
    ),
    "an option of the URL that there is not": (
        JOBS,
        {"LEASEHOLD_DATABASE_URL": "postgresql://u:secret@127.0.0.1:1/d?sslmode=on"},
        2,
        [
            "error: the URL of the database cannot be used: `sslmode` parameter must be one of: disable, allow,"
            " prefer, require, verify-ca, verify-full",
            "  try: postgresql://user:password@host:5432/database, with special characters percent-encoded",
        ],
    ),
}


@pytest.mark.parametrize("name", MISTAKES)
def test_a_mistake_in_a_shell_is_answered_in_a_line(name: str, nowhere: dict[str, str]) -> None:
    arguments, env, code, lines = MISTAKES[name]
    said = leasehold(*arguments, env=nowhere | env)
    assert (said.code, said.out, said.err.splitlines()) == (code, "", lines)


@pytest.mark.parametrize("arguments", [JOBS, RUN, ("worker",), ("serve", "--port", "0"), ("queues", "list")])
def test_a_database_without_our_roles_is_told_to_migrate(cell: Cell, arguments: Command) -> None:
    env = {"LEASEHOLD_DATABASE_URL": cell.url(Role.OPERATOR), "LEASEHOLD_SCHEMA": "never_made"}
    said = leasehold(*arguments, env=env)
    [*_, error, way_out] = said.err.splitlines()  # before them, the log of a process that runs on
    assert (said.code, said.out) == (6, "")
    assert error.startswith('error: Leasehold is not installed in this database: role "never_made_')
    assert way_out == "  try: leasehold db migrate"


def test_doctor_tells_a_database_without_our_roles_to_migrate(cell: Cell) -> None:
    env = {"LEASEHOLD_DATABASE_URL": cell.url(Role.OPERATOR), "LEASEHOLD_SCHEMA": "never_made"}
    said = leasehold("doctor", env=env)
    assert said.code == 1
    assert said.err.splitlines()[-1] == "  try: leasehold db migrate"


def test_a_database_without_our_schema_is_told_to_migrate(cell: Cell) -> None:
    """The roles belong to the server; another database of it may have made them."""
    env = {name: url.replace(cell.name, "postgres") for name, url in cell.environment().items()}
    said = leasehold(*JOBS, env=env)
    assert (said.code, said.err.splitlines()) == (
        6,
        [
            'error: Leasehold is not installed in this database: schema "leasehold" does not exist',
            "  try: leasehold db migrate",
        ],
    )


@pytest.mark.parametrize("arguments", [JOBS, RUN, ("config", "show"), ("doctor",)])
def test_a_variable_that_is_no_setting_is_warned_of(here: dict[str, str], arguments: Command) -> None:
    said = leasehold(*arguments, env=here | {"LEASEHOLD_TENNANT": "acme"})
    sentence = "LEASEHOLD_TENNANT is not a setting and has no effect: did you mean LEASEHOLD_TENANT?"
    assert said.err.splitlines()[0] == f"warning: {sentence}"
    if arguments == ("doctor",):
        assert f"!\tsettings\t{sentence}" in said.out


def test_an_option_shows_the_default_that_its_setting_has() -> None:
    defaults = {f"LEASEHOLD_{name.upper()}": str(getattr(Settings(), name)) for name in Settings.__dataclass_fields__}
    shown = {}
    for command, option in options():
        setting = str(option.envvar or f"LEASEHOLD_{option.opts[0].strip('-').upper()}")
        if defaults.get(setting, "None") != "None" and isinstance(option.show_default, str):
            shown[command, option.opts[0]] = (option.show_default.removeprefix(f"{setting}, or "), defaults[setting])
    assert {("up", "--slots"), ("worker", "--slots"), ("serve", "--port")} <= set(shown)
    for where, (said, default) in shown.items():
        assert said == default, where


def options() -> Iterator[tuple[str, typer.core.TyperOption]]:
    menu = Menu(name="leasehold")
    for name, command in menu.commands.items():
        for one in [command, *getattr(command, "commands", {}).values()]:
            for option in one.params:
                if isinstance(option, typer.core.TyperOption):
                    yield name, option


async def start_worker(db: Database) -> None:
    about: dict[str, Any] = {"name": "w", "version": "0", "queues": ["default"], "slots": 1, "lease_s": 60.0}
    await leases.register_worker(db, kinds={"shop.refund": {}}, **about)


@pytest.mark.parametrize(
    "arguments",
    [
        ("run", "shop.refnud", "order=7"),
        ("schedules", "add", "nightly", "shop.refnud", "--every", "60"),
        ("schedules", "edit", "hourly", "--kind", "shop.refnud"),
    ],
)
async def test_a_kind_that_nobody_handles_is_refused_unless_it_is_forced(
    here: dict[str, str], worker_db: Database, arguments: Command
) -> None:
    await start_worker(worker_db)

    async def asked(*words: str) -> Said:
        return await asyncio.to_thread(leasehold, *words, env=here)

    if "edit" in arguments:
        assert (await asked("schedules", "add", "hourly", "shop.refund", "--every", "3600")).code == 0
    said = await asked(*arguments)
    assert (said.code, said.out, said.err.splitlines()) == (
        3,
        "",
        [
            "error: no handler of kind shop.refnud is known: its jobs would wait",
            '  try: known are shop.refund; where its worker is still to come: --force, or "force": true over HTTP',
        ],
    )
    assert (await asked(*arguments, "--force")).code == 0

"""`leasehold packs`: what is installed, and whether its tables are safe."""

from typing import TYPE_CHECKING

import typer

from leasehold.cli.options import Json
from leasehold.cli.output import command, print_json, print_table, say

if TYPE_CHECKING:
    from leasehold.packs import Found
    from leasehold.settings import Settings

app = typer.Typer(help="Packs: plug-ins with kinds and tables of their own.", no_args_is_help=False)


@app.callback(invoke_without_command=True)
def packs(context: typer.Context, json: Json = False) -> None:
    """The packs that workers run: name, version, kinds, and which of their migrations this database has."""
    if context.invoked_subcommand is None:
        _list(json=json)


@command
async def _list(*, json: bool) -> None:
    from leasehold.packs import discover
    from leasehold.settings import Settings

    settings = Settings.from_env()
    found = discover(settings.packs)
    applied = await _applied(settings)
    rows = [_row(one, applied) for one in found]
    if json:
        print_json(rows)
    else:
        print_table(["pack", "version", "from", "kinds", "migrations"], [_cells(row) for row in rows])


@app.command()
@command
async def check() -> None:
    """Look at the tables of every pack: a tenant's column, row security, policy, owner. Exit 1 when one is not safe."""
    from leasehold.cli.queues import operator
    from leasehold.engine.pack_files import faults
    from leasehold.packs import discover
    from leasehold.settings import Settings

    settings = Settings.from_env()
    found = discover(settings.packs)
    async with operator() as db, db.transaction() as connection:
        wrong = [fault for one in found for fault in await faults(connection, one.pack.files, schema=settings.schema)]
    for fault in wrong:
        print(fault)
    if wrong:
        raise typer.Exit(1)
    say(f"{len(found)} packs, every table is its tenants' own")


async def _applied(settings: "Settings") -> set[str] | None:
    """The names in the ledger; None when there is no database to ask."""
    from leasehold.cli.queues import operator
    from leasehold.errors import Unreachable

    try:
        async with operator() as db, db.transaction() as connection:
            rows = await connection.fetch(f"select name from {settings.schema}.migration where name like 'packs/%'")
            return {row["name"] for row in rows}
    except Unreachable as problem:
        say(f"the migrations are not known: {problem}")
        return None


def _row(found: "Found", applied: set[str] | None) -> dict[str, object]:
    names = [file.name for file in found.pack.files.files]
    return {
        "name": found.pack.name,
        "version": found.version,
        "distribution": found.distribution,
        "kinds": sorted(found.pack.kinds),
        "applied": None if applied is None else [name for name in names if name in applied],
        "pending": None if applied is None else [name for name in names if name not in applied],
    }


def _cells(row: dict[str, object]) -> tuple[object, ...]:
    applied, pending = row["applied"], row["pending"]
    migrations = "unknown"
    if isinstance(applied, list) and isinstance(pending, list):
        migrations = f"{len(applied)} applied" + (f", {len(pending)} pending" if pending else "")
    kinds = row["kinds"] if isinstance(row["kinds"], list) else []
    return row["name"], row["version"], row["distribution"], " ".join(kinds), migrations

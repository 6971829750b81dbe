"""`leasehold packs`: what is installed, and whether its tables are safe."""

from typing import TYPE_CHECKING

import typer

from leasehold.cli.options import Json
from leasehold.cli.output import command, print_json, print_table, say

if TYPE_CHECKING:
    from leasehold.plugins.discovery import InstalledFeature
    from leasehold.settings import Settings

app = typer.Typer(help="Packs: plug-ins with kinds and tables of their own.", no_args_is_help=False)


@app.callback(invoke_without_command=True)
def packs(context: typer.Context, json: Json = False) -> None:
    """The packs that workers run: name, version, kinds, and which of their migrations this database has."""
    if context.invoked_subcommand is None:
        _list(json=json)


@command
async def _list(*, json: bool) -> None:
    from leasehold.plugins.discovery import discover
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
    from leasehold.cli.tenant_scope import operator
    from leasehold.database.plugin_schema import faults
    from leasehold.plugins.discovery import discover, files_of
    from leasehold.settings import Settings

    settings = Settings.from_env()
    found = discover(settings.packs)
    async with operator() as db, db.transaction() as connection:
        wrong = [
            fault for one in found for fault in await faults(connection, files_of(one.feature), schema=settings.schema)
        ]
    for fault in wrong:
        print(fault)
    if wrong:
        raise typer.Exit(1)
    say(f"{len(found)} packs, every table is its tenants' own")


async def _applied(settings: "Settings") -> set[str] | None:
    """The names in the ledger; None when there is no database to ask."""
    from leasehold.cli.tenant_scope import operator
    from leasehold.errors import Unreachable

    try:
        async with operator() as db, db.transaction() as connection:
            rows = await connection.fetch(f"select name from {settings.schema}.migration where name like 'packs/%'")
            return {row["name"] for row in rows}
    except Unreachable as problem:
        say(f"the migrations are not known: {problem}")
        return None


def _row(found: "InstalledFeature", applied: set[str] | None) -> dict[str, object]:
    from leasehold.plugins.discovery import app_of, files_of

    names = [file.name for file in files_of(found.feature).files]
    return {
        "name": found.feature.name,
        "version": found.version,
        "distribution": found.distribution,
        "kinds": sorted(app_of(found.feature).handlers),
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

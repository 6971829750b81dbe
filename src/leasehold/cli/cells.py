"""`leasehold cells …`."""

from typing import TYPE_CHECKING, Annotated

import typer

from leasehold.cli.options import Json
from leasehold.cli.output import command, print_json, print_table, say

if TYPE_CHECKING:
    from leasehold.engine.database import Database
    from leasehold.settings import Settings

app = typer.Typer(
    help="Cells: databases that each hold the work of some tenants. The first database is home, and knows the others.",
    no_args_is_help=True,
)
Place = Annotated[str, typer.Argument(metavar="URL", help="postgresql://host:port/database, without a login.")]


@app.command("list")
@command
async def list_(json: Json = False) -> None:
    """The cells beside home: where each is, how often it has moved, and how many tenants live there."""
    from leasehold.engine import cells
    from leasehold.settings import Settings

    async with _home(Settings.from_env()) as db:
        found = await cells.list_cells(db)
    if json:
        print_json(found)
    else:
        print_table(
            ["cell", "url", "epoch", "moving to", "tenants"],
            [(one.cell, one.url, one.epoch, one.next_url or "-", one.tenants) for one in found],
        )


@app.command()
@command
async def add(cell: str, url: Place) -> None:
    """Make a database a cell: it is made if it is missing, and gets the schema. Again: nothing, or what was missing."""
    from leasehold import packs
    from leasehold.cli.db import administrator
    from leasehold.engine import cells
    from leasehold.settings import Settings, require_postgresql

    require_postgresql("the place", url)
    settings = Settings.from_env()
    files = packs.files_of(packs.discover(settings.packs))
    async with _home(settings) as db:
        await cells.add_cell(db, cell, url, admin=administrator(settings), packs=files)
    say(f"{cell} is there; `leasehold tenants create NAME --cell {cell}` lets a tenant live in it")


@app.command()
@command
async def move(
    cell: str,
    url: Place,
    undo: Annotated[bool, typer.Option("--undo", help="Take back a move that has not closed the old place.")] = False,
) -> None:
    """Move a cell to an empty database, of another server, while it works. Interrupted: the same command goes on."""
    from leasehold import packs
    from leasehold.cli.db import administrator
    from leasehold.engine.move import Move
    from leasehold.settings import Settings, require_postgresql

    require_postgresql("the place", url)
    settings = Settings.from_env()
    files = packs.files_of(packs.discover(settings.packs))
    async with _home(settings) as db:
        moving = Move(db, cell, url, admin=administrator(settings), packs=files, tell=say)
        if undo:
            await moving.undo()
            say(f"{cell} stays where it is")
            return
        paused = await moving.run()
    say(f"{cell} is at {url}; it took no writes for {paused:.2f} s")


def _home(settings: "Settings") -> "Database":
    """The home database as the operator, whichever cell this shell works in."""
    from dataclasses import replace

    from leasehold.engine.connect import target
    from leasehold.engine.database import Database, Role

    return Database(target(replace(settings, cell=None), Role.OPERATOR), connections=1)

"""`leasehold db …`: the schema of a database of your own."""

from typing import TYPE_CHECKING, Annotated

import typer

from leasehold.cli.options import Json
from leasehold.cli.output import command, print_json, say

if TYPE_CHECKING:
    from leasehold.settings import Settings

app = typer.Typer(help="The database schema.", no_args_is_help=True)


@app.command()
@command
async def migrate(json: Json = False) -> None:
    """Bring the database of LEASEHOLD_DATABASE_URL to this program's schema; any number of times, also at once.

    Exit 4 when the database is of a later release than this program.
    """
    from leasehold.database import migrate as engine
    from leasehold.database import sql_files
    from leasehold.errors import Conflict
    from leasehold.plugins import discovery
    from leasehold.settings import Settings

    settings = Settings.from_env()
    files = discovery.files_of_all(discovery.discover(settings.packs))
    done = await engine.migrate(administrator(settings), schema=settings.schema, packs=files)
    if done.release > sql_files.RELEASE:
        raise Conflict(
            f"this program is older than the database: it has release {sql_files.RELEASE}, the database has release"
            f" {done.release}; its schema was left as it is",
            hint="migrate with the newer program: pip install --upgrade leasehold;"
            " servers and workers of one release before go on meanwhile",
        )
    if json:
        print_json(done)
        return
    if done.restored:
        say("owners and grants were missing, as after a restore without the roles, and are there now")
    say(f"release {done.release}: {len(done.applied) or 'no'} files applied")


@app.command()
@command
async def status(json: Json = False) -> None:
    """What the database has, and what it lacks. Exit 4 when something is pending."""
    from leasehold.database import migrate as engine
    from leasehold.database import sql_files
    from leasehold.plugins import discovery
    from leasehold.settings import Settings

    settings = Settings.from_env()
    files = discovery.files_of_all(discovery.discover(settings.packs))
    found = await engine.status(administrator(settings), schema=settings.schema, packs=files)
    if json:
        print_json(found)
    else:
        installed = "not installed" if found.release is None else f"release {found.release}"
        if (found.release or 0) > sql_files.RELEASE:
            installed += f" (later than this program's, {sql_files.RELEASE})"
        say(f"PostgreSQL {found.server}, Leasehold {installed}, {len(found.pending) or 'no'} files pending")
        if found.lacks_grants:
            say("owners and grants are missing, as after a restore without the roles: leasehold db migrate")
    if found.pending or found.lacks_grants:
        raise typer.Exit(4)


@app.command()
def sql(
    roles: Annotated[bool, typer.Option("--roles", help="Only the statements that make the roles.")] = False,
) -> None:
    """Print the whole schema as SQL, to read or to feed to another tool."""
    from leasehold.database import migrate as engine
    from leasehold.database import sql_files as files
    from leasehold.settings import Settings

    schema = Settings.from_env().schema
    print(files.render(files.read_roles(), schema) if roles else engine.script(schema))


def administrator(settings: "Settings") -> str:
    """The administrator's URL: the user's own, or that of the embedded server that is up."""
    from leasehold.errors import Unreachable
    from leasehold.postgres import Home, instance_home

    if settings.database_url:
        return settings.database_url
    endpoint = Home(instance_home(settings.home)).read_endpoint()
    if endpoint is None:
        raise Unreachable(
            "no Leasehold is up for this folder, and LEASEHOLD_DATABASE_URL is not set", hint="leasehold up"
        )
    return str(endpoint["admin_url"])

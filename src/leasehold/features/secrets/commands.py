"""`leasehold secrets …`."""

import sys
from typing import Annotated

import typer

from leasehold.cli.options import Json, Tenant
from leasehold.cli.output import command, print_json, print_table, say
from leasehold.cli.tenant_scope import operator as database
from leasehold.cli.tenant_scope import tenant_scope

app = typer.Typer(help="Secrets of a tenant, for its handlers and connectors.", no_args_is_help=True)

Name = Annotated[str, typer.Argument(help="The secret's name, as in ctx.secret(NAME).")]


@app.command("set")
@command
async def set_(name: Name, tenant: Tenant = None) -> None:
    """Keep a secret: the first line of stdin, or what you type. It is never shown again, to anybody."""
    from leasehold.features.secrets import store as secrets
    from leasehold.installation_keys import secret_keys
    from leasehold.settings import Settings

    settings = Settings.from_env(tenant=tenant)
    keys = secret_keys(settings)
    value = _ask(name)
    async with tenant_scope(settings) as (db, owner):
        await secrets.put_secret(db, owner, name, value, keys)
    say(f"{name} is kept")


@app.command("list")
@command
async def list_(tenant: Tenant = None, json: Json = False) -> None:
    """The names of the secrets, and the key that each is sealed with."""
    from leasehold.features.secrets import store as secrets
    from leasehold.settings import Settings

    async with tenant_scope(Settings.from_env(tenant=tenant)) as (db, owner):
        found = await secrets.list_secrets(db, owner)
    if json:
        print_json(found)
    else:
        print_table(["secret", "key", "set"], [(one.name, one.key_id, one.updated_at) for one in found])


@app.command()
@command
async def remove(name: Name, tenant: Tenant = None) -> None:
    """Remove a secret. Jobs that ask for it fail from now on."""
    from leasehold.features.secrets import store as secrets
    from leasehold.settings import Settings

    async with tenant_scope(Settings.from_env(tenant=tenant)) as (db, owner):
        await secrets.remove_secret(db, owner, name)
    say(f"{name} is removed")


@app.command()
@command
async def rotate() -> None:
    """Seal all secrets of all tenants with the first of LEASEHOLD_SECRET_KEYS; then the others can go."""
    from leasehold.features.secrets import store as secrets
    from leasehold.installation_keys import secret_keys
    from leasehold.settings import Settings

    keys = secret_keys(Settings.from_env())
    async with database() as db:
        done = await secrets.rewrap_all(db, keys)
    say(f"sealed {done} anew; everything is under the key {keys.newest}")


def _ask(name: str) -> str:
    if sys.stdin.isatty():
        return str(typer.prompt(f"{name}", hide_input=True, err=True))
    value = sys.stdin.readline().rstrip("\r\n")
    if not value:
        raise typer.BadParameter("nothing came on stdin")
    return value

"""`leasehold keys …`."""

from typing import TYPE_CHECKING, Annotated

import typer

from leasehold.cli.options import Json, Tenant
from leasehold.cli.output import command, print_json, print_table, say
from leasehold.cli.tenant_scope import shell_scope

if TYPE_CHECKING:
    pass

app = typer.Typer(help="Keys of the HTTP API: make, list and revoke them.", no_args_is_help=True)

Operator = Annotated[bool, typer.Option("--operator", help="Of the installation, not of a tenant.")]
_USUAL = ["jobs:read", "jobs:write"]


@app.command()
@command
async def create(
    name: Annotated[str, typer.Argument(help="What the key is for.")],
    scope: Annotated[
        list[str] | None,
        typer.Option(
            "--scope",
            help="jobs:read, jobs:write, work or admin, again for more; with --operator: operator or metrics.",
            show_default="both of jobs, or operator",
        ),
    ] = None,
    queue: Annotated[
        list[str] | None, typer.Option("--queue", help="Where a key with the scope work may work; again for more.")
    ] = None,
    days: Annotated[float | None, typer.Option(min=0.001, max=36500, help="Days until it expires.")] = None,
    operator: Operator = False,
    tenant: Tenant = None,
    json: Json = False,
) -> None:
    """Make a key and print it, this once. To rotate: make another, deploy it, revoke the first."""
    from dataclasses import asdict
    from datetime import UTC, datetime, timedelta

    from leasehold import installation_keys
    from leasehold import tokens as keys
    from leasehold.features.api_keys import store as engine
    from leasehold.settings import Settings

    settings = Settings.from_env(tenant=tenant)
    key = keys.make(settings.key_env)
    peppers = installation_keys.peppers(settings)
    expires_at = datetime.now(UTC) + timedelta(days=days) if days else None
    async with shell_scope(None if operator else settings) as (db, owner):
        if owner is None:
            info = await engine.create_operator_key(
                db, key, peppers, name=name, scopes=scope or ["operator"], expires_at=expires_at
            )
        else:
            info = await engine.create_key(
                db, owner, key, peppers, name=name, scopes=scope or _USUAL, expires_at=expires_at, queues=queue
            )
    if json:
        print_json(asdict(info) | {"key": key.text})
    else:
        print(key.text)
        say(f"{', '.join(info.scopes)}; it is not shown again. Send it as `Authorization: Bearer <key>`")


@app.command("list")
@command
async def list_(operator: Operator = False, tenant: Tenant = None, json: Json = False) -> None:
    """The keys of a tenant, newest first, revoked ones too."""
    from leasehold.features.api_keys import store as engine
    from leasehold.settings import Settings

    async with shell_scope(None if operator else Settings.from_env(tenant=tenant)) as (db, owner):
        found = await (engine.list_operator_keys(db) if owner is None else engine.list_keys(db, owner))
    if json:
        print_json(found)
    else:
        print_table(
            ["key", "name", "scopes", "created", "expires", "revoked", "last used"],
            [
                (k.key_id, k.name, ",".join(k.scopes), k.created_at, k.expires_at, k.revoked_at, k.last_used_at)
                for k in found
            ],
        )


@app.command()
@command
async def revoke(
    key_id: Annotated[str, typer.Argument(help="The key's id, as `keys list` shows it.")],
    operator: Operator = False,
    tenant: Tenant = None,
) -> None:
    """Revoke a key: every server refuses it from its next request on."""
    from leasehold.features.api_keys import store as engine
    from leasehold.settings import Settings

    async with shell_scope(None if operator else Settings.from_env(tenant=tenant)) as (db, owner):
        await (engine.revoke_operator_key(db, key_id) if owner is None else engine.revoke_key(db, owner, key_id))
    say(f"{key_id} is revoked")

"""``leasehold notes …``."""

import typer

from leasehold import shell

app = typer.Typer(help="Notes of each tenant.", no_args_is_help=True)


@app.callback()
def notes() -> None: ...


@app.command()
@shell.command
async def count(tenant: shell.TenantOption = None, json: shell.Json = False) -> None:
    """How many notes a tenant has."""
    async with shell.tenant(tenant) as access, access.transaction() as tx:
        found = await tx.fetchval("select count(*) from leasehold_notes.note")
    shell.print_json({"notes": found}) if json else print(found)

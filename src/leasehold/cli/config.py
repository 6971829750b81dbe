"""`leasehold config …`."""

import typer

from leasehold.cli.options import Json
from leasehold.cli.output import command, print_json, print_table

app = typer.Typer(help="The settings.", no_args_is_help=True)


@app.command()
@command
async def show(json: Json = False) -> None:
    """Every setting, its value, and where the value comes from. Passwords in URLs are not shown."""
    from leasehold.settings import describe

    rows = describe()
    if json:
        print_json([{"name": name, "value": value, "origin": origin} for name, value, origin in rows])
    else:
        print_table(["setting", "value", "origin"], rows)

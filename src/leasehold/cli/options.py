"""Options that several commands share."""

from typing import Annotated

import typer

Tenant = Annotated[
    str | None,
    typer.Option("--tenant", envvar="LEASEHOLD_TENANT", help="The tenant's name or id.", show_default="default"),
]
Json = Annotated[bool, typer.Option("--json", help="One JSON document on stdout.")]
App = Annotated[str | None, typer.Argument(envvar="LEASEHOLD_APP", metavar="[MODULE:APP]", help="Your Leasehold app.")]
Slots = Annotated[int | None, typer.Option("--slots", min=1, help="Attempts to run at once.", show_default="10")]
Yes = Annotated[bool, typer.Option("--yes", help="Do not ask.")]
DryRun = Annotated[bool, typer.Option("--dry-run", help="Only say how many.")]

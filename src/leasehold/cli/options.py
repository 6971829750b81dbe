"""Options that several commands share."""

from collections.abc import Iterable
from typing import Annotated, Any

import typer

Tenant = Annotated[
    str | None,
    typer.Option(
        "--tenant",
        envvar="LEASEHOLD_TENANT",
        help="The tenant's name or id.",
        show_default="default, where there is no other",
    ),
]
Json = Annotated[bool, typer.Option("--json", help="One JSON document on stdout.")]
App = Annotated[str | None, typer.Argument(envvar="LEASEHOLD_APP", metavar="[MODULE:APP]", help="Your Leasehold app.")]
Slots = Annotated[
    int | None,
    typer.Option("--slots", min=1, help="Attempts to run at once.", show_default="LEASEHOLD_SLOTS, or 300"),
]
Yes = Annotated[bool, typer.Option("--yes", help="Do not ask.")]
Force = Annotated[bool, typer.Option("--force", help="Take a kind, too, that no worker is known to handle.")]
DryRun = Annotated[bool, typer.Option("--dry-run", help="Only say how many.")]
JobOptions = Annotated[
    list[str] | None,
    typer.Option("--option", help="An option of the job: tags='[\"vip\"]', timeout_s=60, …; again for more."),
]


def job_options(texts: Iterable[str]) -> dict[str, Any]:
    """``queue=reports`` and the like; a value is JSON, or else a text as it stands."""
    import json

    from leasehold.errors import BadInput

    given: dict[str, Any] = {}
    for text in texts:
        name, equals, value = text.partition("=")
        if not equals:
            raise BadInput(f"--option {text!r} is not name=value", hint="--option queue=reports")
        try:
            given[name] = json.loads(value)
        except ValueError:
            given[name] = value
    return given

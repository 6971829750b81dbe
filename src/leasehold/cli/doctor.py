"""`leasehold doctor`: what is wrong, and what to do about it."""

from typing import TYPE_CHECKING

import typer

from leasehold.cli.options import Json
from leasehold.cli.output import command, print_json, print_table

if TYPE_CHECKING:
    from leasehold.engine.health import Finding


@command
async def doctor(json: Json = False) -> None:
    """Check the database, the schema, the workers and the clocks. Exit 1 when something is wrong."""
    from leasehold.engine import health
    from leasehold.settings import Settings

    findings = await health.examine(Settings.from_env())
    if json:
        print_json(findings)
    else:
        print_table(["", "check", "finding", "way out"], [_row(finding) for finding in findings])
    if any(finding.grave for finding in findings):
        raise typer.Exit(1)


def _row(finding: "Finding") -> tuple[str, str, str, str]:
    mark = "✗" if finding.grave else "!" if finding.way_out else "✓"
    return mark, finding.check, finding.text, finding.way_out or ""

"""`leasehold doctor`: what is wrong, and what to do about it."""

from typing import TYPE_CHECKING, Annotated

import typer

from leasehold.cli.options import Json, duration
from leasehold.cli.output import command, print_json, print_table, say

if TYPE_CHECKING:
    from leasehold.engine.diagnostics import Finding

OlderThan = Annotated[
    float,
    typer.Option(
        "--older-than",
        help="Age from which an open transaction is reported.",
        parser=duration,
        metavar="DURATION",
    ),
]


@command
async def doctor(older_than: OlderThan = 300.0, json: Json = False) -> None:
    """Check database, schema, clocks, wake-ups, partitions, vacuum, workers, leases, kinds and versions: say what is
    wrong, why, and the command that helps. Exit 1 when work has stopped."""
    from leasehold.engine import diagnostics
    from leasehold.settings import Settings

    findings = await diagnostics.examine(Settings.from_env(), old_s=older_than)
    if json:
        print_json(findings)
    else:
        print_table(["", "check", "finding", "way out"], [_row(finding) for finding in findings])
        for finding in findings:
            if finding.why:
                say(f"{finding.check}: {finding.text}\n  why: {finding.why}\n  try: {finding.way_out}")
    if any(finding.grave for finding in findings):
        raise typer.Exit(1)


def _row(finding: "Finding") -> tuple[str, str, str, str]:
    mark = "✗" if finding.grave else "!" if finding.way_out else "✓"
    return mark, finding.check, finding.text, finding.way_out or ""

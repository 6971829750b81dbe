"""``leasehold audits …``."""

import asyncio
from typing import Annotated, Any
from uuid import UUID

import typer

from leasehold import shell

app = typer.Typer(help="Site audits.", no_args_is_help=True)

_SEVERITIES = ("critical", "high", "medium", "low")
_POLL_SECONDS = 0.5


@app.command()
@shell.command
async def run(
    url: str,
    max_pages: Annotated[int, typer.Option(help="At most so many pages.")] = 1000,
    fail_on: Annotated[
        str | None, typer.Option(help="Exit 1 if there is such a fault: critical, high, medium, low.")
    ] = None,
    tenant: shell.TenantOption = None,
    json: shell.Json = False,
) -> None:
    """Audit a site and wait for the end; a worker must be running."""
    from leasehold_packs.audits import requests
    from leasehold_packs.audits.options import Options

    if fail_on is not None and fail_on not in _SEVERITIES:
        raise typer.BadParameter(f"{fail_on} is none of {', '.join(_SEVERITIES)}", param_hint="--fail-on")
    async with shell.tenant(tenant) as access:
        async with access.transaction() as tx:
            asked = await requests.ask(tx, access.tenant_id, url, Options(max_pages=max_pages), force=True)
        ended = await _ended(access, asked.run_id)
        async with access.transaction() as tx:
            found = await requests.list_issues(tx, asked.run_id, limit=1000)
    _print(ended, found, json=json)
    if ended["state"] != "succeeded" or (fail_on and _has(found, fail_on)):
        raise typer.Exit(1)


@app.command("list")
@shell.command
async def list_(tenant: shell.TenantOption = None, json: shell.Json = False) -> None:
    """The newest audits first."""
    from leasehold_packs.audits import requests

    async with shell.tenant(tenant) as access, access.transaction() as tx:
        runs = await requests.list_runs(tx)
    if json:
        shell.print_json(runs)
    else:
        shell.print_table(
            ["audit", "site", "state", "pages", "score", "created"],
            [(one["run_id"], one["url"], one["state"], one["pages"], one["score"], one["created_at"]) for one in runs],
        )


@app.command()
@shell.command
async def report(
    run_id: UUID,
    form: Annotated[str, typer.Option("--format", help="html, csv or json.")] = "html",
    tenant: shell.TenantOption = None,
) -> None:
    """Print the report of an audit."""
    from leasehold_packs.audits import report as reports
    from leasehold_packs.audits import requests

    async with shell.tenant(tenant) as access, access.transaction() as tx:
        ended = await requests.get_run(tx, run_id)
        found = await requests.list_issues(tx, run_id, limit=100_000)
        site = await tx.fetchval("select url from leasehold_audits.site where site_id = $1", ended["site_id"])
    match form:
        case "html":
            print(reports.as_html(ended, site, found))
        case "csv":
            print(reports.as_csv(found), end="")
        case "json":
            shell.print_json(ended | {"url": site, "issues": found})
        case _:
            raise typer.BadParameter(f"{form} is none of html, csv, json", param_hint="--format")


async def _ended(access: Any, run_id: UUID) -> dict[str, Any]:
    from leasehold_packs.audits import requests

    told = 0
    while True:
        async with access.transaction() as tx:
            now = await requests.get_run(tx, run_id)
        if now["state"] != "running":
            return now
        if (done := sum(now["urls"].values()) - now["urls"].get("queued", 0)) != told:
            told = done
            shell.say(f"{done} of {sum(now['urls'].values())} pages")
        await asyncio.sleep(_POLL_SECONDS)


def _has(found: list[dict[str, Any]], at_least: str) -> bool:
    counted = _SEVERITIES[: _SEVERITIES.index(at_least) + 1]
    return any(issue["severity"] in counted for issue in found)


def _print(ended: dict[str, Any], found: list[dict[str, Any]], *, json: bool) -> None:
    if json:
        shell.print_json(ended | {"issues": found})
        return
    from leasehold_packs.audits.recipe import checks

    for name, n in ((ended["report"] or {}).get("checks") or {}).items():
        print(f"{checks()[name].severity}\t{n}\t{checks()[name].title}")
    shell.say(f"score {ended['score']}: {(ended['report'] or {}).get('arithmetic', ended['state'])}")

"""``leasehold audits …``."""

from dataclasses import asdict
from functools import partial
from typing import TYPE_CHECKING, Annotated
from uuid import UUID

import typer

from leasehold import shell

if TYPE_CHECKING:
    from leasehold import Access
    from leasehold_packs.audits.model_results import AuditEvent, Issue, SiteAudit

app = typer.Typer(help="Site audits.", no_args_is_help=True)

_SEVERITIES = ("critical", "high", "medium", "low")
_POLL_SECONDS = 0.5


@app.command()
@shell.command
async def run(
    url: str,
    max_pages: Annotated[int, typer.Option(help="At most so many pages.")] = 1000,
    external: Annotated[int, typer.Option(help="Ask for at most so many pages of other sites: are they there?")] = 0,
    sitemap: Annotated[str | None, typer.Option(help="Just the pages that this sitemap names.")] = None,
    page: Annotated[list[str] | None, typer.Option(help="Just this page; may be given again.")] = None,
    secret: Annotated[str | None, typer.Option(help="The name of a secret user:password, for staging sites.")] = None,
    render: Annotated[bool, typer.Option("--render", help="Let a browser run the scripts of pages.")] = False,
    fail_on: Annotated[
        str | None,
        typer.Option(help="Exit 1 if there is such a fault that nobody has accepted: critical, high, medium, low."),
    ] = None,
    tenant: shell.TenantOption = None,
    json: shell.Json = False,
) -> None:
    """Audit a site and wait for the end; a worker must be running."""
    from leasehold_packs.audits import service, start_run
    from leasehold_packs.audits.model import Options

    if fail_on is not None and fail_on not in _SEVERITIES:
        raise typer.BadParameter(f"{fail_on} is none of {', '.join(_SEVERITIES)}", param_hint="--fail-on")
    options = Options(
        max_pages=max_pages, max_external=external, sitemap=sitemap, only=page or [], secret=secret, render=render
    )
    async with shell.tenant(tenant) as access:
        async with access.transaction() as tx:
            asked = await start_run.request_run(tx, url, options, force=True)
        ended = await _ended(access, asked.run_id)
        async with access.transaction() as tx:
            found, left_out = await service.all_issues(tx, asked.run_id) if json else ([], 0)
            open_ = await service.count_open(tx, asked.run_id)
    _print(ended, found, left_out, json=json)
    if ended.state != "succeeded" or (fail_on and _has(open_, fail_on)):
        raise typer.Exit(1)


@app.command("list")
@shell.command
async def list_(tenant: shell.TenantOption = None, json: shell.Json = False) -> None:
    """The newest audits first."""
    from leasehold_packs.audits import service

    async with shell.tenant(tenant) as access, access.transaction() as tx:
        runs = await service.list_runs(tx)
    if json:
        shell.print_json(runs)
    else:
        shell.print_table(
            ["audit", "site", "state", "pages", "score", "created"],
            [(one.run_id, one.url, one.state, one.pages, one.score, one.created_at) for one in runs],
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
    from leasehold_packs.audits import service

    if form not in ("html", "csv", "json"):
        raise typer.BadParameter(f"{form} is none of html, csv, json", param_hint="--format")
    async with shell.tenant(tenant) as access, access.transaction() as tx:
        ended = await service.get_run(tx, run_id)
        site = (await service.get_site(tx, ended.site_id)).url
        sample = await service.sample_issues(tx, run_id, each=reports.SHOWN) if form == "html" else []
        found, left_out = await service.all_issues(tx, run_id) if form != "html" else ([], 0)
    match form:
        case "html":
            print(reports.as_html(ended, site, sample))
        case "csv":
            print(reports.as_csv(found, left_out=left_out), end="")
        case _:
            shell.print_json(asdict(ended) | {"url": site, "issues": found, "issues_left_out": left_out})


@app.command()
@shell.command
async def sites(tenant: shell.TenantOption = None, json: shell.Json = False) -> None:
    """All sites with their scores, and how many findings are open."""
    from leasehold_packs.audits import service

    async with shell.tenant(tenant) as access, access.transaction() as tx:
        found = await service.list_sites(tx)
    if json:
        shell.print_json(found)
    else:
        names = ["site_id", "url", "score", "open", "critical", "finished_at"]
        shell.print_table(names, [[getattr(one, name) for name in names] for one in found])


@app.command()
@shell.command
async def cancel(run_id: UUID, tenant: shell.TenantOption = None) -> None:
    """Stop an audit; ``resume`` lets it go on."""
    from leasehold_packs.audits.run import RUNS

    async with shell.tenant(tenant) as access:
        await RUNS.cancel(access, run_id)


@app.command()
@shell.command
async def resume(run_id: UUID, tenant: shell.TenantOption = None, json: shell.Json = False) -> None:
    """Let an audit that was stopped go on, and wait for the end; what it has read it does not read again."""
    from leasehold_packs.audits import service, start_run

    async with shell.tenant(tenant) as access:
        async with access.transaction() as tx:
            await start_run.resume(tx, run_id)
        ended = await _ended(access, run_id)
        async with access.transaction() as tx:
            found, left_out = await service.all_issues(tx, run_id) if json else ([], 0)
    _print(ended, found, left_out, json=json)
    if ended.state != "succeeded":
        raise typer.Exit(1)


@app.command()
@shell.command
async def reevaluate(
    run_id: UUID,
    settle: Annotated[bool, typer.Option(help="Let findings follow what is found.")] = False,
    tenant: shell.TenantOption = None,
    json: shell.Json = False,
) -> None:
    """Judge the pages that an audit kept by the recipe of today, and say what would change; nothing is fetched."""
    from leasehold_packs.audits import start_run

    async with shell.tenant(tenant) as access:
        async with access.transaction() as tx:
            new = await start_run.reevaluate_run(tx, run_id, settle=settle)
        ended = await _ended(access, new)
    if json:
        shell.print_json(ended)
    elif ended.report and (changed := ended.report["changed"]):
        for name, one in changed["checks"].items():
            print(f"{name}\t+{one['new']}\t-{one['gone']}")
        shell.say(f"score {ended.score}, before {changed['score_before']}: audit {new}")
    if ended.state != "succeeded":
        shell.say(f"{ended.state}: {ended.reason}")
        raise typer.Exit(1)


@app.command()
@shell.command
async def schedule(
    url: str,
    cron: Annotated[str | None, typer.Option(help="When an audit begins, such as '0 6 * * 1'.")] = None,
    zone: Annotated[str, typer.Option(help="Whose clock that is.")] = "UTC",
    max_pages: Annotated[int, typer.Option(help="At most so many pages.")] = 1000,
    off: Annotated[bool, typer.Option("--off", help="No more by the clock.")] = False,
    tenant: shell.TenantOption = None,
) -> None:
    """Audit a site by the clock."""
    from leasehold_packs.audits import schedule, store
    from leasehold_packs.audits.model import Options

    if (cron is None) != off:
        raise typer.BadParameter("say when, or --off", param_hint="--cron")
    async with shell.tenant(tenant) as access:
        async with access.transaction() as tx:
            site_id = await store.put_site(tx, url)
        if cron is None:
            await schedule.remove(access, site_id)
            return
        made = await schedule.put(access, site_id, Options(max_pages=max_pages), cron=cron, zone=zone)
    print(made.schedule)
    shell.say(f"next on {made.next_at:%Y-%m-%d %H:%M} UTC")


@app.command()
@shell.command
async def demo(
    weeks: Annotated[int, typer.Option(min=1, max=50, help="Audits; the site changes before each but the first.")] = 3,
    port: Annotated[int, typer.Option(help="Of the made-up site; the worker must be allowed to fetch from it.")] = 8811,
    tenant: shell.TenantOption = None,
) -> None:
    """Serve a made-up site on this machine, audit it, break and mend it, and tell what was seen; no internet is needed.

    The worker needs LEASEHOLD_FETCH_ALLOW=127.0.0.1:8811.
    """
    from leasehold_packs.audits import demo as demonstration

    async with shell.tenant(tenant) as access:
        await demonstration.run(access, weeks=weeks, port=port, tell=shell.say)


async def _ended(access: "Access", run_id: UUID) -> "SiteAudit":
    from leasehold_packs.audits import service
    from leasehold_packs.runs.snapshot import wait

    await wait(partial(service.snapshot, access, run_id), every_s=_POLL_SECONDS, on_patch=_say_event)
    async with access.transaction() as tx:
        return await service.get_run(tx, run_id)


def _say_event(event: "AuditEvent") -> None:
    shell.say(f"{event.progress:3} % {event.message}")


def _has(open_: dict[str, int], at_least: str) -> bool:
    return any(open_.get(severity) for severity in _SEVERITIES[: _SEVERITIES.index(at_least) + 1])


def _print(ended: "SiteAudit", found: "list[Issue]", left_out: int, *, json: bool) -> None:
    if json:
        shell.print_json(asdict(ended) | {"issues": found, "issues_left_out": left_out})
        return
    from leasehold_packs.audits.recipe import checks

    for name, n in (ended.report["checks"] if ended.report else {}).items():
        print(f"{checks()[name].severity}\t{n}\t{checks()[name].title}")
    if ended.report is None:
        shell.say(f"{ended.state}: {ended.reason}")
    else:
        shell.say(f"score {ended.score}: {ended.report['arithmetic']}")

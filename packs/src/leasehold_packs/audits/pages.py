"""What the dashboard shows of audits: sites and runs, one run as it goes and when it has ended, and what it found."""

from collections import Counter
from typing import Any
from uuid import UUID

from leasehold import web
from leasehold.errors import BadInput
from leasehold_packs.audits import report as reports
from leasehold_packs.audits import service, start_run
from leasehold_packs.audits.model import Options
from leasehold_packs.audits.model_results import AuditSummary, SiteSummary
from leasehold_packs.audits.recipe import checks
from leasehold_packs.audits.run import RUNS
from leasehold_packs.webfacts.redacted import shown

pages = web.pages("audits", title="Audits", templates="leasehold_packs.audits")
_RUNS = 100
_ISSUES = 1000
_PAGES = 200
#: Events that are shown while a run goes on.
_EVENTS = 12
#: Pages that are named with a check.
_NAMED = 8


@pages.get("/audits", "jobs:read", live=True)
async def audits(look: web.Look) -> web.Page:
    return await _list(look)


@pages.post("/audits", "jobs:write")
async def start(look: web.Look) -> web.Response | web.Page:
    url = look.said("url")
    try:
        async with look.tenant.transaction() as tx:
            force = bool(look.said("force"))
            run = await start_run.request_run(tx, url, Options(), force=force)
            if run.created:
                await tx.log("audits.start", str(run.run_id), {"url": shown(url)})
    except BadInput as problem:
        return await _list(look, problem=str(problem), url_given=url)
    words = "The audit has begun." if run.created else "The same audit runs, or has just ended: this is it."
    return look.go(look.url(f"/audits/{run.run_id}"), words)


@pages.get("/audits/checks", "jobs:read")
async def catalogue(look: web.Look) -> web.Page:
    groups: dict[str, list[Any]] = {}
    for check in checks().values():
        groups.setdefault(check.group, []).append(check)
    return look.show("audits_checks.html", groups=groups)


@pages.get("/audits/sites/{site_id}", "jobs:read")
async def site(look: web.Look) -> web.Page:
    """What became of the findings of a site, over all its runs."""
    site_id, state = look.path_id("site_id"), look.query("state") or None
    async with look.tenant.transaction() as tx:
        found = await service.get_site(tx, site_id)
        findings = (await service.list_findings(tx, site_id, limit=_ISSUES)).data
        runs = await service.list_runs(tx, site_id=site_id, limit=_RUNS)
    counts = Counter(one.state for one in findings)
    return look.show(
        "audits_site.html",
        own_tenant=True,
        site=found,
        runs=runs,
        counts=counts,
        chosen=state,
        findings=[one for one in findings if state in (None, one.state)][:_PAGES],
        checks=checks(),
        line=_line([one.score for one in reversed(runs) if one.score is not None]),
        may_act=look.viewer.may("jobs:write"),
    )


@pages.post("/audits/findings/{finding_id}", "jobs:write")
async def accept(look: web.Look) -> web.Response:
    note = look.said("note") or None
    async with look.tenant.transaction() as tx:
        found = await service.accept(tx, look.path_id("finding_id"), note=note, until=None)
        await tx.log("audits.accept" if note else "audits.reopen", str(found.finding_id), {"note": note})
    words = f"{checks()[found.check_id].title}: {'accepted' if note else 'open again'}."
    return look.go(look.url(f"/audits/sites/{_id(look.said('site_id'))}"), words)


@pages.get("/audits/{run_id}", "jobs:read", live=True)
async def audit(look: web.Look) -> web.Page:
    run_id = look.path_id("run_id")
    async with look.tenant.transaction() as tx:
        run = await service.get_run(tx, run_id)
        found = await service.sample_issues(tx, run_id, each=_NAMED)
        urls = await service.list_urls(tx, run_id, limit=_PAGES)
        runs = await service.list_runs(tx, site_id=run.site_id, limit=_RUNS)
        events = await service.list_events(tx, run_id, after=max(run.seq - _EVENTS, 0))
    earlier = [one for one in runs if one.created_at < run.created_at and one.score is not None]
    report = run.report
    return look.show(
        "audits_one.html",
        live=run.is_running,
        own_tenant=True,
        run=run,
        site=next(one.url for one in runs if one.run_id == run_id) if runs else "",
        arithmetic=report and report["arithmetic"],
        terms=sorted(report["terms"], key=lambda term: -term["taken"]) if report else [],
        checks=checks(),
        found=found,
        urls=urls.data,
        more_urls=urls.has_more,
        unread=report and report["unread"],
        forbidden=report["forbidden"] if report else {},
        earlier=earlier,
        events=events[::-1],
        changed=report and report["changed"],
        may_act=look.viewer.may("jobs:write"),
    )


@pages.get("/audits/{run_id}/checks/{check}", "jobs:read")
async def check(look: web.Look) -> web.Page:
    """All pages that have one fault, with the evidence."""
    run_id, name = look.path_id("run_id"), str(look.request.path_params["check"])
    if name not in checks():
        raise web.Problem("not_found", "there is no such check")
    async with look.tenant.transaction() as tx:
        run = await service.get_run(tx, run_id)
        issues = (await service.list_issues(tx, run_id, check=name, limit=_ISSUES)).data
        every = run.report["checks"].get(name, len(issues)) if run.report else len(issues)
    return look.show("audits_check.html", own_tenant=True, run=run, check=checks()[name], issues=issues, every=every)


@pages.get("/audits/{run_id}/page", "jobs:read")
async def page(look: web.Look) -> web.Page:
    """All about one page."""
    run_id = look.path_id("run_id")
    async with look.tenant.transaction() as tx:
        run = await service.get_run(tx, run_id)
        found = await service.get_url(tx, run_id, look.query("url") or None, key=look.query("key") or None)
    return look.show("audits_page.html", own_tenant=True, run=run, page=found, checks=checks(), most=_PAGES)


@pages.get("/audits/{run_id}/report", "jobs:read")
async def report(look: web.Look) -> web.Response:
    """To read and to print, without scripts."""
    run_id = look.path_id("run_id")
    async with look.tenant.transaction() as tx:
        run = await service.get_run(tx, run_id)
        found = await service.sample_issues(tx, run_id, each=reports.SHOWN)
        site_ = await service.get_site(tx, run.site_id)
    return web.Response(reports.as_html(run, site_.url, found), headers=reports.PAGE, media_type="text/html")


@pages.get("/audits/{run_id}/compare", "jobs:read")
async def compare(look: web.Look) -> web.Page:
    after, before = look.path_id("run_id"), _id(look.query("before"))
    async with look.tenant.transaction() as tx:
        compared = await service.compare(tx, before, after)
    return look.show(
        "audits_compared.html",
        own_tenant=True,
        compared=compared,
        before=before,
        after=after,
        checks=checks(),
        most=_PAGES,
    )


@pages.get("/audits/{run_id}/stop", "jobs:write")
async def confirm(look: web.Look) -> web.Page:
    async with look.tenant.transaction() as tx:
        run = await service.get_run(tx, look.path_id("run_id"))
    return look.confirm(
        "Stop this audit?",
        words=f"It has read {run.pages} pages. What it found stays; it gets no score.",
        action=look.url(f"/audits/{run.run_id}/stop"),
        back=look.url(f"/audits/{run.run_id}"),
        button="Stop the audit",
        danger=True,
    )


@pages.post("/audits/{run_id}/stop", "jobs:write")
async def stop(look: web.Look) -> web.Response:
    run_id = look.path_id("run_id")
    await RUNS.cancel(look.tenant, run_id, action="audits.stop")
    return look.go(look.url(f"/audits/{run_id}"), "The audit is stopped.")


@pages.post("/audits/{run_id}/resume", "jobs:write")
async def resume(look: web.Look) -> web.Response:
    run_id = look.path_id("run_id")
    async with look.tenant.transaction() as tx:
        await start_run.resume(tx, run_id)
        await tx.log("audits.resume", str(run_id))
    return look.go(look.url(f"/audits/{run_id}"), "The audit goes on.")


@pages.post("/audits/{run_id}/reevaluate", "jobs:write")
async def reevaluate(look: web.Look) -> web.Response:
    async with look.tenant.transaction() as tx:
        new = await start_run.reevaluate_run(tx, look.path_id("run_id"))
        await tx.log("audits.reevaluate", str(new), {"of": str(look.path_id("run_id"))})
    return look.go(look.url(f"/audits/{new}"), "The pages that were kept are judged again; nothing is fetched.")


async def _list(look: web.Look, *, problem: str | None = None, url_given: str = "") -> web.Page:
    runs: list[AuditSummary] = []
    sites: list[SiteSummary] = []
    if look.viewer.tenant:
        async with look.tenant.transaction() as tx:
            runs = await service.list_runs(tx, limit=_RUNS)
            sites = await service.list_sites(tx)
    return look.show(
        "audits.html",
        live=problem is None,
        runs=runs,
        sites=[(site, _line(site.scores[::-1])) for site in sites],
        problem=problem,
        url_given=url_given,
        may_act=look.viewer.may("jobs:write") and look.viewer.tenant is not None,
    )


def _line(scores: list[float]) -> str:
    """The points of a small line of scores, the oldest first; empty if there is nothing to draw."""
    if len(scores) < 2:
        return ""
    return " ".join(f"{100 * n / (len(scores) - 1):.1f},{28 - 0.26 * score:.1f}" for n, score in enumerate(scores))


def _id(text: str) -> UUID:
    try:
        return UUID(text)
    except ValueError:
        raise web.Problem("not_found", "there is no such audit") from None

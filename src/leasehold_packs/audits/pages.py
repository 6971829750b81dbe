"""What the dashboard shows of audits: runs, one run with its score and its findings, and two runs beside each other."""

from typing import Any
from uuid import UUID

from leasehold import web
from leasehold.errors import BadInput
from leasehold_packs.audits import requests
from leasehold_packs.audits.options import Options
from leasehold_packs.audits.recipe import checks

pages = web.pages("audits", title="Audits", templates="leasehold_packs.audits")
_RUNS = 100
_ISSUES = 1000
_PAGES = 200
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
            asked = await requests.ask(tx, look.tenant.tenant_id, url, Options(), force=bool(look.said("force")))
    except BadInput as problem:
        return await _list(look, problem=str(problem), url_given=url)
    words = "The audit has begun." if asked.created else "The same audit runs, or has just ended: this is it."
    return look.go(look.url(f"/audits/{asked.run_id}"), words)


@pages.get("/audits/{run_id}", "jobs:read", live=True)
async def audit(look: web.Look) -> web.Page:
    run_id = look.path_id("run_id")
    async with look.tenant.transaction() as tx:
        run = await requests.get_run(tx, run_id)
        issues = await requests.list_issues(tx, run_id, limit=_ISSUES)
        urls = await requests.list_urls(tx, run_id, state=None, limit=_PAGES + 1)
        runs = await requests.list_runs(tx, site_id=run["site_id"], limit=_RUNS)
    earlier = [one["run_id"] for one in runs if one["created_at"] < run["created_at"] and one["score"] is not None]
    report = run["report"] or {}
    return look.show(
        "audits_one.html",
        live=run["state"] == "running",
        own_tenant=True,
        run=run,
        site=next(one["url"] for one in runs if one["run_id"] == run_id) if runs else "",
        arithmetic=report.get("arithmetic"),
        terms=sorted(report.get("terms", []), key=lambda term: -term["taken"]),
        checks=checks(),
        found=_by_check(issues),
        named=_NAMED,
        most=_ISSUES,
        urls=urls[:_PAGES],
        more_urls=len(urls) > _PAGES,
        earlier=earlier[0] if earlier else None,
        may_act=look.viewer.may("jobs:write"),
    )


@pages.get("/audits/{run_id}/compare", "jobs:read")
async def compare(look: web.Look) -> web.Page:
    after, before = look.path_id("run_id"), _id(look.query("before"))
    async with look.tenant.transaction() as tx:
        compared = await requests.compare(tx, before, after)
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
        run = await requests.get_run(tx, look.path_id("run_id"))
    return look.confirm(
        "Stop this audit?",
        words=f"It has read {run['pages'] or 0} pages. What it found stays; it gets no score.",
        action=look.url(f"/audits/{run['run_id']}/stop"),
        back=look.url(f"/audits/{run['run_id']}"),
        button="Stop the audit",
        danger=True,
    )


@pages.post("/audits/{run_id}/stop", "jobs:write")
async def stop(look: web.Look) -> web.Response:
    run_id = look.path_id("run_id")
    async with look.tenant.transaction() as tx:
        flow_id = await requests.stop(tx, run_id, "canceled")
    if flow_id:
        await look.tenant.client.flows.cancel(flow_id, "the audit was canceled")
    return look.go(look.url(f"/audits/{run_id}"), "The audit is stopped.")


async def _list(look: web.Look, *, problem: str | None = None, url_given: str = "") -> web.Page:
    runs: list[dict[str, Any]] = []
    if look.viewer.tenant:
        async with look.tenant.transaction() as tx:
            runs = await requests.list_runs(tx, limit=_RUNS)
    return look.show(
        "audits.html",
        live=problem is None,
        runs=runs,
        problem=problem,
        url_given=url_given,
        may_act=look.viewer.may("jobs:write") and look.viewer.tenant is not None,
    )


def _by_check(issues: list[dict[str, Any]]) -> dict[str, list[dict[str, Any]]]:
    found: dict[str, list[dict[str, Any]]] = {}
    for issue in issues:
        found.setdefault(issue["check_id"], []).append(issue)
    return found


def _id(text: str) -> UUID:
    try:
        return UUID(text)
    except ValueError:
        raise web.Problem("not_found", "there is no such audit") from None

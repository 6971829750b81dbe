"""The pages of runs."""

from uuid import UUID

from leasehold import web
from leasehold_packs.postings import service, store, store_runs
from leasehold_packs.postings.model import ChangedItem
from leasehold_packs.postings.pages import COLOURS

pages = web.pages("postings", templates="leasehold_packs.postings")
_RUNS = 50
_LINES = 200
#: Postings of one source that the page of a run names; the rest is counted.
_CHIPS = 60


@pages.get("/postings/runs", "jobs:read", live=True)
async def runs(look: web.Look) -> web.Page:
    async with look.tenant.transaction() as tx:
        found = await store_runs.list_runs(tx, limit=_RUNS)
        ready = any(one.enabled for one in await store.list_sources(tx))
    return look.show("postings_runs.html", live=True, runs=found, ready=ready)


@pages.post("/postings/runs", "jobs:write")
async def start_run(look: web.Look) -> web.Response:
    return await _start(look, None)


@pages.get("/postings/runs/{run_id}", "jobs:read", live=True)
async def run(look: web.Look) -> web.Page:
    run_id = look.path_id("run_id")
    async with look.tenant.transaction() as tx:
        found = await store_runs.get_run(tx, run_id)
        items = (await store_runs.run_changes(tx, run_id)).items
        lines = await store_runs.list_lines(tx, run_id, limit=_LINES)
    return look.show(
        "postings_run.html",
        live=found.state == "running",
        own_tenant=True,
        run=found,
        chips=_chips(items),
        lines=lines,
        companies={str(one.source_id): one.company for one in found.sources},
        most=_LINES,
        colours=COLOURS,
    )


@pages.get("/postings/runs/{run_id}/stop", "jobs:write")
async def confirm_stop(look: web.Look) -> web.Page:
    async with look.tenant.transaction() as tx:
        found = await store_runs.get_run(tx, look.path_id("run_id"))
    going = [one for one in found.sources if one.state == "running"]
    return look.confirm(
        "Abort this run?",
        words=f"{len(going)} of its {len(found.sources)} sources are not settled: nothing of them is taken over.",
        action=look.url(f"/postings/runs/{found.run_id}/stop"),
        back=look.url(f"/postings/runs/{found.run_id}"),
        button="Abort the run",
        danger=True,
        nothing=found.state != "running",
    )


@pages.post("/postings/runs/{run_id}/stop", "jobs:write")
async def stop_run(look: web.Look) -> web.Response:
    run_id = look.path_id("run_id")
    await store_runs.RUNS.cancel(look.tenant, run_id, action="postings.abort")
    return look.go(look.url(f"/postings/runs/{run_id}"), "The run is aborted.")


@pages.post("/postings/sources/{source_id}/sync", "jobs:write")
async def sync(look: web.Look) -> web.Response:
    return await _start(look, [look.path_id("source_id")])


async def _start(look: web.Look, chosen: list[UUID] | None) -> web.Response:
    async with look.tenant.transaction() as tx:
        made = await service.request_run(tx, look.tenant.actor, sources=chosen)
        await tx.log("postings.run", str(made.run_id), {"sources": made.sources})
    return look.go(look.url(f"/postings/runs/{made.run_id}"), "The run goes.")


def _chips(items: list[ChangedItem]) -> dict[UUID, tuple[list[ChangedItem], int]]:
    """By source: its postings, those that something became of first, and how many are not named."""
    by_source: dict[UUID, list[ChangedItem]] = {}
    for one in items:
        by_source.setdefault(one.source_id, []).append(one)
    chips = {}
    for source_id, rows in by_source.items():
        rows.sort(key=lambda one: (one.outcome in (None, "same"), one.state == "skipped", one.title))
        chips[source_id] = (rows[:_CHIPS], max(0, len(rows) - _CHIPS))
    return chips

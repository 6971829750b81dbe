"""The pages of sources: their health, what they list, closings that wait for a person."""

from dataclasses import asdict

from leasehold import web
from leasehold.errors import BadInput, LeaseholdError
from leasehold_packs.postings import service, store, store_runs
from leasehold_packs.postings.model import NewSource, Options
from leasehold_packs.postings.pages import COLOURS

pages = web.pages("postings", templates="leasehold_packs.postings")


@pages.get("/postings/sources", "jobs:read", live=True)
async def sources(look: web.Look) -> web.Page:
    return await _sources(look)


async def _sources(look: web.Look, problem: LeaseholdError | None = None) -> web.Page:
    async with look.tenant.transaction() as tx:
        found = await store.list_sources(tx)
        companies = await store.list_companies(tx)
    return look.show(
        "postings_sources.html",
        live=problem is None,
        sources=found,
        companies=companies,
        held=[one for one in found if one.held],
        problem=problem,
        url_given=look.said("url"),
        colours=COLOURS,
    )


@pages.post("/postings/sources/detect", "jobs:write")
async def detect(look: web.Look) -> web.Response | web.Page:
    """A look at what an address lists, before it is followed."""
    try:
        url = service.http_url(look.said("url")[:2000])
    except BadInput as problem:
        return await _sources(look, problem)
    made = await look.tenant.client.enqueue("postings.detect", {"url": url}, queue="postings")
    return look.go(look.url(f"/postings/detected/{made.job_id}"), "")


@pages.get("/postings/detected/{job_id}", "jobs:write", live=True)
async def detected(look: web.Look) -> web.Page:
    job = await look.tenant.client.get(look.path_id("job_id"))
    if job.kind != "postings.detect":
        raise web.Problem("not_found", "there is no such page")
    done = job.state == "succeeded"
    return look.show(
        "postings_detected.html",
        live=not job.state.is_outcome,
        own_tenant=True,
        job=job,
        address=(job.payload or {}).get("url", ""),
        found=job.result if done else None,
        problem=None if done or not job.state.is_outcome else (job.error or {}).get("message") or job.state,
    )


@pages.post("/postings/sources", "jobs:write")
async def add_source(look: web.Look) -> web.Response | web.Page:
    given = {name: look.said(name)[:500] or None for name in ("url", "board", "slug", "base", "company")}
    await service.set_breaker(look.tenant.client)
    try:
        async with look.tenant.transaction() as tx:
            made = await service.add_source(tx, NewSource(**given), Options())
            run = await service.request_run(tx, look.tenant.actor, sources=[made.source_id])
            await tx.log("postings.follow", str(made.source_id), {"board": made.board, "url": made.url})
    except LeaseholdError as problem:
        return await _sources(look, problem)
    return look.go(look.url(f"/postings/runs/{run.run_id}"), f"{made.company} is followed; its first run goes.")


@pages.get("/postings/sources/{source_id}", "jobs:read", live=True)
async def source(look: web.Look) -> web.Page:
    source_id = look.path_id("source_id")
    async with look.tenant.transaction() as tx:
        found = await store.get_source(tx, source_id)
        runs = await store_runs.list_source_runs(tx, source_id, limit=20)
    breaker = await service.get_breaker(look.tenant.client, found.host)
    return look.show(
        "postings_source.html",
        live=True,
        own_tenant=True,
        source=found,
        runs=runs,
        gate=breaker,
        filters=_filters(found.options),
        options=found.options,
        colours=COLOURS,
    )


@pages.post("/postings/sources/{source_id}/enabled", "jobs:write")
async def enable_source(look: web.Look) -> web.Response:
    source_id, enabled = look.path_id("source_id"), look.said("enabled") == "yes"
    async with look.tenant.transaction() as tx:
        await store.change_source(tx, source_id, enabled=enabled, options=None)
        await tx.log("postings.enable" if enabled else "postings.disable", str(source_id))
    words = "It is asked again." if enabled else "It is not asked any more until you say so."
    return look.go(look.url(f"/postings/sources/{source_id}"), words)


@pages.post("/postings/sources/{source_id}/filters", "jobs:write")
async def change_filters(look: web.Look) -> web.Response:
    source_id = look.path_id("source_id")
    async with look.tenant.transaction() as tx:
        known = (await store.get_source(tx, source_id)).options
        words = {name: _words(look.said(name)) for name in ("title_include", "title_exclude", "locations")}
        try:
            options = Options(**asdict(known) | words)
        except ValueError:
            raise BadInput("filters are up to 50 words of 100 letters", hint="separated by commas") from None
        await store.change_source(tx, source_id, enabled=None, options=options)
        await tx.log("postings.filter", str(source_id), words)
    return look.go(look.url(f"/postings/sources/{source_id}"), "The filters hold from the next run on.")


@pages.get("/postings/sources/{source_id}/closings/{act}", "jobs:write")
async def confirm_closings(look: web.Look) -> web.Page:
    act, source_id = look.request.path_params["act"], look.path_id("source_id")
    if act not in ("close", "keep"):
        raise web.Problem("not_found", "there is no such page")
    async with look.tenant.transaction() as tx:
        found = await store.get_source(tx, source_id)
    missing = found.held.missing if found.held else 0
    close = act == "close"
    words = "Each is closed, with the moment in its history. Those that come back open again by themselves."
    return look.confirm(
        f"{'Close' if close else 'Keep'} {missing:,} postings of {found.company}?",
        words=words if close else "They stay open; the board is asked again at the next run.",
        action=look.url(f"/postings/sources/{source_id}/closings/{act}"),
        back=look.url(f"/postings/sources/{source_id}"),
        button=f"Close {missing:,} postings" if close else "Keep them open",
        danger=close,
        nothing=found.held is None,
    )


@pages.post("/postings/sources/{source_id}/closings/{act}", "jobs:write")
async def decide_closings(look: web.Look) -> web.Response:
    act, source_id = look.request.path_params["act"], look.path_id("source_id")
    if act not in ("close", "keep"):
        raise web.Problem("not_found", "there is no such page")
    async with look.tenant.transaction() as tx:
        done = await service.decide_closings(tx, source_id, close=act == "close")
        await tx.log(f"postings.{act}_held", str(source_id), {"closed": done.closed})
    words = f"{done.closed:,} postings are closed." if act == "close" else "They stay open."
    return look.go(look.url(f"/postings/sources/{source_id}"), words)


@pages.get("/postings/sources/{source_id}/remove", "jobs:write")
async def confirm_remove(look: web.Look) -> web.Page:
    async with look.tenant.transaction() as tx:
        found = await store.get_source(tx, look.path_id("source_id"))
    return look.confirm(
        f"Forget the {found.board} board of {found.company}?",
        words=f"Its postings, {found.open:,} of them open, go with their history, and leave every board of people.",
        action=look.url(f"/postings/sources/{found.source_id}/remove"),
        back=look.url(f"/postings/sources/{found.source_id}"),
        button="Forget the source",
        danger=True,
    )


@pages.post("/postings/sources/{source_id}/remove", "jobs:write")
async def remove_source(look: web.Look) -> web.Response:
    source_id = look.path_id("source_id")
    async with look.tenant.transaction() as tx:
        await service.delete_source(tx, source_id)
        await tx.log("postings.forget", str(source_id))
    return look.go(look.url("/postings/sources"), "The source is forgotten.")


def _filters(options: Options) -> list[str]:
    """The filters of a source in words; none where everything is taken in."""
    words = {"title_include": "titles with", "title_exclude": "no titles with", "locations": "in", "remote": "only"}
    return [f"{said} {', '.join(getattr(options, name))}" for name, said in words.items() if getattr(options, name)]


def _words(text: str) -> list[str]:
    return [word for word in (one.strip() for one in text.split(",")) if word]

"""What the dashboard shows of postings: a search, one posting with its past, sources, runs, a board, saved searches."""

from datetime import date
from typing import Any
from uuid import UUID

from leasehold import web
from leasehold.errors import BadInput, LeaseholdError
from leasehold_packs.postings import run_summary, search, service, store_people
from leasehold_packs.postings.model import Options
from leasehold_packs.postings.search_query import CHOICES, Asked
from leasehold_packs.postings.service import BREAKER, GATES, NewSource

pages = web.pages("postings", title="Postings", templates="leasehold_packs.postings")
_LIMIT = 50
_RUNS = 50
_LINES = 200
#: Postings of one source that the page of a run names; the rest is counted.
_CHIPS = 60
#: Choices of one facet that are offered, the most frequent.
_OFFERED = 8
STAGES = ("saved", "applied", "interview", "offer", "rejected")
#: States of these things as the dashboard colours those that its own things do not have.
COLOURS = {
    "new": "queued",
    "good": "succeeded",
    "suspicious": "errored",
    "failing": "failed",
    "open": "enabled",
    "suspect": "errored",
    "closed": "ended",
    "held": "blocked",
    "ready": "succeeded",
    "error": "failed",
}


# -- the search ---------------------------------------------------------------------------------------------------


@pages.get("/postings", "jobs:read")
async def postings(look: web.Look) -> web.Page:
    return await _search(look)


async def _search(look: web.Look, problem: LeaseholdError | None = None) -> web.Page:
    asked = Asked.of(look.request.url.query)
    told: dict[str, Any] = {
        "found": [],
        "next_cursor": None,
        "corrected": None,
        "total": 0,
        "at_least": False,
        "facets": {},
    }
    async with look.tenant.transaction() as tx:
        companies = await service.list_companies(tx)
        try:
            told |= await _answer(tx, look, asked)
        except BadInput as wrong:
            problem = problem or wrong
    names = {str(one["company_id"]): one["name"] for one in companies}
    return look.show(
        "postings.html",
        own_tenant=False,
        asked=asked,
        problem=problem,
        **told | {"facets": _offered(told["facets"], asked, names)},
        chosen=asked.chosen(names),
        names=names,
        first=not look.query("cursor"),
        choices=CHOICES,
        colours=COLOURS,
        has_sources=bool(companies),
    )


async def _answer(tx: web.Transaction, look: web.Look, asked: Asked) -> dict[str, Any]:
    query = asked.query(look.zone)
    wanted = store_people.as_condition(await store_people.get_preference(tx, look.tenant.actor)) if asked.mine else {}
    question = search.asked(query, preference=wanted)
    found = await search.find(tx, question, limit=_LIMIT, cursor=look.query("cursor") or None, exact=asked.exact)
    if found.corrected is not None:
        question = question | {"q": found.corrected}
    counted = await search.facets(tx, question)
    read = await service.read_postings(tx, found.ids)
    return {"found": read, "next_cursor": found.next_cursor, "corrected": found.corrected, **counted}


def _offered(
    facets: dict[str, list[dict[str, Any]]], asked: Asked, names: dict[str, str]
) -> dict[str, list[tuple[str, int, str]]]:
    """For each facet the words, the number and the address of its choices that are not taken yet."""
    told: dict[str, list[tuple[str, int, str]]] = {}
    for name in CHOICES:
        taken = getattr(asked, name)
        rows = [one for one in facets.get(name, facets.get(f"{name}_id", [])) if str(one["value"]) not in taken]
        told[name] = [
            (
                names.get(str(one["value"]), str(one["value"]).replace("_", " ")),
                one["n"],
                asked.address(add=(name, str(one["value"]))),
            )
            for one in rows[:_OFFERED]
        ]
    return {name: rows for name, rows in told.items() if rows}


# -- sources ------------------------------------------------------------------------------------------------------


@pages.get("/postings/sources", "jobs:read", live=True)
async def sources(look: web.Look) -> web.Page:
    return await _sources(look)


async def _sources(look: web.Look, problem: LeaseholdError | None = None) -> web.Page:
    async with look.tenant.transaction() as tx:
        found = await service.list_sources(tx)
        companies = await service.list_companies(tx)
    return look.show(
        "postings_sources.html",
        live=problem is None,
        sources=found,
        companies=companies,
        held=[one for one in found if one["held"]],
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
    if (await look.tenant.client.gates.get(GATES)).rule is None:
        await look.tenant.client.gates.set(GATES, **BREAKER)
    try:
        async with look.tenant.transaction() as tx:
            made = await service.add_source(tx, look.tenant.tenant_id, NewSource(**given), Options())
            asked = await service.ask_run(tx, look.tenant.tenant_id, look.tenant.actor, sources=[made["source_id"]])
            await tx.log("postings.follow", str(made["source_id"]), {"board": made["board"], "url": made["url"]})
    except LeaseholdError as problem:
        return await _sources(look, problem)
    return look.go(look.url(f"/postings/runs/{asked.run_id}"), f"{made['company']} is followed; its first run goes.")


@pages.get("/postings/sources/{source_id}", "jobs:read", live=True)
async def source(look: web.Look) -> web.Page:
    source_id = look.path_id("source_id")
    async with look.tenant.transaction() as tx:
        found = await service.get_source(tx, source_id)
        runs = await service.list_source_runs(tx, source_id, limit=20)
    gate = await look.tenant.client.gates.get(f"{GATES}{found['host']}")
    return look.show(
        "postings_source.html",
        live=True,
        own_tenant=True,
        source=found,
        runs=runs,
        gate=gate,
        filters=_filters(found["options"]),
        options=Options(**found["options"]),
        colours=COLOURS,
    )


@pages.post("/postings/sources/{source_id}/enabled", "jobs:write")
async def enable_source(look: web.Look) -> web.Response:
    source_id, enabled = look.path_id("source_id"), look.said("enabled") == "yes"
    async with look.tenant.transaction() as tx:
        await service.change_source(tx, source_id, enabled=enabled, options=None)
        await tx.log("postings.enable" if enabled else "postings.disable", str(source_id))
    words = "It is asked again." if enabled else "It is not asked any more until you say so."
    return look.go(look.url(f"/postings/sources/{source_id}"), words)


@pages.post("/postings/sources/{source_id}/filters", "jobs:write")
async def change_filters(look: web.Look) -> web.Response:
    source_id = look.path_id("source_id")
    async with look.tenant.transaction() as tx:
        known = (await service.get_source(tx, source_id))["options"]
        words = {name: _words(look.said(name)) for name in ("title_include", "title_exclude", "locations")}
        try:
            options = Options(**known | words)
        except ValueError:
            raise BadInput("filters are up to 50 words of 100 letters", hint="separated by commas") from None
        await service.change_source(tx, source_id, enabled=None, options=options)
        await tx.log("postings.filter", str(source_id), words)
    return look.go(look.url(f"/postings/sources/{source_id}"), "The filters hold from the next run on.")


@pages.post("/postings/sources/{source_id}/sync", "jobs:write")
async def sync(look: web.Look) -> web.Response:
    return await _start(look, [look.path_id("source_id")])


@pages.get("/postings/sources/{source_id}/closings/{act}", "jobs:write")
async def confirm_closings(look: web.Look) -> web.Page:
    act, source_id = look.request.path_params["act"], look.path_id("source_id")
    if act not in ("close", "keep"):
        raise web.Problem("not_found", "there is no such page")
    async with look.tenant.transaction() as tx:
        found = await service.get_source(tx, source_id)
    held = found["held"] or {"missing": 0}
    close = act == "close"
    words = "Each is closed, with the moment in its history. Those that come back open again by themselves."
    return look.confirm(
        f"{'Close' if close else 'Keep'} {held['missing']:,} postings of {found['company']}?",
        words=words if close else "They stay open; the board is asked again at the next run.",
        action=look.url(f"/postings/sources/{source_id}/closings/{act}"),
        back=look.url(f"/postings/sources/{source_id}"),
        button=f"Close {held['missing']:,} postings" if close else "Keep them open",
        danger=close,
        nothing=found["held"] is None,
    )


@pages.post("/postings/sources/{source_id}/closings/{act}", "jobs:write")
async def decide_closings(look: web.Look) -> web.Response:
    act, source_id = look.request.path_params["act"], look.path_id("source_id")
    if act not in ("close", "keep"):
        raise web.Problem("not_found", "there is no such page")
    async with look.tenant.transaction() as tx:
        done = await service.decide(tx, look.tenant.tenant_id, source_id, close=act == "close")
        await tx.log(f"postings.{act}_held", str(source_id), {"closed": done["closed"]})
    words = f"{done['closed']:,} postings are closed." if act == "close" else "They stay open."
    return look.go(look.url(f"/postings/sources/{source_id}"), words)


@pages.get("/postings/sources/{source_id}/remove", "jobs:write")
async def confirm_remove(look: web.Look) -> web.Page:
    async with look.tenant.transaction() as tx:
        found = await service.get_source(tx, look.path_id("source_id"))
    return look.confirm(
        f"Forget the {found['board']} board of {found['company']}?",
        words=f"Its postings, {found['open']:,} of them open, go with their history, and leave every board of people.",
        action=look.url(f"/postings/sources/{found['source_id']}/remove"),
        back=look.url(f"/postings/sources/{found['source_id']}"),
        button="Forget the source",
        danger=True,
    )


@pages.post("/postings/sources/{source_id}/remove", "jobs:write")
async def remove_source(look: web.Look) -> web.Response:
    source_id = look.path_id("source_id")
    async with look.tenant.transaction() as tx:
        await service.remove_source(tx, look.tenant.tenant_id, source_id)
        await tx.log("postings.forget", str(source_id))
    return look.go(look.url("/postings/sources"), "The source is forgotten.")


# -- runs ---------------------------------------------------------------------------------------------------------


@pages.get("/postings/runs", "jobs:read", live=True)
async def runs(look: web.Look) -> web.Page:
    async with look.tenant.transaction() as tx:
        found = await service.list_runs(tx, limit=_RUNS)
        ready = any(one["enabled"] for one in await service.list_sources(tx))
    return look.show("postings_runs.html", live=True, runs=found, ready=ready)


@pages.post("/postings/runs", "jobs:write")
async def start_run(look: web.Look) -> web.Response:
    return await _start(look, None)


@pages.get("/postings/runs/{run_id}", "jobs:read", live=True)
async def run(look: web.Look) -> web.Page:
    run_id = look.path_id("run_id")
    async with look.tenant.transaction() as tx:
        found = await service.get_run(tx, run_id)
        items = (await service.run_items(tx, run_id))["items"]
        lines = await run_summary.read(tx, run_id, groups=None, after=0, limit=_LINES)
    return look.show(
        "postings_run.html",
        live=found["state"] == "running",
        own_tenant=True,
        run=found,
        chips=_chips(items),
        lines=lines,
        companies={str(one["source_id"]): one["company"] for one in found["sources"]},
        most=_LINES,
        colours=COLOURS,
    )


@pages.get("/postings/runs/{run_id}/stop", "jobs:write")
async def confirm_stop(look: web.Look) -> web.Page:
    async with look.tenant.transaction() as tx:
        found = await service.get_run(tx, look.path_id("run_id"))
    going = [one for one in found["sources"] if one["state"] == "running"]
    return look.confirm(
        "Abort this run?",
        words=f"{len(going)} of its {len(found['sources'])} sources are not settled: nothing of them is taken over.",
        action=look.url(f"/postings/runs/{found['run_id']}/stop"),
        back=look.url(f"/postings/runs/{found['run_id']}"),
        button="Abort the run",
        danger=True,
        nothing=found["state"] != "running",
    )


@pages.post("/postings/runs/{run_id}/stop", "jobs:write")
async def stop_run(look: web.Look) -> web.Response:
    run_id = look.path_id("run_id")
    async with look.tenant.transaction() as tx:
        flow_id = await service.stop_run(tx, run_id, "canceled")
        await tx.log("postings.abort", str(run_id))
    if flow_id:
        await look.tenant.client.flows.cancel(flow_id, "the run was canceled")
    return look.go(look.url(f"/postings/runs/{run_id}"), "The run is aborted.")


async def _start(look: web.Look, chosen: list[UUID] | None) -> web.Response:
    async with look.tenant.transaction() as tx:
        asked = await service.ask_run(tx, look.tenant.tenant_id, look.tenant.actor, sources=chosen)
        await tx.log("postings.run", str(asked.run_id), {"sources": asked.sources})
    return look.go(look.url(f"/postings/runs/{asked.run_id}"), "The run goes.")


# -- what belongs to one person -----------------------------------------------------------------------------------


@pages.get("/postings/board", "jobs:read")
async def board(look: web.Look) -> web.Page:
    async with look.tenant.transaction() as tx:
        found = await store_people.list_applications(tx, look.tenant.actor)
        reached = await store_people.success_by_company(tx, look.tenant.actor)
    columns = {stage: [one for one in found if one["stage"] == stage] for stage in STAGES}
    return look.show("postings_board.html", columns=columns, reached=reached, total=len(found), colours=COLOURS)


@pages.get("/postings/board/{application_id}/remove", "jobs:write")
async def confirm_leave_board(look: web.Look) -> web.Page:
    application_id = look.path_id("application_id")
    async with look.tenant.transaction() as tx:
        mine = await store_people.list_applications(tx, look.tenant.actor)
    found = next((one for one in mine if one["application_id"] == application_id), None)
    if found is None:
        raise web.Problem("not_found", "it is not on your board")
    return look.confirm(
        f"Take {found['title']} off your board?",
        words="Its stages, its note and its date go with it.",
        action=look.url(f"/postings/board/{application_id}/remove"),
        back=look.url("/postings/board"),
        button="Take it off",
        danger=True,
    )


@pages.post("/postings/board/{application_id}/remove", "jobs:write")
async def leave_board(look: web.Look) -> web.Response:
    async with look.tenant.transaction() as tx:
        await store_people.remove_application(tx, look.tenant.actor, look.path_id("application_id"))
        await tx.log("postings.unsave", str(look.path_id("application_id")))
    return look.go(look.url("/postings/board"), "It is off your board.")


@pages.get("/postings/searches", "jobs:read")
async def searches(look: web.Look) -> web.Page:
    async with look.tenant.transaction() as tx:
        found = await store_people.list_searches(tx, look.tenant.actor)
    return look.show("postings_searches.html", searches=[one | {"words": _sentence(one["query"])} for one in found])


@pages.post("/postings/searches", "jobs:write")
async def save_search(look: web.Look) -> web.Response:
    """The question of the page that the form is on."""
    asked = Asked.of(look.said("query"))
    asked.query(look.zone)  # refuses what cannot be meant
    async with look.tenant.transaction() as tx:
        name = look.said("name")[:100] or asked.q or "Everything"
        made = await store_people.save_search(tx, look.tenant.tenant_id, look.tenant.actor, name, asked.kept())
        await tx.log("postings.save_search", str(made["search_id"]), {"name": made["name"]})
    return look.go(look.url(f"/postings/searches/{made['search_id']}"), "From now on you are told of what matches.")


@pages.get("/postings/searches/{search_id}", "jobs:read")
async def one_search(look: web.Look) -> web.Page:
    search_id = look.path_id("search_id")
    async with look.tenant.transaction() as tx:
        found = await store_people.get_search(tx, look.tenant.actor, search_id)
        matches = await store_people.list_matches(tx, look.tenant.actor, search_id)
    return look.show(
        "postings_search.html",
        own_tenant=True,
        search=found,
        words=_sentence(found["query"]),
        address=Asked.saved(found["query"]).address(),
        matches=matches,
        feed=f"/v1/postings/searches/{search_id}/feed.atom",
    )


@pages.get("/postings/searches/{search_id}/remove", "jobs:write")
async def confirm_remove_search(look: web.Look) -> web.Page:
    search_id = look.path_id("search_id")
    async with look.tenant.transaction() as tx:
        found = await store_people.get_search(tx, look.tenant.actor, search_id)
        told = len(await store_people.list_matches(tx, look.tenant.actor, search_id))
    return look.confirm(
        f"Forget the search {found['name']}?",
        words=f"Its feed ends, and what it told of is forgotten too: {told:,} so far.",
        action=look.url(f"/postings/searches/{search_id}/remove"),
        back=look.url("/postings/searches"),
        button="Forget the search",
        danger=True,
    )


@pages.post("/postings/searches/{search_id}/remove", "jobs:write")
async def remove_search(look: web.Look) -> web.Response:
    async with look.tenant.transaction() as tx:
        await store_people.remove_search(tx, look.tenant.actor, look.path_id("search_id"))
        await tx.log("postings.forget_search", str(look.path_id("search_id")))
    return look.go(look.url("/postings/searches"), "The search is forgotten.")


# -- one posting: the last, for its address would take the others' -------------------------------------------------


@pages.get("/postings/{posting_id}", "jobs:read")
async def posting(look: web.Look) -> web.Page:
    posting_id = look.path_id("posting_id")
    async with look.tenant.transaction() as tx:
        found = await service.get_posting(tx, posting_id)
        versions = await service.list_versions(tx, posting_id)
        before, after = _two(look, [one["n"] for one in versions])
        diff = await service.diff_versions(tx, posting_id, before, after) if before != after else None
        mine = [
            one
            for one in await store_people.list_applications(tx, look.tenant.actor)
            if one["posting_id"] == posting_id
        ]
    return look.show(
        "postings_one.html",
        own_tenant=True,
        posting=found,
        versions=versions,
        before=before,
        after=after,
        diff=diff,
        rewritten=_rewritten(versions, before, after) if diff and "description" in diff["fields"] else [],
        mine=mine[0] if mine else None,
        stages=STAGES,
        colours=COLOURS,
    )


@pages.post("/postings/{posting_id}/application", "jobs:write")
async def apply(look: web.Look) -> web.Response:
    posting_id, stage = look.path_id("posting_id"), look.said("stage")
    if stage not in STAGES:
        raise BadInput("there is no such stage", hint=f"one of {', '.join(STAGES)}")
    async with look.tenant.transaction() as tx:
        await store_people.put_application(
            tx, look.tenant.tenant_id, look.tenant.actor, posting_id,
            stage=stage, note=look.said("note")[:5000] or None, due=_day(look.said("due")),
        )  # fmt: skip
        await tx.log("postings.apply", str(posting_id), {"stage": stage})
    back = "/postings/board" if look.said("back") == "board" else f"/postings/{posting_id}"
    return look.go(look.url(back), f"It is on your board: {stage}.")


def _two(look: web.Look, numbers: list[int]) -> tuple[int, int]:
    """The versions that are compared: the newest and the one before, unless others are asked for."""
    newest = numbers[0]
    given = [int(text) if (text := look.query(name)).isdigit() else None for name in ("from", "to")]
    after = given[1] if given[1] in numbers else newest
    older = [n for n in numbers if n < (after or newest)]
    before = given[0] if given[0] in numbers else (older[0] if older else after)
    return before or newest, after or newest


def _rewritten(versions: list[dict[str, Any]], before: int, after: int) -> list[tuple[str, str]]:
    texts = {one["n"]: one["facts"]["description"] for one in versions}
    return web.changes(texts[before], texts[after])


def _chips(items: list[dict[str, Any]]) -> dict[str, tuple[list[dict[str, Any]], int]]:
    """By source: its postings, those that something became of first, and how many are not named."""
    by_source: dict[str, list[dict[str, Any]]] = {}
    for one in items:
        by_source.setdefault(one["source_id"], []).append(one)
    told = {}
    for source_id, rows in by_source.items():
        rows.sort(key=lambda one: (one["outcome"] in (None, "same"), one["state"] == "skipped", one["title"]))
        told[source_id] = (rows[:_CHIPS], max(0, len(rows) - _CHIPS))
    return told


def _filters(options: dict[str, Any]) -> list[str]:
    """The filters of a source in words; none where everything is taken in."""
    words = {"title_include": "titles with", "title_exclude": "no titles with", "locations": "in", "remote": "only"}
    return [f"{said} {', '.join(options[name])}" for name, said in words.items() if options.get(name)]


def _sentence(query: dict[str, Any]) -> str:
    parts = [f"“{query['q']}”"] if query.get("q") else []
    parts += [
        ", ".join(str(one).replace("_", " ") for one in query[name])
        for name in ("remote", "seniority", "employment", "state")
        if query.get(name)
    ]
    if query.get("place"):
        parts.append(f"in {query['place']}")
    if query.get("salary_min"):
        parts.append(f"{query['salary_min']:,.0f} {query.get('currency', '')} or more")
    if query.get("company"):
        parts.append(f"{len(query['company'])} companies" if len(query["company"]) > 1 else "one company")
    return "; ".join(parts) or "everything"


def _words(text: str) -> list[str]:
    return [word for word in (one.strip() for one in text.split(",")) if word]


def _day(text: str) -> date | None:
    try:
        return date.fromisoformat(text) if text else None
    except ValueError:
        raise BadInput(f"{text[:20]!r} is no day", hint="as in 2030-01-31") from None

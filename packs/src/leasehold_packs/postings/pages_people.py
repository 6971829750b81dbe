"""The pages of what belongs to one person: a board of applications, and saved searches."""

from datetime import date

from leasehold import web
from leasehold.errors import BadInput
from leasehold_packs.postings import store_people
from leasehold_packs.postings.model_postings import SavedQuery
from leasehold_packs.postings.pages import COLOURS, STAGES
from leasehold_packs.postings.search_query import SearchForm

pages = web.pages("postings", templates="leasehold_packs.postings")


@pages.get("/postings/board", "jobs:read")
async def board(look: web.Look) -> web.Page:
    async with look.tenant.transaction() as tx:
        found = await store_people.list_applications(tx, look.tenant.actor)
        reached = await store_people.success_by_company(tx, look.tenant.actor)
    columns = {stage: [one for one in found if one.stage == stage] for stage in STAGES}
    return look.show("postings_board.html", columns=columns, reached=reached, total=len(found), colours=COLOURS)


@pages.get("/postings/board/{application_id}/remove", "jobs:write")
async def confirm_leave_board(look: web.Look) -> web.Page:
    application_id = look.path_id("application_id")
    async with look.tenant.transaction() as tx:
        mine = await store_people.list_applications(tx, look.tenant.actor)
    found = next((one for one in mine if one.application_id == application_id), None)
    if found is None:
        raise web.Problem("not_found", "it is not on your board")
    return look.confirm(
        f"Take {found.title} off your board?",
        words="Its stages, its note and its date go with it.",
        action=look.url(f"/postings/board/{application_id}/remove"),
        back=look.url("/postings/board"),
        button="Take it off",
        danger=True,
    )


@pages.post("/postings/board/{application_id}/remove", "jobs:write")
async def leave_board(look: web.Look) -> web.Response:
    async with look.tenant.transaction() as tx:
        await store_people.delete_application(tx, look.tenant.actor, look.path_id("application_id"))
        await tx.log("postings.unsave", str(look.path_id("application_id")))
    return look.go(look.url("/postings/board"), "It is off your board.")


@pages.get("/postings/searches", "jobs:read")
async def searches(look: web.Look) -> web.Page:
    async with look.tenant.transaction() as tx:
        found = await store_people.list_searches(tx, look.tenant.actor)
    return look.show("postings_searches.html", searches=[(one, _sentence(one.query)) for one in found])


@pages.post("/postings/searches", "jobs:write")
async def save_search(look: web.Look) -> web.Response:
    """The question of the page that the form is on."""
    form = SearchForm.of(look.said("query"))
    form.query(look.zone)  # refuses what cannot be meant
    async with look.tenant.transaction() as tx:
        name = look.said("name")[:100] or form.q or "Everything"
        made = await store_people.add_search(tx, look.tenant.actor, name, form.to_save())
        await tx.log("postings.save_search", str(made.search_id), {"name": made.name})
    return look.go(look.url(f"/postings/searches/{made.search_id}"), "From now on you are told of what matches.")


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
        words=_sentence(found.query),
        address=SearchForm.saved(found.query).address(),
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
        f"Forget the search {found.name}?",
        words=f"Its feed ends, and what it told of is forgotten too: {told:,} so far.",
        action=look.url(f"/postings/searches/{search_id}/remove"),
        back=look.url("/postings/searches"),
        button="Forget the search",
        danger=True,
    )


@pages.post("/postings/searches/{search_id}/remove", "jobs:write")
async def remove_search(look: web.Look) -> web.Response:
    async with look.tenant.transaction() as tx:
        await store_people.delete_search(tx, look.tenant.actor, look.path_id("search_id"))
        await tx.log("postings.forget_search", str(look.path_id("search_id")))
    return look.go(look.url("/postings/searches"), "The search is forgotten.")


@pages.post("/postings/{posting_id}/application", "jobs:write")
async def apply(look: web.Look) -> web.Response:
    posting_id, stage = look.path_id("posting_id"), look.said("stage")
    if stage not in STAGES:
        raise BadInput("there is no such stage", hint=f"one of {', '.join(STAGES)}")
    async with look.tenant.transaction() as tx:
        await store_people.put_application(
            tx, look.tenant.actor, posting_id,
            stage=stage, note=look.said("note")[:5000] or None, due=_day(look.said("due")),
        )  # fmt: skip
        await tx.log("postings.apply", str(posting_id), {"stage": stage})
    back = "/postings/board" if look.said("back") == "board" else f"/postings/{posting_id}"
    return look.go(look.url(back), f"It is on your board: {stage}.")


def _sentence(query: SavedQuery) -> str:
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


def _day(text: str) -> date | None:
    try:
        return date.fromisoformat(text) if text else None
    except ValueError:
        raise BadInput(f"{text[:20]!r} is no day", hint="as in 2030-01-31") from None

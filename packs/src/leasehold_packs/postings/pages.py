"""The search of the dashboard, and the page of one posting with its past."""

from dataclasses import replace
from typing import get_args

from leasehold import web
from leasehold.errors import BadInput, LeaseholdError
from leasehold_packs.postings import search, store, store_people, store_postings
from leasehold_packs.postings.model_postings import PostingSummary, Stage, Version
from leasehold_packs.postings.search_query import CHOICES, SearchForm

pages = web.pages("postings", title="Postings", templates="leasehold_packs.postings")
_LIMIT = 50
#: Choices of one facet that are offered, the most frequent.
_OFFERED = 8
STAGES: tuple[Stage, ...] = get_args(Stage)
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


@pages.get("/postings", "jobs:read")
async def postings(look: web.Look) -> web.Page:
    return await _search(look)


async def _search(look: web.Look, problem: LeaseholdError | None = None) -> web.Page:
    form = SearchForm.of(look.request.url.query)
    found: search.Found | None = None
    counted, postings_found = search.Facets(), list[PostingSummary]()
    async with look.tenant.transaction() as tx:
        companies = await store.list_companies(tx)
        try:
            found, counted = await _answer(tx, look, form)
            postings_found = await store_postings.list_postings(tx, found.ids)
        except BadInput as wrong:
            problem = problem or wrong
    names = {str(one.company_id): one.name for one in companies}
    return look.show(
        "postings.html",
        own_tenant=False,
        form=form,
        problem=problem,
        found=postings_found,
        next_cursor=found.next_cursor if found else None,
        corrected=found.corrected if found else None,
        total=counted.total,
        at_least=counted.at_least,
        facets=_offered(counted, form, names),
        chosen=form.chosen(names),
        names=names,
        first=not look.query("cursor"),
        choices=CHOICES,
        colours=COLOURS,
        has_sources=bool(companies),
    )


async def _answer(tx: web.Transaction, look: web.Look, form: SearchForm) -> tuple[search.Found, search.Facets]:
    query = form.query(look.zone)
    wanted = await store_people.get_preference(tx, look.tenant.actor) if form.mine else None
    question = search.question_of(query, preference=wanted)
    found = await search.find(tx, question, limit=_LIMIT, cursor=look.query("cursor") or None, exact=form.exact)
    if found.corrected is not None:
        question = replace(question, q=found.corrected)
    return found, await search.count(tx, question)


def _offered(counted: search.Facets, form: SearchForm, names: dict[str, str]) -> dict[str, list[tuple[str, int, str]]]:
    """For each facet the words, the number and the address of its choices that are not taken yet."""
    offered: dict[str, list[tuple[str, int, str]]] = {}
    for name in CHOICES:
        taken = getattr(form, name)
        choices = counted.facets.get(name, counted.facets.get(f"{name}_id", []))
        offered[name] = [
            (names.get(one.value, one.value.replace("_", " ")), one.n, form.address(add=(name, one.value)))
            for one in [one for one in choices if one.value not in taken][:_OFFERED]
        ]
    return {name: choices for name, choices in offered.items() if choices}


@pages.get("/postings/{posting_id}", "jobs:read")
async def posting(look: web.Look) -> web.Page:
    posting_id = look.path_id("posting_id")
    async with look.tenant.transaction() as tx:
        found = await store_postings.get_posting(tx, posting_id)
        versions = await store_postings.list_versions(tx, posting_id)
        before, after = _two(look, [one.n for one in versions])
        diff = await store_postings.compare_versions(tx, posting_id, before, after) if before != after else None
        mine = await store_people.get_application(tx, look.tenant.actor, posting_id)
    return look.show(
        "postings_one.html",
        own_tenant=True,
        posting=found,
        versions=versions,
        before=before,
        after=after,
        diff=diff,
        rewritten=_rewritten(versions, before, after) if diff and "description" in diff["fields"] else [],
        mine=mine,
        stages=STAGES,
        colours=COLOURS,
    )


def _two(look: web.Look, numbers: list[int]) -> tuple[int, int]:
    """The versions that are compared: the newest and the one before, unless others are asked for."""
    newest = numbers[0]
    given = [int(text) if (text := look.query(name)).isdigit() else None for name in ("from", "to")]
    after = given[1] if given[1] in numbers else newest
    older = [n for n in numbers if n < (after or newest)]
    before = given[0] if given[0] in numbers else (older[0] if older else after)
    return before or newest, after or newest


def _rewritten(versions: list[Version], before: int, after: int) -> list[tuple[str, str]]:
    texts = {one.n: one.facts.description for one in versions}
    return web.changes(texts[before], texts[after])

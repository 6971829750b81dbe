"""What is known of a page, written into the rows of its run in one call."""

import json
from dataclasses import dataclass
from typing import Any

from leasehold import Cancel, Transaction
from leasehold_packs.audits.crawl import Visited, digest, facts, hex_key, hexed, page_key
from leasehold_packs.audits.recipe import checks
from leasehold_packs.audits.run import Begun
from leasehold_packs.webfacts.page import Link
from leasehold_packs.webfacts.redacted import shown
from leasehold_packs.webfacts.url_key import plain_url

_WORDS = 200


@dataclass(frozen=True, slots=True)
class Written:
    """Which pages of the site are to be fetched now, which of others and images asked for; how old the run is."""

    urls: list[str]
    outside: list[str]
    images: list[str]
    age_s: float


async def write_page(tx: Transaction, run: Begun, visited: Visited) -> Written | None:
    """Its row, its issues and its links; None if that was done before the run was stopped."""
    row = await tx.fetchrow(
        "select urls, outside, images, age from leasehold_audits.write_page($1, $2, $3, $4)",
        run.run_id, run.part, page_key(visited.seen.visit.url), json.dumps(_page(run, visited)),
    )  # fmt: skip
    if row is None:
        return None
    if row["urls"] is None:
        raise Cancel("the run is over")
    return Written(row["urls"], row["outside"], row["images"], row["age"])


async def add_urls(tx: Transaction, run: Begun, urls: list[str], *, depth: int, source: str) -> list[str]:
    """Tell the run of these addresses; those that are to be fetched."""
    spelled = (plain_url(url) for url in urls if run.options.covers(url, run.url))
    keys = {digest(url): url for url in spelled if url}
    rows = await tx.fetch(
        "select url from leasehold_audits.add_urls($1, $2, $3, $4, $5, $6)",
        run.run_id, run.part, list(keys), list(keys.values()), depth, source,
    )  # fmt: skip
    found = [row["url"] for row in rows]
    if None in found:
        raise Cancel("the run is over")
    return found


@dataclass(frozen=True, slots=True)
class _Target:
    """Where a link leads. Fetched is one spelling of a page: without fragments and marks of advertisers."""

    link: Link
    plain: str
    key: str
    is_inside: bool


def _page(run: Begun, visited: Visited) -> dict[str, Any]:
    """As the function in SQL reads it. A page that was kept is only judged: it leads nowhere."""
    issues = [
        {"check_id": name, "severity": checks()[name].severity, "evidence": evidence}
        for name, evidence in visited.issues().items()
    ]
    known = {"facts": facts(visited), "issues": issues}
    targets = _targets(run, visited) if visited.is_page else []
    if visited.is_page:
        known |= {"links": _links(targets), "alternates": _alternates(visited)}
    if run.reread_of:
        return known
    return known | _discovered(run, visited, targets) | _trouble(visited)


def _targets(run: Begun, visited: Visited) -> list[_Target]:
    return [
        _Target(link, plain, hexed(digest(plain)), run.options.is_inside(plain, run.url))
        for link in visited.seen.page.links
        if (plain := plain_url(link.url))
    ]


def _links(targets: list[_Target]) -> list[dict[str, Any]]:
    return [
        {
            "n": n,
            "to_key": to.key,
            "fragment": (to.link.url or "").partition("#")[2] or None,
            "words": to.link.text[:_WORDS],
            "nofollow": to.link.nofollow,
        }
        for n, to in enumerate((to for to in targets if to.is_inside), 1)
    ]


def _alternates(visited: Visited) -> list[dict[str, Any]]:
    return [
        {"n": n, "to_key": key, "hreflang": one.hreflang[:50]}
        for n, one in enumerate(visited.seen.page.alternates, 1)
        if (key := hex_key(one.url))
    ]


def _discovered(run: Begun, visited: Visited, targets: list[_Target]) -> dict[str, Any]:
    if visited.is_redirect:
        return {"found": _redirected(run, visited), "deeper": 0}
    outside = enumerate((to for to in targets if not to.is_inside), 1) if run.options.max_external else []
    return {
        "found": _followed(run, visited, targets),
        "deeper": 1,
        "outside": [{"n": n, "to_key": to.key, "url": to.plain, "words": to.link.text[:_WORDS]} for n, to in outside],
        "images": _images(visited) if visited.is_page and run.options.max_images else [],
    }


def _images(visited: Visited) -> list[dict[str, Any]]:
    urls = dict.fromkeys(plain for image in visited.seen.page.images if (plain := plain_url(image.url)))
    return [{"n": n, "to_key": hexed(digest(plain)), "url": plain} for n, plain in enumerate(urls, 1)]


def _redirected(run: Begun, visited: Visited) -> list[dict[str, Any]]:
    plain = plain_url(visited.seen.visit.address)
    return [{"key": hexed(digest(plain)), "url": plain}] if plain and run.options.covers(plain, run.url) else []


def _followed(run: Begun, visited: Visited, targets: list[_Target]) -> list[dict[str, Any]]:
    """Where its links lead, and the pages that it names as canonical or as translations, which nobody may link to."""
    if not visited.is_page or run.options.is_listed:
        return []
    page = visited.seen.page
    links = [to.plain for to in targets if to.is_inside and not to.link.nofollow] if page.robots.follow else []
    named = map(plain_url, (visited.seen.canonical, *(one.url for one in page.alternates)))
    urls = dict.fromkeys((*links, *filter(None, named)))
    return [{"key": hexed(digest(url)), "url": url} for url in urls if run.options.covers(url, run.url)]


def _trouble(visited: Visited) -> dict[str, Any]:
    seen = visited.seen.visit
    if visited.state == "blocked":
        return {"trouble": {"type": "warning", "message": shown(f"{seen.url} is not read: {seen.problem}")}}
    if visited.state == "failed" or (seen.status or 0) >= 400:
        why = seen.problem or f"answered {seen.status}"
        return {"trouble": {"type": "error", "message": shown(f"{seen.url}: {why}")}}
    return {}

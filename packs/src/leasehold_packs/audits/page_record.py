"""What is known of a page, as the function that writes it reads it."""

from dataclasses import dataclass
from typing import TypedDict

from leasehold_packs.audits.checks.evidence import Evidence
from leasehold_packs.audits.crawl import PageFacts, Visited, digest, facts, hex_key, hexed
from leasehold_packs.audits.recipe import checks
from leasehold_packs.audits.run import AuditRun
from leasehold_packs.webfacts.page import Link
from leasehold_packs.webfacts.redacted import shown
from leasehold_packs.webfacts.url_key import plain_url

_WORDS = 200


class IssueRecord(TypedDict):
    check_id: str
    severity: str
    evidence: Evidence


class LinkRecord(TypedDict):
    n: int
    to_key: str
    fragment: str | None
    words: str
    nofollow: bool


class AlternateRecord(TypedDict):
    n: int
    to_key: str
    hreflang: str


class ImageRecord(TypedDict):
    n: int
    to_key: str
    url: str


class OutsideRecord(ImageRecord):
    words: str


class UrlRecord(TypedDict):
    key: str
    url: str


class Trouble(TypedDict):
    type: str
    message: str


class PageRecord(TypedDict, total=False):
    """A page as ``write_page`` in SQL reads it."""

    facts: PageFacts
    issues: list[IssueRecord]
    links: list[LinkRecord]
    alternates: list[AlternateRecord]
    found: list[UrlRecord]
    deeper: int  # clicks from this page to those that it leads to
    outside: list[OutsideRecord]
    images: list[ImageRecord]
    trouble: Trouble


@dataclass(frozen=True, slots=True)
class _Target:
    """Where a link leads. Fetched is one spelling of a page: without fragments and marks of advertisers."""

    link: Link
    plain: str
    key: str
    is_inside: bool


def record_of(run: AuditRun, visited: Visited) -> PageRecord:
    """A page that was kept is only judged: it leads nowhere."""
    issues: list[IssueRecord] = [
        {"check_id": name, "severity": checks()[name].severity, "evidence": evidence}
        for name, evidence in visited.issues().items()
    ]
    known: PageRecord = {"facts": facts(visited), "issues": issues}
    targets = _targets(run, visited) if visited.is_page else []
    if visited.is_page:
        known |= {"links": _links(targets), "alternates": _alternates(visited)}
    if run.reread_of:
        return known
    return known | _discovered(run, visited, targets) | _trouble(visited)


def _targets(run: AuditRun, visited: Visited) -> list[_Target]:
    return [
        _Target(link, plain, hexed(digest(plain)), run.options.is_inside(plain, run.url))
        for link in visited.crawled.page.links
        if (plain := plain_url(link.url))
    ]


def _links(targets: list[_Target]) -> list[LinkRecord]:
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


def _alternates(visited: Visited) -> list[AlternateRecord]:
    return [
        {"n": n, "to_key": key, "hreflang": one.hreflang[:50]}
        for n, one in enumerate(visited.crawled.page.alternates, 1)
        if (key := hex_key(one.url))
    ]


def _discovered(run: AuditRun, visited: Visited, targets: list[_Target]) -> PageRecord:
    if visited.is_redirect:
        return {"found": _redirected(run, visited), "deeper": 0}
    outside = enumerate((to for to in targets if not to.is_inside), 1) if run.options.max_external else []
    return {
        "found": _followed(run, visited, targets),
        "deeper": 1,
        "outside": [{"n": n, "to_key": to.key, "url": to.plain, "words": to.link.text[:_WORDS]} for n, to in outside],
        "images": _images(visited) if visited.is_page and run.options.max_images else [],
    }


def _images(visited: Visited) -> list[ImageRecord]:
    urls = dict.fromkeys(plain for image in visited.crawled.page.images if (plain := plain_url(image.url)))
    return [{"n": n, "to_key": hexed(digest(plain)), "url": plain} for n, plain in enumerate(urls, 1)]


def _redirected(run: AuditRun, visited: Visited) -> list[UrlRecord]:
    plain = plain_url(visited.crawled.visit.address)
    return [{"key": hexed(digest(plain)), "url": plain}] if plain and run.options.covers(plain, run.url) else []


def _followed(run: AuditRun, visited: Visited, targets: list[_Target]) -> list[UrlRecord]:
    """Where its links lead, and the pages that it names as canonical or as translations, which nobody may link to."""
    if not visited.is_page or run.options.is_listed:
        return []
    page = visited.crawled.page
    links = [to.plain for to in targets if to.is_inside and not to.link.nofollow] if page.robots.follow else []
    named = map(plain_url, (visited.crawled.canonical, *(one.url for one in page.alternates)))
    urls = dict.fromkeys((*links, *filter(None, named)))
    return [{"key": hexed(digest(url)), "url": url} for url in urls if run.options.covers(url, run.url)]


def _trouble(visited: Visited) -> PageRecord:
    crawled = visited.crawled.visit
    if visited.state == "blocked":
        return {"trouble": {"type": "warning", "message": shown(f"{crawled.url} is not read: {crawled.problem}")}}
    if visited.state == "failed" or (crawled.status or 0) >= 400:
        why = crawled.problem or f"answered {crawled.status}"
        return {"trouble": {"type": "error", "message": shown(f"{crawled.url}: {why}")}}
    return {}

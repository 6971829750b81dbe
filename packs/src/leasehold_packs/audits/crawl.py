"""One page of a crawl: fetched, read and judged, before anything is written about it."""

import json
from base64 import b64encode
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from hashlib import sha256
from typing import Any, TypedDict

from leasehold import Context, Fetched, Retry
from leasehold.errors import FetchDisallowed, FetchError
from leasehold_packs.audits.checks import evaluate
from leasehold_packs.audits.checks.evidence import Evidence
from leasehold_packs.audits.crawled_page import CrawledPage, Visit
from leasehold_packs.audits.recipe import Check, checks
from leasehold_packs.audits.rendering import render
from leasehold_packs.webfacts.decode import decode
from leasehold_packs.webfacts.simhash import signed, simhash
from leasehold_packs.webfacts.url_key import plain_url

#: Whom sites see.
AGENT = "LeaseholdAudit"
MAX_BYTES = 5_000_000
_LONGEST_REST_S = 60.0
_TEXT = ("text/", "application/xhtml")


@dataclass(frozen=True, slots=True, kw_only=True)
class Visited:
    """``state`` is that of the page's row: fetched, failed or blocked."""

    state: str
    crawled: CrawledPage
    body: bytes = b""
    digest: str | None = None

    @property
    def is_redirect(self) -> bool:
        """Its address leads to another page, which is judged under its own."""
        return bool(self.crawled.visit.hops) and page_key(self.crawled.visit.address) != page_key(
            self.crawled.visit.url
        )

    @property
    def is_page(self) -> bool:
        return self.state == "fetched" and self.crawled.is_page and not self.is_redirect

    def issues(self) -> dict[str, Evidence]:
        if self.state == "blocked":
            return {"robots_blocked": {"rule": self.crawled.visit.problem}}
        found = evaluate(self.crawled)
        if self.is_redirect:
            return {name: found[name] for name in ("redirect_chain", "redirect_loop") if name in found}
        return {name: one for name, one in found.items() if self._is_meant(checks()[name])}

    def _is_meant(self, check: Check) -> bool:
        """Faults of what is found by searching mean nothing on a page that is not to be found, and what a page lacks
        may stand in the rest of it, which was cut off.
        """
        if check.whole and self.crawled.visit.is_cut:
            return False
        return check.of == "all" or self.crawled.standing in (check.of, "listed")


async def visit(
    ctx: Context, url: str, *, since: datetime, credentials: str | None = None, rendered: bool = False
) -> Visited:
    """Ask a site for a page, politely, by rules that were not read before ``since``.

    A passing problem is raised as long as another attempt is left.
    """
    headers = authorization(credentials)
    try:
        fetched = await ctx.fetch(
            url, polite=True, rules_since=since, agent=AGENT, headers=headers, max_bytes=MAX_BYTES, truncate=True
        )
    except FetchDisallowed as problem:
        return _unread("blocked", url, problem.why)
    except FetchError as problem:
        if problem.transient and ctx.attempt < ctx.max_attempts:
            raise
        return _unread("failed", url, str(problem))
    if (fetched.status >= 500 or fetched.status == 429) and ctx.attempt < ctx.max_attempts:
        raise Retry(f"{url} answered {fetched.status}", after=_rest_s(fetched))
    visited = read(url, fetched)
    if rendered and visited.is_page:
        return read(url, fetched, rendered=await render(ctx, fetched, since=since, agent=AGENT, headers=headers))
    return visited


def _rest_s(fetched: Fetched) -> float | None:
    """For how long the site wants to be left alone."""
    given = fetched.header("retry-after") or ""
    return min(float(given), _LONGEST_REST_S) if given.isdecimal() and len(given) < 10 else None


def authorization(credentials: str | None) -> dict[str, str]:
    """The header of ``user:password``. A redirect to another site does not get it."""
    return {"Authorization": f"Basic {b64encode(credentials.encode()).decode()}"} if credentials else {}


def read(url: str, fetched: Fetched, *, rendered: bytes | None = None) -> Visited:
    """What a page says, as it was answered, or as its scripts have made it."""
    visit = Visit(
        url=url,
        status=fetched.status,
        headers=fetched.headers,
        hops=tuple((hop.url, hop.status) for hop in fetched.hops),
        final_url=fetched.url,
        first_byte_ms=fetched.timings.head * 1000,
        size=len(fetched.body),
        is_rendered=rendered is not None,
        is_cut=fetched.truncated,
    )
    if rendered is None:
        return Visited(state="fetched", crawled=_seen(visit, fetched.body), body=fetched.body, digest=fetched.sha256)
    kept = sha256(rendered).hexdigest()
    return Visited(state="fetched", crawled=_seen(visit, rendered), body=rendered, digest=kept)


def read_again(row: Mapping[str, Any], body: bytes) -> Visited:
    """The same from a row and the body that was kept."""
    answer = json.loads(row["answer"])
    visit = Visit(
        url=row["url"],
        status=row["status"],
        headers=tuple((name, value) for name, value in answer["headers"]),
        hops=tuple((url, status) for url, status in answer["hops"]),
        final_url=answer["final_url"],
        first_byte_ms=row["ms"],
        size=row["bytes"],
        problem=row["problem"],
        is_rendered=answer.get("is_rendered", False),
        is_cut=answer.get("is_cut", False),
    )
    return Visited(state=row["state"], crawled=_seen(visit, body), digest=row["body"])


def _seen(visit: Visit, body: bytes) -> CrawledPage:
    is_text = visit.media_type.startswith(_TEXT) or not visit.media_type
    content_type = "text/html; charset=utf-8" if visit.is_rendered else visit.header("content-type")
    return CrawledPage(visit=visit, text=decode(body, content_type=content_type) if is_text else "", agent=AGENT)


def _unread(state: str, url: str, problem: str) -> Visited:
    return Visited(state=state, crawled=CrawledPage(visit=Visit(url=url, problem=problem), agent=AGENT))


def page_key(url: str | None) -> bytes | None:
    """What a page's row is found by; None for what is no page."""
    plain = plain_url(url)
    return digest(plain) if plain else None


def digest(plain: str) -> bytes:
    return sha256(plain.encode()).digest()


def hex_key(url: str | None) -> str | None:
    """A page's key in JSON; None for what is no page."""
    plain = plain_url(url)
    return hexed(digest(plain)) if plain else None


def hexed(data: bytes) -> str:
    """Bytes as PostgreSQL reads them in JSON."""
    return f"\\x{data.hex()}"


class AnswerRecord(TypedDict):
    headers: Sequence[tuple[str, str]]
    hops: Sequence[tuple[str, int]]
    final_url: str | None
    is_rendered: bool
    is_cut: bool


class PageFacts(TypedDict, total=False):
    """Columns of the row of a page, as JSON."""

    state: str
    status: int | None
    final_key: str | None
    hops: int
    media_type: str | None
    answer: AnswerRecord
    body: str | None
    bytes: int
    ms: int
    problem: str | None
    title: str | None
    description: str | None
    canonical: str | None
    indexable: bool
    words: int
    content: str | None
    simhash: int | None
    anchors: list[str] | None
    lang: str | None
    has_icon: bool


def facts(visited: Visited) -> PageFacts:
    """What its row says of it."""
    visit = visited.crawled.visit
    row: PageFacts = {
        "state": visited.state,
        "status": visit.status,
        "final_key": hex_key(visit.address) if visited.is_redirect else None,
        "hops": len(visit.hops) if visited.is_redirect else 0,
        "media_type": visit.media_type or None,
        "answer": {
            "headers": visit.headers[:200],
            "hops": visit.hops,
            "final_url": visit.final_url,
            "is_rendered": visit.is_rendered,
            "is_cut": visit.is_cut,
        },
        "body": visited.digest,
        "bytes": visit.size,
        "ms": round(visit.first_byte_ms),
        "problem": visit.problem,
    }
    return row | (_of_page(visited.crawled) if visited.is_page else {})


def _of_page(crawled: CrawledPage) -> PageFacts:
    page, is_cut = crawled.page, crawled.visit.is_cut
    near = simhash(page.text)
    return {
        "title": page.title,
        "description": page.description,
        "canonical": hex_key(crawled.canonical),
        "indexable": page.may_be_listed,
        "words": page.words,
        "content": None if is_cut else hexed(sha256(page.text.encode("utf-8", "replace")).digest()),
        "simhash": None if near is None or is_cut else signed(near),
        "anchors": None if is_cut else sorted(set(page.anchors)),
        "lang": page.lang[:100] if page.lang else None,
        "has_icon": page.has_icon,
    }

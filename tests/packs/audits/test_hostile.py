"""Texts that people have broken programs with, in every place of a page that an audit keeps: each page is judged."""

import json
from html import escape

import pytest

from leasehold_packs.audits import service
from tests.corpora.data import needs_corpora
from tests.corpora.test_hostile_input import naughty
from tests.fetch.world import Site, page
from tests.packs.audits.test_runs import HTML, WORDS, Opened, auditing, document

__all__ = ["auditing"]
#: What PostgreSQL reads in a way of its own when a text is cast to another type.
CASTS = [
    "a\\b",
    "C:\\new\\x",
    "\\x",
    "\\000",
    "{",
    '{"a',
    "[1,",
    "infinity",
    "NaN",
    "'",
    "$$",
    "%s %(a)s",
    ":a $1",
    "1e999",
]


def hostile(text: str, at: int) -> bytes:
    """A page that says the text wherever a page can say one, and a product that is named after it."""
    html = escape(text)
    thing = {
        "@context": "https://schema.org",
        "@type": "Product",
        "name": text,
        "sku": text,
        text or "k": {"@type": "Event"},
    }
    head = "".join(
        (
            f"<title>{html}</title><meta name=description content='{html}'><meta name=robots content='{html}'>",
            f"<link rel=canonical href='/{at}?c={html}'><link rel=alternate hreflang='{html}' href='/{at}?a={html}'>",
            f"<script type='application/ld+json'>{json.dumps(thing)}</script>",
            f"<script type='application/ld+json'>{html}</script>",
        )
    )
    body = "".join(
        (
            f"<h1>{html}</h1><h3 id='{html}'>{html}</h3><a href='/{at}?q={html}#{html}' rel='{html}'>{html}</a>",
            f"<a href='{html}'>{html}</a><a href='/#{html}'>here</a><img src='{html}' alt='{html}'>",
            f"<form action='http://x.example/{html}'></form><p>{html} {WORDS}</p>",
        )
    )
    said = "".join(each for each in text if each.isprintable())[:2000].encode("utf-8", "replace").decode("latin-1")
    said = "".join(each for each in said if each.isprintable())
    whole = f"<!doctype html><html lang='{html}'><head>{head}</head><body>{body}</body></html>"
    return page(
        whole.encode("utf-8", "surrogatepass"), HTML, "Server: x/1.0", *(f"{name}: {said}" for name in _HEADERS)
    )


_HEADERS = ("X-Robots-Tag", "X-Powered-By", "Link", "Content-Security-Policy", "X-Anything")


async def judged(auditing: Opened, texts: list[str]) -> None:
    site = Site({f"/{n}": hostile(text, n) for n, text in enumerate(texts)})
    site.pages["/"] = document("Start", *site.pages)
    async with auditing(site) as auditor:
        run = await auditor.run(max_pages=len(texts) + 1)
        async with auditor.access.transaction() as tx:
            urls = (await service.list_urls(tx, run.run_id, limit=10_000)).data
    assert run.state == "succeeded", run.reason
    unread = [(one.url, one.problem) for one in urls if one.state not in ("fetched", "left")]
    assert unread == []
    assert run.urls["fetched"] == len(texts) + 1


async def test_a_backslash_or_a_bracket_in_a_page_ends_no_audit(auditing: Opened) -> None:
    await judged(auditing, CASTS)


@pytest.mark.long
@needs_corpora
async def test_no_text_of_a_page_ends_an_audit(auditing: Opened) -> None:
    await judged(auditing, naughty())

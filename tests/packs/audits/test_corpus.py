"""The checks on pages that others wrote: a whole manual with known answers, and the fixtures of another auditor."""

import tarfile
from collections import Counter
from collections.abc import Iterator

import pytest

from leasehold_packs.audits.checks import evaluate
from leasehold_packs.audits.crawled_page import CrawledPage, Visit
from tests.corpora.data import CORPORA, needs_corpora

pytestmark = [needs_corpora, pytest.mark.long]
MANUAL = CORPORA / "site-postgresql-doc-15" / "html.tar.gz"
FIXTURES = CORPORA / "lighthouse-seo" / "seo"


def served(name: str, text: str, *headers: tuple[str, str]) -> CrawledPage:
    declared = (("content-type", "text/html; charset=utf-8"), *headers)
    return CrawledPage(visit=Visit(url=f"https://manual.example/{name}", status=200, headers=declared), text=text)


def manual() -> Iterator[CrawledPage]:
    with tarfile.open(MANUAL) as archive:
        for member in archive:
            if member.name.endswith(".html"):
                body = archive.extractfile(member)
                assert body is not None
                yield served(member.name.rpartition("/")[2], body.read().decode())


def test_the_manual_has_its_known_faults() -> None:
    found: Counter[str] = Counter()
    titles: Counter[str | None] = Counter()
    pages = 0
    for page in manual():
        pages += 1
        found.update(evaluate(page).keys())
        titles[page.page.title] += 1
    assert pages == 1168
    known = {
        "description_missing": 1168, "lang_missing": 1168, "viewport_missing": 1168, "canonical_missing": 1168,
        "h1_missing": 1153, "thin": 332,
    }  # fmt: skip
    assert {name: found[name] for name in known} == known
    assert sum(times for times in titles.values() if times > 1) == 4


#: What both auditors look for.
SHARED = {
    "noindex", "title_missing", "description_missing", "link_text_generic", "hreflang_invalid", "hreflang_relative",
    "canonical_conflict", "viewport_missing",
}  # fmt: skip


def test_the_failing_page_fails_and_the_passing_page_passes_what_both_look_for() -> None:
    other = ("link", '<https://example.com/>; rel="canonical"')
    failing = evaluate(served("failing", (FIXTURES / "seo-failure-cases.html").read_text(), other))
    passing = evaluate(served("passing", (FIXTURES / "seo-tester.html").read_text()))
    assert failing.keys() >= SHARED
    assert not passing.keys() & SHARED

"""Every check of the recipe: a page that has the fault, and a page that has none."""

from typing import Any

import pytest

from leasehold_packs.audits.checks import OF_PAGES, OF_VISITS, evaluate
from leasehold_packs.audits.crawled_page import CrawledPage, Visit
from leasehold_packs.audits.recipe import checks
from leasehold_packs.webfacts.language import is_language

SCOPES = {"page", "relation", "crawl", "site"}
URL = "https://shop.example/lamps"
HEADERS = {
    "content-type": "text/html; charset=utf-8",
    "strict-transport-security": "max-age=31536000",
    "content-security-policy": "default-src 'self'; frame-ancestors 'self'",
    "x-content-type-options": "nosniff",
    "server": "nginx",
}
HEAD = f"""
<meta charset="utf-8"><title>Lamps for every room of the house</title>
<meta name="description" content="Forty lamps for the desk, the wall and the garden, all of them made to be mended, with parts that last.">
<meta name="viewport" content="width=device-width"><link rel="canonical" href="{URL}">
<link rel="alternate" hreflang="en" href="{URL}"><link rel="alternate" hreflang="x-default" href="{URL}">
"""  # noqa: E501
BODY = f"""
<h1>Lamps</h1><h2>For the desk</h2><p id="text">{"word " * 200}</p>
<a href="/chairs">Chairs that go with it</a><img src="/lamp.png" alt="a lamp" width="10" height="10">
<form action="/search"></form>
<script type="application/ld+json">{{"@context": "https://schema.org", "@type": "Product", "name": "Lamp", "offers": {{"price": 1}}}}</script>
"""  # noqa: E501


def crawled(
    head: str = HEAD, body: str = BODY, *, text: str | None = None, lang: str = ' lang="en"', **visit: Any
) -> CrawledPage:
    headers = HEADERS | visit.pop("headers", {})
    values: dict[str, Any] = {"url": URL, "status": 200, "headers": tuple(headers.items())} | visit
    page = f"<!doctype html><html{lang}><head>{head}</head><body>{body}</body></html>"
    return CrawledPage(visit=Visit(**values), text=page if text is None else text)


def without(piece: str, text: str = HEAD) -> str:
    assert piece in text
    return text.replace(piece, "")


TITLE = "<title>Lamps for every room of the house</title>"
LD = '<script type="application/ld+json">'
FAULTY = {
    "status_client_error": crawled(status=404),
    "status_server_error": crawled(status=503),
    "fetch_failed": crawled(status=None, problem="no answer within 30 s"),
    "redirect_loop": crawled(status=None, hops=(("https://a.example/", 302), ("https://b.example/", 302)) * 2),
    "redirect_chain": crawled(hops=(("https://a.example/", 301), ("https://b.example/", 301))),
    "slow_first_byte": crawled(first_byte_ms=900.0),
    "large_body": crawled(size=2_000_001),
    "page_cut": crawled(is_cut=True),
    "insecure_scheme": crawled(url="http://shop.example/lamps"),
    "mixed_content": crawled(body=BODY + '<script src="http://cdn.example/x.js"></script>'),
    "wrong_media_type": crawled(headers={"content-type": "text/plain"}),
    "noindex": crawled(headers={"x-robots-tag": "noindex"}),
    "canonical_missing": crawled(without(f'<link rel="canonical" href="{URL}">')),
    "canonical_relative": crawled(HEAD.replace(f'canonical" href="{URL}"', 'canonical" href="/lamps"')),
    "canonical_multiple": crawled(HEAD + '<link rel="canonical" href="https://shop.example/other">'),
    "canonical_conflict": crawled(headers={"link": '<https://shop.example/other>; rel="canonical"'}),
    "title_missing": crawled(without(TITLE)),
    "title_short": crawled(HEAD.replace(TITLE, "<title>Lamps</title>")),
    "title_long": crawled(HEAD.replace(TITLE, f"<title>{'Lamps ' * 20}</title>")),
    "title_multiple": crawled(HEAD + TITLE),
    "description_missing": crawled(HEAD.replace('name="description"', 'name="other"')),
    "description_short": crawled(HEAD.replace('content="Forty', 'content="Few lamps" data-was="Forty')),
    "description_long": crawled(
        HEAD.replace('content="Forty', f'content="{"Very many lamps. " * 12}" data-was="Forty')
    ),
    "description_multiple": crawled(HEAD + '<meta name="description" content="again">'),
    "h1_missing": crawled(body=without("<h1>Lamps</h1>", BODY)),
    "h1_multiple": crawled(body=BODY + "<h1>More lamps</h1>"),
    "heading_order": crawled(body=BODY + "<h4>Small print</h4>"),
    "thin": crawled(body=BODY.replace("word " * 200, "word")),
    "lang_missing": crawled(lang=""),
    "lang_invalid": crawled(lang=' lang="english"'),
    "lang_mismatch": crawled(body=BODY.replace("word " * 200, "Das ist eine Lampe für den Tisch und die Wand. " * 25)),
    "link_text_empty": crawled(body=BODY + '<a href="/tables"><i></i></a>'),
    "link_text_generic": crawled(body=BODY + '<a href="/tables">Read more …</a>'),
    "link_uncrawlable": crawled(body=BODY + '<a href="javascript:go()">Tables</a>'),
    "links_too_many": crawled(body=BODY + '<a href="/t">Tables</a>' * 100),
    "link_localhost": crawled(body=BODY + '<a href="http://localhost:8000/">Tables</a>'),
    "link_insecure": crawled(body=BODY + '<a href="http://tables.example/">Tables</a>'),
    "nofollow_internal": crawled(body=BODY + '<a href="/tables" rel="nofollow">Tables</a>'),
    "image_alt_missing": crawled(body=BODY + '<img src="/t.png" width="1" height="1">'),
    "image_alt_long": crawled(body=BODY + f'<img src="/t.png" width="1" height="1" alt="{"a table " * 13}">'),
    "image_unsized": crawled(body=BODY + '<img src="/t.png" alt="a table">'),
    "hreflang_invalid": crawled(HEAD + '<link rel="alternate" hreflang="xx" href="https://shop.example/xx">'),
    "hreflang_relative": crawled(HEAD + '<link rel="alternate" hreflang="de" href="/de">'),
    "hreflang_no_self": crawled(
        HEAD.replace(f'hreflang="en" href="{URL}"', 'hreflang="de" href="https://shop.example/de"').replace(
            f'hreflang="x-default" href="{URL}"', 'hreflang="x-default" href="https://shop.example/"'
        )
    ),
    "hreflang_no_default": crawled(without(f'<link rel="alternate" hreflang="x-default" href="{URL}">')),
    "json_ld_invalid": crawled(body=BODY + LD + '{"@type": </script>'),
    "structured_incomplete": crawled(
        body=BODY + LD + '{"@context": "https://schema.org", "@type": "JobPosting"}</script>'
    ),
    "hsts_missing": crawled(headers={"strict-transport-security": "max-age=0"}),
    "csp_missing": crawled(headers={"content-security-policy": "", "x-frame-options": "DENY"}),
    "nosniff_missing": crawled(headers={"x-content-type-options": "sniff"}),
    "clickjacking": crawled(headers={"content-security-policy": "default-src 'self'"}),
    "form_insecure": crawled(body=BODY + '<form action="http://shop.example/login"></form>'),
    "server_leak": crawled(headers={"server": "nginx/1.18.0"}),
    "viewport_missing": crawled(HEAD.replace('name="viewport"', 'name="other"')),
    "charset_missing": crawled(HEAD.replace('<meta charset="utf-8">', ""), headers={"content-type": "text/html"}),
    "charset_late": crawled(f"<!-- {'x' * 1100} -->{HEAD}"),
    "doctype_missing": crawled(text=f'<html lang="en"><head>{HEAD}</head><body>{BODY}</body></html>'),
    "meta_in_body": crawled(body=BODY + '<meta name="robots" content="noarchive">'),
    "duplicate_ids": crawled(body=BODY + '<p id="text"></p>'),
}
PRICED = '{"@context": "https://schema.org", "@type": "Product", "name": "Lamp", "offers": %s}'
#: Faults that only look like a page without them.
HIDDEN = [
    ("noindex", crawled(HEAD + '<meta name="googlebot" content="noindex">')),
    ("noindex", crawled(HEAD + '<meta name="BingBot" content="none">')),
    ("noindex", crawled(headers={"x-robots-tag": "otherbot: nofollow, googlebot: noindex"})),
    ("hreflang_invalid", crawled(HEAD + f'<link rel="alternate" hreflang="en-UK" href="{URL}">')),
    ("lang_invalid", crawled(lang=' lang="eng"')),
    ("json_ld_invalid", crawled(body=BODY + LD + '{"@type": "WebSite", "name": "Lamps",}</script>')),
    ("json_ld_invalid", crawled(body=BODY + LD + '// lamps\n{"@type": "WebSite"}</script>')),
    ("json_ld_invalid", crawled(body=BODY + LD + '{"@type": "WebSite", "name": "two\nlines"}</script>')),
    ("json_ld_invalid", crawled(body=BODY + LD + '{"@type": "WebSite", "x": NaN}</script>')),
    ("structured_incomplete", crawled(body=BODY + LD + PRICED % '{"@type": "Offer"}' + "</script>")),
    ("structured_incomplete", crawled(body=BODY + LD + PRICED % '{"price": ""}' + "</script>")),
    ("structured_incomplete", crawled(body=BODY + LD + PRICED % '[{"price": 1}, {"sku": 2}]' + "</script>")),
    (
        "structured_incomplete",
        crawled(body=BODY + LD + PRICED % '{"@type": "AggregateOffer", "offerCount": 3}' + "</script>"),
    ),
]
#: What only looks like a fault.
SOUND = [
    crawled(HEAD + '<meta name="googlebot" content="index">'),
    crawled(headers={"x-robots-tag": "otherbot: noindex, nofollow"}),
    crawled(body=BODY + LD + '//<![CDATA[\n{"@type": "WebSite"}\n//]]></script>'),
    crawled(body=BODY + LD + '<!-- {"@type": "WebSite"} --></script>'),
    crawled(body=BODY + LD + PRICED % '{"price": 0}' + "</script>"),
    crawled(body=BODY + LD + PRICED % '{"lowPrice": "1.00", "highPrice": "2.00"}' + "</script>"),
    crawled(body=BODY + LD + PRICED % '{"priceSpecification": [{"price": "1.00"}]}' + "</script>"),
    crawled(body=BODY + LD + PRICED % '{"@id": "https://shop.example/offer"}' + "</script>"),
    crawled(body=BODY + LD + PRICED % '{"offers": [{"price": 1}, {"price": 2}]}' + "</script>"),
]
#: What a fault brings with it by its nature.
BRINGS = {"insecure_scheme": {"form_insecure", "hreflang_no_self"}, "link_localhost": {"link_insecure"}}


@pytest.mark.parametrize(("end", "found"), [("<!doctype html>", False), ("<html>", True)])
def test_a_document_type_is_looked_for_behind_any_number_of_comments(end: str, found: bool) -> None:
    """A row of them could be cut into comments in more ways than there are seconds."""
    text = "<?xml version='1.0'?> " + "<!----> <!-- - -- > -->" * 200 + end
    assert ("doctype_missing" in evaluate(crawled(text=text))) is found


def test_a_page_without_faults_has_none() -> None:
    assert evaluate(crawled()) == {}


@pytest.mark.parametrize("name", FAULTY)
def test_each_fault_is_found_and_nothing_else(name: str) -> None:
    found = set(evaluate(FAULTY[name]))
    assert name in found
    assert found - {name} <= BRINGS.get(name, set())


@pytest.mark.parametrize(("name", "page"), HIDDEN)
def test_a_fault_that_is_easily_missed_is_found(name: str, page: CrawledPage) -> None:
    assert set(evaluate(page)) == {name}


@pytest.mark.parametrize("page", SOUND)
def test_what_looks_like_a_fault_is_none(page: CrawledPage) -> None:
    assert evaluate(page) == {}


def test_every_check_of_the_recipe_has_somebody_who_looks_and_a_test() -> None:
    by_function = {check.id for check in checks().values() if check.scope == "page"}
    assert by_function == OF_VISITS.keys() | OF_PAGES.keys() == FAULTY.keys()
    assert {check.scope for check in checks().values()} <= SCOPES


@pytest.mark.parametrize("check", checks().values(), ids=lambda check: check.id)
def test_every_check_says_what_why_and_how_in_whole_sentences(check: Any) -> None:
    assert check.why.endswith(".")
    assert check.how.endswith(".")
    assert not check.title.endswith(".")
    assert max(len(check.title), len(check.why), len(check.how)) <= 160


def test_evidence_is_bounded_whatever_the_page_holds() -> None:
    many = crawled(body=BODY + '<a href="http://tables.example/' + "x" * 5000 + '">T</a>' + '<img src="/t.png">' * 5000)
    evidence = evaluate(many)
    assert evidence["image_alt_missing"]["count"] == 5000
    assert len(str(evidence)) < 20_000


@pytest.mark.parametrize("tag", ["de", "pt-BR", "zh-Hans-TW", "es-419", "DE", "gsw", "de-CH-1996", "uk-UA"])
def test_languages_that_are_ones(tag: str) -> None:
    assert is_language(tag)


@pytest.mark.parametrize(
    "tag", ["xx", "english", "en_US", "", "de-", "-de", "d", "de DE", "en-UK", "eng", "de-EU", "zh-Hant-UK"]
)
def test_languages_that_are_none(tag: str) -> None:
    assert not is_language(tag)

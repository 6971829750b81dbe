"""What a page says about itself."""

import tarfile
from collections import Counter
from urllib.parse import unquote

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from leasehold_packs.webfacts.decode import decode
from leasehold_packs.webfacts.page import Page, read_page
from tests.corpora.data import CORPORA, needs_corpora
from tests.packs.webfacts.corpora import pages

URL = "https://example.com/shop/page"


def page(html: str) -> Page:
    return read_page(html, url=URL)


def test_the_head_is_read() -> None:
    found = page("""
        <html lang="en"><head><meta charset="utf-8"><title> A  page </title>
        <meta name="Description" content="About."><meta name="viewport" content="width=device-width">
        <link rel="canonical" href="/page"><meta property="og:type" content="product">
        <link rel="alternate" hreflang="de" href="/de/page"></head></html>
    """)
    assert (found.title, found.description, found.lang, found.charset) == ("A page", "About.", "en", "utf-8")
    assert found.viewport == "width=device-width"
    assert found.canonical == "https://example.com/page"
    assert found.open_graph == (("og:type", "product"),)
    assert [(one.hreflang, one.url) for one in found.alternates] == [("de", "https://example.com/de/page")]


def test_what_is_there_twice_is_seen_twice() -> None:
    found = page("<title>A</title><title>B</title><link rel=canonical href=/a><link rel=canonical href=/b>")
    assert (found.titles, found.canonicals) == (("A", "B"), ("/a", "/b"))


def test_the_title_of_a_drawing_is_not_the_pages() -> None:
    assert page("<title>Page</title><body><svg><title>Icon</title></svg>").titles == ("Page",)


def test_links_lead_where_a_browser_would_go() -> None:
    found = page('<base href="/base/"><a href="a?b=1&amp;c=2">x</a><a href="javascript:void(0)">y</a><a name=z>z</a>')
    assert [(link.href, link.url) for link in found.links] == [
        ("a?b=1&c=2", "https://example.com/base/a?b=1&c=2"),
        ("javascript:void(0)", None),
    ]


def test_a_link_without_words_is_called_by_its_image() -> None:
    found = page('<a href="/a"><img alt="Home" src=x></a><a href="/b" aria-label="Next"></a>')
    assert [link.text for link in found.links] == ["Home", "Next"]


def test_links_that_are_not_vouched_for_are_marked() -> None:
    links = page('<a href=/a rel="NoFollow external">x</a><a href=/b rel=ugc>x</a><a href=/c rel=noopener>x</a>').links
    assert [link.nofollow for link in links] == [True, True, False]


def test_an_empty_alt_is_not_a_missing_one() -> None:
    found = page('<img src=a><img src=b alt=""><img src=c alt="C" width=1 height=1>')
    assert [image.src for image in found.images_without_alt] == ["a"]
    assert [image.sized for image in found.images] == [False, False, True]


def test_only_what_can_be_seen_is_text() -> None:
    found = page("<head><title>t</title></head><p>one</p><script>two</script><style>x</style><p>two<b>three</b></p>")
    assert (found.text, found.words) == ("one two three", 3)


def test_anchors_forms_and_resources_are_listed() -> None:
    found = page('<a name=top></a><p id=x><p id=x><form action="http://example.com/s"></form><img src=/i.png>')
    assert found.anchors == ("top", "x", "x")
    assert found.form_actions == ("http://example.com/s",)
    assert found.resources == ("https://example.com/i.png",)


def test_robots_may_be_told_by_header_too() -> None:
    found = read_page("<meta name=robots content=nofollow>", url=URL, x_robots_tag=["noindex"])
    assert (found.robots.index, found.robots.follow) == (False, False)


@settings(max_examples=200, deadline=None, derandomize=True)
@given(st.binary(max_size=300) | st.text(max_size=200).map(str.encode))
def test_no_bytes_are_an_error(body: bytes) -> None:
    page(decode(b"<a href='" + body + b"'><img><h1>" + body))


@needs_corpora
def test_the_whole_manual_of_postgresql_has_its_known_answers() -> None:
    site = _site()
    count = Counter[str]()
    for found in site.values():
        count["description"] += found.description is None
        count["lang"] += found.lang is None
        count["viewport"] += found.viewport is None
        count["canonical"] += found.canonical is None
        count["h1"] += all(heading.level != 1 for heading in found.headings)
        count["short"] += found.words < 200
    titles = Counter(found.title for found in site.values())
    inner = [
        link.url for found in site.values() for link in found.links if link.url and link.url.startswith("https://doc.")
    ]
    assert len(site) == 1168
    assert count == Counter(description=1168, lang=1168, viewport=1168, canonical=1168, h1=1153, short=332)
    assert sum(times for times in titles.values() if times > 1) == 4
    assert len(inner) == 23389
    assert [url for url in inner if not _leads_somewhere(url, site)] == []


def _site() -> dict[str, Page]:
    with tarfile.open(CORPORA / "site-postgresql-doc-15" / "html.tar.gz") as archive:
        found = {}
        for member in archive:
            if member.name.endswith(".html") and (file := archive.extractfile(member)):
                url = f"https://doc.example/{member.name}"
                found[url] = read_page(decode(file.read()), url=url)
        return found


def _leads_somewhere(url: str, site: dict[str, Page]) -> bool:
    target, _, fragment = url.partition("#")
    return target in site and (not fragment or unquote(fragment) in site[target].anchors)


@needs_corpora
def test_lighthouses_failing_page_fails_and_its_passing_page_passes() -> None:
    def read(name: str) -> Page:
        body = (CORPORA / "lighthouse-seo" / "seo" / name).read_bytes()
        return read_page(decode(body), url="https://example.com/")

    bad, good = read("seo-failure-cases.html"), read("seo-tester.html")
    assert (bad.title, bad.description, bad.robots.index) == (None, None, False)
    assert [one.hreflang for one in bad.alternates if one.url is None or one.href.startswith("/")] != []
    assert any(link.url is None for link in bad.links)
    assert good.title
    assert good.description
    assert good.viewport
    assert good.robots.index
    assert good.canonical
    assert good.images_without_alt == ()


@needs_corpora
def test_real_articles_have_titles_and_their_text_is_seen() -> None:
    """The words of the article, as people marked it, are in what we call visible."""
    seen, total = 0, 0
    for _, body, truth in pages("article-extraction"):
        found = read_page(decode(body), url=truth["url"])
        words = set(truth["articleBody"].split())
        seen += len(words & set(found.text.split()))
        total += len(words)
        assert found.title
    print(f"{seen} of {total} words of real articles are in the visible text")
    assert seen / total > 0.95


@pytest.mark.parametrize("html", ["", " ", "<", "<html>", "\ufffd", "plain text"])
def test_a_page_with_nothing_on_it_has_no_facts(html: str) -> None:
    found = page(html)
    assert (found.title, found.links, found.canonical) == (None, (), None)

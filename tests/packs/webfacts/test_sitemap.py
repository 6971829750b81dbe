"""Sitemaps and their indexes."""

import gzip

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from leasehold_packs.webfacts import sitemap
from leasehold_packs.webfacts.sitemap import Entry, Kind, SitemapProblem, iter_sitemap, read_sitemap
from leasehold_packs.webfacts.sitemap_walk import named_in

BASE = "https://example.com/sitemap.xml"
XMLNS = 'xmlns="http://www.sitemaps.org/schemas/sitemap/0.9"'


def urlset(inside: str) -> bytes:
    return f'<?xml version="1.0" encoding="UTF-8"?><urlset {XMLNS}>{inside}</urlset>'.encode()


def urls(body: bytes) -> list[str]:
    entries, problem = read_sitemap(body, base=BASE)
    assert problem is None
    return [entry.url for entry in entries]


def test_pages_are_listed_with_what_is_said_of_them() -> None:
    body = urlset("<url><loc> https://example.com/a?x=1&amp;y=2 </loc><lastmod>2026-01-02</lastmod></url>")
    page = Entry(kind=Kind.PAGES, url="https://example.com/a?x=1&y=2", lastmod="2026-01-02")
    assert read_sitemap(body, base=BASE) == ([page], None)


def test_an_index_lists_sitemaps() -> None:
    body = f"<sitemapindex {XMLNS}><sitemap><loc>/more.xml.gz</loc></sitemap></sitemapindex>".encode()
    assert read_sitemap(body, base=BASE)[0] == [Entry(kind=Kind.INDEX, url="https://example.com/more.xml.gz")]


@pytest.mark.parametrize(
    "body",
    [
        b"<urlset><url><loc>https://example.com/a</loc></url></urlset>",  # no namespace
        b"\xef\xbb\xbf <urlset><url><loc>https://example.com/a</loc></url></urlset>",
        b'<urlset xmlns:image="i"><url><loc>https://example.com/a</loc><image:loc>/i.png</image:loc></url></urlset>',
        b"<urlset><url><loc>https://example.com/a</loc></url><url><loc></loc></url><url/></urlset>",
        b"<urlset><url><loc>https://example.com/a</loc></url><url><loc>javascript:alert(1)</loc></url></urlset>",
        b"https://example.com/a\r\n\r\n",
    ],
)
def test_sloppy_sitemaps_are_read(body: bytes) -> None:
    assert urls(body) == ["https://example.com/a"]


def test_an_unescaped_ampersand_costs_no_entries() -> None:
    """The parser alone would read ``?a=1=2`` and say nothing."""
    body = urlset("<url><loc>https://example.com/?a=1&b=2&amp;c=3</loc></url>" * 3)
    assert urls(body) == ["https://example.com/?a=1&b=2&c=3"] * 3


def test_an_ampersand_in_cdata_is_bare_by_right() -> None:
    assert urls(urlset("<url><loc><![CDATA[https://example.com/?a=1&b=2]]></loc></url>")) == [
        "https://example.com/?a=1&b=2"
    ]


def test_data_that_never_ends_is_looked_for_once() -> None:
    """Once from each of its beginnings would take hours."""
    body = urlset("<url><loc>https://example.com/a</loc></url>").removesuffix(b"</urlset>")
    assert urls(body + b"<![CDATA[>" * 1_000_000) == ["https://example.com/a"]


def test_the_sitemaps_of_a_robots_file_are_found_behind_any_number_of_empty_lines() -> None:
    lines = "User-agent: *\n" + "\n" * 500_000 + " Sitemap : https://example.com/a.xml\n# sitemap: no\nSITEMAP:b.xml"
    assert named_in(lines) == ["https://example.com/a.xml", "b.xml"]


def test_other_encodings_hide_nothing() -> None:
    hidden = '<?xml version="1.0" encoding="utf-16"?><!DOCTYPE x [<!ENTITY a "b">]><urlset/>'.encode("utf-16")
    assert read_sitemap(b"<" + hidden, base=BASE) == ([], "it is not in UTF-8")
    smuggled = b'<?xml version="1.0" encoding="utf-7"?>+ADwAIQ-DOCTYPE x [+ADwAIQ-ENTITY a "b">]><urlset/>'
    assert read_sitemap(smuggled, base=BASE)[0] == []


def test_gzip_is_known_by_its_bytes() -> None:
    packed = gzip.compress(urlset("<url><loc>https://example.com/a</loc></url>"))
    assert urls(packed) == ["https://example.com/a"]


def test_a_bomb_is_not_unpacked(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sitemap, "MAX_BYTES", 1_000_000)
    bomb = gzip.compress(b"<urlset>" + b"<url></url>" * 5_000_000)
    assert len(bomb) < 200_000
    assert read_sitemap(bomb, base=BASE) == ([], "more than 1000000 bytes")


def test_there_is_an_end_to_entries() -> None:
    body = urlset("<url><loc>https://example.com/</loc></url>" * 50_001)
    entries, problem = read_sitemap(body, base=BASE)
    assert len(entries) == 50_000
    assert problem == "more than 50000 entries"


@pytest.mark.parametrize(
    "body",
    [
        b'<!DOCTYPE x [<!ENTITY a "aaaa"><!ENTITY b "&a;&a;&a;">]><urlset><url><loc>https://example.com/&b;</loc></url></urlset>',
        b'<?xml version="1.0"?><!doctype x SYSTEM "file:///etc/passwd"><urlset/>',
        b'<!DOCTYPE x [<!ENTITY f SYSTEM "file:///etc/passwd">]><urlset><url><loc>https://a/&f;</loc></url></urlset>',
    ],
)
def test_nothing_declared_is_expanded(body: bytes) -> None:
    entries, problem = read_sitemap(body, base=BASE)
    assert entries == []
    assert problem is not None
    assert "document type" in problem


def test_a_declaration_is_seen_across_chunks() -> None:
    body = b'<!DOCTYPE x [<!ENTITY a "b">]><urlset><url><loc>https://example.com/&a;</loc></url></urlset>'
    with pytest.raises(SitemapProblem, match="document type"):
        list(iter_sitemap([bytes([byte]) for byte in body], base=BASE))


@pytest.mark.parametrize("cut", [10, 40, -20])
def test_half_a_gzip_says_so_and_keeps_what_it_had(cut: int) -> None:
    packed = gzip.compress(urlset("<url><loc>https://example.com/a</loc></url>" * 1000))
    entries, problem = read_sitemap(packed[:cut], base=BASE)
    assert problem == "the gzip ends too early"
    assert len(entries) <= 1000


def test_entries_come_before_the_end_of_the_document() -> None:
    entry = b"<url><loc>https://example.com/a</loc></url>"
    chunks = iter([b"<urlset>" + entry, entry])
    assert next(iter_sitemap(chunks, base=BASE)).url == "https://example.com/a"
    assert next(chunks) == entry


@settings(max_examples=200, deadline=None, derandomize=True)
@given(st.binary(max_size=300))
def test_no_bytes_are_an_error(body: bytes) -> None:
    for whole in (body, b"<urlset>" + body, gzip.compress(body), b"\x1f\x8b" + body):
        read_sitemap(whole, base=BASE)

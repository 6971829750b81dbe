"""Which URLs are the same page."""

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from leasehold.errors import BadInput
from leasehold_packs.webfacts.url_key import url_key
from tests.corpora.data import needs_corpora
from tests.packs.webfacts.corpora import load


@pytest.mark.parametrize(
    ("url", "key"),
    [
        ("HTTP://Example.COM:80/a/../b//c?b=2&a=1#f", "http://example.com/b//c?a=1&b=2"),
        ("https://shop.example/p?color=red&color=blue", "https://shop.example/p?color=red&color=blue"),
        ("https://shop.example/p?ref=ABC123", "https://shop.example/p?ref=ABC123"),  # a real key on many sites
        ("https://shop.example/p?utm_id=1&gbraid=2&msclkid=4&srsltid=7&_gl=1&igshid=1", "https://shop.example/p"),
        ("https://shop.example/search?q=a%20b", "https://shop.example/search?q=a+b"),
        ("https://shop.example/search?q=a+b", "https://shop.example/search?q=a+b"),
        ("https://shop.example/p?a=&b", "https://shop.example/p?a=&b="),
        ("https://bücher.example/straße", "https://xn--bcher-kva.example/stra%C3%9Fe"),
        ("https://example.com/%7Euser/%e2%82%ac", "https://example.com/~user/%E2%82%AC"),
        ("https://example.com/Products/ABC/", "https://example.com/Products/ABC/"),  # case and slash are the site's
        ("https://example.com", "https://example.com/"),
        ("https://example.com/?", "https://example.com/"),
        ("https://[::1]:8443/x", "https://[::1]:8443/x"),
        ("https://www.amazon.com/Title/dp/B08N5WRWNW/ref=sr_1_3?keywords=x", "https://www.amazon.com/dp/B08N5WRWNW"),
        ("https://amazon.example.com/Title/dp/B08N5WRWNW", "https://amazon.example.com/Title/dp/B08N5WRWNW"),
        ("https://example.com/a;jsessionid=1234", "https://example.com/a"),
        ("https://example.com/a;v=1", "https://example.com/a;v=1"),
        ("https://example.com/p?pid=1&sid=abc&PHPSESSID=1", "https://example.com/p?pid=1"),
        ("https://example.com/p?variant=123&utm_source=a", "https://example.com/p?variant=123"),
        ("https://example.com/#!/product/1", "https://example.com/"),
        ("https://example.com/?q=1&amp;r=2", "https://example.com/?amp%3Br=2&q=1"),  # unescaping is for HTML
    ],
)
def test_spellings_of_one_page_have_one_key(url: str, key: str) -> None:
    assert url_key(url) == key


@pytest.mark.parametrize(
    "url", ["//example.com/x", "example.com/x", "", "ftp://example.com/", "https://", "javascript:1"]
)
def test_what_is_no_whole_http_url_has_no_key(url: str) -> None:
    with pytest.raises(BadInput, match="not a whole http"):
        url_key(url)


def test_a_password_is_refused_and_not_repeated() -> None:
    for url in ("https://user:hunter2@example.com/x", "https://user:hunter2@[bad/"):
        with pytest.raises(BadInput) as problem:
            url_key(url)
        assert "hunter2" not in str(problem.value)


def test_values_that_are_no_utf8_stay_different() -> None:
    assert url_key("https://example.com/?q=%ff") != url_key("https://example.com/?q=%fe")


def test_a_site_may_drop_parameters_of_its_own() -> None:
    assert url_key("https://example.com/?Ref=1&a=2", drop=["ref"]) == "https://example.com/?a=2"


def test_a_site_may_keep_the_fragments_of_its_application() -> None:
    assert url_key("https://example.com/#!/product/1", keep_hashbang=True) == "https://example.com/#!/product/1"
    assert url_key("https://example.com/#top", keep_hashbang=True) == "https://example.com/"


@settings(max_examples=200, deadline=None, derandomize=True)
@given(st.text(max_size=60), st.booleans())
@example("%%37E", False)
@example(".;sid=1/x", False)
@example("a?=&&=1&%", False)
def test_the_key_of_a_key_is_the_key(rest: str, hashbang: bool) -> None:
    try:
        key = url_key(f"https://example.com/{rest}", keep_hashbang=hashbang)
    except BadInput:
        return
    assert url_key(key, keep_hashbang=hashbang) == key


@needs_corpora
def test_keys_of_the_webs_own_urls_are_keys_themselves() -> None:
    keys = []
    for row in load("url/urltestdata.json"):
        if isinstance(row, dict) and not row.get("failure") and row["protocol"] in ("http:", "https:"):
            try:
                keys.append(url_key(row["href"]))
            except BadInput:
                assert row["username"] or row["password"]
    assert len(keys) > 150
    assert [key for key in keys if url_key(key) != key] == []

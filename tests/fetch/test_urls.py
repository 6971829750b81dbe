"""What a URL says, and which are not read at all."""

from urllib.parse import urlsplit

import httpx2
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from leasehold.errors import FetchRefused
from leasehold.fetch.urls import MAX_LENGTH, parse_url


@pytest.mark.parametrize(
    ("text", "host", "port", "target"),
    [
        ("http://example.com", "example.com", 80, "/"),
        ("HTTPS://EXAMPLE.com:443/a/../b?c=d#e", "example.com", 443, "/b?c=d"),
        ("https://example.com:8443/", "example.com", 8443, "/"),
        ("https://bücher.example/straße?q=ü", "xn--bcher-kva.example", 443, "/stra%C3%9Fe?q=%C3%BC"),
        ("http://127.1/", "127.0.0.1", 80, "/"),  # as every browser reads it; the address is judged later
        ("http://0x7f.1/", "127.0.0.1", 80, "/"),
        ("http://2130706433/", "127.0.0.1", 80, "/"),
        ("http://１２７。0。0。1/", "127.0.0.1", 80, "/"),
        ("http://[::FFFF:127.0.0.1]:80/", "[::ffff:7f00:1]", 80, "/"),
        ("https://my_shop.example/", "my_shop.example", 443, "/"),
        ("https://example.com/a%20b/@x?u=http://y/", "example.com", 443, "/a%20b/@x?u=http://y/"),
    ],
)
def test_a_url_has_one_reading(text: str, host: str, port: int, target: str) -> None:
    url = parse_url(text)
    assert (url.host, url.port, url.target) == (host, port, target)
    assert parse_url(str(url)) == url


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("", "does not begin with http"),
        ("example.com", "does not begin with http"),
        ("//example.com/", "not a valid URL"),
        ("http:example.com", "does not begin with http"),
        ("http:/example.com", "does not begin with http"),
        ("http:///example.com", "has no host"),
        ("http://", "has no host"),
        ("https://?q", "has no host"),
        ("ftp://example.com/", "ftp is not http or https"),
        ("file:///etc/passwd", "file is not http or https"),
        ("javascript:alert(1)", "javascript is not http or https"),
        ("gopher://127.0.0.1:6379/_x", "gopher is not http or https"),
        ("http://user@example.com/", "user name or password"),
        ("http://user:secret@example.com/", "user name or password"),
        ("http://@example.com/", "user name or password"),
        ("http://example.com\\@127.0.0.1/", "backslash"),
        ("http:\\\\example.com", "backslash"),
        ("http://example.com/a\\b", "backslash"),
        ("http://example.com/a b", "space or control"),
        (" http://example.com/", "space or control"),
        ("http://example.com/\r\nX: y", "space or control"),
        ("http://exa\tmple.com/", "space or control"),
        ("http://example.com/\x00", "space or control"),
        ("http://example.com/\x85", "space or control"),
        ("http://example.com/\ud800", "space or control"),
        ("http://127.0.0.1%00.example.com/", "percent sign"),
        ("http://%31%32%37.0.0.1/", "percent sign"),
        ("http://[fe80::1%25eth0]/", "percent sign"),
        ("http://[::1", "not a valid URL"),
        ("http://[::1]x/", "not a valid URL"),
        ("http://1.2.3.4.5/", "not a valid URL"),
        ("http://256.0.0.1/", "not a valid URL"),
        ("http://example.com./", "ends with a dot"),
        ("http://a..b/", "not a host name"),
        ("http://a!b/", "not a host name"),
        ("http://-a/", "not a host name"),
        (f"http://{'a' * 64}.example/", "not a host name"),
        (f"http://{'a.' * 127}com/", "not a host name"),
        ("http://example.com:0/", "no port 0"),
        ("http://example.com:65536/", "not a valid URL"),
        ("http://example.com:-1/", "not a valid URL"),
        ("http://example.com:８０/", "not a valid URL"),
        ("http://example.com/" + "a" * MAX_LENGTH, "longer than"),
        ("http://example.com/" + "ü" * 1000, "longer than"),
    ],
)
def test_what_could_be_read_in_two_ways_is_refused_with_the_reason(text: str, why: str) -> None:
    with pytest.raises(FetchRefused, match=why) as refused:
        parse_url(text)
    assert refused.value.hint
    str(refused.value).encode("ascii")


def test_passwords_in_urls_are_not_repeated() -> None:
    with pytest.raises(FetchRefused) as refused:
        parse_url("https://bob:hunter2@example.com/")
    assert "hunter2" not in str(refused.value)


@pytest.mark.parametrize(
    ("location", "result"),
    [
        ("/b", "https://example.com:8443/b"),
        ("b?c", "https://example.com:8443/x/b?c"),
        ("", "https://example.com:8443/x/y?z"),
        ("?q", "https://example.com:8443/x/y?q"),
        ("//other.test/b", "https://other.test/b"),
        ("http://other.test", "http://other.test/"),
        ("../../../b", "https://example.com:8443/b"),
        ("/@user:x/http://a", "https://example.com:8443/@user:x/http://a"),
    ],
)
def test_a_relative_url_is_read_on_its_base(location: str, result: str) -> None:
    assert str(parse_url(location, base=parse_url("https://example.com:8443/x/y?z"))) == result


@pytest.mark.parametrize("location", ["///x", "//u@x/", "/\\x", "http:x", "mailto:x", "//x%00/", "https:\t//x"])
def test_a_relative_url_is_under_the_same_rules(location: str) -> None:
    with pytest.raises(FetchRefused):
        parse_url(location, base=parse_url("https://example.com/"))


def test_the_usual_port_is_left_out_where_it_is_shown() -> None:
    assert parse_url("https://example.com:443/x").origin == "https://example.com"
    assert parse_url("http://example.com:443/x").origin == "http://example.com:443"
    assert parse_url("http://[::1]:8080/x").authority == "[::1]:8080"
    assert parse_url("http://[::1]/x").bare_host == "::1"


#: What URLs are made of, and what they are broken with.
PIECES = st.sampled_from(
    [
        *("http://", "https://", "http:", "//", "%00", "%2f", "%5c", "::1", "::", "..", "80", "443", "65536", "0"),
        *("127.0.0.1", "0x7f", "2130706433", "0177", "example.com", "xn--", "xn--a"),
        *"/\\@:#?%[].a-_!&=;| \t\n\0\x7f。üß\u200d\ufeff\u2028",
    ]
)
TEXTS = st.one_of(
    st.text(),
    st.lists(PIECES, max_size=12).map("".join),
    st.lists(PIECES, max_size=9).map("".join).map("http://a".__add__),
)


@settings(max_examples=500, deadline=None, derandomize=True)
@given(text=TEXTS)
def test_whatever_is_accepted_every_parser_reads_in_the_same_way(text: str) -> None:
    try:
        url = parse_url(text)
    except FetchRefused as problem:
        str(problem).encode("ascii")
        return
    assert parse_url(str(url)) == url
    split, other = urlsplit(str(url)), httpx2.URL(str(url))
    assert {split.hostname, other.raw_host.decode()} == {url.bare_host}
    assert (split.username, split.port or url.port, other.port or url.port) == (None, url.port, url.port)
    assert url.target.isascii()
    assert " " not in url.target

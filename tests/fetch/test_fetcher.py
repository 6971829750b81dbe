"""Ordinary requests: what is sent, what comes back, what is followed."""

import asyncio
import gzip
import hashlib
import logging
import traceback

import pytest

from leasehold.errors import (
    BadInput,
    BadResponse,
    BadSetting,
    FetchRefused,
    FetchTooLarge,
    FetchTooSlow,
    FetchUnreachable,
)
from leasehold.fetch.fetcher import Fetcher
from leasehold.fetch.response import Hop
from leasehold.settings import Settings
from tests.fetch.world import PUBLIC, PUBLIC_TOO, Site, moved, page, serving, world


async def test_a_page_comes_with_all_that_is_known_about_it() -> None:
    site = Site({"/a?b=c": page(b"hello", "Content-Type: text/plain", "Set-Cookie: a=1", "Set-Cookie: b=2")})
    async with world() as w, serving(site) as server:
        w.put("shop.test", server)
        fetched = await w.fetcher.get("http://shop.test/a?b=c#d")
    assert (fetched.status, fetched.body, fetched.text) == (200, b"hello", "hello")
    assert (fetched.url, fetched.hops, fetched.truncated) == ("http://shop.test/a?b=c", (), False)
    assert fetched.sha256 == hashlib.sha256(b"hello").hexdigest()
    assert (fetched.header("Content-Type"), fetched.header("set-cookie")) == ("text/plain", "a=1, b=2")
    assert 0 < fetched.timings.head <= fetched.timings.total < 30
    assert site.asked[0].startswith(b"GET /a?b=c HTTP/1.1\r\nHost: shop.test\r\n")


async def test_we_say_who_we_are_and_what_we_take() -> None:
    site = Site({"/": page(b"")})
    async with world(Settings(user_agent="ExampleBot/1.0 (+https://example.com/bot)")) as w, serving(site) as server:
        w.put("shop.test", server)
        await w.fetcher.get("http://shop.test/")
        assert site.header("user-agent") == "ExampleBot/1.0 (+https://example.com/bot)"
        assert (site.header("accept"), site.header("accept-encoding")) == ("*/*", "gzip")
        await w.fetcher.get("http://shop.test/", headers={"user-agent": "Other", "Accept": "text/html"})
        assert (site.header("user-agent"), site.header("accept")) == ("Other", "text/html")


async def test_a_body_is_sent_with_its_length() -> None:
    site = Site({"/": page(b"thanks", status="201 Created")})
    async with world() as w, serving(site) as server:
        w.put("shop.test", server)
        made = await w.fetcher.request("post", "http://shop.test/", body=b"{}", headers={"Content-Type": "a/b"})
        await w.fetcher.request("PUT", "http://shop.test/")
    assert (made.status, made.body) == (201, b"thanks")
    assert site.asked[0].startswith(b"POST / ")
    assert site.asked[0].endswith(b"\r\n\r\n{}")
    assert [site.header("content-length", of=n) for n in (0, 1)] == ["2", "0"]


@pytest.mark.parametrize(
    "headers",
    [
        {"Host": "other.test"},
        {"Content-Length": "5"},
        {"Transfer-Encoding": "chunked"},
        {"Connection": "upgrade"},
        {"Proxy-Authorization": "x"},
        {"X": "a\r\nHost: other.test"},
        {"X\r\nY": "a"},
        {"X": "ü"},
        {"X": " leading"},
        {"": "x"},
    ],
)
async def test_headers_that_change_the_framing_or_the_host_are_refused(headers: dict[str, str]) -> None:
    async with world() as w:
        with pytest.raises(BadInput):
            await w.fetcher.get("http://shop.test/", headers=headers)
    assert w.names.asked == []


@pytest.mark.parametrize("method", ["CONNECT", "trace", "GET /x", ""])
async def test_some_methods_are_refused(method: str) -> None:
    async with world() as w:
        with pytest.raises(BadInput, match="is not a method"):
            await w.fetcher.request(method, "http://shop.test/")


async def test_connections_are_kept_for_the_next_request() -> None:
    async with world() as w, serving(Site({"/": page(b"hello")})) as server:
        w.put("shop.test", server)
        for _ in range(5):
            await w.fetcher.get("http://shop.test/")
    assert len(w.dialer.attempts) == 1


async def test_an_unchanged_page_is_not_sent_again() -> None:
    site = Site({"/": page(b"hello", 'ETag: "v1"', "Last-Modified: Sat, 14 Nov 2026 10:00:00 GMT")})
    async with world() as w, serving(site) as server:
        w.put("shop.test", server)
        first = await w.fetcher.get("http://shop.test/")
        site.pages["/"] = b'HTTP/1.1 304 Not Modified\r\nETag: "v1"\r\n\r\n'
        again = await w.fetcher.get("http://shop.test/", etag=first.etag, last_modified=first.last_modified)
    assert (first.not_modified, again.not_modified, again.body) == (False, True, b"")
    assert site.header("if-none-match") == '"v1"'
    assert site.header("if-modified-since") == "Sat, 14 Nov 2026 10:00:00 GMT"


@pytest.mark.parametrize(
    ("content_type", "body", "text"),
    [
        ("text/html; charset=iso-8859-1", b"\xfc", "ü"),
        ("text/html", "ü".encode(), "ü"),
        ("text/html; charset=nonsense", "ü".encode(), "ü"),
        ("text/html; charset=utf-8", b"\xff", "\ufffd"),
        ("", b"x", "x"),
    ],
)
async def test_text_is_in_the_charset_that_it_names(content_type: str, body: bytes, text: str) -> None:
    async with world() as w, serving(Site({"/": page(body, f"Content-Type: {content_type}")})) as server:
        w.put("shop.test", server)
        assert (await w.fetcher.get("http://shop.test/")).text == text


async def test_json_is_read_or_is_a_bad_response() -> None:
    async with world() as w, serving(Site({"/": page(b'{"a": 1}'), "/bad": page(b"[" * 100_000)})) as server:
        w.put("shop.test", server)
        assert (await w.fetcher.get("http://shop.test/")).json() == {"a": 1}
        with pytest.raises(BadResponse, match="is not JSON"):
            (await w.fetcher.get("http://shop.test/bad")).json()


async def test_the_answer_to_head_has_no_body() -> None:
    site = Site({"/": b"HTTP/1.1 200 OK\r\nContent-Length: 99999999\r\nContent-Encoding: br\r\n\r\n"})
    async with world() as w, serving(site) as server:
        w.put("shop.test", server)
        assert (await w.fetcher.request("HEAD", "http://shop.test/")).body == b""


# -- how much -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("packed", [False, True])
async def test_a_body_may_have_exactly_its_limit_and_not_one_byte_more(packed: bool) -> None:
    def answer(size: int) -> bytes:
        body = bytes(size)
        return page(gzip.compress(body), "Content-Encoding: gzip") if packed else page(body)

    async with world() as w, serving(Site({"/fits": answer(1000), "/large": answer(1001)})) as server:
        w.put("shop.test", server)
        assert len((await w.fetcher.get("http://shop.test/fits", max_bytes=1000)).body) == 1000
        with pytest.raises(FetchTooLarge, match="more than 1000 bytes") as failed:
            await w.fetcher.get("http://shop.test/large", max_bytes=1000)
        assert not failed.value.transient
        cut = await w.fetcher.get("http://shop.test/large", max_bytes=1000, truncate=True)
        assert (len(cut.body), cut.truncated) == (1000, True)


async def test_a_stream_gives_the_head_first_and_the_body_in_pieces() -> None:
    body = bytes(range(256)) * 4000
    async with world() as w, serving(Site({"/": page(gzip.compress(body), "Content-Encoding: gzip")})) as server:
        w.put("shop.test", server)
        async with w.fetcher.stream("GET", "http://shop.test/") as answer:
            assert (answer.status, answer.header("content-encoding")) == (200, "gzip")
            pieces = [piece async for piece in answer.chunks()]
    assert b"".join(pieces) == body
    assert max(map(len, pieces)) <= 65536


async def test_a_stream_that_is_not_read_to_its_end_is_closed() -> None:
    async with world() as w, serving(Site({"/": page(bytes(500_000)), "/next": page(b"ok")})) as server:
        w.put("shop.test", server)
        async with w.fetcher.stream("GET", "http://shop.test/") as answer:
            async for _ in answer.chunks():
                break
        assert (await w.fetcher.get("http://shop.test/next")).body == b"ok"


# -- redirects ------------------------------------------------------------------------------------------------------


async def test_redirects_are_followed_and_told() -> None:
    site = Site({"/": moved("/a"), "/a": moved("http://other.test/b", "301 Moved"), "/b": page(b"here")})
    async with world() as w, serving(site) as server:
        w.put("shop.test", server)
        w.put("other.test", server, address=PUBLIC_TOO)
        fetched = await w.fetcher.get("http://shop.test/")
    assert (fetched.body, fetched.url) == (b"here", "http://other.test/b")
    assert fetched.hops == (Hop(url="http://shop.test/", status=302), Hop(url="http://shop.test/a", status=301))
    assert {host for host, _ in w.dialer.attempts} == {PUBLIC, PUBLIC_TOO}


SECRET = {"Authorization": "Bearer x", "Cookie": "a=b", "X-Api-Key": "k", "If-None-Match": '"v"', "Accept": "a/b"}


@pytest.mark.parametrize(
    ("target", "kept"),
    [("/next", True), ("http://other.test/next", False), ("http://shop.test:8080/next", False)],
)
async def test_secrets_stay_with_the_origin_they_were_meant_for(target: str, kept: bool) -> None:
    site = Site({"/": moved(target), "/next": page(b"")})
    async with world(Settings(fetch_ports="80,8080")) as w, serving(site) as server:
        w.put("other.test", server)
        w.put("shop.test", server)
        w.dialer.servers[PUBLIC, 8080] = server
        await w.fetcher.get("http://shop.test/", headers=SECRET, body=b"")
    assert site.header("accept") == "a/b"
    sent = [site.header(name) is not None for name in ("authorization", "cookie", "x-api-key", "if-none-match")]
    assert sent == [kept] * 4


async def test_redirects_are_counted() -> None:
    site = Site({f"/{n}": moved(f"/{n + 1}") for n in range(20)} | {"/5": page(b"five")})
    async with world() as w, serving(site) as server:
        w.put("shop.test", server)
        assert (await w.fetcher.get("http://shop.test/0")).body == b"five"
        with pytest.raises(BadResponse, match="redirects more than 4 times"):
            await w.fetcher.get("http://shop.test/0", max_redirects=4)
        assert (await w.fetcher.get("http://shop.test/0", max_redirects=0)).status == 302


@pytest.mark.parametrize("pages", [{"/": moved("/")}, {"/": moved("/#x")}, {"/": moved("/a"), "/a": moved("/")}])
async def test_circles_are_found(pages: dict[str, bytes]) -> None:
    async with world() as w, serving(Site(pages)) as server:
        w.put("shop.test", server)
        with pytest.raises(BadResponse, match="redirects in a circle"):
            await w.fetcher.get("http://shop.test/")
    assert len(w.dialer.attempts) <= 2


async def test_only_get_and_head_are_redirected() -> None:
    site = Site({"/": moved("/next", "307 Again"), "/next": page(b"")})
    async with world() as w, serving(site) as server:
        w.put("shop.test", server)
        assert (await w.fetcher.request("POST", "http://shop.test/", body=b"pay")).status == 307
        assert (await w.fetcher.request("HEAD", "http://shop.test/")).status == 200
    assert [head.split(b" ")[0] for head in site.asked] == [b"POST", b"HEAD", b"HEAD"]


@pytest.mark.parametrize("status", ["300 Choices", "304 Same", "305 Proxy", "306 Unused", "399 Odd"])
async def test_other_answers_with_a_location_are_answers(status: str) -> None:
    answer = f"HTTP/1.1 {status}\r\nLocation: /next\r\nContent-Length: 0\r\n\r\n".encode()
    async with world() as w, serving(Site({"/": answer})) as server:
        w.put("shop.test", server)
        assert str((await w.fetcher.get("http://shop.test/")).status) == status[:3]


@pytest.mark.parametrize(
    "location",
    [
        "file:///etc/passwd",
        "ftp://x/",
        "http://u:p@other.test/",
        "//other.test\\@x",
        "http://other.test:22/",
        b"/\xff\xfe",
    ],
)
async def test_redirects_are_under_the_rules_of_urls(location: str | bytes) -> None:
    async with world() as w, serving(Site({"/": moved(location)})) as server:
        w.put("shop.test", server)
        with pytest.raises(FetchRefused, match="the redirect of http://shop.test is refused"):
            await w.fetcher.get("http://shop.test/")
    assert w.names.asked == ["shop.test"]


# -- what goes wrong ------------------------------------------------------------------------------------------------


async def test_errors_say_no_address_not_even_in_their_traceback(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.INFO, "leasehold")
    async with world() as w:
        w.names.answers["db.internal"] = ["10.11.12.13"]
        w.names.answers["gone.test"] = [PUBLIC]
        for url, kind in (("http://db.internal/", FetchRefused), ("http://gone.test/", FetchUnreachable)):
            with pytest.raises(kind) as failed:
                await w.fetcher.get(url)
            told = "".join(traceback.format_exception(failed.value))
            assert "10.11.12.13" not in told
            assert PUBLIC not in told
            assert failed.value.detail
    [line] = [record for record in caplog.records if record.getMessage() == "fetch failed"]
    assert "10.11.12.13" in str(vars(line)["fields"]), "the operator is told"


async def test_a_cancelled_request_leaves_nothing_behind() -> None:
    async def hang(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        started.set()
        await reader.read()
        closed.set()

    started, closed = asyncio.Event(), asyncio.Event()
    async with world() as w, serving(hang) as server:
        w.put("slow.test", server)
        task = asyncio.create_task(w.fetcher.get("http://slow.test/"))
        await started.wait()
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        await closed.wait()


async def test_hosts_that_hang_do_not_stand_in_the_way_of_others() -> None:
    async def hang(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.read()

    async with world() as w, serving(hang) as dead, serving(Site({"/": page(b"ok")})) as server:
        for n in range(150):
            w.put(f"dead{n}.test", dead, address=f"8.8.4.{n}")
        w.put("shop.test", server)
        hanging = [asyncio.create_task(w.fetcher.get(f"http://dead{n}.test/", timeout=600)) for n in range(150)]
        async with asyncio.timeout(120):
            assert (await w.fetcher.get("http://shop.test/")).body == b"ok"
        for task in hanging:
            task.cancel()
        await asyncio.gather(*hanging, return_exceptions=True)


@pytest.mark.parametrize("proxy", ["proxy:3128", "https://proxy:3128", "socks5://proxy", "http://"])
def test_a_proxy_that_is_none_names_its_setting(proxy: str) -> None:
    with pytest.raises(BadSetting, match="LEASEHOLD_FETCH_PROXY"):
        Fetcher(Settings(fetch_proxy=proxy))


async def test_check_resolves_and_judges_and_connects_nowhere() -> None:
    async with world() as w:
        w.names.answers |= {"good.test": [PUBLIC, PUBLIC_TOO], "bad.test": [PUBLIC, "10.0.0.1"]}
        checked = await w.fetcher.check("http://good.test/x")
        assert [str(address) for address in checked.addresses] == [PUBLIC, PUBLIC_TOO]
        for url in ("http://bad.test/", "http://good.test:22/", "ftp://good.test/"):
            with pytest.raises(FetchRefused):
                await w.fetcher.check(url)
    assert w.dialer.attempts == []


def test_transient_says_whether_another_try_may_help() -> None:
    kinds = (FetchRefused, FetchTooLarge, FetchTooSlow, FetchUnreachable, BadResponse)
    assert [kind.transient for kind in kinds] == [False, False, True, True, False]

"""Resolve once, judge every answer, connect to what was judged."""

import asyncio
import socket
import ssl
import threading

import pytest
import trustme

from leasehold.errors import BadResponse, FetchRefused, FetchTooSlow, FetchUnreachable
from leasehold.fetch import connect
from leasehold.fetch.fetcher import Fetcher
from leasehold.fetch.public_addresses import parse_address
from leasehold.settings import Settings
from tests.fetch.world import PUBLIC, PUBLIC_TOO, Dialer, Site, moved, page, serving, world
from tests.waiting import eventually

OPEN = Settings(fetch_ports="1-65535")


async def test_a_name_is_resolved_once_and_its_address_dialled() -> None:
    site = Site({"/": page(b"hello")})
    async with world() as w, serving(site) as server:
        w.put("good.test", server)
        assert (await w.fetcher.get("http://good.test/")).body == b"hello"
    assert (w.names.asked, w.dialer.attempts) == (["good.test"], [(PUBLIC, 80)])
    assert site.header("host") == "good.test"


async def test_a_name_that_changes_its_answer_after_the_check_gains_nothing() -> None:
    site = Site({"/": page(b"public", "Connection: close")})
    async with world() as w, serving(site) as server:
        w.dialer.servers[PUBLIC, 80] = server
        w.names.changing["rebind.test"] = [[PUBLIC], ["127.0.0.1"], ["169.254.169.254"], [PUBLIC, "::1"]]
        assert (await w.fetcher.get("http://rebind.test/")).body == b"public"
        for _ in range(3):
            with pytest.raises(FetchRefused):
                await w.fetcher.get("http://rebind.test/")
    assert w.dialer.attempts == [(PUBLIC, 80)]
    assert len(w.names.asked) == 4, "once for each request"


async def test_a_kept_connection_stays_where_it_was_judged() -> None:
    site = Site({"/": page(b"public")})
    async with world() as w, serving(site) as server:
        w.dialer.servers[PUBLIC, 80] = server
        w.names.changing["rebind.test"] = [[PUBLIC], ["127.0.0.1"]]
        for _ in range(3):
            assert (await w.fetcher.get("http://rebind.test/")).body == b"public"
    assert w.dialer.attempts == [(PUBLIC, 80)]


@pytest.mark.parametrize(
    "answers",
    [
        [PUBLIC, "10.0.0.1"],
        ["10.0.0.1", PUBLIC],
        [PUBLIC, PUBLIC_TOO, "::1"],
        [PUBLIC, "::ffff:127.0.0.1"],
        [PUBLIC_TOO, "fe80::1%eth0"],
        ["64:ff9b::7f00:1"],
    ],
)
async def test_one_internal_address_among_public_ones_refuses_the_name(answers: list[str]) -> None:
    async with world() as w:
        w.names.answers["mixed.test"] = answers
        with pytest.raises(FetchRefused, match="not a public host"):
            await w.fetcher.get("http://mixed.test/")
    assert w.dialer.attempts == []


async def test_the_next_address_is_tried_when_one_does_not_answer() -> None:
    async with world() as w, serving(Site({"/": page(b"hello")})) as server:
        w.names.answers["two.test"] = [PUBLIC_TOO, PUBLIC]
        w.dialer.servers[PUBLIC, 80] = server
        assert (await w.fetcher.get("http://two.test/")).body == b"hello"
    assert w.dialer.attempts == [(PUBLIC_TOO, 80), (PUBLIC, 80)]


async def test_a_name_with_many_addresses_is_judged_whole_and_tried_a_few_times() -> None:
    many = [f"8.8.{n // 250}.{n % 250}" for n in range(500)]
    async with world() as w:
        w.names.answers["many.test"] = many
        with pytest.raises(FetchUnreachable, match="many.test does not accept connections on port 80") as failed:
            await w.fetcher.get("http://many.test/")
        assert "8.8.0.0" not in str(failed.value)
        assert "8.8.0.0" in str(failed.value.detail)
        w.names.answers["many.test"] = [*many, "10.0.0.1"]
        with pytest.raises(FetchRefused):
            await w.fetcher.get("http://many.test/")
    assert len(w.dialer.attempts) == connect.MAX_DIALS


async def test_a_connection_that_led_elsewhere_is_given_up() -> None:
    site = Site({"/": page(b"secret")})
    async with world() as w, serving(site) as server:
        w.put("good.test", server)
        w.dialer.peer = "127.0.0.1"
        with pytest.raises(FetchRefused, match="led elsewhere"):
            await w.fetcher.get("http://good.test/")
    assert site.asked == []


@pytest.mark.parametrize("answers", [[], ["not an address"], [PUBLIC, "10.0.0.0x"]])
async def test_answers_that_are_no_addresses_are_no_answer(answers: list[str]) -> None:
    async with world() as w:
        w.names.answers["odd.test"] = answers
        with pytest.raises(FetchUnreachable, match="odd.test has no address"):
            await w.fetcher.get("http://odd.test/")
    assert w.dialer.attempts == []


async def test_a_name_that_does_not_exist_is_worth_another_try_later() -> None:
    async with world() as w:
        with pytest.raises(FetchUnreachable, match="nobody.test has no address") as failed:
            await w.fetcher.get("http://nobody.test/")
    assert failed.value.transient


async def test_slow_dns_ends_with_its_own_limit(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(connect, "RESOLVE_SECONDS", 0.05)
    async with world() as w:
        w.names.hanging.add("slow.test")
        with pytest.raises(FetchUnreachable, match="slow.test was not resolved within"):
            await w.fetcher.get("http://slow.test/")


async def test_slow_dns_ends_with_the_deadline() -> None:
    async with world() as w:
        w.names.hanging.add("slow.test")
        with pytest.raises(FetchTooSlow, match="slow.test took longer than 0.05 s"):
            await w.fetcher.get("http://slow.test/", timeout=0.05)


# -- TLS ------------------------------------------------------------------------------------------------------------


class Tls:
    """A certificate for good.test, those who trust it, and the names that clients asked for."""

    def __init__(self) -> None:
        authority = trustme.CA()
        self.asked: list[str | None] = []
        self.server = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        authority.issue_cert("good.test").configure_cert(self.server)
        self.server.sni_callback = lambda connection, name, context: self.asked.append(name)
        self.client = ssl.create_default_context()
        authority.configure_trust(self.client)


async def test_tls_is_by_name_though_the_address_is_dialled() -> None:
    tls, site = Tls(), Site({"/": page(b"hello")})
    async with world(ssl_context=tls.client) as w, serving(site, tls=tls.server) as server:
        w.put("good.test", server, port=443)
        fetched = await w.fetcher.get("https://good.test/")
    assert (fetched.body, fetched.url) == (b"hello", "https://good.test/")
    assert (tls.asked, site.header("host"), w.dialer.attempts) == (["good.test"], "good.test", [(PUBLIC, 443)])


async def test_a_certificate_for_another_name_is_refused() -> None:
    tls, site = Tls(), Site({"/": page(b"hello")})
    async with world(ssl_context=tls.client) as w, serving(site, tls=tls.server) as server:
        w.put("other.test", server, port=443)
        with pytest.raises(BadResponse, match="the certificate of other.test is not valid") as failed:
            await w.fetcher.get("https://other.test/")
    assert site.asked == []
    assert failed.value.__suppress_context__


async def test_a_server_without_tls_is_said_not_to_speak_it() -> None:
    async def shout(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.write(b"HTTP/1.1 400 Bad Request\r\n\r\n")
        await reader.read()

    async with world() as w, serving(shout) as server:
        w.put("plain.test", server, port=443)
        with pytest.raises(BadResponse, match="plain.test does not speak TLS as it should"):
            await w.fetcher.get("https://plain.test/")


async def test_a_handshake_that_never_ends_ends_with_the_deadline() -> None:
    async def listen(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.read()  # until the other side has closed: no socket is left open
        closed.set()

    closed = asyncio.Event()
    async with world() as w, serving(listen) as server:
        w.put("slow.test", server, port=443)
        with pytest.raises(FetchTooSlow):
            await w.fetcher.get("https://slow.test/", timeout=0.2)
        await closed.wait()


# -- the real thing underneath --------------------------------------------------------------------------------------


async def test_the_systems_own_resolver_and_sockets_do_the_same() -> None:
    async with serving(Site({"/": page(b"hello")})) as server:
        async with Fetcher(OPEN) as fetcher:
            for host in ("127.0.0.1", "localhost", "127.1", "[::ffff:127.0.0.1]", "0"):
                with pytest.raises(FetchRefused):
                    await fetcher.get(f"http://{host}:{server}/")
        async with Fetcher(Settings(fetch_allow="127.0.0.1", fetch_ports=str(server))) as fetcher:
            assert (await fetcher.get(f"http://127.0.0.1:{server}/")).body == b"hello"


async def test_lookups_that_hang_hold_up_neither_others_nor_the_end(monkeypatch: pytest.MonkeyPatch) -> None:
    def look_up(host: str, *rest: object, **named: object) -> list[object]:
        if host == "slow.test":
            held.wait()
        return [(2, 1, 6, "", (PUBLIC, 0))]

    held = threading.Event()
    monkeypatch.setattr(socket, "getaddrinfo", look_up)
    resolver = connect.SystemResolver()
    slow = asyncio.create_task(resolver("slow.test"))
    assert await resolver("quick.test") == [PUBLIC]
    slow.cancel()
    threads = [thread for thread in threading.enumerate() if thread.name == "leasehold-resolve"]
    assert threads
    assert all(thread.daemon for thread in threads), "the process can end without them"
    held.set()
    for thread in threads:
        thread.join()


async def test_slow_names_of_one_tenant_hold_up_no_lookup_of_another(monkeypatch: pytest.MonkeyPatch) -> None:
    def look_up(host: str, *rest: object, **named: object) -> list[object]:
        if host.startswith("slow"):
            held.wait()
        return [(2, 1, 6, "", (PUBLIC, 0))]

    async def fetched(name: str, tenant: str) -> bytes:
        return (await fetcher.get(f"http://{name}.test/", share=tenant)).body

    held = threading.Event()
    monkeypatch.setattr(socket, "getaddrinfo", look_up)
    monkeypatch.setattr(connect, "RESOLVE_SECONDS", 2.0)
    dialer = Dialer()
    async with serving(Site({"/": page(b"hello")})) as server, Fetcher(dialer=dialer) as fetcher:
        dialer.servers[PUBLIC, 80] = server
        slow = [asyncio.create_task(fetched(f"slow-{n}", "a")) for n in range(200)]
        try:
            await eventually(_lookups, what="lookups")
            assert await fetched("quick", "b") == b"hello"
            assert (await fetcher.get("http://quick-too.test/")).body == b"hello", "of no tenant"
            await eventually(_lookups_of_one_alone, what="the end of the quick lookups")
            gone = await asyncio.gather(*slow, return_exceptions=True)
            assert {type(problem) for problem in gone} == {FetchUnreachable}
        finally:
            held.set()
        await eventually(_no_lookups, what="the end of all lookups")
        assert await fetched("quick", "a") == b"hello"


async def _lookups() -> int:
    return sum(thread.name == "leasehold-resolve" for thread in threading.enumerate())


async def _lookups_of_one_alone() -> bool:
    return await _lookups() == connect.LOOKUPS_OF_ONE


async def _no_lookups() -> bool:
    return not await _lookups()


async def test_a_machine_without_room_for_a_thread_has_no_answer(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(self: threading.Thread) -> None:
        raise RuntimeError("can't start new thread")

    async with Fetcher() as fetcher:
        with monkeypatch.context() as patch:
            patch.setattr(threading.Thread, "start", refuse)
            for _ in range(connect.LOOKUPS_OF_ONE + 1):  # each gives its place back
                with pytest.raises(FetchUnreachable, match="was not resolved"):
                    await fetcher.get("http://any.test/")
        monkeypatch.setattr(socket, "getaddrinfo", lambda *_, **__: [(2, 1, 6, "", ("127.0.0.1", 0))])
        with pytest.raises(FetchRefused):
            await fetcher.get("http://any.test/")


async def test_the_systems_resolver_says_when_there_is_no_such_name(monkeypatch: pytest.MonkeyPatch) -> None:
    def look_up(host: str, *rest: object, **named: object) -> list[object]:
        raise socket.gaierror(-2, "Name or service not known")

    monkeypatch.setattr(socket, "getaddrinfo", look_up)
    async with Fetcher() as fetcher:
        with pytest.raises(FetchUnreachable, match="nobody.test has no address"):
            await fetcher.get("http://nobody.test/")


def test_this_machine_knows_its_own_addresses() -> None:
    loopback, elsewhere = parse_address("127.0.0.1"), parse_address(PUBLIC)
    assert loopback
    assert elsewhere
    assert connect.is_own_address(loopback)
    assert not connect.is_own_address(elsewhere)


async def test_environment_proxies_are_not_used(monkeypatch: pytest.MonkeyPatch) -> None:
    trap, site = Site(), Site({"/": page(b"hello")})
    async with serving(trap) as proxy, serving(site) as server:
        for name in ("HTTP_PROXY", "http_proxy", "HTTPS_PROXY", "ALL_PROXY", "all_proxy"):
            monkeypatch.setenv(name, f"http://127.0.0.1:{proxy}")
        async with world() as w:
            w.put("good.test", server)
            assert (await w.fetcher.get("http://good.test/")).body == b"hello"
    assert trap.asked == []


async def test_the_operators_proxy_gets_every_request_and_resolves_itself() -> None:
    proxy = Site({"http://good.test/": page(b"through the proxy")})
    async with serving(proxy) as server:
        settings = Settings(fetch_proxy="http://bob:secret@proxy.internal:4750")
        async with world(settings) as w:
            w.dialer.servers["proxy.internal", 4750] = server
            assert (await w.fetcher.get("http://good.test/")).body == b"through the proxy"
            with pytest.raises(FetchRefused):
                await w.fetcher.get("http://10.0.0.1/")
    assert w.names.asked == []
    assert w.dialer.attempts == [("proxy.internal", 4750)]
    assert proxy.header("proxy-authorization") == "Basic Ym9iOnNlY3JldA=="


async def test_a_proxy_that_refuses_a_tunnel_says_so() -> None:
    proxy = Site({"good.test:443": page(b"", status="407 Denied")})
    async with serving(proxy) as server, world(Settings(fetch_proxy="http://proxy.internal:4750")) as w:
        w.dialer.servers["proxy.internal", 4750] = server
        with pytest.raises(FetchRefused, match="the egress proxy does not let it through"):
            await w.fetcher.get("https://good.test/")


# -- redirects ------------------------------------------------------------------------------------------------------


async def test_a_redirect_to_an_internal_name_is_judged_again_and_not_named() -> None:
    site = Site({"/": moved("http://db.internal/secret")})
    async with world() as w, serving(site) as server:
        w.put("good.test", server)
        w.names.answers["db.internal"] = ["10.9.8.7"]
        with pytest.raises(FetchRefused) as refused:
            await w.fetcher.get("http://good.test/")
    assert str(refused.value) == "the redirect of http://good.test is refused: it is not a public host"
    assert refused.value.detail == "db.internal is 10.9.8.7: private"
    assert w.dialer.attempts == [(PUBLIC, 80)]
